// What is measured: a cache, ours or a re-creation of a published one, behind one seam.
//
// All subjects get the same bytes: an upstream's messages to keep, and packets with clients'
// queries, already parsed (dns::parse_query), to be answered in place from the first record to the
// OPT. A call is a whole batch, so that the seam costs nothing. One thread, unless a subject says
// otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lib/base/bytes.h"
#include "lib/dns/query.h"
#include "tests/bench/cache/reference_mix.h"

namespace wirecache::bench {

struct Message {
  const uint8_t* data = nullptr;
  uint16_t size = 0;

  Bytes bytes() const { return {data, size}; }
};

// A client's packet. As long as a reply may become, and no power of two, as those of a pool are.
struct alignas(64) Packet {
  std::array<uint8_t, 1280> message;
  dns::Query query;
  uint16_t reply_bytes = 0;  // 0: not answered
};

inline constexpr uint16_t kReplyLimit = 1232;

class Subject {
 public:
  virtual ~Subject() = default;

  // Keeps the answers: parsing, making of the entry, filing.
  virtual void insert(std::span<const Message> messages, uint32_t now_sec) = 0;
  // The same in two steps: everything up to the finished entry and key; then the filing alone.
  virtual void prepare(std::span<const Message> messages, uint32_t now_sec) = 0;
  virtual void insert_prepared() = 0;

  // Answers what it can, in bursts of 32 packets; returns how many.
  virtual unsigned answer_bursts(std::span<Packet> packets, uint32_t now_sec) = 0;
  // The same one by one, each begun when the one before is complete.
  virtual unsigned answer_each(std::span<Packet> packets, uint32_t now_sec) = 0;

  // How many of these are there and have not expired.
  virtual uint64_t count_fresh(std::span<const Question> questions, uint32_t now_sec) = 0;

  // Of what the thread has allocated, the part that belongs to main's work, which the benchmark
  // does in the same thread.
  virtual uint64_t bytes_allocated_by_main() const { return 0; }
};

// A place that depends on the reply before, so that no look-up begins ahead of time: always `i`,
// for no reply has 4,096 bytes.
inline size_t after_reply(size_t i, uint16_t reply_bytes) {
  return i + (reply_bytes >> 12);
}

}  // namespace wirecache::bench

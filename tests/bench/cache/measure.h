// The measurements that every subject goes through: filling, memory, look-ups, and that the answers
// are right.
//
// One thread. No measurement leaves buffers of its own behind, so that what the memory has grown by
// afterwards is the subject's alone.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/cache/cpu_timer.h"
#include "tests/bench/cache/process_memory.h"
#include "tests/bench/cache/reference_mix.h"
#include "tests/bench/cache/subject.h"

namespace wirecache::bench {

// Upstream messages of consecutive or chosen questions, made outside of what is timed.
class MessageBatch {
 public:
  static constexpr size_t kMost = 1024;

  explicit MessageBatch(const ReferenceMix& mix)
      : mix_(mix), bytes_(kMost * ReferenceMix::kMostMessageBytes) {
    messages_.reserve(kMost);
  }
  void clear() {
    messages_.clear();
    used_ = 0;
  }
  void add(uint64_t index) {
    uint8_t* place = bytes_.data() + used_;
    messages_.push_back({place, mix_.write_answer(index, place)});
    used_ += messages_.back().size;
  }
  bool is_full() const { return messages_.size() == kMost; }
  std::span<const Message> messages() const { return messages_; }

 private:
  const ReferenceMix& mix_;
  std::vector<uint8_t> bytes_;
  std::vector<Message> messages_;
  size_t used_ = 0;
};

// Clients' queries, made and parsed outside of what is timed.
class PacketBatch {
 public:
  static constexpr size_t kMost = 256;

  explicit PacketBatch(const ReferenceMix& mix) : mix_(mix), packets_(kMost) {}
  void clear() { count_ = 0; }
  void add(uint64_t index);
  bool is_full() const { return count_ == kMost; }
  std::span<Packet> packets() { return std::span(packets_).first(count_); }

 private:
  const ReferenceMix& mix_;
  std::vector<Packet> packets_;
  size_t count_ = 0;
};

enum class Insertion : uint8_t { kFromMessage, kPrepared };
// Keeps questions 0 to `entries`; returns insertions a second.
double fill(Subject& subject, const ReferenceMix& mix, uint64_t entries, Insertion insertion,
            uint32_t now_sec);

enum class Lookup : uint8_t { kBursts, kEach };
struct LookupResult {
  double ns = 0;  // for each
  double answered_share = 0;
};
// Asks `count` times for a random one of questions 0 to `entries`.
LookupResult look_up(Subject& subject, const ReferenceMix& mix, uint64_t entries, uint64_t count,
                     Lookup lookup, uint32_t now_sec);

// Fresh ones among the questions from `first` to `end`.
uint64_t count_fresh(Subject& subject, const ReferenceMix& mix, uint64_t first, uint64_t end,
                     uint32_t now_sec);

// Asks for every `step`th question in the second in which it was kept, and compares the reply, from
// its counts to its OPT, with the upstream's message. Returns how many came wrong; missing ones are
// not wrong.
uint64_t count_wrong(Subject& subject, const ReferenceMix& mix, uint64_t entries, uint64_t step,
                     uint32_t now_sec);

double payload_bytes_per_entry(const ReferenceMix& mix, uint64_t entries);

}  // namespace wirecache::bench

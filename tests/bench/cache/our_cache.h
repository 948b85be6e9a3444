// Our cache as a subject: a partition with its RCU variable, driven as a worker drives it. All that
// the benchmark knows of lib/cache stands in this pair of files.
//
// Threads: insert calls belong to one thread, the owner; answer_as() may run beside it in a thread
// that has called join() with the same reader. Reader 0 is the owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/cache/subject.h"

namespace wirecache::bench {

enum class Pages : uint8_t { kNormal, kHuge };

struct OurOptions {
  std::string index;  // of our_indexes()
  Pages pages = Pages::kNormal;
  uint64_t capacity_bytes = 0;
};

class OurCache : public Subject {
 public:
  static constexpr unsigned kOwner = 0;
  static constexpr unsigned kReaders = 2;

  virtual void join(unsigned reader) = 0;
  virtual void leave(unsigned reader) = 0;
  // As answer_bursts(), and reports the reader's quiescence after each burst.
  virtual unsigned answer_as(unsigned reader, std::span<Packet> packets, uint32_t now_sec) = 0;
};

// Starts DPDK on one core, once in the process; without huge pages it may use `memory_mb`. False:
// it has said why on standard error.
[[nodiscard]] bool start_eal(Pages pages, unsigned cpu, uint64_t memory_mb);

// The default first.
std::vector<std::string> our_indexes();
// nullptr, with the reason on standard error, where it cannot be made.
std::unique_ptr<OurCache> make_our_cache(const OurOptions& options);

}  // namespace wirecache::bench

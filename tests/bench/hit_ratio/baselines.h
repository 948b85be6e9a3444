// The baselines: LRU, FIFO and S3-FIFO, each keeping whole entries up to `capacity_bytes` and
// paying for nothing else.
//
// A resident entry that has expired is replaced by the next put(): LRU takes that for a use, FIFO
// for an insertion, and S3-FIFO leaves the entry where it stands with what it has counted, which
// serves it better than starting anew in the small queue (measured; the paper knows no TTLs).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/bench/hit_ratio/entry_queues.h"
#include "tests/bench/hit_ratio/policy.h"

namespace wirecache::bench {

class Lru : public Policy {
 public:
  explicit Lru(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  Lookup get(NameId name, uint32_t now_sec) override;
  void put(const Request& request) override;
  uint64_t live_bytes(uint32_t now_sec) const override { return entries_.live_bytes(now_sec); }

 private:
  uint64_t capacity_bytes_;
  EntryQueues entries_{1};
};

class Fifo : public Policy {
 public:
  explicit Fifo(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  Lookup get(NameId name, uint32_t now_sec) override;
  void put(const Request& request) override;
  uint64_t live_bytes(uint32_t now_sec) const override { return entries_.live_bytes(now_sec); }

 private:
  uint64_t capacity_bytes_;
  EntryQueues entries_{1};
};

// "FIFO queues are all you need for cache eviction" (Yang et al., SOSP 2023), algorithm 1: a small
// queue of a tenth of the bytes, a main queue, and a ghost queue of names whose entries took as
// many bytes as the main queue may hold; 2-bit counters; what leaves the small queue goes to main
// if it was asked for more than once, else its name becomes a ghost; a ghost that is asked for goes
// straight to main; what leaves main is put back, its counter one less, until that is 0.
class S3Fifo : public Policy {
 public:
  explicit S3Fifo(uint64_t capacity_bytes)
      : capacity_bytes_(capacity_bytes), small_bytes_(capacity_bytes / 10) {}

  Lookup get(NameId name, uint32_t now_sec) override;
  void put(const Request& request) override;
  uint64_t live_bytes(uint32_t now_sec) const override { return entries_.live_bytes(now_sec); }

 private:
  enum Queue : unsigned { kSmall, kMain };
  struct Ghost {
    NameId name;
    uint32_t bytes;
    uint32_t stamp;
  };

  void evict();
  void evict_small();
  void evict_main();
  void remember(NameId name, uint32_t bytes);
  // Whether the name was a ghost; it is none from now on.
  bool recall(NameId name);

  uint64_t capacity_bytes_;
  uint64_t small_bytes_;
  EntryQueues entries_{2};
  std::deque<Ghost> ghosts_;
  std::vector<uint32_t> ghost_stamps_;  // by name; 0: no ghost
  uint32_t last_stamp_ = 0;
  uint64_t ghost_bytes_ = 0;
};

}  // namespace wirecache::bench

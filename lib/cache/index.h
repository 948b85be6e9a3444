// The narrow seam behind which an index from 64-bit key hash to entry stands; this one is rte_hash
// (lock-free readers, deferred reclaim by RCU).
//
// Invariants: one writer (the partition's owner); readers are registered in the node's RCU variable and
// report quiescence once a burst; a key's slot is reused only when all readers have. A delete never goes
// into a full defer queue (it would leak the slot for good: DPDK 22.11), so erase() reclaims first and
// can say "not now".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/base/expected.h"

struct rte_hash;
struct rte_rcu_qsbr;

namespace wirecache::cache {

class Index {
 public:
  enum class Status : uint8_t { kInserted, kReplaced, kErased, kNotFound, kFull, kBusy };

  struct Options {
    std::string name;        // unique in the process, at most 26 bytes
    uint32_t entries = 0;    // capacity
    int numa_node = 0;
    rte_rcu_qsbr* rcu = nullptr;
  };
  static Expected<std::unique_ptr<Index>> create(const Options& options);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Readers. entries[i] is the entry filed under hashes[i] or nullptr; at most kMaxBurst at once.
  static constexpr size_t kMaxBurst = 64;
  void find_bulk(std::span<const uint64_t> hashes, const uint8_t** entries) const;
  const uint8_t* find(uint64_t hash) const;

  // Owner. kInserted, kReplaced or kFull. A replaced entry's bytes stay until their segment is reused.
  Status insert(uint64_t hash, const uint8_t* entry);
  // Owner. Removes hash if it is filed with exactly `entry`: kErased, kNotFound, or kBusy (the defer
  // queue is full and readers have not moved on: try again later; nothing changed).
  Status erase_if(uint64_t hash, const uint8_t* entry);
  // Owner. Gives back slots whose readers have moved on.
  void reclaim();

  uint32_t size() const;

 private:
  explicit Index(rte_hash* hash) : hash_(hash) {}
  rte_hash* hash_;
};

}  // namespace wirecache::cache

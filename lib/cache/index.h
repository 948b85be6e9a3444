// The narrow seam behind which an index from 64-bit key hash to entry stands; this one is rte_hash
// (lock-free readers, deferred reclaim by RCU).
//
// Invariants: one writer (the partition's owner); readers are registered in the node's RCU variable
// and report quiescence once a burst; a key's slot is reused only when all readers have.
//
// Deleted slots wait in a bounded queue of our own and go back by rte_hash_free_key_with_position.
// That of rte_hash itself (rte_hash_rcu_qsbr_add) leaks the slot for good when it is full, and
// DPDK 22.11 cannot tell how full it is (rte_hash_rcu_qsbr_dq_reclaim came with 24.07). Where ours
// is full of slots that a reader may still look at, erase_if() says "not now".
//
// Memory: 16 bytes a key slot, and 12 bytes for each of the next power of two of slots.
#pragma once

#include <array>
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
    std::string name;      // unique in the process, at most 26 bytes
    uint32_t entries = 0;  // capacity; so many fit whatever waits to be reclaimed
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

  // Owner. kInserted, kReplaced or kFull. A replaced entry's bytes stay until their segment is
  // reused.
  Status insert(uint64_t hash, const uint8_t* entry);
  // Owner. Removes hash if it is filed with exactly `entry`: kErased, kNotFound, or kBusy (the
  // defer queue is full and readers have not moved on: try again later; nothing changed).
  Status erase_if(uint64_t hash, const uint8_t* entry);
  // Owner. Gives back slots whose readers have moved on.
  void reclaim();

  uint32_t size() const { return size_; }
  uint32_t capacity() const { return capacity_; }

 private:
  // A power of two: at 2 million erasures a second it lasts for a burst of 2 ms.
  static constexpr uint32_t kDeferred = 4096;
  struct Deferred {
    uint64_t token;
    int32_t position;
  };

  Index(rte_hash* hash, const Options& options)
      : hash_(hash), rcu_(options.rcu), capacity_(options.entries) {}

  rte_hash* hash_;
  rte_rcu_qsbr* rcu_;
  uint32_t capacity_;
  uint32_t size_ = 0;
  // The queue, by ever rising numbers: [freed_, stamped_) has tokens, [stamped_, deferred_) gets
  // one together (a token is a locked instruction on a line that all workers share).
  uint32_t freed_ = 0;
  uint32_t stamped_ = 0;
  uint32_t deferred_ = 0;
  std::array<Deferred, kDeferred> queue_;
};

}  // namespace wirecache::cache

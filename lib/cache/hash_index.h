// The index (index.h) by DPDK's rte_hash: lock-free readers, and slots that go back by RCU.
//
// Invariants: those of the seam; a key's slot is reused only when all readers have moved on. The
// key of the table is the 64-bit hash of the cache key, its datum the 32-bit reference; the whole
// key is compared in the entry.
//
// Deleted slots wait in a bounded queue of our own and go back by rte_hash_free_key_with_position.
// That of rte_hash itself (rte_hash_rcu_qsbr_add) leaks the slot for good when it is full, and
// DPDK 22.11 cannot tell how full it is (rte_hash_rcu_qsbr_dq_reclaim came with 24.07). Where ours
// is full of slots that a reader may still look at, erase_if() says "not now".
//
// Memory: 16 bytes a key slot, and 12 bytes for each of the next power of two of slots, all taken
// when the index is made. So the number of slots comes from the byte cap, and stays below a power
// of two where a few more would cost more than they bring.
//
// rte_hash is not instrumented for ThreadSanitizer: what it orders between owner and readers is
// told to it here, with the index as the object that is released and acquired.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/base/expected.h"
#include "lib/cache/index.h"

struct rte_hash;

namespace wirecache::cache {

class HashIndex {
 public:
  using Status = IndexStatus;
  using Inserted = IndexInserted;
  using Query = IndexQuery<HashIndex>;

  static Expected<std::unique_ptr<HashIndex>> create(const IndexOptions& options);
  ~HashIndex();
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  // Key slots for a partition of so many bytes, entries (of 116 bytes on average) and index
  // together.
  static uint32_t slots_for_capacity(uint64_t bytes);

  // Readers.
  static void find_burst(std::span<const Query> queries, const uint8_t** entries);
  const uint8_t* find(const Key& key) const;
  void prefetch(uint64_t hash) const;

  // Owner.
  Inserted insert(const Key& key, EntryRef entry);
  // Looks again, for another key may have the same hash.
  Status insert_absent(const Key& key, EntryRef entry) { return insert(key, entry).status; }
  Status erase_if(uint64_t hash, EntryRef entry);
  Status move(uint64_t hash, EntryRef from, EntryRef to);
  void maintain() { reclaim(); }
  bool release_memory() { return false; }

  uint32_t size() const { return size_; }
  uint32_t capacity() const { return capacity_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  uint64_t supplied_bytes() const { return 0; }
  bool wants_memory() const { return false; }
  bool is_short() const { return size_ >= short_at_; }

 private:
  // A power of two: at 2 million erasures a second it lasts for a burst of 2 ms.
  static constexpr uint32_t kDeferred = 4096;
  struct Deferred {
    uint64_t token;
    int32_t position;
  };

  HashIndex(rte_hash* hash, const IndexOptions& options, uint32_t slots);
  void find_group(std::span<const Query> queries, uint64_t group, const uint8_t** entries) const;
  EntryRef ref_of(uint64_t hash) const;
  bool store(uint64_t hash, EntryRef entry);
  void reclaim();

  rte_hash* hash_;
  const EntrySpace& space_;
  rte_rcu_qsbr* rcu_;
  uint64_t memory_bytes_;
  uint32_t capacity_;
  uint32_t short_at_;
  uint32_t size_ = 0;
  // The queue, by ever rising numbers: [freed_, stamped_) has tokens, [stamped_, deferred_) gets
  // one together (a token is a locked instruction on a line that all workers share).
  uint32_t freed_ = 0;
  uint32_t stamped_ = 0;
  uint32_t deferred_ = 0;
  std::array<Deferred, kDeferred> queue_;
};

static_assert(EntryIndex<HashIndex>);

}  // namespace wirecache::cache

// The index (index.h) made for this cache: 7.3 bytes per entry at every number of entries while
// memory is free, down to 6.3 where it is not.
//
// Buckets of one cache line with eleven partial tags and references (compact_bucket.h), two of
// which may have a key (compact_geometry.h); a tag that matches is checked by the whole key in the
// entry. The bucket array grows and shrinks by one bucket at a time and stands in slabs of the
// partition's supply:
//
//     chunks_:   | slab 0 | slab 1 | slab 2 | ...         bucket b: chunk b >> shift, the low bits
//                               ^ buckets_                          of b in it
//
// An insertion takes a free slot in one of the two buckets; where there is none it makes one by
// moving others to their second bucket, within a bounded search. Which bucket that is, and which
// half of a split bucket an entry belongs to, stands in its tag, so neither looks at entries (but
// see compact_geometry.h for one doubling in four).
//
// Readers take no lock and repeat nothing:
//   - buckets_ is stored (release) when the new bucket is filled, and loaded (acquire) first; what
//     leaves the old bucket does so afterwards.
//   - an entry that moves stands in its new slot before it leaves the old one.
//   - within a bucket: reference before tag, and tag before reference (compact_bucket.h).
// So a reader gets the right entry, or misses one that moves or whose tag is written anew at that
// very moment. A slab that is given back was out of use before every reader's last quiescent
// report. Whatever a reader may find in a bucket is a reference that the index has had within its
// present burst: its memory stands (the seam's invariant).
//
// Measured on two virtual cores that other work shared, transparent huge pages, entries 116 bytes
// apart (medians of three runs of tests/bench/index/index_bench INDEX ENTRIES PARTITIONS, taken in
// turns; CPU time of the thread; a look-up ends with the key compared; bytes without begun slabs):
//
//     4 million entries          insertions/s   burst of 32, ns a key     bytes an entry
//     partitions   index                        uniform     Zipf 1.0
//     1            compact        4.8 million      105         71             7.3
//                  rte_hash       1.9 million      108         82            29.3
//     4            compact        4.3 million      104         75             7.3
//                  rte_hash       2.5 million      145        126            29.3
//     32           compact        6.2 million      118         86             7.3
//                  rte_hash       4.8 million      489        272            29.8
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "lib/base/expected.h"
#include "lib/cache/compact_bucket.h"
#include "lib/cache/compact_geometry.h"
#include "lib/cache/index.h"

namespace wirecache::cache {

class CompactIndex {
 public:
  using Status = IndexStatus;
  using Inserted = IndexInserted;
  using Query = IndexQuery<CompactIndex>;

  static Expected<std::unique_ptr<CompactIndex>> create(const IndexOptions& options);
  // No reader is left. The slabs go back to the supply.
  ~CompactIndex();
  CompactIndex(const CompactIndex&) = delete;
  CompactIndex& operator=(const CompactIndex&) = delete;

  // Readers.
  static void find_burst(std::span<const Query> queries, const uint8_t** entries);
  const uint8_t* find(const Key& key) const;
  void prefetch(uint64_t hash) const;

  // Owner.
  Inserted insert(const Key& key, EntryRef entry);
  Status insert_absent(const Key& key, EntryRef entry);
  Status erase_if(uint64_t hash, EntryRef entry);
  Status move(uint64_t hash, EntryRef from, EntryRef to);
  void maintain();
  bool release_memory();

  uint32_t size() const { return size_; }
  uint32_t bucket_count() const { return buckets_.load(std::memory_order_relaxed); }
  uint64_t memory_bytes() const { return supplied_bytes(); }
  uint64_t supplied_bytes() const { return uint64_t{chunks_held_} << chunk_shift_ << kBucketShift; }
  bool wants_memory() const { return is_starved_ && size_ > grow_at_; }
  bool is_short() const { return is_starved_ && size_ >= short_at_; }

 private:
  static constexpr unsigned kBucketShift = 6;
  // Of a bucket's slots, on average: where the table grows, and where nothing more should come.
  static constexpr unsigned kTargetPermille = 800;
  static constexpr unsigned kShortPermille = 930;

  struct Slot {
    CompactBucket* bucket;
    unsigned number;
  };

  CompactIndex(const IndexOptions& options, uint8_t* first_chunk);
  CompactBucket& bucket(uint32_t number) const {
    CompactBucket* chunk = chunks_[number >> chunk_shift_].load(std::memory_order_relaxed);
    return chunk[number & ((1u << chunk_shift_) - 1)];
  }
  CompactGeometry geometry() const {
    return CompactGeometry(buckets_.load(std::memory_order_acquire));
  }
  const uint8_t* candidate(const CompactBucket& bucket, uint32_t tag) const;
  std::optional<Slot> find_slot(uint64_t hash, EntryRef entry) const;
  // A free slot in one of the two buckets, by moving others where need be.
  bool put(const CompactHash& hash, EntryRef entry);

  // compact_moves.cc: entries on their way from bucket to bucket.
  std::optional<unsigned> make_room(const CompactGeometry& geometry, uint32_t first,
                                    uint32_t second);
  void relocate(const CompactGeometry& geometry, uint32_t from, unsigned slot, uint32_t to);
  uint32_t address_by_key(EntryRef entry, CompactPlace place) const;

  // compact_growth.cc: the bucket array.
  void grow(unsigned most_splits);
  bool has_next_bucket();
  void split();
  void prefetch_next_split(const CompactGeometry& geometry) const;
  bool merge();
  void set_bucket_count(uint32_t buckets);
  void give_back_chunk();

  // What readers use, in one line.
  alignas(64) std::atomic<uint32_t> buckets_{0};
  unsigned chunk_shift_;  // buckets in a chunk, as a power of two
  std::unique_ptr<std::atomic<CompactBucket*>[]> chunks_;
  const EntrySpace& space_;

  // The owner's.
  alignas(64) SlabSupply& supply_;
  rte_rcu_qsbr* rcu_;
  const HashSecret& secret_;
  uint32_t size_ = 0;
  uint32_t grow_at_ = 0;
  uint32_t short_at_ = 0;
  uint32_t chunks_held_ = 1;
  bool is_starved_ = false;         // the last attempt to grow found no slab
  std::optional<uint64_t> unused_;  // RCU token since when the last chunk is not used
};

}  // namespace wirecache::cache

// One worker's part of the node's cache: an index and a store of packed entries in segments.
//
// Written by its owner alone; read, lock-free, by every worker registered in the node's RCU
// variable. Memory is capped in bytes, index included, and grows with what is kept. Where it is
// short, entries leave a few at a time, so that no burst pays for a whole segment: expired ones
// first, then those that nobody asked for (segment_store.h). insert() never waits: where no segment
// is free in time the entry is not kept and that is counted.
//
// Threads: find and find_burst any reader; insert and maintain the owner; provision and
// set_capacity main.
//
//     key ──▶ index (7 bytes an entry) ──▶ segment: | entry | entry | entry | ...  (110 an entry)
//               compact_index.h                       entry.h      segment_store.h
//
// Measured (tools/bench cache, reference mix, 102.3 bytes of names and data an entry, two virtual
// cores, 4 KiB pages; 1 million entries: medians of five runs, 4 million: one run):
//
//                            1 million             4 million
//                            bytes  after churn    bytes  after churn
//     compact                125.9  126.0          122.3  124.9
//     rte_hash               155.3  159.6          152.7  158.7
//     published, after       432.3                 432.4
//
//     1 million                insertions/s   look-up, ns: in bursts   single
//     compact                  1,403,000                   189         664
//     rte_hash                 1,187,000                   191         945
//     published, after           298,000                 1,451       1,421
//
// An insertion begins with the upstream's message, a look-up ends with the whole answer in its
// packet. Nothing is allocated by either. Beside a writer at full speed a reader takes 9% longer
// than beside one on another partition.
//
// BasicPartition is made for both indexes; Partition has the one that the build
// option `index` names.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/expected.h"
#include "lib/base/hash.h"
#include "lib/cache/compact_index.h"
#include "lib/cache/entry.h"
#include "lib/cache/entry_space.h"
#include "lib/cache/ghosts.h"
#include "lib/cache/hash_index.h"
#include "lib/cache/index.h"
#include "lib/cache/key.h"
#include "lib/cache/segment_store.h"
#include "lib/cache/slab_memory.h"
#include "lib/cache/slab_supply.h"
#include "lib/stats/worker_stats.h"

struct rte_rcu_qsbr;

namespace wirecache::cache {

// How the memory of a partition is cut up.
struct PartitionLayout {
  uint32_t slab_bytes;
  uint32_t segment_bytes;

  // About 128 slabs and 2,048 segments, so that what is begun and not filled is about a hundredth:
  // slabs of 64 KiB to 64 MiB, of at least a huge page from 96 MiB on.
  static PartitionLayout for_capacity(uint64_t capacity_bytes);
};

struct PartitionOptions {
  std::string name;  // unique in the process, at most 26 bytes
  // Of index and entries; at least 1 MiB. It can be lowered later, and raised to this again.
  uint64_t capacity_bytes = 0;
  uint32_t stale_retention_sec = 0;  // how long expired entries stay while memory allows
  SlabMemory* memory = nullptr;      // of the node, with the slabs of the layout; outlives this
  int numa_node = 0;
  rte_rcu_qsbr* rcu = nullptr;  // of the node
  const HashSecret* secret = nullptr;
  stats::WorkerStats* stats = nullptr;  // the owner's
};

enum class InsertStatus : uint8_t {
  kInserted,
  kReplaced,
  kRejected,  // no segment is free: not kept
};

template <typename IndexType>
class BasicPartition {
 public:
  static Expected<std::unique_ptr<BasicPartition>> create(const PartitionOptions& options);
  ~BasicPartition();
  BasicPartition(const BasicPartition&) = delete;
  BasicPartition& operator=(const BasicPartition&) = delete;

  using Query = typename IndexType::Query;
  static constexpr size_t kMaxBurst = kMaxIndexBurst;

  // Readers: the entry filed under the whole key, fresh or not, nullptr without one. It stays as it
  // is until the reader reports quiescence.
  const uint8_t* find(const Key& key) const { return index_->find(key); }
  Query query(const Key& key) const { return {index_.get(), &key}; }
  // Up to kMaxBurst keys of any partitions of the node at once; entries[i] answers queries[i].
  static void find_burst(std::span<const Query> queries, const uint8_t** entries) {
    IndexType::find_burst(queries, entries);
  }

  // Owner: makes the place of a key warm that will be inserted soon.
  void prefetch(const Key& key) const {
    index_->prefetch(key.hash);
    ghosts_.prefetch(key.hash);
  }
  // Owner: copies `entry` (of encode_answer) into the store and files it under `key`. What has been
  // asked of the entry that it replaces stays with it.
  InsertStatus insert(const Key& key, Bytes entry, uint32_t now_sec);

  // Owner, once a poll: moves eviction, growth and reclaim on by a bounded step.
  void maintain(uint32_t now_sec);

  // Main, at each of its turns: brings memory in and gives memory back.
  void provision() { supply_.provision(); }
  // Main: the cap from now on, at most that of the options; the owner follows a few entries at a
  // time. Nothing below 1 MiB or the index's fixed size.
  void set_capacity(uint64_t bytes);

  uint32_t entry_count() const { return index_->size(); }
  // What the partition costs, as the process shows it (VmRSS and HugetlbPages).
  uint64_t memory_bytes() const { return supply_.held_bytes() + fixed_bytes_; }

 private:
  explicit BasicPartition(const PartitionOptions& options);
  Expected<void> make_index(const PartitionOptions& options);
  bool must_evict() const { return store_.is_eviction_due() || index_->is_short(); }
  void evict(unsigned most_entries);
  bool evict_one(EntryRef ref, uint64_t hash);
  bool keep_copy(EntryView entry, EntryRef ref, uint64_t hash);
  bool is_worth_keeping(EntryView entry) const;
  Residence residence_for(const uint8_t* known, uint64_t hash);
  bool is_worth_a_mark(EntryView entry) const;
  void give_memory_back();
  void count(InsertStatus result);
  void publish_gauges();

  const HashSecret* secret_;
  stats::WorkerStats* stats_;
  uint32_t now_sec_ = 0;
  uint64_t fixed_bytes_ = 0;  // of the index, outside the supply, and of the ghosts
  SlabSupply supply_;
  EntrySpace space_;
  Ghosts ghosts_;
  std::unique_ptr<IndexType> index_;
  SegmentStore store_;
};

extern template class BasicPartition<CompactIndex>;
extern template class BasicPartition<HashIndex>;
using Partition = BasicPartition<DefaultIndex>;

}  // namespace wirecache::cache

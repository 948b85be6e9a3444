// One worker's part of the node's cache: an index and a store of packed entries in segments.
//
// Written by its owner alone; read, lock-free, by every worker registered in the node's RCU
// variable. Segments are filled in order of insertion and reused first in, first out under a byte
// cap; before a segment is reused its entries leave the index (a few with each insertion, so that
// no burst pays for a whole segment) and every reader has reported quiescence. insert() never
// waits: where no segment is free in time the entry is not kept and that is counted. Entries leave
// as well when the index runs short of slots, which are counted for entries of 96 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/expected.h"
#include "lib/base/hash.h"
#include "lib/cache/entry.h"
#include "lib/cache/index.h"
#include "lib/cache/key.h"
#include "lib/stats/worker_stats.h"

struct rte_rcu_qsbr;

namespace wirecache::cache {

class SegmentStore;

struct PartitionOptions {
  std::string name;                  // unique in the process, at most 26 bytes
  uint64_t capacity_bytes = 0;       // of segments; at least 3 segments
  uint32_t segment_bytes = 1 << 20;  // at least 128 KiB, a power of two
  int numa_node = 0;
  rte_rcu_qsbr* rcu = nullptr;  // of the node
  const HashSecret* secret = nullptr;
  stats::WorkerStats* stats = nullptr;  // the owner's
};

class Partition {
 public:
  static Expected<std::unique_ptr<Partition>> create(const PartitionOptions& options);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // Readers: candidates by hash; the caller checks EntryView::matches and fresh.
  void find_bulk(std::span<const uint64_t> hashes, const uint8_t** entries) const {
    index_->find_bulk(hashes, entries);
  }
  const uint8_t* find(uint64_t hash) const { return index_->find(hash); }

  // Owner: copies `entry` (of encode_answer) into the store and files it under `hash`.
  enum class InsertStatus : uint8_t { kInserted, kReplaced, kRejected };
  InsertStatus insert(uint64_t hash, Bytes entry);

  // Owner, once a poll: moves eviction and reclaim on by a bounded step.
  void maintain();

  uint32_t entry_count() const { return index_->size(); }

 private:
  Partition(std::unique_ptr<Index> index, std::unique_ptr<SegmentStore> store,
            const PartitionOptions& options);
  bool must_evict() const;
  void evict(unsigned most_entries);
  uint64_t hash_of(EntryView entry) const;
  void publish_gauges();

  std::unique_ptr<Index> index_;
  std::unique_ptr<SegmentStore> store_;
  const HashSecret* secret_;
  stats::WorkerStats* stats_;
};

}  // namespace wirecache::cache

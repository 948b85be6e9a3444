#include "lib/cache/partition.h"

#include <algorithm>

#include "lib/cache/segment_store.h"

namespace wirecache::cache {
namespace {

constexpr uint64_t kBytesPerIndexSlot = 96;
constexpr uint64_t kFewestIndexSlots = 1024;
constexpr uint64_t kMostIndexSlots = 1u << 29;

// The removal of an entry costs about 100 ns.
constexpr unsigned kMostEvictionsPerInsert = 128;
constexpr unsigned kMostEvictionsPerPoll = 32;

}  // namespace

Expected<std::unique_ptr<Partition>> Partition::create(const PartitionOptions& options) {
  auto store = SegmentStore::create({.capacity_bytes = options.capacity_bytes,
                                     .segment_bytes = options.segment_bytes,
                                     .rcu = options.rcu});
  if (!store) return fail(options.name + ": " + store.error().message);
  const uint64_t slots =
      std::clamp(options.capacity_bytes / kBytesPerIndexSlot, kFewestIndexSlots, kMostIndexSlots);
  auto index = Index::create({.name = options.name,
                              .entries = static_cast<uint32_t>(slots),
                              .numa_node = options.numa_node,
                              .rcu = options.rcu});
  if (!index) return fail(index.error().message);
  return std::unique_ptr<Partition>(new Partition(std::move(*index), std::move(*store), options));
}

Partition::Partition(std::unique_ptr<Index> index, std::unique_ptr<SegmentStore> store,
                     const PartitionOptions& options)
    : index_(std::move(index)),
      store_(std::move(store)),
      secret_(options.secret),
      stats_(options.stats) {}

Partition::~Partition() = default;

Partition::InsertStatus Partition::insert(uint64_t hash, Bytes entry) {
  evict(kMostEvictionsPerInsert);
  InsertStatus result = InsertStatus::kRejected;
  if (const uint8_t* place = store_->append(entry); place != nullptr) {
    switch (index_->insert(hash, place)) {
      case Index::Status::kInserted:
        result = InsertStatus::kInserted;
        break;
      case Index::Status::kReplaced:
        result = InsertStatus::kReplaced;
        break;
      default:
        store_->take_back(entry);
    }
  }
  stats_
      ->cache[result == InsertStatus::kInserted   ? stats::Cache::kInserted
              : result == InsertStatus::kReplaced ? stats::Cache::kReplaced
                                                  : stats::Cache::kRejected]
      .add();
  publish_gauges();
  return result;
}

void Partition::maintain() {
  index_->reclaim();
  store_->reclaim();
  evict(kMostEvictionsPerPoll);
  publish_gauges();
}

// A few slots are kept free, so that an insertion need not wait for those that readers still look
// at.
bool Partition::must_evict() const {
  return store_->is_eviction_due() ||
         index_->size() >= index_->capacity() - index_->capacity() / 32;
}

// Takes the oldest entries out of the index as long as there is need to, but not more than a burst
// can pay for.
void Partition::evict(unsigned most_entries) {
  for (unsigned i = 0; i < most_entries && must_evict(); ++i) {
    const uint8_t* oldest = store_->oldest();
    if (oldest == nullptr) {
      store_->seal();  // the index is short and all entries stand in the current segment
      return;
    }
    const EntryView entry(oldest);
    const Index::Status status = index_->erase_if(hash_of(entry), oldest);
    if (status == Index::Status::kBusy) return;
    if (status == Index::Status::kErased) stats_->cache[stats::Cache::kEvicted].add();
    store_->drop_oldest();
  }
}

uint64_t Partition::hash_of(EntryView entry) const {
  KeyBuffer buffer;
  return buffer.make(*secret_, entry.name(), entry.type(), entry.cd_bit(), entry.tag()).hash;
}

void Partition::publish_gauges() {
  stats_->cache_entries.set(index_->size());
  stats_->cache_bytes.set(store_->used_bytes());
}

}  // namespace wirecache::cache

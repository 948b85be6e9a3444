#include "lib/cache/partition.h"

#include <algorithm>
#include <array>
#include <bit>

#include "lib/cache/entry_hash.h"

namespace wirecache::cache {
namespace {

constexpr uint64_t kSmallestCapacity = 1u << 20;
constexpr uint64_t kHugePage = 2u << 20;
constexpr uint64_t kGhostShare = 100;
constexpr uint32_t kSmallestSlab = 64u << 10;
constexpr uint32_t kLargestSlab = 64u << 20;
constexpr uint32_t kLargestSegment = 2u << 20;

// The removal of an entry costs about 100 ns.
constexpr unsigned kEvictionsPerPoll = 32;
constexpr unsigned kEvictionsPerInsert = 16;
constexpr unsigned kUrgentEvictions = 128;
constexpr size_t kEvictionBatch = 8;

// Main's turns until the largest slabs of the reserve are in memory.
constexpr unsigned kFirstTurns = 64;

uint32_t power_of_two_near(uint64_t bytes, uint32_t least, uint32_t most) {
  return static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_floor(bytes), least, most));
}

}  // namespace

PartitionLayout PartitionLayout::for_capacity(uint64_t capacity_bytes) {
  const bool suits_huge_pages = capacity_bytes >= 48 * kHugePage;
  const uint32_t least = suits_huge_pages ? kHugePage : kSmallestSlab;
  return {
      .slab_bytes = power_of_two_near(capacity_bytes / 128, least, kLargestSlab),
      .segment_bytes = power_of_two_near(capacity_bytes / 2048, kSmallestSlab, kLargestSegment)};
}

template <typename IndexType>
Expected<std::unique_ptr<BasicPartition<IndexType>>> BasicPartition<IndexType>::create(
    const PartitionOptions& options) {
  if (options.capacity_bytes < kSmallestCapacity) {
    return fail(options.name + ": a cache of " + std::to_string(options.capacity_bytes) +
                " bytes is too small; the least is 1048576");
  }
  if (options.memory->slab_bytes() !=
      PartitionLayout::for_capacity(options.capacity_bytes).slab_bytes) {
    return fail(options.name + ": slabs of " + std::to_string(options.memory->slab_bytes()) +
                " bytes are not those of its layout");
  }
  std::unique_ptr<BasicPartition> partition(new BasicPartition(options));
  if (auto made = partition->make_index(options); !made) return fail(made.error().message);
  return partition;
}

template <typename IndexType>
BasicPartition<IndexType>::BasicPartition(const PartitionOptions& options)
    : secret_(options.secret),
      stats_(options.stats),
      supply_(*options.memory, options.capacity_bytes),
      space_(options.memory->slab_bytes(),
             static_cast<uint32_t>(options.capacity_bytes / options.memory->slab_bytes()),
             EntrySpace::unit_shift_for(options.capacity_bytes)),
      ghosts_(options.capacity_bytes / kGhostShare),
      store_({.segment_bytes = PartitionLayout::for_capacity(options.capacity_bytes).segment_bytes,
              .stale_retention_sec = options.stale_retention_sec,
              .rcu = options.rcu},
             space_, supply_) {}

template <typename IndexType>
BasicPartition<IndexType>::~BasicPartition() = default;

template <typename IndexType>
Expected<void> BasicPartition<IndexType>::make_index(const PartitionOptions& options) {
  // The index takes its first slab at once; the rest comes with main's turns.
  for (unsigned turn = 0; turn < kFirstTurns; ++turn) provision();
  auto index = IndexType::create({.name = options.name,
                                  .capacity_bytes = options.capacity_bytes,
                                  .space = &space_,
                                  .supply = &supply_,
                                  .rcu = options.rcu,
                                  .secret = options.secret,
                                  .numa_node = options.numa_node});
  if (!index) return fail(index.error().message);
  index_ = std::move(*index);
  fixed_bytes_ = index_->memory_bytes() - index_->supplied_bytes() + ghosts_.bytes();
  set_capacity(options.capacity_bytes);
  return {};
}

template <typename IndexType>
void BasicPartition<IndexType>::set_capacity(uint64_t bytes) {
  const uint64_t all = std::max(bytes, kSmallestCapacity);
  const uint64_t least = uint64_t{supply_.slab_bytes()} * SegmentStore::kFewestSegments;
  supply_.set_capacity(std::max(all, fixed_bytes_ + least) - fixed_bytes_);
}

template <typename IndexType>
InsertStatus BasicPartition<IndexType>::insert(const Key& key, Bytes entry, uint32_t now_sec) {
  now_sec_ = now_sec;
  if (must_evict()) {
    evict(store_.is_eviction_urgent() ? kUrgentEvictions : kEvictionsPerInsert);
  }
  const uint8_t* known = index_->find(key);
  const uint8_t popularity = known == nullptr ? uint8_t{0} : EntryView(known).popularity();
  const Residence residence = residence_for(known, key.hash);
  const int32_t remaining_sec = EntryView(entry.data()).remaining_sec(now_sec);
  const EntryRef ref =
      store_.append(entry, {.residence = residence,
                            .popularity = popularity,
                            .now_sec = now_sec,
                            .remaining_sec = static_cast<uint32_t>(std::max(remaining_sec, 0))});
  InsertStatus result = InsertStatus::kRejected;
  if (ref != kNoEntry) {
    switch (known == nullptr ? index_->insert_absent(key, ref) : index_->insert(key, ref).status) {
      case IndexStatus::kInserted:
        result = InsertStatus::kInserted;
        break;
      case IndexStatus::kReplaced:
        result = InsertStatus::kReplaced;
        break;
      default:
        store_.take_back(ref);
    }
  }
  count(result);
  return result;
}

// Straight to main goes what was there or has been asked for more than by the look-up that led to
// this insertion, and what comes back soon.
template <typename IndexType>
Residence BasicPartition<IndexType>::residence_for(const uint8_t* known, uint64_t hash) {
  if (known == nullptr) return ghosts_.take(hash) ? Residence::kMain : Residence::kProbation;
  const EntryView entry(known);
  return entry.is_in_main() || entry.popularity() > 1 ? Residence::kMain : Residence::kProbation;
}

template <typename IndexType>
void BasicPartition<IndexType>::count(InsertStatus result) {
  stats_
      ->cache[result == InsertStatus::kInserted   ? stats::Cache::kInserted
              : result == InsertStatus::kReplaced ? stats::Cache::kReplaced
                                                  : stats::Cache::kRejected]
      .add();
}

template <typename IndexType>
void BasicPartition<IndexType>::maintain(uint32_t now_sec) {
  now_sec_ = now_sec;
  index_->maintain();
  store_.maintain(now_sec);
  give_memory_back();
  if (must_evict()) evict(kEvictionsPerPoll);
  publish_gauges();
}

// What the lowered cap or the index wants is taken from the store: its slabs can be emptied.
template <typename IndexType>
void BasicPartition<IndexType>::give_memory_back() {
  if (supply_.is_over_cap()) {
    if (!supply_.return_unused() && !index_->release_memory()) store_.withdraw_slab();
  } else if (index_->wants_memory() && supply_.is_at_cap()) {
    store_.withdraw_slab();
  }
}

// Takes entries out of the index as long as there is need to, but not more than a burst can pay
// for. Their buckets are fetched together.
template <typename IndexType>
void BasicPartition<IndexType>::evict(unsigned most_entries) {
  std::array<EntryRef, kEvictionBatch> refs;
  std::array<uint64_t, kEvictionBatch> hashes;
  for (unsigned done = 0; done < most_entries && must_evict();) {
    const size_t count = store_.leaving_entries(refs);
    if (count == 0) return;
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = hash_of(*secret_, EntryView(space_.at(refs[i])));
      index_->prefetch(hashes[i]);
    }
    for (size_t i = 0; i < count; ++i, ++done) {
      if (!evict_one(refs[i], hashes[i])) return;
    }
  }
}

// False: not now, for a reader that does not move on keeps the index from forgetting.
template <typename IndexType>
bool BasicPartition<IndexType>::evict_one(EntryRef ref, uint64_t hash) {
  const EntryView entry(space_.at(ref));
  if (!is_worth_keeping(entry) || !keep_copy(entry, ref, hash)) {
    const IndexStatus status = index_->erase_if(hash, ref);
    if (status == IndexStatus::kBusy) return false;
    if (status == IndexStatus::kErased) {
      stats_->cache[stats::Cache::kEvicted].add();
      if (is_worth_a_mark(entry)) ghosts_.add(hash);
    }
  }
  store_.pass_leaving(ref);
  return true;
}

template <typename IndexType>
bool BasicPartition<IndexType>::is_worth_keeping(EntryView entry) const {
  return entry.popularity() != 0 && entry.fresh(now_sec_);
}

// Random subdomains, whose answers are negative, must not push the marks of others out.
template <typename IndexType>
bool BasicPartition<IndexType>::is_worth_a_mark(EntryView entry) const {
  const bool is_positive = entry.is_plain() || entry.outcome() == EntryOutcome::kPositive;
  return entry.popularity() != 0 || (is_positive && !entry.is_in_main());
}

// What was on probation has proved itself and starts anew; in main an entry lives as many rounds as
// it was asked for.
template <typename IndexType>
bool BasicPartition<IndexType>::keep_copy(EntryView entry, EntryRef ref, uint64_t hash) {
  const uint8_t popularity =
      entry.is_in_main() ? static_cast<uint8_t>(entry.popularity() - 1) : uint8_t{0};
  const EntryRef copy =
      store_.append({entry.data(), entry.size_bytes()},
                    {.residence = Residence::kMain,
                     .popularity = popularity,
                     .now_sec = now_sec_,
                     .remaining_sec = static_cast<uint32_t>(entry.remaining_sec(now_sec_))});
  if (copy == kNoEntry) return false;
  if (index_->move(hash, ref, copy) == IndexStatus::kMoved) return true;
  store_.take_back(copy);
  return false;
}

template <typename IndexType>
void BasicPartition<IndexType>::publish_gauges() {
  stats_->cache_entries.set(index_->size());
  stats_->cache_bytes.set(memory_bytes());
}

template class BasicPartition<CompactIndex>;
template class BasicPartition<HashIndex>;

}  // namespace wirecache::cache

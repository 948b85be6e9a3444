#include "lib/cache/compact_index.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <bit>

#include "lib/cache/entry.h"

namespace wirecache::cache {
namespace {

constexpr std::array<unsigned, 2> kChoices = {0, 1};

// The key and most entries end within two lines.
void prefetch_entry(const uint8_t* entry) {
  rte_prefetch0(entry);
  rte_prefetch0(entry + sizeof(CompactBucket));
}

// One key of a burst on its way: the bucket to look into next, and the tag to look for there.
struct Probe {
  const CompactBucket* bucket;
  uint32_t tag;
};

}  // namespace

Expected<std::unique_ptr<CompactIndex>> CompactIndex::create(const IndexOptions& options) {
  uint8_t* first_chunk = options.supply->take();
  if (first_chunk == nullptr) return fail("index " + options.name + ": no memory");
  return std::unique_ptr<CompactIndex>(new CompactIndex(options, first_chunk));
}

CompactIndex::CompactIndex(const IndexOptions& options, uint8_t* first_chunk)
    : chunk_shift_(static_cast<unsigned>(std::countr_zero(options.supply->slab_bytes())) -
                   kBucketShift),
      chunks_(std::make_unique<std::atomic<CompactBucket*>[]>(options.space->most_slabs())),
      space_(*options.space),
      supply_(*options.supply),
      rcu_(options.rcu),
      secret_(*options.secret) {
  chunks_[0].store(reinterpret_cast<CompactBucket*>(first_chunk), std::memory_order_relaxed);
  for (uint32_t i = 0; i < kFewestBuckets; ++i) bucket(i).clear_all();
  set_bucket_count(kFewestBuckets);
}

CompactIndex::~CompactIndex() {
  for (uint32_t i = 0; i < chunks_held_; ++i) {
    supply_.release(reinterpret_cast<uint8_t*>(chunks_[i].load(std::memory_order_relaxed)));
  }
}

void CompactIndex::prefetch(uint64_t hash) const {
  const CompactHash parts(hash);
  const CompactGeometry geometry = this->geometry();
  for (const unsigned choice : kChoices) {
    rte_prefetch0(&bucket(geometry.bucket_of(parts.address(choice))));
  }
}

// The first entry with the tag, nullptr where there is none; it is not compared.
const uint8_t* CompactIndex::candidate(const CompactBucket& bucket, uint32_t tag) const {
  const uint32_t matching = bucket.match(tag);
  if (matching == 0) return nullptr;
  const uint8_t* entry = space_.at(bucket.ref(CompactBucket::first_of(matching)));
  prefetch_entry(entry);
  return entry;
}

// In steps over the whole burst, so that all lines that a step needs were asked for in the one
// before: first buckets; their tags; second buckets, where the first have no such tag; entries. A
// tag that was another key's (one in a few hundred) sends its key to find().
void CompactIndex::find_burst(std::span<const Query> queries, const uint8_t** entries) {
  std::array<Probe, kMaxIndexBurst> probes;
  const size_t count = std::min(queries.size(), kMaxIndexBurst);
  const auto aim = [&](size_t i, unsigned choice) {
    const CompactIndex& index = *queries[i].index;
    const CompactPlace place = index.geometry().place(CompactHash(queries[i].key->hash), choice);
    probes[i] = {&index.bucket(place.bucket), place.tag};
    rte_prefetch0(probes[i].bucket);
  };
  for (size_t i = 0; i < count; ++i) aim(i, 0);
  uint64_t elsewhere = 0;
  for (size_t i = 0; i < count; ++i) {
    entries[i] = queries[i].index->candidate(*probes[i].bucket, probes[i].tag);
    if (entries[i] != nullptr) continue;
    elsewhere |= uint64_t{1} << i;
    aim(i, 1);
  }
  for (; elsewhere != 0; elsewhere &= elsewhere - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(elsewhere));
    entries[i] = queries[i].index->candidate(*probes[i].bucket, probes[i].tag);
  }
  for (size_t i = 0; i < count; ++i) {
    if (entries[i] == nullptr || EntryView(entries[i]).matches(*queries[i].key)) continue;
    entries[i] = queries[i].index->find(*queries[i].key);
  }
}

const uint8_t* CompactIndex::find(const Key& key) const {
  const CompactHash hash(key.hash);
  const CompactGeometry geometry = this->geometry();
  for (const unsigned choice : kChoices) {
    const CompactPlace place = geometry.place(hash, choice);
    const CompactBucket& bucket = this->bucket(place.bucket);
    for (uint32_t matching = bucket.match(place.tag); matching != 0; matching &= matching - 1) {
      const uint8_t* entry = space_.at(bucket.ref(CompactBucket::first_of(matching)));
      if (EntryView(entry).matches(key)) return entry;
    }
  }
  return nullptr;
}

CompactIndex::Inserted CompactIndex::insert(const Key& key, EntryRef entry) {
  const CompactHash hash(key.hash);
  const CompactGeometry geometry = this->geometry();
  for (const unsigned choice : kChoices) {
    const CompactPlace place = geometry.place(hash, choice);
    CompactBucket& bucket = this->bucket(place.bucket);
    for (uint32_t matching = bucket.match(place.tag); matching != 0; matching &= matching - 1) {
      const auto slot = CompactBucket::first_of(matching);
      const EntryRef known = bucket.ref(slot);
      if (!EntryView(space_.at(known)).matches(key)) continue;
      bucket.set_ref(slot, entry);
      return {Status::kReplaced, known};
    }
  }
  return {insert_absent(key, entry)};
}

CompactIndex::Status CompactIndex::insert_absent(const Key& key, EntryRef entry) {
  if (!put(CompactHash(key.hash), entry)) return Status::kFull;
  ++size_;
  constexpr unsigned kSplitsPerInsertion = 2;
  grow(kSplitsPerInsertion);
  return Status::kInserted;
}

bool CompactIndex::put(const CompactHash& hash, EntryRef entry) {
  const CompactGeometry geometry = this->geometry();
  const CompactPlace first = geometry.place(hash, 0);
  const CompactPlace second = geometry.place(hash, 1);
  CompactPlace chosen = first;
  if (bucket(first.bucket).free_slots() == 0) {
    chosen = second;
    if (bucket(second.bucket).free_slots() == 0) {
      const auto roomy = make_room(geometry, first.bucket, second.bucket);
      if (!roomy) return false;
      chosen = *roomy == 0 ? first : second;
    }
  }
  CompactBucket& bucket = this->bucket(chosen.bucket);
  bucket.set(CompactBucket::first_of(bucket.free_slots()), chosen.tag, entry);
  return true;
}

std::optional<CompactIndex::Slot> CompactIndex::find_slot(uint64_t hash, EntryRef entry) const {
  const CompactHash parts(hash);
  const CompactGeometry geometry = this->geometry();
  for (const unsigned choice : kChoices) {
    const CompactPlace place = geometry.place(parts, choice);
    CompactBucket& bucket = this->bucket(place.bucket);
    for (uint32_t matching = bucket.match(place.tag); matching != 0; matching &= matching - 1) {
      const auto number = CompactBucket::first_of(matching);
      if (bucket.ref(number) == entry) return Slot{&bucket, number};
    }
  }
  return std::nullopt;
}

CompactIndex::Status CompactIndex::erase_if(uint64_t hash, EntryRef entry) {
  const auto slot = find_slot(hash, entry);
  if (!slot) return Status::kNotFound;
  slot->bucket->clear(slot->number);
  --size_;
  return Status::kErased;
}

CompactIndex::Status CompactIndex::move(uint64_t hash, EntryRef from, EntryRef to) {
  const auto slot = find_slot(hash, from);
  if (!slot) return Status::kNotFound;
  slot->bucket->set_ref(slot->number, to);
  return Status::kMoved;
}

}  // namespace wirecache::cache

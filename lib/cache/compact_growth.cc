// The bucket array of the compact index: it grows and shrinks by one bucket at a time.
#include <rte_prefetch.h>
#include <rte_rcu_qsbr.h>

#include <array>
#include <bit>

#include "lib/cache/compact_index.h"

namespace wirecache::cache {
namespace {

constexpr unsigned kSplitsPerPoll = 16;
constexpr unsigned kMergesPerStep = 16;

uint32_t permille_of_slots(uint32_t buckets, unsigned permille) {
  return static_cast<uint32_t>(uint64_t{buckets} * CompactBucket::kSlots * permille / 1000);
}

}  // namespace

void CompactIndex::set_bucket_count(uint32_t buckets) {
  grow_at_ = permille_of_slots(buckets, kTargetPermille);
  short_at_ = permille_of_slots(buckets, kShortPermille);
  buckets_.store(buckets, std::memory_order_release);
}

void CompactIndex::maintain() {
  if (size_ > grow_at_) grow(kSplitsPerPoll);
  give_back_chunk();
}

// Keeps the load at its target, as far as memory and the bound allow.
void CompactIndex::grow(unsigned most_splits) {
  for (; most_splits != 0 && size_ > grow_at_; --most_splits) {
    is_starved_ = !has_next_bucket();
    if (is_starved_) return;
    split();
  }
}

// Whether the next bucket has a place; takes a slab where it needs one.
bool CompactIndex::has_next_bucket() {
  const uint32_t next = bucket_count();
  if (next == kMostBuckets || supply_.is_over_cap()) return false;
  const uint32_t chunk = next >> chunk_shift_;
  if (chunk < chunks_held_) {
    // A chunk that waited for its readers is used again.
    if (chunk == chunks_held_ - 1) unused_.reset();
    return true;
  }
  if (chunk == space_.most_slabs()) return false;
  uint8_t* slab = supply_.take();
  if (slab == nullptr) return false;
  chunks_[chunk].store(reinterpret_cast<CompactBucket*>(slab), std::memory_order_relaxed);
  ++chunks_held_;
  return true;
}

// Shares the entries of the next bucket in turn with a new one. Readers see the new bucket when it
// is whole, and the old one loses what is in the new one after that.
void CompactIndex::split() {
  const CompactGeometry before = geometry();
  const CompactGeometry after(before.buckets() + 1);
  const uint32_t number = before.next_to_split();
  const uint32_t twin = before.buckets();
  CompactBucket& old_bucket = bucket(number);
  CompactBucket& new_bucket = bucket(twin);
  const unsigned slide = after.slide(number);
  const bool needs_keys = slide != before.slide(number);
  const uint32_t twin_bit = twin - number;
  new_bucket.clear_all();
  std::array<uint32_t, CompactBucket::kSlots> tags{};  // what the old bucket shall have
  unsigned moved = 0;
  for (uint32_t used = old_bucket.used_slots(); used != 0; used &= used - 1) {
    const auto slot = CompactBucket::first_of(used);
    const EntryRef entry = old_bucket.ref(slot);
    const CompactPlace place{number, old_bucket.tag(slot)};
    const uint32_t address =
        needs_keys ? address_by_key(entry, place) : before.known_address(place);
    const uint32_t tag = CompactGeometry::retag(place.tag, address, slide);
    if ((address & twin_bit) != 0) {
      new_bucket.set(moved++, tag, entry);
    } else {
      tags[slot] = tag;
    }
  }
  set_bucket_count(after.buckets());
  for (unsigned slot = 0; slot < CompactBucket::kSlots; ++slot) {
    if (old_bucket.tag(slot) != tags[slot]) old_bucket.set_tag(slot, tags[slot]);
  }
  prefetch_next_split(after);
}

// The next splits come a few insertions later: asks for the bucket of the one after next, and for
// the keys of the next, where it needs them.
void CompactIndex::prefetch_next_split(const CompactGeometry& geometry) const {
  const uint32_t next = geometry.next_to_split();
  rte_prefetch0(&bucket(next + 1));
  if ((geometry.depth(next) + 1) % kSlideBits != 0) return;
  const CompactBucket& here = bucket(next);
  for (uint32_t used = here.used_slots(); used != 0; used &= used - 1) {
    rte_prefetch0(space_.at(here.ref(CompactBucket::first_of(used))));
  }
}

bool CompactIndex::release_memory() {
  for (unsigned i = 0; i < kMergesPerStep; ++i) {
    if (!merge()) return i != 0;
  }
  return true;
}

// Takes the last bucket off: its entries go to its twin. What does not fit there goes to its other
// bucket first. False: there is no room for them.
bool CompactIndex::merge() {
  const CompactGeometry before = geometry();
  const uint32_t last = before.buckets() - 1;
  if (last < kFewestBuckets || size_ > permille_of_slots(last, kShortPermille)) return false;
  const CompactGeometry after(last);
  const uint32_t twin = before.twin_of_last();
  CompactBucket& from = bucket(last);
  CompactBucket& to = bucket(twin);
  while (std::popcount(from.used_slots()) > std::popcount(to.free_slots())) {
    if (!make_room(before, last, twin)) return false;
  }
  const unsigned slide = after.slide(twin);
  const auto tag_after = [&](CompactPlace place) {
    return CompactGeometry::retag(place.tag, before.known_address(place), slide);
  };
  const uint32_t own = to.used_slots();
  for (uint32_t used = from.used_slots(); used != 0; used &= used - 1) {
    const auto slot = CompactBucket::first_of(used);
    to.set(CompactBucket::first_of(to.free_slots()), tag_after({last, from.tag(slot)}),
           from.ref(slot));
  }
  set_bucket_count(last);
  for (uint32_t used = own; used != 0; used &= used - 1) {
    const auto slot = CompactBucket::first_of(used);
    const uint32_t tag = tag_after({twin, to.tag(slot)});
    if (tag != to.tag(slot)) to.set_tag(slot, tag);
  }
  return true;
}

// The last chunk, when it has no bucket in use and no reader looks at it any more.
void CompactIndex::give_back_chunk() {
  const uint32_t needed = ((bucket_count() - 1) >> chunk_shift_) + 1;
  if (chunks_held_ == needed) return;
  if (!unused_) {
    unused_ = rte_rcu_qsbr_start(rcu_);
    return;
  }
  constexpr int kDoNotWait = 0;
  if (rte_rcu_qsbr_check(rcu_, *unused_, kDoNotWait) != 1) return;
  auto* slab =
      reinterpret_cast<uint8_t*>(chunks_[chunks_held_ - 1].load(std::memory_order_relaxed));
  if (!supply_.give_back(slab)) return;
  --chunks_held_;
  unused_.reset();
}

}  // namespace wirecache::cache

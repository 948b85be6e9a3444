// Entries of the compact index on their way from bucket to bucket.
#include <rte_prefetch.h>

#include <array>
#include <bit>

#include "lib/cache/compact_index.h"
#include "lib/cache/entry_hash.h"

namespace wirecache::cache {
namespace {

// A breadth-first search from the two buckets of a key, over the other buckets of the entries that
// stand in them, to one with a free slot. Each step back from there moves one entry.
struct Step {
  uint32_t bucket;
  uint16_t from;  // the step by which the search came here
  uint16_t slot;  // of the entry that would come here, in that step's bucket
};
constexpr uint16_t kRoots = 2;
// Bounds the search. Below the load that the table keeps, one step is enough nearly always.
constexpr uint16_t kMostSteps = 256;

class Search {
 public:
  Search(uint32_t first, uint32_t second) {
    add({first, 0, 0});
    add({second, 1, 0});
  }
  uint16_t size() const { return count_; }
  const Step& operator[](uint16_t step) const { return steps_[step]; }
  void add(Step step) {
    if (count_ < kMostSteps) steps_[count_++] = step;
  }
  // Whether a bucket is on the way from a root to this step: moves along a ring undo each other.
  bool passes(uint16_t step, uint32_t bucket) const {
    while (steps_[step].bucket != bucket && step >= kRoots) step = steps_[step].from;
    return steps_[step].bucket == bucket;
  }

 private:
  uint16_t count_ = 0;
  std::array<Step, kMostSteps> steps_;
};

}  // namespace

// Frees a slot in one of two buckets, and says in which (0, 1). Entries that would come home by
// moving, to the bucket of their first choice, are tried first: that is where look-ups begin.
std::optional<unsigned> CompactIndex::make_room(const CompactGeometry& geometry, uint32_t first,
                                                uint32_t second) {
  Search search(first, second);
  const auto add = [&](uint16_t from, uint32_t slots) {
    const uint32_t number = search[from].bucket;
    const CompactBucket& here = bucket(number);
    for (; slots != 0; slots &= slots - 1) {
      const unsigned slot = CompactBucket::first_of(slots);
      const uint32_t other = geometry.other_bucket({number, here.tag(slot)});
      if (other == first || other == second || search.passes(from, other)) continue;
      rte_prefetch0(&bucket(other));
      search.add({other, from, static_cast<uint16_t>(slot)});
    }
  };
  uint16_t looked_at = kRoots;
  const auto has_found = [&] {
    while (looked_at < search.size() && bucket(search[looked_at].bucket).free_slots() == 0) {
      ++looked_at;
    }
    return looked_at < search.size();
  };
  for (uint16_t root = 0; root < kRoots; ++root) {
    add(root, bucket(search[root].bucket).slots_with(kChoiceBit));
  }
  for (uint16_t root = 0; root < kRoots && !has_found(); ++root) {
    const CompactBucket& here = bucket(search[root].bucket);
    add(root, here.used_slots() & ~here.slots_with(kChoiceBit));
  }
  for (uint16_t at = kRoots; at < search.size() && !has_found(); ++at) {
    add(at, bucket(search[at].bucket).used_slots());
  }
  if (!has_found()) return std::nullopt;
  uint16_t step = looked_at;
  for (; step >= kRoots; step = search[step].from) {
    const Step& last = search[step];
    relocate(geometry, search[last.from].bucket, last.slot, last.bucket);
  }
  return step;
}

// Moves an entry to its other bucket, which has a free slot.
void CompactIndex::relocate(const CompactGeometry& geometry, uint32_t from, unsigned slot,
                            uint32_t to) {
  CompactBucket& source = bucket(from);
  CompactBucket& target = bucket(to);
  const CompactPlace place{from, source.tag(slot)};
  const CompactPlace moved{to, CompactGeometry::with_other_choice(place.tag)};
  const EntryRef entry = source.ref(slot);
  const unsigned slide = geometry.slide(to);
  const uint32_t address = slide <= geometry.slide(from)
                               ? geometry.known_address(place) ^ CompactHash::offset(place.label())
                               : address_by_key(entry, moved);
  target.set(CompactBucket::first_of(target.free_slots()),
             CompactGeometry::retag(moved.tag, address, slide), entry);
  source.clear(slot);
}

// All 32 bits of the address by which an entry stands in a place.
uint32_t CompactIndex::address_by_key(EntryRef entry, CompactPlace place) const {
  return CompactHash(hash_of(secret_, EntryView(space_.at(entry)))).address(place.choice());
}

}  // namespace wirecache::cache

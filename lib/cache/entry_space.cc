#include "lib/cache/entry_space.h"

#include <bit>

namespace wirecache::cache {

EntrySpace::EntrySpace(uint32_t slab_bytes, uint32_t most_slabs, unsigned unit_shift)
    : slabs_(std::make_unique<std::atomic<uint8_t*>[]>(most_slabs)),
      slab_shift_(static_cast<unsigned>(std::countr_zero(slab_bytes))),
      unit_shift_(unit_shift),
      slab_mask_(slab_bytes - 1),
      most_slabs_(most_slabs) {}

// One reference is kNoEntry, so not quite 2^32 of them.
unsigned EntrySpace::unit_shift_for(uint64_t bytes) {
  unsigned shift = 0;
  while ((bytes >> shift) >= 0xffffffffu) ++shift;
  return shift;
}

}  // namespace wirecache::cache

// The memory of a NUMA node's cache: slabs of one size from a jemalloc arena of its own, whose
// extent hooks map them: huge pages of the node where there are some, else transparent ones.
//
// Invariant: a slab is one mapping and every page of it is there before it is handed out, so that
// slabs() * slab_bytes is what the process shows for them (VmRSS and HugetlbPages) and no worker
// meets a page fault. jemalloc asks the hook for a page more than a slab (its guard against cache
// aliasing); that page is mapped small and never touched. Main only.
//
// Why the hook refuses what it refuses: with `retain` on jemalloc would grow the arena in ever
// larger pieces (64 segments of 2 MiB drew 386 MiB); it falls back to what is needed.
#pragma once

#include <jemalloc/jemalloc.h>

#include <cstdint>
#include <memory>
#include <set>

#include "lib/base/expected.h"

namespace wirecache::cache {

enum class HugePages : uint8_t {
  kNever,        // not even transparent ones
  kTransparent,  // what the kernel gives unasked
  kWhereFree,    // those that the operator set aside, else transparent ones
};

class SlabMemory {
 public:
  struct Options {
    uint32_t slab_bytes = 0;  // a power of two, at least 64 KiB; huge pages from 2 MiB on
    int numa_node = -1;       // -1: wherever main runs
    HugePages huge_pages = HugePages::kWhereFree;
  };
  static Expected<std::unique_ptr<SlabMemory>> create(const Options& options);
  ~SlabMemory();
  SlabMemory(const SlabMemory&) = delete;
  SlabMemory& operator=(const SlabMemory&) = delete;

  // A slab whose pages are not there yet, nullptr without memory.
  uint8_t* allocate();
  // Brings up to `bytes` from `offset` on into memory. False: there is none; the slab is of no use.
  [[nodiscard]] bool populate(uint8_t* slab, uint32_t offset, uint32_t bytes) const;
  void free(uint8_t* slab);

  uint32_t slab_bytes() const { return options_.slab_bytes; }

 private:
  explicit SlabMemory(const Options& options);
  static void* map_extent(extent_hooks_t* hooks, void* where, size_t bytes, size_t alignment,
                          bool* zero, bool* commit, unsigned arena);
  static bool unmap_extent(extent_hooks_t* hooks, void* extent, size_t bytes, bool committed,
                           unsigned arena);
  struct Hooks;
  uint8_t* map_slab();
  bool make_huge(uint8_t* slab);
  void bind(uint8_t* slab, int policy) const;

  Options options_;
  std::unique_ptr<Hooks> hooks_;
  unsigned arena_ = 0;
  std::set<const uint8_t*> huge_;  // slabs on huge pages that the operator set aside
};

}  // namespace wirecache::cache

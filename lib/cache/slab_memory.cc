#include "lib/cache/slab_memory.h"

#include <linux/mempolicy.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <fstream>
#include <string>

namespace wirecache::cache {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = 2u << 20;
constexpr uint32_t kSmallestSlab = 64u << 10;
constexpr int kHugePageShift = 21 << MAP_HUGE_SHIFT;
constexpr unsigned kNodeBits = sizeof(unsigned long) * CHAR_BIT;
constexpr int kAllocation = MALLOCX_TCACHE_NONE;

void* map_anonymous(void* where, size_t bytes, int flags) {
  void* memory =
      mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Some address range with the wanted alignment, what stands over cut off.
uint8_t* map_aligned(size_t bytes, size_t alignment) {
  auto* memory = static_cast<uint8_t*>(map_anonymous(nullptr, bytes + alignment, 0));
  if (memory == nullptr) return nullptr;
  const size_t before = -reinterpret_cast<uintptr_t>(memory) & (alignment - 1);
  if (before != 0) munmap(memory, before);
  munmap(memory + before + bytes, alignment - before);
  return memory + before;
}

// 2 MiB pages that nobody has taken on a NUMA node, or on all of them.
uint64_t free_huge_pages(int numa_node) {
  const std::string node = numa_node < 0
                               ? "/sys/kernel/mm"
                               : "/sys/devices/system/node/node" + std::to_string(numa_node);
  std::ifstream file(node + "/hugepages/hugepages-2048kB/free_hugepages");
  uint64_t pages = 0;
  return file >> pages ? pages : 0;
}

bool set_arena(unsigned arena, const char* setting, ssize_t value) {
  const std::string name = "arena." + std::to_string(arena) + "." + setting;
  return mallctl(name.c_str(), nullptr, nullptr, &value, sizeof value) == 0;
}

}  // namespace

// The hooks' table is the first member of what jemalloc is told of, so that a hook finds its
// object.
struct SlabMemory::Hooks : extent_hooks_t {
  SlabMemory* memory;
};

SlabMemory::SlabMemory(const Options& options)
    : options_(options), hooks_(std::make_unique<Hooks>()) {
  *static_cast<extent_hooks_t*>(hooks_.get()) = {};
  hooks_->alloc = map_extent;
  hooks_->dalloc = unmap_extent;
  hooks_->memory = this;
}

Expected<std::unique_ptr<SlabMemory>> SlabMemory::create(const Options& options) {
  if (options.slab_bytes < kSmallestSlab || !std::has_single_bit(options.slab_bytes)) {
    return fail("slab size " + std::to_string(options.slab_bytes) +
                " is not a power of two of at least 65536 bytes");
  }
  std::unique_ptr<SlabMemory> memory(new SlabMemory(options));
  extent_hooks_t* hooks = memory->hooks_.get();
  size_t size = sizeof memory->arena_;
  if (mallctl("arenas.create", &memory->arena_, &size, static_cast<void*>(&hooks),
              sizeof(extent_hooks_t*)) != 0) {
    return fail("no memory arena for the cache");
  }
  // What is freed goes back to the system at once.
  if (!set_arena(memory->arena_, "dirty_decay_ms", 0) ||
      !set_arena(memory->arena_, "muzzy_decay_ms", 0)) {
    return fail("the memory arena of the cache cannot be set up");
  }
  return memory;
}

SlabMemory::~SlabMemory() {
  const std::string name = "arena." + std::to_string(arena_) + ".destroy";
  mallctl(name.c_str(), nullptr, nullptr, nullptr, 0);
}

uint8_t* SlabMemory::allocate() {
  const size_t alignment = std::min<size_t>(options_.slab_bytes, kHugePage);
  return static_cast<uint8_t*>(
      mallocx(options_.slab_bytes, kAllocation | MALLOCX_ARENA(arena_) | MALLOCX_ALIGN(alignment)));
}

void SlabMemory::free(uint8_t* slab) {
  huge_.erase(slab);
  dallocx(slab, kAllocation | MALLOCX_ARENA(arena_));
}

// jemalloc asks for its own bookkeeping with the alignment of a huge page, for slabs with a page
// behind them, and for retained growth with the alignment of a page.
// The number of parameters is the library's. NOLINTNEXTLINE(readability-function-size)
void* SlabMemory::map_extent(extent_hooks_t* hooks, void* where, size_t bytes, size_t alignment,
                             bool* zero, bool* commit, unsigned /*arena*/) {
  SlabMemory& memory = *static_cast<Hooks*>(hooks)->memory;
  const bool is_slab = bytes == memory.options_.slab_bytes + kPage;
  if (where != nullptr || (!is_slab && alignment <= kPage)) return nullptr;
  *zero = true;
  *commit = true;
  return is_slab ? memory.map_slab() : map_aligned(bytes, alignment);
}

bool SlabMemory::unmap_extent(extent_hooks_t* /*hooks*/, void* extent, size_t bytes,
                              bool /*committed*/, unsigned /*arena*/) {
  constexpr bool kKept = true;
  return munmap(extent, bytes) == 0 ? !kKept : kKept;
}

uint8_t* SlabMemory::map_slab() {
  const size_t bytes = options_.slab_bytes;
  uint8_t* slab = map_aligned(bytes + kPage, std::min(bytes, kHugePage));
  if (slab == nullptr) return nullptr;
  if (make_huge(slab)) {
    huge_.insert(slab);
    return slab;
  }
  bind(slab, MPOL_PREFERRED);
  const bool are_wanted = options_.huge_pages != HugePages::kNever;
  madvise(slab, bytes, are_wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return slab;
}

// Puts huge pages of the node under a slab, where enough of them are free.
bool SlabMemory::make_huge(uint8_t* slab) {
  const size_t bytes = options_.slab_bytes;
  if (options_.huge_pages != HugePages::kWhereFree || bytes < kHugePage) return false;
  if (free_huge_pages(options_.numa_node) < bytes / kHugePage) return false;
  if (map_anonymous(slab, bytes, MAP_FIXED | MAP_HUGETLB | kHugePageShift) == nullptr) {
    // The small pages went with the attempt, or not: make sure of them.
    map_anonymous(slab, bytes, MAP_FIXED);
    return false;
  }
  bind(slab, MPOL_BIND);
  return true;
}

void SlabMemory::bind(uint8_t* slab, int policy) const {
  const auto node = static_cast<unsigned>(options_.numa_node);
  if (options_.numa_node < 0 || node >= kNodeBits - 1) return;
  const unsigned long nodes = 1ul << node;
  // A kernel without NUMA has no other node either.
  static_cast<void>(
      syscall(SYS_mbind, slab, size_t{options_.slab_bytes}, policy, &nodes, kNodeBits, 0));
}

bool SlabMemory::populate(uint8_t* slab, uint32_t offset, uint32_t bytes) const {
  if (madvise(slab + offset, bytes, MADV_POPULATE_WRITE) == 0) return true;
  // Before Linux 5.14 pages come by touching them, which for huge ones could end the process.
  if (errno != EINVAL || huge_.contains(slab)) return false;
  for (uint32_t at = offset; at < offset + bytes; at += kPage) {
    static_cast<volatile uint8_t*>(slab)[at] = 0;
  }
  return true;
}

}  // namespace wirecache::cache

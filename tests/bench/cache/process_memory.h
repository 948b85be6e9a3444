// What the kernel and the allocators say that this process uses.
//
// Any thread; `allocated_bytes` is about the calling one.
#pragma once

#include <cstdint>

namespace wirecache::bench {

struct ProcessMemory {
  uint64_t resident_bytes = 0;   // VmRSS
  uint64_t huge_page_bytes = 0;  // HugetlbPages, which VmRSS leaves out
  uint64_t total() const { return resident_bytes + huge_page_bytes; }
};

// Gives the allocator's unused pages back first, so that what was freed a moment ago does not
// count.
ProcessMemory process_memory();
uint64_t peak_resident_bytes();

// All that this thread has ever allocated from jemalloc, and how many pieces DPDK's allocator has
// given out. Both stand still where nothing is allocated.
struct Allocated {
  uint64_t jemalloc_bytes = 0;
  uint64_t dpdk_pieces = 0;
};
Allocated allocated();
// The first of these alone, for nearly nothing.
uint64_t jemalloc_allocated_bytes();

}  // namespace wirecache::bench

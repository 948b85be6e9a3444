// Memory for tests of the cache's store and partition, and what the kernel says of it.
#pragma once

#include <gtest/gtest.h>
#include <jemalloc/jemalloc.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "lib/cache/slab_memory.h"

namespace wirecache::cache {

inline std::unique_ptr<SlabMemory> make_slab_memory(uint64_t slab_bytes) {
  auto memory = SlabMemory::create({.slab_bytes = static_cast<uint32_t>(slab_bytes),
                                    .numa_node = -1,
                                    .huge_pages = HugePages::kNever});
  EXPECT_TRUE(memory) << memory.error().message;
  return std::move(*memory);
}

// What this process has in memory, huge pages included, without what its allocator keeps unused of
// earlier tests.
inline uint64_t resident_bytes() {
  const std::string purge = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
  EXPECT_EQ(mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0), 0);
  std::ifstream status("/proc/self/status");
  std::string line;
  uint64_t kilobytes = 0;
  while (std::getline(status, line)) {
    if (line.starts_with("VmRSS:") || line.starts_with("HugetlbPages:")) {
      kilobytes += std::stoull(line.substr(line.find(':') + 1));
    }
  }
  return kilobytes << 10;
}

}  // namespace wirecache::cache

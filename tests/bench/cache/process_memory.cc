#include "tests/bench/cache/process_memory.h"

#include <jemalloc/jemalloc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include <fstream>
#include <string>

namespace wirecache::bench {
namespace {

// A line of /proc/self/status, in bytes; 0 where it is not there.
uint64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

}  // namespace

ProcessMemory process_memory() {
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  const std::string purge = "arena." + std::to_string(MALLCTL_ARENAS_ALL) + ".purge";
  mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
  return {.resident_bytes = status_bytes("VmRSS"), .huge_page_bytes = status_bytes("HugetlbPages")};
}

uint64_t peak_resident_bytes() {
  return status_bytes("VmHWM");
}

Allocated allocated() {
  Allocated out;
  out.jemalloc_bytes = jemalloc_allocated_bytes();
  for (unsigned i = 0; i < rte_socket_count(); ++i) {
    rte_malloc_socket_stats stats;
    if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
      out.dpdk_pieces += stats.alloc_count;
  }
  return out;
}

uint64_t jemalloc_allocated_bytes() {
  static thread_local const uint64_t* const bytes = [] {
    uint64_t* place = nullptr;
    size_t size = sizeof place;
    mallctl("thread.allocatedp", &place, &size, nullptr, 0);
    return place;
  }();
  return *bytes;
}

}  // namespace wirecache::bench

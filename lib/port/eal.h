// Starts DPDK's environment from the configuration.
//
// lcore 0 is main (housekeeping), lcore i + 1 is worker i; all are pinned to the configured CPUs.
// Invariant: EAL never prints on its own: its log goes through eal_log.h, and a failed start is one
// StartError. Thread: main only, start_eal() once in a process; no ports exist before it returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/port/start_error.h"

namespace wirecache::port {

inline constexpr unsigned kMainLcore = 0;
inline constexpr unsigned worker_lcore(unsigned worker) {
  return worker + 1;
}

enum class PageKind : uint8_t { kHuge, kNormal };

// Fails (kPrivilege) with one line that names what is missing for ports, TAP, XDP and netlink.
Expected<void, StartError> check_privilege();
// Names of the needed capabilities that a CapEff mask (proc(5)) lacks; empty: all there.
std::vector<std::string> missing_capabilities(uint64_t effective_mask);

// Bytes in free huge pages of all sizes and NUMA nodes.
uint64_t free_huge_page_bytes();
// kAuto takes huge pages where at least memory_mb is free in them.
PageKind choose_pages(const config::EalConfig& eal, uint64_t free_huge_bytes);

// The whole argument vector, program name first.
std::vector<std::string> eal_arguments(const config::Config& config, PageKind pages,
                                       const std::string& program_name);

// Starts EAL; the calling thread becomes lcore 0 and is pinned to its CPU. On failure the message
// holds EAL's own most telling line, and EAL cannot be started again in this process.
Expected<void, StartError> start_eal(const config::Config& config, const std::string& program_name);
// After every lcore has returned and every port is closed.
void stop_eal();

}  // namespace wirecache::port

// Runs policies over one trace, side by side, and counts.
//
// Thread: one at a time; policies belong to the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/hit_ratio/policy.h"
#include "tests/bench/hit_ratio/trace.h"

namespace wirecache::bench {

struct Contestant {
  std::string name;
  std::unique_ptr<Policy> policy;
};

struct Outcome {
  uint64_t hits = 0;
  uint64_t live_bytes = 0;  // at the end
};

struct TraceCounts {
  uint64_t requests = 0;          // that counted
  uint64_t ordinary = 0;          // of them: by Zipf's law, the only ones that can hit
  std::vector<Outcome> outcomes;  // in the order of the contestants
};

// The first half of the requests warms up and does not count.
TraceCounts run_trace(const TraceOptions& options, uint64_t requests,
                      std::span<Contestant> contestants);

struct ChurnOptions {
  uint64_t capacity_bytes = 0;
  uint32_t capacity_sec = 600;  // the time in which as many bytes as the capacity come in
  uint32_t rounds = 10;         // of the capacity
};

// Names asked once each, with whole TTLs: the bytes that are live at the end.
uint64_t live_bytes_after_churn(const ChurnOptions& options, Policy& policy);

// Bytes of the entries of all `names` ordinary names.
uint64_t footprint_bytes(uint32_t names);

}  // namespace wirecache::bench

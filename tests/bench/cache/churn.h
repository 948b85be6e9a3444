// A cache that has been in use for long: ten times its capacity inserted while simulated time goes
// by, with evictions and expiries.
//
// Half of the questions are new ones, asked once (and never again), all of which are kept. The
// other half are of a tenth as many as were filled in, asked over and over, skewed; those that are
// not answered are kept anew. Time passes evenly with the insertions. One thread.
#pragma once

#include <cstdint>

#include "tests/bench/cache/process_memory.h"
#include "tests/bench/cache/reference_mix.h"
#include "tests/bench/cache/subject.h"

namespace wirecache::bench {

struct ChurnOptions {
  uint64_t entries = 0;  // filled in before, from question 0 on
  uint32_t start_sec = 0;
  uint32_t duration_sec = 0;  // simulated
};

struct ChurnResult {
  uint64_t inserted = 0;
  uint64_t asked = 0;
  uint64_t answered = 0;
  uint64_t live_entries = 0;  // at the end: found, and not expired
  double inserts_per_sec = 0;
  // In the second half, when everything has been warmed up.
  Allocated allocated_by_insertions;
  Allocated allocated_by_lookups;
  uint64_t bytes_allocated_by_main = 0;  // slabs, from beginning to end
};

ChurnResult churn(Subject& subject, const ReferenceMix& mix, const ChurnOptions& options);

}  // namespace wirecache::bench

// What a writer costs a reader: one thread looks up at full speed in the partition into which
// another inserts at full speed, against the same with a partition of its own each.
//
// The writer goes through all questions over and over, their entries made beforehand; the cache is
// large enough that they stay. Makes a thread of its own for the writer, pinned to `writer_cpu`;
// the caller reads.
#pragma once

#include <cstdint>

#include "tests/bench/cache/our_cache.h"
#include "tests/bench/cache/reference_mix.h"

namespace wirecache::bench {

struct SharingOptions {
  OurOptions cache;
  uint64_t entries = 0;
  unsigned reader_cpu = 0;
  unsigned writer_cpu = 0;
  uint64_t lookups = 0;
};

struct SharingResult {
  double shared_lookup_ns = 0;
  double shared_answered_share = 0;
  double shared_inserts_per_sec = 0;
  double apart_lookup_ns = 0;
  double apart_answered_share = 0;
  double apart_inserts_per_sec = 0;
};

// False, with the reason on standard error, where a cache cannot be made or a thread not pinned.
[[nodiscard]] bool measure_sharing(const ReferenceMix& mix, const SharingOptions& options,
                                   SharingResult& out);

}  // namespace wirecache::bench

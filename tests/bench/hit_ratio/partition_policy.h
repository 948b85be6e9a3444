// The cache itself, lib/cache's partition, behind the simulation's seam.
//
// Its capacity is everything that it takes: index, marks, free and unfilled segments and dead
// entries. So that the others stand at the same number of bytes, they are charged for an index as
// well (kIndexBytes an entry), and for nothing else. Needs an EAL. One thread, which is owner and
// main.
#pragma once

#include <memory>
#include <string>

#include "tests/bench/hit_ratio/policy.h"

namespace wirecache::bench {

// What an index of the compact kind takes for an entry.
inline constexpr uint32_t kIndexBytes = 7;

// `index`: compact or rte_hash.
std::unique_ptr<Policy> make_partition_policy(uint64_t capacity_bytes, const std::string& index);

}  // namespace wirecache::bench

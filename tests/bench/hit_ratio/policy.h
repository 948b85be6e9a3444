// What the simulation asks of a cache: the seam behind which the baselines, and whatever is
// measured against them, stand.
//
// Invariant: get() is a hit only where put() has filed the name and it has not expired; an expired
// entry is a miss, and the put() that follows replaces it (nothing stale is served).
// Thread: a Policy belongs to one thread.
#pragma once

#include <cstdint>

#include "tests/bench/hit_ratio/trace.h"

namespace wirecache::bench {

enum class Lookup : uint8_t { kMiss, kHit };

class Policy {
 public:
  virtual ~Policy() = default;

  // Fresh means now_sec < the second of put() + its TTL.
  virtual Lookup get(NameId name, uint32_t now_sec) = 0;
  // Files `bytes` for `ttl_sec` and evicts what must go for it. Called after a miss.
  virtual void put(const Request& request) = 0;
  // Bytes of the entries that get() would find fresh.
  virtual uint64_t live_bytes(uint32_t now_sec) const = 0;
};

}  // namespace wirecache::bench

// The 64-bit keyed hash of cache keys: XXH3 with a secret drawn at start.
//
// The secret keeps an attacker from choosing names that share a bucket or an owner. Its bits are
// used apart (sharing them clumps the index): the top 32 choose the owner partition, the low 32
// are the index's signature.
// Thread: a HashSecret is made once at start and then read-only for all threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/base/bytes.h"

namespace wirecache {

class HashSecret {
 public:
  static constexpr size_t kBytes = 192;  // XXH3 wants at least 136

  // Draws a fresh secret from the kernel's random source; aborts the process if there is none.
  static HashSecret random();
  // A fixed secret derived from `seed`, for tests that must repeat.
  static HashSecret from_seed(uint64_t seed);

  uint64_t hash(Bytes key) const;

 private:
  std::array<uint8_t, kBytes> secret_{};
};

// The partition, of `partitions` on the node, that owns a key with this hash.
inline uint32_t owner_of(uint64_t hash, uint32_t partitions) {
  return static_cast<uint32_t>(((hash >> 32) * partitions) >> 32);
}
// The signature under which the index files a key with this hash.
inline uint32_t signature_of(uint64_t hash) {
  return static_cast<uint32_t>(hash);
}

}  // namespace wirecache

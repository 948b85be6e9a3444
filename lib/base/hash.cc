#include "lib/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/base/random.h"

namespace wirecache {

static_assert(HashSecret::kBytes >= XXH3_SECRET_SIZE_MIN);

HashSecret HashSecret::random() {
  HashSecret secret;
  kernel_random(secret.secret_);
  return secret;
}

HashSecret HashSecret::from_seed(uint64_t seed) {
  HashSecret secret;
  XXH3_generateSecret_fromSeed(secret.secret_.data(), seed);
  return secret;
}

uint64_t HashSecret::hash(Bytes key) const {
  return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
}

}  // namespace wirecache

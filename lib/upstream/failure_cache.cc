#include "lib/upstream/failure_cache.h"

#include <algorithm>

namespace wirecache::upstream {

FailureCache::FailureCache(uint32_t first_ttl_sec)
    : first_ttl_sec_(static_cast<uint16_t>(std::min(first_ttl_sec, kMaxTtlSec))),
      buckets_(std::make_unique<std::array<Bucket, kBuckets>>()) {}

std::optional<dns::Rcode> FailureCache::find(uint64_t hash, uint32_t now_sec) const {
  for (const Slot& slot : bucket_of(hash)) {
    if (slot.ttl_sec != 0 && slot.hash == hash && now_sec < slot.until_sec)
      return static_cast<dns::Rcode>(slot.rcode);
  }
  return std::nullopt;
}

// The question's own slot, else a free one, else the one that ends first.
FailureCache::Slot& FailureCache::slot_for(Bucket& bucket, uint64_t hash) {
  Slot* best = &bucket[0];
  for (Slot& slot : bucket) {
    if (slot.ttl_sec != 0 && slot.hash == hash) return slot;
    if (slot.until_sec < best->until_sec) best = &slot;
  }
  return *best;
}

void FailureCache::add(uint64_t hash, dns::Rcode rcode, uint32_t now_sec) {
  Slot& slot = slot_for(bucket_of(hash), hash);
  // Soon after: within as long again as it was remembered for.
  const bool again =
      slot.ttl_sec != 0 && slot.hash == hash && now_sec < slot.until_sec + slot.ttl_sec;
  const uint32_t ttl_sec = again ? std::min(slot.ttl_sec * 2u, kMaxTtlSec) : first_ttl_sec_;
  slot = {hash, now_sec + ttl_sec, static_cast<uint16_t>(ttl_sec), static_cast<uint8_t>(rcode)};
}

void FailureCache::forget(uint64_t hash) {
  for (Slot& slot : bucket_of(hash)) {
    if (slot.hash == hash) slot = Slot{};
  }
}

}  // namespace wirecache::upstream

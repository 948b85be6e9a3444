// Questions that failed, remembered for a while so that they are not asked again at once (RFC 9520
// §3.2).
//
// Kept apart from the answers, so that a failure never displaces one however many names fail: a
// fixed table, 4 slots a bucket, 16 bytes a slot. A question is known by its 64-bit keyed hash
// alone: a false match (1 in 2^48 for a full table) costs a SERVFAIL of a few seconds, no wrong
// answer. A failure is remembered for `first_sec`, and twice as long each time it is found anew
// soon after (at most 5 minutes), until the question is answered. Owner: one worker. Time is passed
// in. Nothing is allocated after construction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "lib/dns/types.h"

namespace wirecache::upstream {

class FailureCache {
 public:
  static constexpr uint32_t kMaxTtlSec = 300;  // RFC 9520 §3.2

  explicit FailureCache(uint32_t first_ttl_sec);

  // The rcode under which the question's failure is remembered now.
  std::optional<dns::Rcode> find(uint64_t hash, uint32_t now_sec) const;
  // Remembers a failure (an rcode below 16); in a full bucket the one that ends first gives way.
  void add(uint64_t hash, dns::Rcode rcode, uint32_t now_sec);
  // The question was answered.
  void forget(uint64_t hash);

 private:
  static constexpr size_t kWays = 4;
  static constexpr size_t kBuckets = 4096;  // a power of two
  struct Slot {
    uint64_t hash = 0;
    uint32_t until_sec = 0;
    uint16_t ttl_sec = 0;  // 0: free
    uint8_t rcode = 0;
  };
  static_assert(sizeof(Slot) == 16);
  using Bucket = std::array<Slot, kWays>;

  Bucket& bucket_of(uint64_t hash) const { return (*buckets_)[hash & (kBuckets - 1)]; }
  static Slot& slot_for(Bucket& bucket, uint64_t hash);

  uint16_t first_ttl_sec_;
  std::unique_ptr<std::array<Bucket, kBuckets>> buckets_;
};

}  // namespace wirecache::upstream

#include "lib/upstream/failure_cache.h"

#include <gtest/gtest.h>

namespace wirecache::upstream {
namespace {

constexpr uint32_t kNow = 1000;
constexpr auto kServFail = dns::Rcode::kServFail;

// RFC 9520 §3.2: at least 1 s, at most 5 minutes, with exponential back-off.
TEST(FailureCache, DoublesUpToFiveMinutesWhileItGoesOn) {
  FailureCache cache(5);
  uint32_t now = kNow;
  for (const uint32_t ttl : {5u, 10u, 20u, 40u, 80u, 160u, 300u, 300u}) {
    cache.add(7, kServFail, now);
    EXPECT_EQ(cache.find(7, now + ttl - 1), kServFail) << ttl;
    EXPECT_EQ(cache.find(7, now + ttl), std::nullopt) << ttl;
    now += ttl;
  }
}

TEST(FailureCache, BeginsAnewAfterAnAnswerOrALongWhile) {
  FailureCache cache(5);
  cache.add(7, kServFail, kNow);
  cache.add(7, kServFail, kNow + 5);
  cache.forget(7);
  EXPECT_EQ(cache.find(7, kNow + 6), std::nullopt);
  cache.add(7, kServFail, kNow + 6);
  EXPECT_EQ(cache.find(7, kNow + 11), std::nullopt);
  cache.add(7, kServFail, kNow + 1000);
  EXPECT_EQ(cache.find(7, kNow + 1005), std::nullopt);
}

TEST(FailureCache, KeepsTheRcodeOfEachQuestion) {
  FailureCache cache(5);
  cache.add(7, kServFail, kNow);
  cache.add(8, dns::Rcode::kRefused, kNow);
  EXPECT_EQ(cache.find(7, kNow), kServFail);
  EXPECT_EQ(cache.find(8, kNow), dns::Rcode::kRefused);
  EXPECT_EQ(cache.find(9, kNow), std::nullopt);
}

TEST(FailureCache, InAFullBucketTheOneThatEndsFirstGivesWay) {
  FailureCache cache(5);
  for (uint64_t i = 0; i < 5; ++i) cache.add(i << 32, kServFail, kNow + static_cast<uint32_t>(i));
  EXPECT_EQ(cache.find(0, kNow + 4), std::nullopt);
  for (uint64_t i = 1; i < 5; ++i) EXPECT_EQ(cache.find(i << 32, kNow + 4), kServFail) << i;
}

}  // namespace
}  // namespace wirecache::upstream

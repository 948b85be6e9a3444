#include "tests/bench/hit_ratio/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <unordered_set>

namespace wirecache::bench {
namespace {

constexpr uint32_t kNames = 100'000;

TEST(AnswerTest, TtlMixAddsUp) {
  uint32_t permille = 0;
  for (const TtlShare& share : kTtlMix) {
    permille += share.permille;
  }
  EXPECT_EQ(permille, 1000u);
}

// The shares that the source gives for unique names.
TEST(AnswerTest, TtlsAreSpreadAsMeasured) {
  std::map<uint32_t, uint32_t> names;
  for (NameId name = 0; name < kNames; ++name) {
    ++names[answer_of(name).ttl_sec];
  }
  const auto percent_within = [&](uint32_t ttl_sec) {
    double count = 0;
    for (auto it = names.begin(); it != names.end() && it->first <= ttl_sec; ++it) {
      count += it->second;
    }
    return 100 * count / kNames;
  };
  EXPECT_NEAR(percent_within(60), 9.84, 1);
  EXPECT_NEAR(percent_within(120), 16.32, 1);
  EXPECT_NEAR(percent_within(300), 39.88, 1);
  EXPECT_NEAR(percent_within(3600), 70.07, 1);
  EXPECT_EQ(names.begin()->first, 1u);
  EXPECT_EQ(names.rbegin()->first, 86400u);
}

// Names of 18 bytes, 2.5 records of 4 (56%), 16 (25%) or 144 bytes (19%): 102 bytes.
TEST(AnswerTest, BytesAreThoseOfTheReferenceMix) {
  double bytes = 0;
  for (NameId name = 0; name < kNames; ++name) {
    bytes += answer_of(name).bytes - kHeaderBytes;
  }
  EXPECT_NEAR(bytes / kNames, 18 + 2.5 * (0.56 * 4 + 0.25 * 16 + 0.19 * 144), 1.5);
}

TEST(TraceTest, TtlCountsDownToTheUpstreamsNextFetch) {
  Trace trace({.names = 3, .exponent = 0.9, .requests_per_sec = 10});
  std::map<NameId, Request> last;
  for (int i = 0; i < 100'000; ++i) {
    const Request request = trace.next();
    ASSERT_GE(request.ttl_sec, 1u);
    ASSERT_LE(request.ttl_sec, answer_of(request.name).ttl_sec);
    if (const auto it = last.find(request.name); it != last.end()) {
      const Request& before = it->second;
      if (request.now_sec < before.now_sec + before.ttl_sec) {
        ASSERT_EQ(request.now_sec + request.ttl_sec, before.now_sec + before.ttl_sec);
      }
    }
    last[request.name] = request;
  }
  EXPECT_EQ(last.size(), 3u);
}

TEST(TraceTest, ClockMovesWithOrdinaryRequests) {
  Trace trace({.names = 1000, .requests_per_sec = 100, .scan_share = 0.25, .flood_share = 0.25});
  const uint32_t start_sec = trace.next().now_sec;
  uint32_t ordinary = 0;
  uint32_t now_sec = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Request request = trace.next();
    ordinary += request.name < 1000 ? 1 : 0;
    now_sec = request.now_sec;
  }
  EXPECT_NEAR(ordinary, 50'000, 800);
  EXPECT_NEAR(now_sec - start_sec, 500, 8);
}

TEST(TraceTest, ScanAndFloodAskOnce) {
  Trace trace({.names = 1000, .requests_per_sec = 100, .scan_share = 0.3, .flood_share = 0.2});
  std::unordered_set<NameId> seen;
  uint32_t floods = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Request request = trace.next();
    if (request.name >= 1000) {
      ASSERT_TRUE(seen.insert(request.name).second);
      if (request.kind == AnswerKind::kNegative) {
        ASSERT_EQ(request.bytes, kFloodBytes);
        ASSERT_EQ(request.ttl_sec, kFloodTtlSec);
        ++floods;
      }
    }
  }
  EXPECT_NEAR(seen.size(), 50'000, 800);
  EXPECT_NEAR(floods, 20'000, 800);
}

TEST(TraceTest, SameSeedSameTrace) {
  Trace a({.seed = 3});
  Trace b({.seed = 3});
  Trace c({.seed = 4});
  int differ = 0;
  for (int i = 0; i < 1000; ++i) {
    const Request from_a = a.next();
    const Request from_b = b.next();
    ASSERT_EQ(from_a.name, from_b.name);
    ASSERT_EQ(from_a.ttl_sec, from_b.ttl_sec);
    differ += c.next().name != from_a.name ? 1 : 0;
  }
  EXPECT_GT(differ, 900);
}

}  // namespace
}  // namespace wirecache::bench

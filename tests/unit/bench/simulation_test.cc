#include "tests/bench/hit_ratio/simulation.h"

#include <gtest/gtest.h>

#include "tests/bench/hit_ratio/baselines.h"

namespace wirecache::bench {
namespace {

// Two names that fit: all but the expired answers hit, the same for every policy.
TEST(SimulationTest, CountsTheSecondHalf) {
  const TraceOptions options{.names = 2, .exponent = 1.1, .requests_per_sec = 1000};
  std::vector<Contestant> contestants;
  contestants.push_back({"lru", std::make_unique<Lru>(1 << 20)});
  contestants.push_back({"fifo", std::make_unique<Fifo>(1 << 20)});
  const TraceCounts run = run_trace(options, 10'000, contestants);
  EXPECT_EQ(run.requests, 5000u);
  EXPECT_EQ(run.ordinary, 5000u);
  ASSERT_EQ(run.outcomes.size(), 2u);
  // Five seconds pass: no name's answer expires more often than that.
  EXPECT_GE(run.outcomes[0].hits, 5000u - 10);
  EXPECT_EQ(run.outcomes[0].hits, run.outcomes[1].hits);
  EXPECT_EQ(run.outcomes[0].live_bytes, footprint_bytes(2));
}

TEST(SimulationTest, NamesAskedOnceNeverHit) {
  const TraceOptions options{.names = 2, .exponent = 1.1, .flood_share = 0.5};
  std::vector<Contestant> contestants;
  contestants.push_back({"lru", std::make_unique<Lru>(1 << 20)});
  const TraceCounts run = run_trace(options, 10'000, contestants);
  EXPECT_NEAR(static_cast<double>(run.ordinary), 2500, 150);
  EXPECT_LE(run.outcomes[0].hits, run.ordinary);
  EXPECT_GE(run.outcomes[0].hits, run.ordinary - 10);
}

// What FIFO holds at the end came in during the last 600 s; of that, names with at most 300 s (40%)
// are dead to the extent of what is over their TTL.
TEST(SimulationTest, ChurnFillsTheCacheAndExpires) {
  constexpr uint64_t kCapacity = 10 << 20;
  Fifo fifo(kCapacity);
  const uint64_t live =
      live_bytes_after_churn({.capacity_bytes = kCapacity, .capacity_sec = 600}, fifo);
  double expected = 0;
  for (const TtlShare& share : kTtlMix) {
    expected += share.permille / 1000.0 * std::min(1.0, share.ttl_sec / 600.0);
  }
  EXPECT_NEAR(static_cast<double>(live) / kCapacity, expected, 0.01);
}

}  // namespace
}  // namespace wirecache::bench

// Samples against the law itself: p(k) = k^-s / (1^-s + ... + n^-s).
#include "tests/bench/hit_ratio/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wirecache::bench {
namespace {

constexpr uint32_t kRanks = 1000;
constexpr uint32_t kSamples = 1'000'000;

std::vector<uint32_t> counts_of(double exponent) {
  const Zipf zipf(kRanks, exponent);
  SplitMix64 random(7);
  std::vector<uint32_t> counts(kRanks + 1);
  for (uint32_t i = 0; i < kSamples; ++i) {
    ++counts.at(zipf.sample(random));
  }
  return counts;
}

class ZipfTest : public testing::TestWithParam<double> {};

TEST_P(ZipfTest, FollowsTheLaw) {
  const std::vector<uint32_t> counts = counts_of(GetParam());
  double sum = 0;
  for (uint32_t rank = 1; rank <= kRanks; ++rank) {
    sum += std::pow(rank, -GetParam());
  }
  double chi_square = 0;
  for (uint32_t rank = 1; rank <= kRanks; ++rank) {
    const double expected = kSamples * std::pow(rank, -GetParam()) / sum;
    chi_square += (counts[rank] - expected) * (counts[rank] - expected) / expected;
  }
  // 999 degrees of freedom: mean 999, standard deviation 44.7; five of them.
  EXPECT_LT(chi_square, 999 + 5 * 44.7);
  EXPECT_EQ(counts[0], 0u);
}

INSTANTIATE_TEST_SUITE_P(Exponents, ZipfTest, testing::Values(0.5, 0.9, 1.0, 1.1, 2.0));

TEST(ZipfTest, OneRank) {
  const Zipf zipf(1, 0.9);
  SplitMix64 random(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(zipf.sample(random), 1u);
  }
}

}  // namespace
}  // namespace wirecache::bench

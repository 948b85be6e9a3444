#include "lib/stats/worker_stats.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>

namespace wirecache::stats {
namespace {

// A name and a help text for every enumerator.
static_assert(std::size(kDropNames) == CounterArray<Drop>::kSize);
static_assert(std::size(kQueryDropNames) == CounterArray<QueryDrop>::kSize);
static_assert(std::size(kOutcomeNames) == CounterArray<Outcome>::kSize);
static_assert(std::size(kUpstreamNames) == CounterArray<Upstream>::kSize);
static_assert(std::size(kCacheNames) == CounterArray<Cache>::kSize);

// Neighbouring workers' counters share no cache line.
static_assert(alignof(WorkerStats) == 64 && sizeof(WorkerStats) % 64 == 0);
static_assert(alignof(ExceptionStats) == 64 && sizeof(ExceptionStats) % 64 == 0);

class NameLists : public testing::TestWithParam<std::span<const Name>> {};

// The labels become parts of metric names and label values: [a-z0-9_], each once a list.
TEST_P(NameLists, LabelsAreUniqueSnakeCaseWithHelp) {
  std::set<std::string_view> seen;
  for (const Name& name : GetParam()) {
    EXPECT_TRUE(seen.insert(name.label).second) << name.label;
    EXPECT_FALSE(name.label.empty());
    EXPECT_EQ(name.label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << name.label;
    EXPECT_FALSE(name.help.empty()) << name.label;
    EXPECT_EQ(name.help.find('\n'), std::string_view::npos) << name.label;
  }
}

constexpr std::span<const Name> kNameLists[] = {kDropNames, kQueryDropNames, kOutcomeNames,
                                                kUpstreamNames, kCacheNames};

INSTANTIATE_TEST_SUITE_P(All, NameLists, testing::ValuesIn(kNameLists));

TEST(NameArrays, StandInTheOrderOfTheirEnumerators) {
  EXPECT_EQ(kDropNames[static_cast<size_t>(Drop::kShortFrame)].label, "short_frame");
  EXPECT_EQ(kDropNames[static_cast<size_t>(Drop::kStopping)].label, "stopping");
  EXPECT_EQ(kOutcomeNames[static_cast<size_t>(Outcome::kOverload)].label, "overload");
  EXPECT_EQ(kUpstreamNames[static_cast<size_t>(Upstream::kGaveUp)].label, "gave_up");
  EXPECT_EQ(kCacheNames[static_cast<size_t>(Cache::kRejected)].label, "rejected");
}

TEST(Counter, AddsAndSets) {
  Counter counter;
  EXPECT_EQ(counter.value(), 0u);
  counter.add();
  counter.add(41);
  EXPECT_EQ(counter.value(), 42u);
  counter.set(7);
  EXPECT_EQ(counter.value(), 7u);
}

TEST(CounterArray, SumsItsCounters) {
  CounterArray<Outcome> outcomes;
  outcomes[Outcome::kHit].add(3);
  outcomes[Outcome::kOverload].add(4);
  EXPECT_EQ(outcomes[Outcome::kHit].value(), 3u);
  EXPECT_EQ(outcomes[Outcome::kMiss].value(), 0u);
  EXPECT_EQ(outcomes.sum(), 7u);
}

// The one bucket that a single value goes to.
size_t bucket_of(uint64_t ns) {
  Histogram histogram;
  histogram.record(ns);
  size_t found = Histogram::kBuckets;
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    if (histogram.bucket(i) == 0) continue;
    EXPECT_EQ(found, Histogram::kBuckets) << ns << " ns counted twice";
    EXPECT_EQ(histogram.bucket(i), 1u);
    found = i;
  }
  return found;
}

TEST(Histogram, BucketBordersBelongToTheLowerBucket) {
  EXPECT_EQ(bucket_of(0), 0u);
  EXPECT_EQ(bucket_of(1), 0u);
  EXPECT_EQ(bucket_of(2), 1u);
  EXPECT_EQ(bucket_of(3), 2u);
  for (size_t i = 2; i < Histogram::kBuckets - 1; ++i) {
    const uint64_t border = uint64_t{1} << i;
    EXPECT_EQ(bucket_of(border), i);
    EXPECT_EQ(bucket_of(border - 1), i) << "2^" << i;
    EXPECT_EQ(bucket_of(border + 1), i + 1) << "2^" << i;
  }
}

TEST(Histogram, LastBucketTakesAllAbove17Seconds) {
  EXPECT_EQ(bucket_of(uint64_t{1} << 34), 34u);
  EXPECT_EQ(bucket_of((uint64_t{1} << 34) + 1), 35u);
  EXPECT_EQ(bucket_of(uint64_t{1} << 40), 35u);
  EXPECT_EQ(bucket_of(~uint64_t{0}), 35u);
}

TEST(Histogram, CountsManyEqualValuesAtOnce) {
  Histogram histogram;
  histogram.record(100, 32);
  histogram.record(128);
  EXPECT_EQ(histogram.bucket(7), 33u);
  EXPECT_EQ(histogram.sum_ns(), 3328u);
}

}  // namespace
}  // namespace wirecache::stats

#include "lib/stats/counter.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace wirecache::stats {
namespace {

enum class Fruit : uint8_t { kApple, kPear, kCount };

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
  CounterArray<Fruit> fruits;
  fruits[Fruit::kApple].add(3);
  EXPECT_EQ(fruits[Fruit::kApple].value(), 3u);
  EXPECT_EQ(fruits[Fruit::kPear].value(), 0u);
  fruits[Fruit::kPear].add(4);
  EXPECT_EQ(fruits.sum(), 7u);
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

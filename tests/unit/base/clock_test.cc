#include "lib/base/clock.h"

#include <gtest/gtest.h>

namespace wirecache {
namespace {

TEST(TscClock, ConvertsTicks) {
  const TscClock clock(2'000'000'000);
  EXPECT_EQ(clock.seconds(TscTime{1'999'999'999}), 0u);
  EXPECT_EQ(clock.seconds(TscTime{4'000'000'000}), 2u);
  EXPECT_EQ(clock.ticks_from_us(1'800'000), 3'600'000'000u);
  EXPECT_EQ(clock.ns_between(TscTime{10}, TscTime{13}), 1u);
}

TEST(TscClock, TimeThatRunsBackwardsIsNoTime) {
  const TscClock clock(2'100'000'000);
  EXPECT_EQ(clock.ns_between(TscTime{13}, TscTime{10}), 0u);
}

TEST(TscClock, LongSpansDoNotOverflow) {
  const TscClock clock(3'000'000'000);
  const uint64_t year_sec = 365 * 86400;
  EXPECT_EQ(clock.ns_between(TscTime{0}, TscTime{year_sec * 3'000'000'000}),
            year_sec * 1'000'000'000);
}

}  // namespace
}  // namespace wirecache

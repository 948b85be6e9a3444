#include "lib/config/machine.h"

#include <gtest/gtest.h>

namespace wirecache::config {
namespace {

TEST(LocalPortRange, AsTheKernelWritesIt) {
  const auto range = parse_local_port_range("32768\t60999\n");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 32768);
  EXPECT_EQ(range->last, 60999);
}

TEST(LocalPortRange, NothingElse) {
  for (const char* text : {"", "32768", "a b", "60999 32768", "1 65536"})
    EXPECT_FALSE(parse_local_port_range(text)) << text;
}

TEST(ThisMachine, HasACpu) {
  EXPECT_GE(this_machine().cpus, 1U);
}

}  // namespace
}  // namespace wirecache::config

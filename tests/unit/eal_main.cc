// main() of the unit tests that need DPDK.
#include <gtest/gtest.h>

#include "tests/support/eal.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  return wirecache::testing::start_test_eal() ? RUN_ALL_TESTS() : 1;
}

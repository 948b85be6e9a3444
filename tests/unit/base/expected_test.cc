#include "lib/base/expected.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace wirecache {
namespace {

Expected<int> half(int n) {
  if (n % 2 != 0) return fail("odd");
  return n / 2;
}

Expected<void> only_even(int n) {
  if (n % 2 != 0) return fail("odd");
  return {};
}

TEST(Expected, HoldsAValue) {
  Expected<int> result = half(42);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 21);
  *result = 7;
  EXPECT_EQ(result.value(), 7);
}

TEST(Expected, HoldsAnError) {
  const Expected<int> result = half(3);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "odd");
}

TEST(Expected, VoidHoldsSuccessOrAnError) {
  EXPECT_TRUE(only_even(2));
  const Expected<void> result = only_even(3);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "odd");
}

TEST(Expected, ValueAndErrorMayHaveOneType) {
  const Expected<std::string, std::string> value(std::string("v"));
  const Expected<std::string, std::string> error(Unexpected<std::string>("e"));
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, "v");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error(), "e");
}

TEST(Expected, MovesOutWhatCannotBeCopied) {
  Expected<std::unique_ptr<int>> result(std::make_unique<int>(5));
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 5);
}

TEST(Expected, ArrowReachesMembers) {
  Expected<std::string> result(std::string("abc"));
  EXPECT_EQ(result->size(), 3u);
}

}  // namespace
}  // namespace wirecache

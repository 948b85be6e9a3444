#include "lib/config/nearest_name.h"

#include <gtest/gtest.h>

namespace wirecache::config {
namespace {

TEST(EditDistance, CountsEachKindOfSlip) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("port", "port"), 0U);
  EXPECT_EQ(edit_distance("", "port"), 4U);
  EXPECT_EQ(edit_distance("port", ""), 4U);
  EXPECT_EQ(edit_distance("prt", "port"), 1U);
  EXPECT_EQ(edit_distance("poort", "port"), 1U);
  EXPECT_EQ(edit_distance("port", "part"), 1U);
  EXPECT_EQ(edit_distance("prot", "port"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // what tells it from Damerau-Levenshtein's 2
}

TEST(NearestName, TakesTheClosest) {
  EXPECT_EQ(nearest_name("max_tl", {"min_ttl", "max_ttl", "max_negative_ttl"}), "max_ttl");
  EXPECT_EQ(nearest_name("deadline", {"try_timeout_ms", "deadline_ms"}), "deadline_ms");
  EXPECT_EQ(nearest_name("min_ttl_sec", {"min_ttl", "max_ttl"}), "min_ttl");
}

TEST(NearestName, IgnoresCaseAndDashes) {
  EXPECT_EQ(nearest_name("Memory-MB", {"memory_mb"}), "memory_mb");
}

TEST(NearestName, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("colour", {"main", "workers", "idle"}), "");
  EXPECT_EQ(nearest_name("x", {"on", "off"}), "");
  EXPECT_EQ(nearest_name("", {"on"}), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'a'), {"a"}), "");
}

}  // namespace
}  // namespace wirecache::config

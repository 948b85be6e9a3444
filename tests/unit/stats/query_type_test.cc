#include "lib/stats/query_type.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string_view>

namespace wirecache::stats {
namespace {

static_assert(std::size(kQueryTypeNames) == static_cast<size_t>(QueryType::kCount));

// IANA, "Resource Record (RR) TYPEs".
const std::map<unsigned, std::string_view> kAssigned = {
    {1, "A"},       {2, "NS"},    {5, "CNAME"},  {6, "SOA"},  {12, "PTR"},
    {15, "MX"},     {16, "TXT"},  {28, "AAAA"},  {33, "SRV"}, {43, "DS"},
    {48, "DNSKEY"}, {64, "SVCB"}, {65, "HTTPS"}, {255, "ANY"}};

std::string_view label_of(unsigned type) {
  return kQueryTypeNames[static_cast<size_t>(query_type_of(static_cast<uint16_t>(type)))];
}

TEST(QueryType, EveryNumberHasItsLabel) {
  for (unsigned type = 0; type <= 0xffff; ++type) {
    const auto assigned = kAssigned.find(type);
    EXPECT_EQ(label_of(type), assigned == kAssigned.end() ? "other" : assigned->second) << type;
  }
}

TEST(QueryType, AsManyLabelsAsTypesAndOneForAllOthers) {
  EXPECT_EQ(std::size(kQueryTypeNames), kAssigned.size() + 1);
}

}  // namespace
}  // namespace wirecache::stats

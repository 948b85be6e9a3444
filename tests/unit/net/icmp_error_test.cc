#include "lib/net/icmp_error.h"

#include <gtest/gtest.h>

#include <ostream>

#include "tests/unit/net/fixtures.h"

namespace wirecache::net {

enum class IcmpVerdict : uint8_t { kAccepted, kOther };

struct IcmpFixture {
  const char* name;
  IcmpVerdict verdict;
  uint16_t quoted_payload_bytes;
  std::string_view frame_hex;
};

void PrintTo(const IcmpFixture& fixture, std::ostream* out) {
  *out << fixture.name;
}

namespace {

constexpr IcmpFixture kIcmpFixtures[] = {
#define ICMP(name, verdict, bytes, frame) IcmpFixture{#name, IcmpVerdict::verdict, bytes, frame},
#include "tests/unit/net/icmp_fixtures.inc"
#undef ICMP
};

class IcmpError : public ::testing::TestWithParam<IcmpFixture> {};

TEST_P(IcmpError, IsTakenOrLeft) {
  const IcmpFixture& fixture = GetParam();
  const auto bytes = from_hex(fixture.frame_hex);
  Frame frame;
  const bool taken = parse_unreachable(bytes, frame);
  ASSERT_EQ(taken, fixture.verdict == IcmpVerdict::kAccepted);
  if (!taken) return;
  // As if the server had answered (make_icmp_fixtures.py).
  const bool v6 = std::string_view(fixture.name).starts_with("V6");
  EXPECT_EQ(frame.source.to_string(), v6 ? "2001:db8:1::2" : "198.51.100.2");
  EXPECT_EQ(frame.destination.to_string(), v6 ? "2001:db8:2::53" : "192.0.2.53");
  EXPECT_EQ(frame.source_port, 53);
  EXPECT_EQ(frame.destination_port, 12345);
  ASSERT_GE(frame.payload_bytes, fixture.quoted_payload_bytes);
  if (fixture.quoted_payload_bytes == 0) return;
  EXPECT_EQ(load_be16(bytes.data() + frame.payload_offset), 0xabcd);
}

// No cut of any of them is read past its end (ASan sees to that) or taken.
TEST_P(IcmpError, CutAnywhereIsNotTaken) {
  const auto bytes = from_hex(GetParam().frame_hex);
  const bool padded = std::string_view(GetParam().name) == "V4Padded";
  const size_t whole = padded ? bytes.size() - 8 : bytes.size();
  for (size_t length = 0; length < whole; ++length) {
    const std::vector<uint8_t> cut(bytes.begin(),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(length));
    Frame frame;
    EXPECT_FALSE(parse_unreachable(cut, frame)) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Scapy, IcmpError, ::testing::ValuesIn(kIcmpFixtures),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace wirecache::net

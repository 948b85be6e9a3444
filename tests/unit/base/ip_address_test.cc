#include "lib/base/ip_address.h"

#include <gtest/gtest.h>

namespace wirecache {
namespace {

TEST(IpAddress, ParsesV4) {
  const auto address = IpAddress::parse("192.0.2.1");
  ASSERT_TRUE(address);
  EXPECT_FALSE(address->is_v6());
  EXPECT_EQ(address->size(), 4u);
  EXPECT_EQ(address->bytes, (std::array<uint8_t, 16>{192, 0, 2, 1}));
  EXPECT_EQ(address->to_string(), "192.0.2.1");
}

TEST(IpAddress, ParsesV6AndWritesTheCanonicalForm) {
  // RFC 5952 §1 and §4: the canonical form of these is 2001:db8::1.
  for (const char* text : {"2001:db8:0:0:0:0:0:1", "2001:0DB8::0001", "2001:db8::1"}) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_TRUE(address->is_v6());
    EXPECT_EQ(address->size(), 16u);
    EXPECT_EQ(address->to_string(), "2001:db8::1");
  }
}

TEST(IpAddress, RejectsWhatIsNoAddress) {
  for (const char* text : {"", "192.0.2", "192.0.2.256", "192.0.2.1 ", "192.0.2.1/24", "::g",
                           "fe80::1%eth0", "1:2:3:4:5:6:7", "localhost"})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  EXPECT_FALSE(IpAddress::parse(std::string_view("192.0.2.1\0junk", 14)));
}

TEST(IpAddress, FamiliesDiffer) {
  const uint8_t zeros[16] = {};
  EXPECT_EQ(IpAddress::v4(zeros), *IpAddress::parse("0.0.0.0"));
  EXPECT_EQ(IpAddress::v6(zeros), *IpAddress::parse("::"));
  EXPECT_NE(IpAddress::v4(zeros), IpAddress::v6(zeros));
}

TEST(IpAddress, V4TakesFourBytesOnly) {
  const uint8_t bytes[5] = {10, 53, 0, 1, 99};
  EXPECT_EQ(IpAddress::v4(bytes), *IpAddress::parse("10.53.0.1"));
}

TEST(IpPrefix, ParsesAddressAndLength) {
  const auto prefix = IpPrefix::parse("10.53.0.1/24");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->length, 24);
  EXPECT_EQ(prefix->to_string(), "10.53.0.1/24") << "host bits are kept";
}

TEST(IpPrefix, ABareAddressIsAHost) {
  ASSERT_TRUE(IpPrefix::parse("192.0.2.1"));
  EXPECT_EQ(IpPrefix::parse("192.0.2.1")->length, 32);
  ASSERT_TRUE(IpPrefix::parse("2001:db8::1"));
  EXPECT_EQ(IpPrefix::parse("2001:db8::1")->length, 128);
}

TEST(IpPrefix, RejectsWhatIsNoPrefix) {
  for (const char* text : {"/24", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1",
                           "10.0.0.0/8x", "10.0.0.0/8/8", "10/8", "10.0.0.0/4294967304"})
    EXPECT_FALSE(IpPrefix::parse(text)) << text;
}

TEST(IpPrefix, ContainsItsNetwork) {
  struct Case {
    const char* prefix;
    const char* address;
    bool inside;
  };
  const Case cases[] = {
      {"192.0.2.0/24", "192.0.2.255", true},
      {"192.0.2.0/24", "192.0.3.0", false},
      {"172.16.0.0/12", "172.31.255.255", true},  // RFC 1918 §3
      {"172.16.0.0/12", "172.32.0.0", false},
      {"10.53.0.1/8", "10.200.0.9", true},
      {"0.0.0.0/0", "203.0.113.9", true},
      {"0.0.0.0/0", "2001:db8::1", false},
      {"192.0.2.1/32", "192.0.2.1", true},
      {"192.0.2.1/32", "192.0.2.0", false},
      {"fc00::/7", "fdff::1", true},  // RFC 4193 §3.1
      {"fc00::/7", "fe00::1", false},
      {"2001:db8::/33", "2001:db8:7fff::1", true},
      {"2001:db8::/33", "2001:db8:8000::1", false},
      {"::/0", "::1", true},
      {"::/0", "0.0.0.0", false},
      {"::1/128", "::1", true},
      {"::1/128", "::2", false},
  };
  for (const Case& c : cases) {
    const auto prefix = IpPrefix::parse(c.prefix);
    const auto address = IpAddress::parse(c.address);
    ASSERT_TRUE(prefix && address);
    EXPECT_EQ(prefix->contains(*address), c.inside) << c.prefix << " " << c.address;
  }
}

TEST(MacAddress, WritesAndKnowsMulticast) {
  const uint8_t unicast[6] = {0x02, 0x00, 0x5e, 0x0a, 0xff, 0x01};
  EXPECT_EQ(MacAddress::from(unicast).to_string(), "02:00:5e:0a:ff:01");
  EXPECT_FALSE(MacAddress::from(unicast).is_multicast());
  const uint8_t solicited_node[6] = {0x33, 0x33, 0xff, 0x00, 0x00, 0x01};  // RFC 2464 §7
  EXPECT_TRUE(MacAddress::from(solicited_node).is_multicast());
  const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  EXPECT_TRUE(MacAddress::from(broadcast).is_multicast());
}

}  // namespace
}  // namespace wirecache

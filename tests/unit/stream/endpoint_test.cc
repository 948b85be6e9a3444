#include "lib/stream/endpoint.h"

#include <gtest/gtest.h>

namespace wirecache::stream {
namespace {

Endpoint endpoint(const char* address, uint16_t port = 4000) {
  return {*IpAddress::parse(address), port};
}

TEST(Endpoint, TextHasBracketsAroundIpv6) {
  EXPECT_EQ(endpoint("192.0.2.1", 53).to_string(), "192.0.2.1:53");
  EXPECT_EQ(endpoint("2001:db8::1", 5353).to_string(), "[2001:db8::1]:5353");
}

TEST(Endpoint, UnicastAddressesMayBeAnswered) {
  for (const char* address :
       {"192.0.2.1", "127.0.0.1", "10.0.0.255", "::1", "fe80::1", "2001:db8::1"})
    EXPECT_TRUE(may_be_answered(endpoint(address))) << address;
}

// RFC 1122 §3.2.1.3, RFC 4291 §2.5.2 and §2.7; port 0: RFC 768 "no reply is expected".
TEST(Endpoint, OthersMayNot) {
  for (const char* address :
       {"0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.255", "255.255.255.255", "::", "ff02::1"})
    EXPECT_FALSE(may_be_answered(endpoint(address))) << address;
  EXPECT_FALSE(may_be_answered(endpoint("192.0.2.1", 0)));
  EXPECT_FALSE(may_be_answered(endpoint("2001:db8::1", 0)));
}

TEST(Endpoint, ScopeTravelsInAUnicastMac) {
  for (const uint32_t scope_id : {0u, 1u, 7u, 0x01020304u, 0xffffffffu}) {
    const MacAddress mac = mac_from_scope(scope_id);
    EXPECT_FALSE(mac.is_multicast());
    EXPECT_EQ(scope_from_mac(mac), scope_id);
  }
  EXPECT_EQ(mac_from_scope(0x01020304).to_string(), "00:00:01:02:03:04");
}

}  // namespace
}  // namespace wirecache::stream

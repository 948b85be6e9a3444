#include "lib/config/client_networks.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace wirecache::config {
namespace {

ClientNetworks networks(std::initializer_list<const char*> texts) {
  std::vector<IpPrefix> prefixes;
  for (const char* text : texts) prefixes.push_back(IpPrefix::parse(text).value());
  return ClientNetworks(prefixes);
}

bool allows(const ClientNetworks& networks, const char* address) {
  return networks.allows(IpAddress::parse(address).value());
}

TEST(ClientNetworks, NothingIsAllowedByNone) {
  EXPECT_FALSE(allows(networks({}), "10.0.0.1"));
  EXPECT_FALSE(allows(networks({}), "::1"));
}

TEST(ClientNetworks, BothEndsBelongToTheNetwork) {
  const auto n = networks({"172.16.0.0/12"});
  EXPECT_FALSE(allows(n, "172.15.255.255"));
  EXPECT_TRUE(allows(n, "172.16.0.0"));
  EXPECT_TRUE(allows(n, "172.31.255.255"));
  EXPECT_FALSE(allows(n, "172.32.0.0"));
}

TEST(ClientNetworks, HostBitsOfThePrefixDoNotCount) {
  const auto n = networks({"10.1.2.3/23"});
  EXPECT_FALSE(allows(n, "10.1.1.255"));
  EXPECT_TRUE(allows(n, "10.1.2.0"));
  EXPECT_TRUE(allows(n, "10.1.3.255"));
  EXPECT_FALSE(allows(n, "10.1.4.0"));
}

TEST(ClientNetworks, OverlapsAreMergedAndKeepTheWiderEnd) {
  // The narrow one sorts last among equals and must not cut the wide one short.
  const auto n = networks({"10.0.1.0/24", "10.0.0.0/16", "10.0.0.0/24", "10.2.0.0/16"});
  EXPECT_TRUE(allows(n, "10.0.0.0"));
  EXPECT_TRUE(allows(n, "10.0.2.0"));
  EXPECT_TRUE(allows(n, "10.0.255.255"));
  EXPECT_FALSE(allows(n, "10.1.0.0"));
  EXPECT_TRUE(allows(n, "10.2.0.0"));
  EXPECT_TRUE(allows(n, "10.2.255.255"));
  EXPECT_FALSE(allows(n, "10.3.0.0"));
}

TEST(ClientNetworks, AdjacentNetworksLeaveNoGap) {
  const auto n = networks({"10.0.1.0/24", "10.0.0.0/24"});
  EXPECT_TRUE(allows(n, "10.0.0.255"));
  EXPECT_TRUE(allows(n, "10.0.1.0"));
  EXPECT_FALSE(allows(n, "10.0.2.0"));
}

TEST(ClientNetworks, ZeroLengthIsTheWholeFamilyAndOnlyIt) {
  const auto v4 = networks({"0.0.0.0/0"});
  EXPECT_TRUE(allows(v4, "0.0.0.0"));
  EXPECT_TRUE(allows(v4, "255.255.255.255"));
  EXPECT_FALSE(allows(v4, "::"));
  const auto v6 = networks({"::/0"});
  EXPECT_TRUE(allows(v6, "::"));
  EXPECT_TRUE(allows(v6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(allows(v6, "10.0.0.1"));
}

TEST(ClientNetworks, HostPrefixes) {
  const auto n = networks({"192.0.2.7", "2001:db8::7/128"});
  EXPECT_FALSE(allows(n, "192.0.2.6"));
  EXPECT_TRUE(allows(n, "192.0.2.7"));
  EXPECT_FALSE(allows(n, "192.0.2.8"));
  EXPECT_FALSE(allows(n, "2001:db8::6"));
  EXPECT_TRUE(allows(n, "2001:db8::7"));
  EXPECT_FALSE(allows(n, "2001:db8::8"));
}

TEST(ClientNetworks, Ipv6Boundaries) {
  const auto n = networks({"fc00::/7", "2001:db8:0:8000::/49"});
  EXPECT_FALSE(allows(n, "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_TRUE(allows(n, "fc00::"));
  EXPECT_TRUE(allows(n, "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(allows(n, "fe00::"));
  EXPECT_FALSE(allows(n, "2001:db8:0:7fff:ffff:ffff:ffff:ffff"));
  EXPECT_TRUE(allows(n, "2001:db8:0:8000::"));
  EXPECT_TRUE(allows(n, "2001:db8:0:ffff:ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(allows(n, "2001:db8:1::"));
}

TEST(ClientNetworks, AnIpv4MappedClientIsAnIpv6Client) {
  EXPECT_FALSE(allows(networks({"10.0.0.0/8"}), "::ffff:10.0.0.1"));
  const auto mapped = networks({"::ffff:10.0.0.0/104"});
  EXPECT_TRUE(allows(mapped, "::ffff:10.0.0.1"));
  EXPECT_FALSE(allows(mapped, "::ffff:11.0.0.1"));
  EXPECT_FALSE(allows(mapped, "10.0.0.1"));
}

}  // namespace
}  // namespace wirecache::config

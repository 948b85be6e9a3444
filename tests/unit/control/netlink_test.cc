// What ip(8) shows after each request.
#include "lib/control/netlink.h"

#include <gtest/gtest.h>

#include <fstream>

#include "lib/control/interface_ipv6.h"
#include "lib/control/interface_neighbours.h"
#include "lib/control/link_monitor.h"
#include "tests/unit/control/private_network.h"
#include "tests/unit/control/tap.h"

namespace wirecache::control {
namespace {

class NetlinkTest : public testing::Test {
 protected:
  void SetUp() override {
    WC_NEEDS_PRIVATE_NETWORK();
    auto opened = Netlink::open();
    ASSERT_TRUE(opened) << opened.error().message;
    netlink_ = std::make_unique<Netlink>(std::move(*opened));
    auto index = netlink_->link_index("va");
    ASSERT_TRUE(index) << index.error().message;
    va_ = *index;
  }
  std::unique_ptr<Netlink> netlink_;
  unsigned va_ = 0;
};

TEST_F(NetlinkTest, MissingInterfaces) {
  auto missing = netlink_->link_index("nosuch");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "there is no network interface nosuch");
  auto up = netlink_->set_link_up(9999);
  ASSERT_FALSE(up);
  EXPECT_EQ(up.error().message, "cannot bring up interface 9999: No such device");
}

TEST_F(NetlinkTest, LinkUpAndMtu) {
  ASSERT_TRUE(run("ip link set va down"));
  ASSERT_TRUE(netlink_->set_link_up(va_));
  EXPECT_TRUE(run("ip link show va up | grep -q va"));
  ASSERT_TRUE(netlink_->set_mtu(va_, 1400));
  EXPECT_TRUE(run("ip link show va | grep -q 'mtu 1400 '"));
  EXPECT_FALSE(netlink_->set_mtu(va_, 1));
}

TEST_F(NetlinkTest, AddressesWithTheirConnectedRoutes) {
  for (int i = 0; i < 2; ++i) {  // the second time they are there already
    auto v4 = netlink_->add_address(va_, *IpPrefix::parse("10.53.0.1/24"));
    ASSERT_TRUE(v4) << v4.error().message;
    auto v6 = netlink_->add_address(va_, *IpPrefix::parse("fd53::1/64"));
    ASSERT_TRUE(v6) << v6.error().message;
  }
  EXPECT_TRUE(run("ip -4 addr show dev va | grep -q 'inet 10.53.0.1/24 scope global'"));
  EXPECT_TRUE(run("ip -4 route show dev va | grep -q '^10.53.0.0/24 '"));
  EXPECT_TRUE(run("ip -6 addr show dev va -tentative | grep -q 'fd53::1/64'"));
  EXPECT_TRUE(run("ip -6 route show dev va | grep -q '^fd53::/64 '"));
}

TEST_F(NetlinkTest, ATapShowsTheCarrierThatItIsGiven) {
  const Tap tap("wc-t0");
  ASSERT_TRUE(tap.made());
  const unsigned index = *netlink_->link_index("wc-t0");
  ASSERT_TRUE(netlink_->set_link_up(index));
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  for (const LinkState state : {LinkState::kDown, LinkState::kUp, LinkState::kDown}) {
    auto set = netlink_->set_carrier(index, state);
    ASSERT_TRUE(set) << set.error().message;
    const char* flags = state == LinkState::kUp ? "<BROADCAST,MULTICAST,UP,LOWER_UP>"
                                                : "<NO-CARRIER,BROADCAST,MULTICAST,UP>";
    EXPECT_TRUE(run(std::string("ip link show wc-t0 | grep -q '") + flags + "'"));
    for (int wait = 0; wait < 3000 && monitor->state(index) != state; ++wait) {
      usleep(1000);
      monitor->poll();
    }
    EXPECT_EQ(monitor->state(index), state);
  }
  EXPECT_FALSE(netlink_->set_carrier(9999, LinkState::kUp));
}

class NetlinkRouteTest : public NetlinkTest {
 protected:
  void SetUp() override {
    NetlinkTest::SetUp();
    if (IsSkipped()) return;
    for (const char* address : {"10.58.0.1/24", "10.59.0.1/24", "fd58::1/64"})
      ASSERT_TRUE(netlink_->add_address(va_, *IpPrefix::parse(address)));
  }
  void TearDown() override {
    run("ip route flush 192.0.2.0/24; ip -6 route flush 2001:db8::/32; ip addr flush dev va scope "
        "global");
  }
  Expected<void> add(const char* network, std::vector<const char*> gateways) {
    std::vector<Gateway> list;
    for (const char* gateway : gateways) list.push_back({*IpAddress::parse(gateway), va_});
    return netlink_->add_route(*IpPrefix::parse(network), list);
  }
};

TEST_F(NetlinkRouteTest, OneGatewayThenSeveral) {
  auto one = add("192.0.2.0/24", {"10.58.0.254"});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(
      run("ip route show 192.0.2.0/24 | grep -q '^192.0.2.0/24 via 10.58.0.254 dev va proto "
          "static metric 2048'"));
  auto two = add("192.0.2.0/24", {"10.58.0.254", "10.59.0.254"});
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_TRUE(
      run("test $(ip route show 192.0.2.0/24 | grep -c 'nexthop via 10.5[89].0.254 dev va') = 2"));
  EXPECT_TRUE(run("test $(ip route show 192.0.2.0/24 | grep -c static) = 1"));

  auto v6 = add("2001:db8::/32", {"fd58::fe", "fd58::fd"});
  ASSERT_TRUE(v6) << v6.error().message;
  EXPECT_TRUE(run("ip -6 route show 2001:db8::/32 | grep -q 'nexthop via fd58::fe dev va'"));
  EXPECT_TRUE(run("ip -6 route show 2001:db8::/32 | grep -q 'nexthop via fd58::fd dev va'"));
  auto v6_one = add("2001:db8::/32", {"fd58::fc"});
  ASSERT_TRUE(v6_one) << v6_one.error().message;
  EXPECT_TRUE(run("test \"$(ip -6 route show 2001:db8::/32 | grep -o 'fd58::f.')\" = fd58::fc"));
}

TEST_F(NetlinkRouteTest, ARouteThatIsThereStaysAndIsPreferred) {
  ASSERT_TRUE(
      run("ip route add 192.0.2.0/24 via 10.59.0.253 metric 1024 && "
          "ip -6 route add 2001:db8::/32 via fd58::9"));
  ASSERT_TRUE(add("192.0.2.0/24", {"10.58.0.254"}));
  ASSERT_TRUE(add("2001:db8::/32", {"fd58::fe"}));
  EXPECT_TRUE(run("ip route get 192.0.2.1 | grep -q 'via 10.59.0.253'"));
  EXPECT_TRUE(run("ip -6 route get 2001:db8::1 | grep -q 'via fd58::9'"));
}

TEST_F(NetlinkRouteTest, WhatTheKernelRefusesIsOneClearLine) {
  auto refused = add("192.0.2.0/24", {"10.77.0.254"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "cannot add the route to 192.0.2.0/24: Network is unreachable");
  EXPECT_FALSE(add("192.0.2.0/24", {}));
}

std::string setting(const std::string& path) {
  std::string line;
  std::ifstream file("/proc/sys/net/" + path);
  std::getline(file, line);
  return line;
}

TEST_F(NetlinkTest, PreparedNeighbours) {
  auto prepared = prepare_neighbours("va");
  ASSERT_TRUE(prepared) << prepared.error().message;
  for (const char* family : {"ipv4/", "ipv6/"}) {
    // In whole jiffies, of at most 10 ms.
    EXPECT_NEAR(std::stoi(setting(family + std::string("neigh/va/retrans_time_ms"))), 250, 10);
    EXPECT_EQ(setting(family + std::string("conf/va/ignore_routes_with_linkdown")), "1");
  }
  EXPECT_EQ(setting("ipv4/neigh/va/locktime"), "0");
  EXPECT_EQ(setting("ipv4/conf/va/arp_ignore"), "1");
  auto missing = prepare_neighbours("nosuch");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "cannot write /proc/sys/net/ipv4/neigh/nosuch/retrans_time_ms");
}

TEST_F(NetlinkTest, PreparedIpv6HasItsLinkLocalAddressAtOnce) {
  auto prepared = prepare_ipv6("va");
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_TRUE(run("ip -6 addr show dev va scope link -tentative | grep -q 'inet6 fe80:'"));
  EXPECT_TRUE(run("grep -q 0 /proc/sys/net/ipv6/conf/va/accept_ra"));
  EXPECT_TRUE(prepare_ipv6("nosuch"));
}

}  // namespace
}  // namespace wirecache::control

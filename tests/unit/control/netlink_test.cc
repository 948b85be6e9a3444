// What ip(8) shows after each request.
#include "lib/control/netlink.h"

#include <gtest/gtest.h>

#include "lib/control/interface_ipv6.h"
#include "tests/unit/control/private_network.h"

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

TEST_F(NetlinkTest, PreparedIpv6HasItsLinkLocalAddressAtOnce) {
  auto prepared = prepare_ipv6("va");
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_TRUE(run("ip -6 addr show dev va scope link -tentative | grep -q 'inet6 fe80:'"));
  EXPECT_TRUE(run("grep -q 0 /proc/sys/net/ipv6/conf/va/accept_ra"));
  EXPECT_TRUE(prepare_ipv6("nosuch"));
}

}  // namespace
}  // namespace wirecache::control

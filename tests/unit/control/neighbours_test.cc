// The kernel as the other side: ip-neighbour(8) makes entries, a second namespace answers ARP and
// NDP.
#include "lib/control/neighbours.h"

#include <gtest/gtest.h>

#include "lib/control/interface_ipv6.h"
#include "lib/control/netlink.h"
#include "tests/unit/control/private_network.h"

namespace wirecache::control {
namespace {

const MacAddress kMac{{0x02, 0, 0, 0, 0, 0x07}};

class NeighboursTest : public testing::Test {
 protected:
  void SetUp() override {
    WC_NEEDS_PRIVATE_NETWORK();
    auto netlink = Netlink::open();
    ASSERT_TRUE(netlink) << netlink.error().message;
    va_ = *netlink->link_index("va");
    run("ip neigh flush dev va; ip neigh flush dev va nud permanent");
  }
  unsigned va_ = 0;
  const IpAddress v4_ = *IpAddress::parse("10.54.0.2");
  const IpAddress v6_ = *IpAddress::parse("fd54::2");
};

TEST_F(NeighboursTest, TakesInTheTableAtItsStart) {
  ASSERT_TRUE(run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:07 dev va nud permanent"));
  ASSERT_TRUE(run("ip neigh replace fd54::2 lladdr 02:00:00:00:00:07 dev va nud stale"));
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->lookup(va_, v4_), kMac);
  EXPECT_EQ(table->lookup(va_, v6_), kMac);
  EXPECT_EQ(table->lookup(va_ + 1, v4_), std::nullopt);
}

TEST_F(NeighboursTest, FollowsChanges) {
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->lookup(va_, v4_), std::nullopt);
  EXPECT_FALSE(table->poll());

  ASSERT_TRUE(run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:07 dev va nud reachable"));
  EXPECT_TRUE(table->poll());
  EXPECT_EQ(table->lookup(va_, v4_), kMac);

  ASSERT_TRUE(run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:07 dev va nud stale"));
  EXPECT_FALSE(table->poll());  // a new state, the same answer

  ASSERT_TRUE(run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:08 dev va nud stale"));
  EXPECT_TRUE(table->poll());
  EXPECT_EQ(table->lookup(va_, v4_)->bytes[5], 8);

  ASSERT_TRUE(run("ip neigh del 10.54.0.2 dev va"));
  EXPECT_TRUE(table->poll());
  EXPECT_EQ(table->lookup(va_, v4_), std::nullopt);
}

TEST_F(NeighboursTest, UnresolvedNeighboursAreNotUsable) {
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_TRUE(run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:07 dev va nud failed"));
  ASSERT_TRUE(run("ip neigh replace fd54::2 lladdr 02:00:00:00:00:07 dev va nud incomplete"));
  table->poll();
  EXPECT_EQ(table->lookup(va_, v4_), std::nullopt);
  EXPECT_EQ(table->lookup(va_, v6_), std::nullopt);
}

TEST_F(NeighboursTest, LostEventsAreReadAgain) {
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  // More than the socket's buffer holds, so that the last ones are lost.
  ASSERT_TRUE(
      run("for a in $(seq 0 15); do for b in $(seq 1 250); do "
          "echo neigh replace 10.55.$a.$b lladdr 02:00:00:00:00:07 dev va nud stale; "
          "done; done | ip -batch - 2>/dev/null; ip neigh replace 10.54.0.2 lladdr "
          "02:00:00:00:00:07 dev va nud permanent"));
  EXPECT_TRUE(table->poll());
  EXPECT_EQ(table->lookup(va_, v4_), kMac);
}

TEST_F(NeighboursTest, RequestsMakeTheKernelResolve) {
  const PeerNamespace peer;
  ASSERT_TRUE(run("ip link add na type veth peer name nb") && peer.take("nb"));
  ASSERT_TRUE(peer.run_there(
      "ip link set nb address 02:00:00:00:00:07 && ip addr add 10.56.0.2/24 dev nb && "
      "ip addr add fd56::2/64 dev nb nodad && ip link set nb up"));
  auto netlink = Netlink::open();
  ASSERT_TRUE(netlink) << netlink.error().message;
  const unsigned na = *netlink->link_index("na");
  ASSERT_TRUE(netlink->set_link_up(na));
  ASSERT_TRUE(prepare_ipv6("na"));
  ASSERT_TRUE(netlink->add_address(na, *IpPrefix::parse("10.56.0.1/24")));
  ASSERT_TRUE(netlink->add_address(na, *IpPrefix::parse("fd56::1/64")));

  const IpAddress v4 = *IpAddress::parse("10.56.0.2");
  const IpAddress v6 = *IpAddress::parse("fd56::2");
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_TRUE(table->request(na, v4));
  ASSERT_TRUE(table->request(na, v6));
  EXPECT_FALSE(table->request(9999, v4));
  for (int wait = 0; wait < 3000 && !(table->lookup(na, v4) && table->lookup(na, v6)); ++wait) {
    usleep(1000);
    table->poll();
  }
  EXPECT_EQ(table->lookup(na, v4), kMac);
  EXPECT_EQ(table->lookup(na, v6), kMac);
  // Asked for again, what is known stays known.
  ASSERT_TRUE(table->request(na, v4));
  table->poll();
  EXPECT_EQ(table->lookup(na, v4), kMac);
}

}  // namespace
}  // namespace wirecache::control

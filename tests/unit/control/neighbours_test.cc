// The kernel as the other side: ip-neighbour(8) makes entries, a second namespace answers ARP and
// NDP.
#include "lib/control/neighbours.h"

#include <gtest/gtest.h>

#include "lib/control/interface_ipv6.h"
#include "lib/control/interface_neighbours.h"
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

TEST_F(NeighboursTest, EventsBeforeTheLossDoNotUndoWhatIsReadAgain) {
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  // The first event stays in the socket's buffer, what came last is lost.
  ASSERT_TRUE(
      run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:08 dev va nud permanent; "
          "for a in $(seq 0 15); do for b in $(seq 1 250); do "
          "echo neigh replace 10.55.$a.$b lladdr 02:00:00:00:00:07 dev va nud stale; "
          "done; done | ip -batch - 2>/dev/null; ip neigh replace 10.54.0.2 lladdr "
          "02:00:00:00:00:07 dev va nud permanent"));
  for (int i = 0; i < 3; ++i) {
    table->poll();
    EXPECT_EQ(table->lookup(va_, v4_), kMac);
  }
}

TEST_F(NeighboursTest, AStaticNeighbourIsNotProbed) {
  ASSERT_TRUE(run("ip neigh replace 10.54.0.2 lladdr 02:00:00:00:00:07 dev va nud permanent"));
  auto table = NeighbourTable::open();
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_TRUE(table->probe(va_, v4_));
  EXPECT_TRUE(run("ip neigh show 10.54.0.2 dev va | grep -q PERMANENT"));
}

// "na" here, with 10.56.0.1 and fd56::1; "nb" there, with MAC 02:00:00:00:00:07, 10.56.0.2 and
// fd56::2.
class NeighbourThereTest : public NeighboursTest {
 protected:
  void SetUp() override {
    NeighboursTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(run("ip link add na type veth peer name nb") && peer_.take("nb"));
    ASSERT_TRUE(peer_.run_there(
        "ip link set nb address 02:00:00:00:00:07 && ip addr add 10.56.0.2/24 dev nb && "
        "ip addr add fd56::2/64 dev nb nodad && ip link set nb up"));
    auto netlink = Netlink::open();
    ASSERT_TRUE(netlink) << netlink.error().message;
    na_ = *netlink->link_index("na");
    ASSERT_TRUE(netlink->set_link_up(na_));
    ASSERT_TRUE(prepare_neighbours("na"));
    ASSERT_TRUE(prepare_ipv6("na"));
    ASSERT_TRUE(netlink->add_address(na_, *IpPrefix::parse("10.56.0.1/24")));
    ASSERT_TRUE(netlink->add_address(na_, *IpPrefix::parse("fd56::1/64")));
    auto table = NeighbourTable::open();
    ASSERT_TRUE(table) << table.error().message;
    table_ = std::make_unique<NeighbourTable>(std::move(*table));
  }
  void TearDown() override { run("ip link del na 2>/dev/null"); }

  // Probes both families every half second until both have this MAC; how long that took in
  // milliseconds, or nothing within 10 s.
  std::optional<int> probe_until(std::optional<MacAddress> mac) {
    for (int ms = 0; ms < 10'000; ++ms) {
      if (ms % 500 == 0) {
        EXPECT_TRUE(table_->probe(na_, there_v4_));
        EXPECT_TRUE(table_->probe(na_, there_v6_));
      }
      usleep(1000);
      table_->poll();
      if (table_->lookup(na_, there_v4_) == mac && table_->lookup(na_, there_v6_) == mac) return ms;
    }
    return std::nullopt;
  }

  const PeerNamespace peer_;
  unsigned na_ = 0;
  std::unique_ptr<NeighbourTable> table_;
  const IpAddress there_v4_ = *IpAddress::parse("10.56.0.2");
  const IpAddress there_v6_ = *IpAddress::parse("fd56::2");
};

TEST_F(NeighbourThereTest, RequestsMakeTheKernelResolve) {
  ASSERT_TRUE(table_->request(na_, there_v4_));
  ASSERT_TRUE(table_->request(na_, there_v6_));
  EXPECT_FALSE(table_->request(9999, there_v4_));
  const auto both = [&] {
    return table_->lookup(na_, there_v4_) == kMac && table_->lookup(na_, there_v6_) == kMac;
  };
  for (int wait = 0; wait < 3000 && !both(); ++wait) {
    usleep(1000);
    table_->poll();
  }
  EXPECT_TRUE(both());
  // Asked for again, what is known stays known.
  ASSERT_TRUE(table_->request(na_, there_v4_));
  table_->poll();
  EXPECT_EQ(table_->lookup(na_, there_v4_), kMac);
}

TEST_F(NeighbourThereTest, ProbesKeepWhoAnswers) {
  ASSERT_TRUE(probe_until(kMac));
  // Long enough for three probes without an answer.
  for (int ms = 0; ms < 2000; ++ms) {
    if (ms % 500 == 0) {
      ASSERT_TRUE(table_->probe(na_, there_v4_));
      ASSERT_TRUE(table_->probe(na_, there_v6_));
    }
    usleep(1000);
    EXPECT_FALSE(table_->poll());
  }
}

// Takes 1.3 s at most; the bound leaves room for a busy machine.
TEST_F(NeighbourThereTest, ProbesFindOutWhoIsGone) {
  ASSERT_TRUE(probe_until(kMac));
  ASSERT_TRUE(peer_.run_there("ip addr flush dev nb scope global"));
  const auto took = probe_until(std::nullopt);
  ASSERT_TRUE(took);
  EXPECT_LT(*took, 4000);
  ASSERT_TRUE(
      peer_.run_there("ip addr add 10.56.0.2/24 dev nb && ip addr add fd56::2/64 dev nb nodad"));
  EXPECT_TRUE(probe_until(kMac));
}

TEST_F(NeighbourThereTest, ProbesFindOutAboutAnotherMac) {
  ASSERT_TRUE(probe_until(kMac));
  // With carrier all the time, and nothing said by the neighbour itself.
  ASSERT_TRUE(peer_.run_there("ip link set nb address 02:00:00:00:00:08"));
  const auto took = probe_until(MacAddress{{0x02, 0, 0, 0, 0, 0x08}});
  ASSERT_TRUE(took);
  EXPECT_LT(*took, 4000);
}

}  // namespace
}  // namespace wirecache::control

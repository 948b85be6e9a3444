// veth ends have carrier while the other end is up; bridges send messages that are no links.
#include "lib/control/link_monitor.h"

#include <gtest/gtest.h>
#include <net/if.h>

#include "tests/unit/control/private_network.h"

namespace wirecache::control {
namespace {

class LinkMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    WC_NEEDS_PRIVATE_NETWORK();
    ASSERT_TRUE(
        run("ip link add la type veth peer name lb && ip link set la up && ip link set lb up"));
    la_ = if_nametoindex("la");
  }
  void TearDown() override { run("ip link del la 2>/dev/null; ip link del lbr 2>/dev/null"); }

  // The kernel tells of carriers in its own time.
  static bool becomes(LinkMonitor& monitor, unsigned ifindex, LinkState state) {
    for (int wait = 0; wait < 3000 && monitor.state(ifindex) != state; ++wait) {
      usleep(1000);
      monitor.poll();
    }
    return monitor.state(ifindex) == state;
  }
  unsigned la_ = 0;
};

TEST_F(LinkMonitorTest, TakesInWhatIsThereAtItsStart) {
  ASSERT_TRUE(run("ip link set lb down"));
  for (const LinkState expected : {LinkState::kDown, LinkState::kUp}) {
    auto monitor = LinkMonitor::open();
    ASSERT_TRUE(monitor) << monitor.error().message;
    EXPECT_EQ(monitor->state(la_), expected);
    EXPECT_EQ(monitor->state(9999), LinkState::kDown);
    ASSERT_TRUE(run("ip link set lb up"));
  }
}

TEST_F(LinkMonitorTest, FollowsCarrierAndAdministrativeState) {
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  ASSERT_EQ(monitor->state(la_), LinkState::kUp);
  for (const char* end : {"lb", "la"}) {
    ASSERT_TRUE(run("ip link set " + std::string(end) + " down"));
    EXPECT_TRUE(becomes(*monitor, la_, LinkState::kDown)) << end;
    ASSERT_TRUE(run("ip link set " + std::string(end) + " up"));
    EXPECT_TRUE(becomes(*monitor, la_, LinkState::kUp)) << end;
  }
}

TEST_F(LinkMonitorTest, CountsHowOftenItWasSetUp) {
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  EXPECT_EQ(monitor->times_set_up(la_), 0u);
  EXPECT_EQ(monitor->times_set_up(9999), 0u);
  // Carrier alone is nothing that the administrator did.
  ASSERT_TRUE(run("ip link set lb down && ip link set lb up"));
  ASSERT_TRUE(becomes(*monitor, la_, LinkState::kUp));
  EXPECT_EQ(monitor->times_set_up(la_), 0u);
  // Also where both come in one look.
  ASSERT_TRUE(run("ip link set la down && ip link set la up"));
  monitor->poll();
  EXPECT_EQ(monitor->times_set_up(la_), 1u);
  ASSERT_TRUE(run("ip link set lb down && ip link set la down"));
  monitor->poll();
  EXPECT_EQ(monitor->times_set_up(la_), 1u);
  ASSERT_TRUE(run("ip link set la up"));
  monitor->poll();
  EXPECT_EQ(monitor->times_set_up(la_), 2u);
  EXPECT_EQ(monitor->state(la_), LinkState::kDown);
  ASSERT_TRUE(run("ip link set lb up"));
}

TEST_F(LinkMonitorTest, SaysWhetherAnAnswerChanged) {
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  while (monitor->poll()) {
  }
  ASSERT_TRUE(run("ip link set la mtu 1400"));
  EXPECT_FALSE(monitor->poll());
  ASSERT_TRUE(run("ip link set la down"));
  EXPECT_TRUE(monitor->poll());
}

TEST_F(LinkMonitorTest, InterfacesComeAndGo) {
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  ASSERT_TRUE(
      run("ip link add lc type veth peer name ld && ip link set lc up && ip link set ld up"));
  const unsigned lc = if_nametoindex("lc");
  EXPECT_TRUE(becomes(*monitor, lc, LinkState::kUp));
  ASSERT_TRUE(run("ip link del lc"));
  EXPECT_TRUE(becomes(*monitor, lc, LinkState::kDown));
}

TEST_F(LinkMonitorTest, LeavingABridgeIsNoGoing) {
  ASSERT_TRUE(
      run("ip link add lbr type bridge && ip link set lbr up && ip link set la master lbr"));
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  ASSERT_TRUE(run("ip link set la nomaster"));
  monitor->poll();
  EXPECT_EQ(monitor->state(la_), LinkState::kUp);
}

TEST_F(LinkMonitorTest, LostEventsAreReadAgain) {
  auto monitor = LinkMonitor::open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  ASSERT_TRUE(
      run("for i in $(seq 1 600); do echo link set la mtu $((1000 + i)); done | ip -batch - && "
          "ip link set la down"));
  monitor->poll();
  EXPECT_EQ(monitor->state(la_), LinkState::kDown);
  EXPECT_EQ(monitor->times_set_up(la_), 0u);
  ASSERT_TRUE(
      run("(for i in $(seq 1 300); do echo link set lb mtu $((1000 + i)); done; "
          "for i in $(seq 1 300); do echo link set la mtu $((1000 + i)); done; "
          "echo link set la up) | ip -batch -"));
  monitor->poll();
  EXPECT_EQ(monitor->times_set_up(la_), 1u);
}

}  // namespace
}  // namespace wirecache::control

// The kernel's own routing as the other side: ip-route(8) makes routes, the kernel matches them.
#include "lib/control/route_lookup.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/control/interface_neighbours.h"
#include "lib/control/netlink.h"
#include "tests/unit/control/private_network.h"

namespace wirecache::control {
namespace {

// Two veth pairs: ra - rb with 10.61.0.1/24 and fd61::1/64, rc - rd with 10.62.0.1/24 and
// fd62::1/64.
class RouteLookupTest : public testing::Test {
 protected:
  void SetUp() override {
    WC_NEEDS_PRIVATE_NETWORK();
    ASSERT_TRUE(
        run("ip link add ra type veth peer name rb && ip link add rc type veth peer name rd && "
            "for i in ra rb rc rd; do ip link set $i up; done; "
            "ip addr add 10.61.0.1/24 dev ra && ip addr add fd61::1/64 dev ra nodad && "
            "ip addr add 10.62.0.1/24 dev rc && ip addr add fd62::1/64 dev rc nodad"));
    ASSERT_TRUE(prepare_neighbours("ra"));
    ASSERT_TRUE(prepare_neighbours("rc"));
    auto netlink = Netlink::open();
    ASSERT_TRUE(netlink) << netlink.error().message;
    ra_ = *netlink->link_index("ra");
    rc_ = *netlink->link_index("rc");
    auto lookup = RouteLookup::open();
    ASSERT_TRUE(lookup) << lookup.error().message;
    lookup_ = std::make_unique<RouteLookup>(std::move(*lookup));
  }
  void TearDown() override { run("ip link del ra 2>/dev/null; ip link del rc 2>/dev/null"); }

  // "GATEWAY%INTERFACE[ from SOURCE]" of each next hop, in alphabetical order, for both veths.
  std::string resolve(const char* destination, unsigned interface = kAnyInterface) {
    const auto found = lookup_->resolve(*IpAddress::parse(destination), interface);
    if (!found) return found.error().message;
    if (found->status == Resolution::Status::kRefused) return "refused";
    if (found->status == Resolution::Status::kNone) return "none";
    std::vector<std::string> hops;
    for (const NextHop& hop : found->next_hops) {
      const std::string gateway = hop.gateway ? hop.gateway->to_string() : "direct";
      const std::string name = hop.ifindex == ra_ ? "ra" : hop.ifindex == rc_ ? "rc" : "?";
      hops.push_back(gateway + "%" + name +
                     (hop.preferred_source ? " from " + hop.preferred_source->to_string() : ""));
    }
    std::ranges::sort(hops);
    std::string text;
    for (const std::string& hop : hops) text += (text.empty() ? "" : ", ") + hop;
    return text;
  }
  // The same once the kernel has handled a change of carrier, which it does in its own time.
  std::string resolve_until(const char* destination, const std::string& expected) {
    std::string now = resolve(destination);
    for (int wait = 0; wait < 3000 && now != expected; ++wait) {
      usleep(1000);
      now = resolve(destination);
    }
    return now;
  }

  unsigned ra_ = 0;
  unsigned rc_ = 0;
  std::unique_ptr<RouteLookup> lookup_;
};

TEST_F(RouteLookupTest, ConnectedNetworks) {
  EXPECT_EQ(resolve("10.61.0.9"), "direct%ra from 10.61.0.1");
  EXPECT_EQ(resolve("10.62.0.9"), "direct%rc from 10.62.0.1");
  EXPECT_EQ(resolve("fd61::9"), "direct%ra");
}

TEST_F(RouteLookupTest, NoRouteAndNoHost) {
  EXPECT_EQ(resolve("192.0.2.1"), "none");
  EXPECT_EQ(resolve("2001:db8::1"), "none");
  EXPECT_EQ(resolve("10.61.0.1"), "refused");    // our own
  EXPECT_EQ(resolve("10.61.0.255"), "refused");  // broadcast
  EXPECT_EQ(resolve("fd61::1"), "refused");
}

TEST_F(RouteLookupTest, Gateways) {
  ASSERT_TRUE(
      run("ip route add 192.0.2.0/24 via 10.61.0.254 && "
          "ip route add 192.0.2.128/25 via 10.62.0.254 src 10.61.0.1 && "
          "ip -6 route add 2001:db8::/32 via fd61::fe && ip -6 route add 2001:db8:1::/48 via "
          "fe80::1 dev rc src fd61::1"));
  EXPECT_EQ(resolve("192.0.2.1"), "10.61.0.254%ra");
  EXPECT_EQ(resolve("192.0.2.129"), "10.62.0.254%rc from 10.61.0.1");
  EXPECT_EQ(resolve("2001:db8::1"), "fd61::fe%ra");
  EXPECT_EQ(resolve("2001:db8:1::1"), "fe80::1%rc from fd61::1");
}

TEST_F(RouteLookupTest, SeveralNextHops) {
  ASSERT_TRUE(
      run("ip route add default nexthop via 10.61.0.254 nexthop via 10.61.0.253 nexthop via "
          "10.62.0.254 && ip -6 route add default nexthop via fd61::fe nexthop via fd62::fe"));
  EXPECT_EQ(resolve("192.0.2.1"), "10.61.0.253%ra, 10.61.0.254%ra, 10.62.0.254%rc");
  EXPECT_EQ(resolve("2001:db8::1"), "fd61::fe%ra, fd62::fe%rc");
  EXPECT_EQ(resolve("192.0.2.1", rc_), "10.62.0.254%rc");
  EXPECT_EQ(resolve("192.0.2.1", ra_), "10.61.0.253%ra, 10.61.0.254%ra");
  EXPECT_EQ(resolve("2001:db8::1", rc_), "fd62::fe%rc");
  EXPECT_EQ(resolve("2001:db8::1", ra_), "fd61::fe%ra");
}

TEST_F(RouteLookupTest, TheBestRouteByOneInterface) {
  ASSERT_TRUE(
      run("ip route add 192.0.2.0/24 via 10.61.0.254 metric 1 && "
          "ip route add default via 10.62.0.254 metric 2 && "
          "ip -6 route add 2001:db8::/32 via fd61::fe && ip -6 route add default via fd62::fe"));
  EXPECT_EQ(resolve("192.0.2.1"), "10.61.0.254%ra");
  EXPECT_EQ(resolve("192.0.2.1", rc_), "10.62.0.254%rc");
  EXPECT_EQ(resolve("2001:db8::1", rc_), "fd62::fe%rc");
  // Without a route by it the kernel would look for an IPv4 host on the interface itself.
  EXPECT_EQ(resolve("198.51.100.1", ra_), "refused");
  EXPECT_EQ(resolve("2001:dba::1", ra_), "none");
  EXPECT_EQ(resolve("192.0.2.1", 9999), "none");
}

TEST_F(RouteLookupTest, AnIpv6NextHopOfAnIpv4Route) {
  ASSERT_TRUE(
      run("ip route add 192.0.2.0/24 via inet6 fe80::1 dev ra && "
          "ip route add 198.51.100.0/24 nexthop via inet6 fd61::fe nexthop via 10.62.0.254"));
  EXPECT_EQ(resolve("192.0.2.1"), "fe80::1%ra");
  EXPECT_EQ(resolve("198.51.100.1"), "10.62.0.254%rc, fd61::fe%ra");
}

TEST_F(RouteLookupTest, NextHopObjects) {
  ASSERT_TRUE(
      run("ip nexthop add id 1 via 10.61.0.254 dev ra && ip nexthop add id 2 via 10.62.0.254 dev "
          "rc && ip nexthop add id 3 group 1/2 && ip route add 192.0.2.0/24 nhid 1 && "
          "ip route add 198.51.100.0/24 nhid 3 && ip nexthop add id 4 via fd61::fe dev ra && "
          "ip -6 route add 2001:db8::/32 nhid 4"));
  for (const char* mode : {"1", "0"}) {
    ASSERT_TRUE(run(std::string("echo ") + mode + " > /proc/sys/net/ipv4/nexthop_compat_mode"));
    EXPECT_EQ(resolve("192.0.2.1").substr(0, 14), "10.61.0.254%ra") << mode;
    EXPECT_EQ(resolve("2001:db8::1").substr(0, 11), "fd61::fe%ra") << mode;
  }
  const std::string one_of_the_group = resolve("198.51.100.1");
  EXPECT_TRUE(one_of_the_group.starts_with("10.61.0.254%ra") ||
              one_of_the_group.starts_with("10.62.0.254%rc"))
      << one_of_the_group;
  ASSERT_TRUE(run("echo 1 > /proc/sys/net/ipv4/nexthop_compat_mode"));
  EXPECT_EQ(resolve("198.51.100.1"), "10.61.0.254%ra, 10.62.0.254%rc");
  run("ip nexthop flush >/dev/null 2>&1");
}

TEST_F(RouteLookupTest, RoutesThatRefuse) {
  ASSERT_TRUE(
      run("ip route add default via 10.61.0.254 && ip -6 route add default via fd61::fe && "
          "ip route add blackhole 192.0.2.0/28 && ip route add unreachable 192.0.2.16/28 && "
          "ip route add prohibit 192.0.2.32/28 && ip -6 route add blackhole 2001:db8::/48 && "
          "ip -6 route add unreachable 2001:db8:1::/48 && ip -6 route add prohibit "
          "2001:db8:2::/48"));
  for (const char* address :
       {"192.0.2.1", "192.0.2.17", "192.0.2.33", "2001:db8::1", "2001:db8:1::1", "2001:db8:2::1"})
    EXPECT_EQ(resolve(address), "refused") << address;
  EXPECT_EQ(resolve("192.0.2.65"), "10.61.0.254%ra");
  run("ip route flush type blackhole; ip route flush type unreachable; ip route flush type "
      "prohibit; ip -6 route flush type blackhole; ip -6 route flush type unreachable; ip -6 "
      "route flush type prohibit");
}

TEST_F(RouteLookupTest, LinksWithoutCarrierAreNotUsed) {
  ASSERT_TRUE(
      run("ip route add default nexthop via 10.61.0.254 nexthop via 10.62.0.254 && "
          "ip -6 route add default nexthop via fd61::fe nexthop via fd62::fe && "
          "ip route add 192.0.2.0/24 via 10.61.0.254"));
  ASSERT_TRUE(run("ip link set rb down"));
  EXPECT_EQ(resolve_until("192.0.3.1", "10.62.0.254%rc"), "10.62.0.254%rc");
  EXPECT_EQ(resolve_until("2001:db8::1", "fd62::fe%rc"), "fd62::fe%rc");
  EXPECT_EQ(resolve("192.0.2.1"), "10.62.0.254%rc");
  EXPECT_EQ(resolve("10.61.0.9"), "10.62.0.254%rc");
  ASSERT_TRUE(run("ip link set rd down"));
  EXPECT_EQ(resolve_until("192.0.3.1", "none"), "none");
  EXPECT_EQ(resolve_until("2001:db8::1", "none"), "none");
  ASSERT_TRUE(run("ip link set rb up && ip link set rd up"));
  const std::string both = "10.61.0.254%ra, 10.62.0.254%rc";
  EXPECT_EQ(resolve_until("192.0.3.1", both), both);
  EXPECT_EQ(resolve_until("2001:db8::1", "fd61::fe%ra, fd62::fe%rc"), "fd61::fe%ra, fd62::fe%rc");
}

TEST_F(RouteLookupTest, ARouteThatMoves) {
  ASSERT_TRUE(run("ip route add 192.0.2.0/24 via 10.61.0.254"));
  EXPECT_EQ(resolve("192.0.2.1"), "10.61.0.254%ra");
  ASSERT_TRUE(run("ip route replace 192.0.2.0/24 via 10.62.0.254"));
  EXPECT_EQ(resolve("192.0.2.1"), "10.62.0.254%rc");
  ASSERT_TRUE(run("ip route del 192.0.2.0/24"));
  EXPECT_EQ(resolve("192.0.2.1"), "none");
}

TEST_F(RouteLookupTest, PolicyRulesAreTheKernelsBusiness) {
  ASSERT_TRUE(
      run("ip route add default via 10.61.0.254 && ip route add default via 10.62.0.254 table 77 "
          "&& ip rule add to 192.0.2.0/24 lookup 77"));
  EXPECT_EQ(resolve("192.0.2.1"), "10.62.0.254%rc");
  EXPECT_EQ(resolve("198.51.100.1"), "10.61.0.254%ra");
  run("ip rule del to 192.0.2.0/24 lookup 77");
}

TEST_F(RouteLookupTest, TellsOfEverythingThatMayChangeARoute) {
  uint64_t now = 0;
  const auto told = [&] { return lookup_->poll(now += 60'000); };
  while (told()) {
  }
  for (const char* change :
       {"ip route add 192.0.2.0/24 via 10.61.0.254", "ip route del 192.0.2.0/24",
        "ip -6 route add 2001:db8::/32 via fd61::fe", "ip -6 route del 2001:db8::/32",
        "ip rule add to 192.0.2.0/24 lookup 77", "ip rule del to 192.0.2.0/24",
        "ip -6 rule add to 2001:db8::/32 lookup 77", "ip -6 rule del to 2001:db8::/32",
        "ip addr add 10.63.0.1/24 dev ra", "ip addr del 10.63.0.1/24 dev ra",
        "ip addr add fd63::1/64 dev ra nodad", "ip nexthop add id 9 via 10.61.0.254 dev ra",
        "ip link set rc down"}) {
    ASSERT_TRUE(run(change)) << change;
    EXPECT_TRUE(told()) << change;
    // What the kernel does a moment later belongs to the change.
    for (int quiet = 0; quiet < 20; ++quiet) {
      usleep(1000);
      if (told()) quiet = 0;
    }
  }
}

TEST_F(RouteLookupTest, ManyEventsAreToldOfEvery50Milliseconds) {
  const uint64_t start = 1'000'000;
  lookup_->poll(start);
  const auto change = [] {
    return run("ip route replace 192.0.2.0/24 via 10.61.0.254 && ip route del 192.0.2.0/24");
  };
  ASSERT_TRUE(change());
  ASSERT_TRUE(lookup_->poll(start + 100'000));
  ASSERT_TRUE(change());
  EXPECT_FALSE(lookup_->poll(start + 149'999));
  EXPECT_TRUE(lookup_->poll(start + 150'000));
  EXPECT_FALSE(lookup_->poll(start + 250'000));
}

TEST_F(RouteLookupTest, LostEventsCount) {
  ASSERT_TRUE(
      run("for a in $(seq 0 15); do for b in $(seq 1 250); do "
          "echo route add 10.70.$a.$b/32 dev ra; done; done | ip -batch - && "
          "ip route flush 10.70.0.0/16"));
  EXPECT_TRUE(lookup_->poll(1'000'000));
  EXPECT_FALSE(lookup_->poll(2'000'000));
}

}  // namespace
}  // namespace wirecache::control

// Two ports with a gateway each in a namespace of its own; veth ends stand for the exception ports.
// Routes are made by ip-route(8), faults by ip-link(8) and ip-address(8).
#include "lib/control/upstream_routes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/control/interface_ipv6.h"
#include "lib/control/interface_neighbours.h"
#include "lib/control/netlink.h"
#include "tests/unit/control/private_network.h"

namespace wirecache::control {
namespace {

// ua - ub: 10.64.0.1/24 and fd64::1/64 here; the gateways 10.64.0.254, 10.64.0.253, fd64::fe and
// the server 10.64.0.2 there. uc - ud: the same with 65.
class UpstreamRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    WC_NEEDS_PRIVATE_NETWORK();
    auto netlink = Netlink::open();
    ASSERT_TRUE(netlink) << netlink.error().message;
    make_port(*netlink, "ua", "ub", "64");
    make_port(*netlink, "uc", "ud", "65");
  }
  void TearDown() override {
    run("ip link del ua 2>/dev/null; ip link del uc 2>/dev/null; ip route flush type blackhole");
  }

  void make_port(Netlink& netlink, const std::string& here, const std::string& there,
                 const std::string& net) {
    ASSERT_TRUE(run("ip link add " + here + " type veth peer name " + there) && peer_.take(there));
    ASSERT_TRUE(peer_.run_there("ip link set " + there + " address 02:00:00:00:" + net +
                                ":fe && for host in 254 253 2; do " + "ip addr add 10." + net +
                                ".0.$host/24 dev " + there + "; done; ip addr add fd" + net +
                                "::fe/64 dev " + there + " nodad && ip link set " + there + " up"));
    const unsigned index = *netlink.link_index(here);
    ASSERT_TRUE(netlink.set_link_up(index));
    ASSERT_TRUE(prepare_neighbours(here));
    ASSERT_TRUE(prepare_ipv6(here));
    PortSide port{"p" + std::to_string(ports_.size()), index, {}};
    for (const char* host : {"10.NN.0.1/24", "fdNN::1/64", "10.NN.0.7/24"}) {
      std::string address(host);
      address.replace(address.find("NN"), 2, net);
      port.addresses.push_back(*IpPrefix::parse(address));
      ASSERT_TRUE(netlink.add_address(index, port.addresses.back()));
    }
    ports_.push_back(port);
  }

  void start(const std::vector<const char*>& servers,
             const std::vector<const char*>& sources = {}) {
    for (const char* server : servers)
      upstream_.servers.push_back({*IpAddress::parse(server), 5353, true});
    for (const char* source : sources) upstream_.sources.push_back(*IpAddress::parse(source));
    auto network = KernelNetwork::open();
    ASSERT_TRUE(network) << network.error().message;
    network_ = std::move(*network);
    routes_ = std::make_unique<UpstreamRoutes>(upstream_, ports_, *network_);
  }

  // What main does, for one millisecond.
  void step() {
    now_us_ += 1000;
    if (now_us_ % kProbeIntervalUs == 1000) routes_->probe();
    if (network_->poll(now_us_)) routes_->refresh();
    for (std::string& line : routes_->take_log()) log_.push_back(std::move(line));
    usleep(1000);
  }
  // "PORT MAC SOURCE" of a server's route, or "none".
  std::string way(size_t server) const {
    const upstream::ServerRoute& route = routes_->table().servers[server];
    if (!route.usable) return "none";
    return std::to_string(route.port_index) + " " + route.next_hop.to_string() + " " +
           route.source.to_string();
  }
  // Steps until the server goes this way, for 10 s; the last way.
  std::string way_becomes(size_t server, const std::string& expected) {
    for (int i = 0; i < 10'000 && way(server) != expected; ++i) step();
    return way(server);
  }
  bool said(const std::string& line) const { return std::ranges::find(log_, line) != log_.end(); }

  const PeerNamespace peer_;
  std::vector<PortSide> ports_;
  config::UpstreamConfig upstream_;
  std::unique_ptr<KernelNetwork> network_;
  std::unique_ptr<UpstreamRoutes> routes_;
  std::vector<std::string> log_;
  uint64_t now_us_ = 0;
};

const std::string kBy64 = "0 02:00:00:00:64:fe ";
const std::string kBy65 = "1 02:00:00:00:65:fe ";

TEST_F(UpstreamRoutesTest, NeighboursAndWhatTheConfigurationSays) {
  start({"10.64.0.2", "fd65::fe", "192.0.2.1"});
  EXPECT_FALSE(routes_->any_usable());
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  EXPECT_EQ(way_becomes(1, kBy65 + "fd65::1"), kBy65 + "fd65::1");
  EXPECT_EQ(way(2), "none");
  EXPECT_TRUE(routes_->any_usable());
  const upstream::RouteTable& table = routes_->table();
  EXPECT_EQ(table.count, 3U);
  EXPECT_EQ(table.servers[1].address.to_string(), "fd65::fe");
  EXPECT_EQ(table.servers[1].port, 5353);
  EXPECT_TRUE(table.servers[1].trust_ad);
  EXPECT_EQ(table.sources.size(), 6U);
  EXPECT_TRUE(said("upstream 10.64.0.2: on p0 from 10.64.0.1"));
  EXPECT_TRUE(said("upstream fd65::fe: on p1 from fd65::1"));
  EXPECT_TRUE(said("upstream 192.0.2.1: no route"));
}

TEST_F(UpstreamRoutesTest, RoutesThatComeMoveAndGo) {
  start({"192.0.2.1", "2001:db8::1"});
  ASSERT_TRUE(
      run("ip route add 192.0.2.0/24 via 10.64.0.254 && "
          "ip -6 route add 2001:db8::/32 via fd64::fe"));
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  EXPECT_EQ(way_becomes(1, kBy64 + "fd64::1"), kBy64 + "fd64::1");
  EXPECT_TRUE(said("upstream 192.0.2.1: by 10.64.0.254 on p0 from 10.64.0.1"));
  ASSERT_TRUE(
      run("ip route replace 192.0.2.0/24 via 10.65.0.254 src 10.65.0.7 && "
          "ip -6 route replace 2001:db8::/32 via fd65::fe"));
  EXPECT_EQ(way_becomes(0, kBy65 + "10.65.0.7"), kBy65 + "10.65.0.7");
  EXPECT_EQ(way_becomes(1, kBy65 + "fd65::1"), kBy65 + "fd65::1");
  ASSERT_TRUE(run("ip route del 192.0.2.0/24"));
  EXPECT_EQ(way_becomes(0, "none"), "none");
  EXPECT_TRUE(said("upstream 192.0.2.1: no route"));
}

TEST_F(UpstreamRoutesTest, ConfiguredSources) {
  start({"10.64.0.2", "192.0.2.1", "fd64::fe"}, {"10.64.0.7"});
  ASSERT_TRUE(run("ip route add 192.0.2.0/24 via 10.65.0.254"));
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.7"), kBy64 + "10.64.0.7");
  EXPECT_EQ(way_becomes(1, kBy65 + "10.64.0.7"), kBy65 + "10.64.0.7");
  EXPECT_EQ(way_becomes(2, kBy64 + "fd64::1"), kBy64 + "fd64::1");
  ASSERT_EQ(routes_->table().sources.size(), 3U);
  EXPECT_EQ(routes_->table().sources[0].to_string(), "10.64.0.7");
}

TEST_F(UpstreamRoutesTest, AGatewayThatDiesIsLeftAndNotReturnedToWhileTheOtherLives) {
  ASSERT_TRUE(
      run("ip route add 192.0.2.0/24 nexthop via 10.64.0.254 nexthop via 10.65.0.254 && "
          "ip -6 route add 2001:db8::/32 nexthop via fd64::fe nexthop via fd65::fe"));
  // The first of both is known first.
  ASSERT_TRUE(
      run("ip neigh add 10.64.0.254 lladdr 02:00:00:00:64:fe dev ua nud reachable && "
          "ip neigh add fd64::fe lladdr 02:00:00:00:64:fe dev ua nud reachable"));
  start({"192.0.2.1", "2001:db8::1"});
  ASSERT_EQ(way(0), kBy64 + "10.64.0.1");
  ASSERT_EQ(way(1), kBy64 + "fd64::1");
  for (int i = 0; i < 600; ++i) step();  // until the others are known too
  ASSERT_TRUE(peer_.run_there("ip addr flush dev ub scope global"));
  EXPECT_EQ(way_becomes(0, kBy65 + "10.65.0.1"), kBy65 + "10.65.0.1");
  EXPECT_EQ(way_becomes(1, kBy65 + "fd65::1"), kBy65 + "fd65::1");
  ASSERT_TRUE(
      peer_.run_there("ip addr add 10.64.0.254/24 dev ub && ip addr add fd64::fe/64 dev ub nodad"));
  for (int i = 0; i < 1500; ++i) {
    step();
    ASSERT_EQ(way(0), kBy65 + "10.65.0.1");
  }
  // The first is there in reserve.
  ASSERT_TRUE(peer_.run_there("ip addr flush dev ud scope global"));
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
}

TEST_F(UpstreamRoutesTest, AWorseRouteByAnotherPortServesWhileTheBestIsDead) {
  ASSERT_TRUE(
      run("ip route add default via 10.64.0.254 metric 1 && "
          "ip route add default via 10.65.0.254 metric 2"));
  start({"192.0.2.1"});
  ASSERT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  ASSERT_TRUE(peer_.run_there("ip addr flush dev ub scope global"));
  ASSERT_EQ(way_becomes(0, kBy65 + "10.65.0.1"), kBy65 + "10.65.0.1");
  ASSERT_TRUE(peer_.run_there("ip addr add 10.64.0.254/24 dev ub"));
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
}

TEST_F(UpstreamRoutesTest, TheOnlyGatewayIsUsedAtItsLastMacAndFoundAtItsNext) {
  ASSERT_TRUE(run("ip route add 192.0.2.0/24 via 10.64.0.254"));
  start({"192.0.2.1"});
  ASSERT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  ASSERT_TRUE(peer_.run_there("ip addr flush dev ub scope global"));
  const std::string silent =
      "upstream 192.0.2.1: by 10.64.0.254 on p0 from 10.64.0.1, silent: at its last MAC";
  for (int i = 0; i < 10'000 && !said(silent); ++i) step();
  EXPECT_TRUE(said(silent));
  EXPECT_EQ(way(0), kBy64 + "10.64.0.1");
  ASSERT_TRUE(peer_.run_there(
      "ip link set ub address 02:00:00:00:64:fd && ip addr add 10.64.0.254/24 dev ub"));
  EXPECT_EQ(way_becomes(0, "0 02:00:00:00:64:fd 10.64.0.1"), "0 02:00:00:00:64:fd 10.64.0.1");
  EXPECT_TRUE(said("upstream 192.0.2.1: 10.64.0.254 on p0 has MAC 02:00:00:00:64:fd now"));
}

TEST_F(UpstreamRoutesTest, ALinkThatGoesDownAndComesBack) {
  ASSERT_TRUE(
      run("ip route add default via 10.64.0.254 metric 1 && "
          "ip route add default via 10.65.0.254 metric 2"));
  start({"192.0.2.1", "10.64.0.2"});
  ASSERT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  ASSERT_EQ(way_becomes(1, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  // As the device says, before the kernel knows.
  routes_->set_link(0, LinkState::kDown);
  routes_->refresh();
  EXPECT_EQ(way_becomes(0, kBy65 + "10.65.0.1"), kBy65 + "10.65.0.1");
  ASSERT_TRUE(peer_.run_there("ip link set ub down"));
  for (int i = 0; i < 1500; ++i) step();
  EXPECT_EQ(way(0), kBy65 + "10.65.0.1");
  EXPECT_EQ(way(1), kBy65 + "10.65.0.1");  // the kernel's default route is what is left
  ASSERT_TRUE(peer_.run_there("ip link set ub up"));
  routes_->set_link(0, LinkState::kUp);
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  EXPECT_EQ(way_becomes(1, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
}

TEST_F(UpstreamRoutesTest, ARouteElsewhereIsAskedForAgainByOurOwnPorts) {
  // va is none of our ports. What add_route() makes for a network that has another route already.
  ASSERT_TRUE(
      run("ip addr add 10.66.0.1/24 dev va && ip route add default via 10.66.0.254 && "
          "ip route add default via 10.65.0.254 metric 2048"));
  start({"192.0.2.1"});
  EXPECT_EQ(way_becomes(0, kBy65 + "10.65.0.1"), kBy65 + "10.65.0.1");
  // But a network that is refused is refused.
  ASSERT_TRUE(run("ip route add blackhole 192.0.2.0/24"));
  EXPECT_EQ(way_becomes(0, "none"), "none");
  run("ip addr del 10.66.0.1/24 dev va");
}

TEST_F(UpstreamRoutesTest, AnIpv4ServerBehindAnIpv6Gateway) {
  ASSERT_TRUE(run("ip route add 192.0.2.0/24 via inet6 fd64::fe dev ua"));
  start({"192.0.2.1"});
  EXPECT_EQ(way_becomes(0, kBy64 + "10.64.0.1"), kBy64 + "10.64.0.1");
  EXPECT_TRUE(said("upstream 192.0.2.1: by fd64::fe on p0 from 10.64.0.1"));
}

TEST_F(UpstreamRoutesTest, SaysWhyAServerCannotBeAsked) {
  ports_[1].addresses.resize(1);  // no IPv6 of ours
  start({"10.64.0.99", "fd65::fe"});
  const std::string silent = "upstream 10.64.0.99: does not answer on p0";
  for (int i = 0; i < 10'000 && !said(silent); ++i) step();
  EXPECT_TRUE(said(silent));
  EXPECT_TRUE(said("upstream fd65::fe: on p1: no IPv6 address to ask from"));
  routes_->set_link(1, LinkState::kDown);
  routes_->refresh();
  step();
  EXPECT_TRUE(said("upstream fd65::fe: on p1: the link is down"));
  EXPECT_FALSE(routes_->any_usable());
  // Nothing is said twice in a row.
  EXPECT_EQ(std::ranges::count(log_, silent), 1);
}

}  // namespace
}  // namespace wirecache::control

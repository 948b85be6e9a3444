// Ports on drivers that need nothing of the machine (net_null, net_ring), and on a veth pair in a
// network namespace of the test's own (needs root; skipped elsewhere).
#include "lib/port/port.h"

#include <net/if.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <fstream>

#include "lib/port/exception_port.h"
#include "tests/unit/port/port_fixture.h"

// libxdp 1.3 keeps 80 bytes for every AF_XDP socket that was closed.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libxdp.so";
}

namespace wirecache::port {
namespace {

TEST(Port, OpensStartsAndClosesSoThatTheNameIsFreeAgain) {
  for (int i = 0; i < 2; ++i) {
    auto port = open_port("net_null0", 2);
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_EQ(port->driver(), "net_null");
    EXPECT_EQ(port->profile_name(), "null");
    EXPECT_EQ(port->rx_queues(), 2);
    EXPECT_EQ(port->tx_queues(), 3);
    EXPECT_TRUE(port->main_has_queue());
    EXPECT_TRUE(port->fills_all_queues());
    EXPECT_EQ(port->burst(), 32);
    EXPECT_EQ(port->tx_checksum(), net::UdpChecksum::kSoftware);
    EXPECT_EQ(port->not_granted(), std::vector<std::string>());
    EXPECT_EQ(port->netdev(), "");
    EXPECT_EQ(port->mtu(), 1500);
    EXPECT_FALSE(port->kernel_sees_packets());
    ASSERT_TRUE(port->start());
    port->stop_and_close();
    port->stop_and_close();
  }
}

TEST(Port, AProfileOfTheOperatorsIsUsed) {
  char directory[] = "/tmp/wc-profiles-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string file = std::string(directory) + "/mine.toml";
  std::ofstream(file) << "drivers = [\"net_null\"]\nspreads = \"none\"\nmax_queues = 3\n"
                         "paired_queues = false\n";
  const auto profiles = config::DriverProfiles::with_directory(directory);
  unlink(file.c_str());
  rmdir(directory);
  ASSERT_TRUE(profiles) << profiles.error().message;
  auto port = Port::open(device("net_null0"), *profiles, 4, test_pool());
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->profile_name(), "mine");
  EXPECT_EQ(port->rx_queues(), 1);
  EXPECT_EQ(port->tx_queues(), 3);
  EXPECT_FALSE(port->main_has_queue());
  EXPECT_FALSE(port->fills_all_queues());
}

TEST(Port, ItsNumaNodeMayBeSaid) {
  config::PortConfig config = device("net_null0");
  config.numa_node = 0;
  auto port = open_port(config, 1);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->numa_node(), 0);
}

TEST(Port, IsDescribedInALineOrTwo) {
  auto port = open_port("net_null0", 2);
  ASSERT_TRUE(port) << port.error().message;
  const std::string head =
      "port p0: driver net_null (profile null), MAC " + port->mac().to_string() +
      ", NUMA node 0, queues 2 RX and 3 TX (one is main's), descriptors 32 and 32, burst 32\n";
  EXPECT_EQ(describe(*port), head);

  config::PortConfig config = device("net_null1");
  config.offloads = std::vector<std::string>{"tx-udp-checksum", "tx-fast-free"};
  auto asking = open_port(config, 1);
  ASSERT_TRUE(asking) << asking.error().message;
  const std::string text = describe(*asking);
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "port p0: not granted: TX UDP checksum: done in software; fast free of what was "
            "sent\n");
}

TEST(Port, MovingLeavesOneOwner) {
  auto opened = open_port("net_null0", 1);
  ASSERT_TRUE(opened) << opened.error().message;
  const uint16_t id = opened->ethdev_id();
  {
    Port moved = std::move(*opened);
    EXPECT_EQ(moved.ethdev_id(), id);
    EXPECT_TRUE(rte_eth_dev_is_valid_port(id));
  }
  EXPECT_FALSE(rte_eth_dev_is_valid_port(id));
}

TEST(Port, AMissingInterfaceIsOneClearLine) {
  for (const char* driver : {"net_af_xdp0", "net_af_packet0"}) {
    const std::string devargs = std::string(driver) + ",iface=nosuch";
    auto port = open_port(devargs, 1);
    ASSERT_FALSE(port);
    EXPECT_EQ(port.error().kind, StartFailure::kDevice);
    EXPECT_EQ(port.error().message,
              "port p0: device " + devargs + ": there is no network interface nosuch");
  }
}

TEST(Port, AnUnknownDriverOrPciDeviceIsOneClearLine) {
  auto driver = open_port("net_bogus0", 1);
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, StartFailure::kDevice);
  EXPECT_TRUE(driver.error().message.starts_with("port p0: device net_bogus0: "));
  EXPECT_EQ(driver.error().message.find('\n'), std::string::npos);

  auto pci = open_port("0000:7f:1f.7", 1);
  ASSERT_FALSE(pci);
  EXPECT_EQ(pci.error().message,
            "port p0: device 0000:7f:1f.7: no driver has taken it (bind it to vfio-pci)");
}

TEST(Port, ADeviceIsNotOpenedTwice) {
  auto first = open_port("net_null0", 1);
  ASSERT_TRUE(first) << first.error().message;
  auto second = open_port("net_null0", 1);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "port p0: device net_null0: there is a device net_null0 already");
}

void send_and_receive(const std::string& driver, unsigned workers, uint16_t queues) {
  std::vector<std::string> not_granted;
  if (queues < workers) not_granted = {"1 of 4 RX queues"};
  auto a = open_port(driver + "0,iface=wcta", workers);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_port("net_af_packet1,iface=wctb", 1);
  ASSERT_TRUE(b) << b.error().message;
  EXPECT_EQ(a->rx_queues(), queues);
  EXPECT_EQ(a->tx_queues(), queues);
  EXPECT_EQ(std::min(a->rx_queues(), a->tx_queues()), queues);
  EXPECT_FALSE(a->main_has_queue());
  EXPECT_TRUE(a->fills_all_queues());
  EXPECT_EQ(a->profile_name(), driver.substr(4));
  EXPECT_EQ(a->rx_descriptors(), 2048);
  EXPECT_EQ(a->not_granted(), not_granted);
  EXPECT_EQ(a->netdev(), "wcta");
  ASSERT_TRUE(a->start());
  ASSERT_TRUE(b->start());
  EXPECT_EQ(send_marked(*a, 0, 20), 20u);
  EXPECT_EQ(wait_for_marked(*b, 20), 20u);
  EXPECT_EQ(send_marked(*b, 0, 20), 20u);
  EXPECT_EQ(wait_for_marked(*a, 20), 20u);
  rte_eth_stats stats{};
  ASSERT_EQ(rte_eth_stats_get(a->ethdev_id(), &stats), 0);
  EXPECT_GE(stats.ipackets, 20u);
  EXPECT_GE(stats.opackets, 20u);
}

TEST_F(VethPort, AfPacketOneQueue) {
  send_and_receive("net_af_packet", 1, 1);
}
TEST_F(VethPort, AfPacketFourQueues) {
  send_and_receive("net_af_packet", 4, 4);
}
TEST_F(VethPort, AfXdpHasOneQueueOnVeth) {
  send_and_receive("net_af_xdp", 4, 1);
}

TEST_F(VethPort, AfPacketRingsFollowThePortsOwnWord) {
  config::PortConfig config = device("net_af_packet0,iface=wcta");
  config.rx_descriptors = 512;
  config.burst = 4;
  auto port = open_port(config, 1);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->rx_descriptors(), 512);
  EXPECT_EQ(port->burst(), 4);
}

TEST_F(VethPort, AfPacketSocketsThatNobodyReadsAreRefused) {
  auto port = open_port("net_af_packet0,iface=wcta,qpairs=4", 2);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().message,
            "port p0: device net_af_packet0,iface=wcta,qpairs=4: it has 4 queues, but only 2 would "
            "be read");
}

TEST_F(VethPort, ExceptionPortIsATapWithThePortsMac) {
  auto port = open_port("net_af_packet0,iface=wcta", 1);
  ASSERT_TRUE(port) << port.error().message;
  {
    auto tap = ExceptionPort::open(device("net_af_packet0,iface=wcta"), *port, test_pool());
    ASSERT_TRUE(tap) << tap.error().message;
    EXPECT_EQ(tap->interface_name(), "wc-p0");
    const std::string look =
        "ip link show wc-p0 up | grep -q 'link/ether " + port->mac().to_string() + " '";
    EXPECT_EQ(system(look.c_str()), 0);
    rte_mbuf* packets[2] = {marked_frame(), marked_frame()};
    EXPECT_EQ(tap->to_kernel(packets, 2), 2);
  }
  EXPECT_EQ(if_nametoindex("wc-p0"), 0u);
}

}  // namespace
}  // namespace wirecache::port

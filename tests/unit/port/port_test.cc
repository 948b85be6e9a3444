// Ports on drivers that need nothing of the machine (net_null, net_ring), and on a veth pair in a
// network namespace of the test's own (needs root; skipped elsewhere).
#include "lib/port/port.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "lib/port/exception_port.h"
#include "lib/port/packet_pool.h"

// libxdp 1.3 keeps 80 bytes for every AF_XDP socket that was closed.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libxdp.so";
}

namespace wirecache::port {
namespace {

rte_mempool* test_pool() {
  static rte_mempool* pool = *create_packet_pool(0, 16383, 0);
  return pool;
}

config::PortConfig device(const std::string& devargs) {
  config::PortConfig config;
  config.name = "p0";
  config.device = devargs;
  config.exception_interface = "wc-p0";
  return config;
}

TEST(ChooseQueues, OneAWorkerAsFarAsTheDriverGoes) {
  EXPECT_EQ(choose_queues(0, 4, 16, 16), 4);
  EXPECT_EQ(choose_queues(2, 4, 16, 16), 2);
  EXPECT_EQ(choose_queues(8, 4, 16, 16), 4);
  EXPECT_EQ(choose_queues(0, 4, 1, 16), 1);
  EXPECT_EQ(choose_queues(0, 4, 16, 2), 2);
  EXPECT_EQ(choose_queues(0, 4, 0, 0), 1);
}

TEST(Port, OpensStartsAndClosesSoThatTheNameIsFreeAgain) {
  for (int i = 0; i < 2; ++i) {
    auto port = Port::open(device("net_null0"), 2, test_pool());
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_EQ(port->driver(), "net_null");
    EXPECT_EQ(port->queues(), 2);
    EXPECT_EQ(port->netdev(), "");
    EXPECT_EQ(port->mtu(), 1500);
    EXPECT_FALSE(port->kernel_sees_packets());
    ASSERT_TRUE(port->start());
    port->stop_and_close();
    port->stop_and_close();
  }
}

TEST(Port, MovingLeavesOneOwner) {
  auto opened = Port::open(device("net_null0"), 1, test_pool());
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
    auto port = Port::open(device(devargs), 1, test_pool());
    ASSERT_FALSE(port);
    EXPECT_EQ(port.error().kind, StartFailure::kDevice);
    EXPECT_EQ(port.error().message,
              "port p0: device " + devargs + ": there is no network interface nosuch");
  }
}

TEST(Port, AnUnknownDriverOrPciDeviceIsOneClearLine) {
  auto driver = Port::open(device("net_bogus0"), 1, test_pool());
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, StartFailure::kDevice);
  EXPECT_TRUE(driver.error().message.starts_with("port p0: device net_bogus0: "));
  EXPECT_EQ(driver.error().message.find('\n'), std::string::npos);

  auto pci = Port::open(device("0000:7f:1f.7"), 1, test_pool());
  ASSERT_FALSE(pci);
  EXPECT_EQ(pci.error().message,
            "port p0: device 0000:7f:1f.7: no driver has taken it (bind it to vfio-pci)");
}

TEST(Port, ADeviceIsNotOpenedTwice) {
  auto first = Port::open(device("net_null0"), 1, test_pool());
  ASSERT_TRUE(first) << first.error().message;
  auto second = Port::open(device("net_null0"), 1, test_pool());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "port p0: device net_null0: there is a device net_null0 already");
}

// Source MAC and EtherType (local experiments, IEEE Std 802) of the frames that the tests send.
constexpr uint8_t kMark[8] = {0x02, 0, 0, 0, 0, 0x77, 0x88, 0xb5};

// A veth pair "wcta" - "wctb" in a namespace that ends with the process.
class VethPort : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    static const bool made =
        unshare(CLONE_NEWNET) == 0 && system(
                                          "ip link add wcta type veth peer name wctb && "
                                          "ip link set wcta up && ip link set wctb up") == 0;
    if (!made) GTEST_SKIP() << "no network namespace or no veth here";
  }

  static rte_mbuf* broadcast_frame() {
    rte_mbuf* packet = rte_pktmbuf_alloc(test_pool());
    char* frame = rte_pktmbuf_append(packet, 60);
    if (frame == nullptr) return packet;
    std::memset(frame, 0, 60);
    std::memset(frame, 0xff, 6);
    std::memcpy(frame + 6, kMark, sizeof kMark);
    return packet;
  }

  // Frames of ours that `to` gets within a second.
  static unsigned pass(const Port& from, const Port& to, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      rte_mbuf* packet = broadcast_frame();
      if (rte_eth_tx_burst(from.ethdev_id(), 0, &packet, 1) == 0) rte_pktmbuf_free(packet);
    }
    unsigned received = 0;
    for (int wait = 0; wait < 1000 && received < count; ++wait) {
      for (uint16_t q = 0; q < to.queues(); ++q) received += ours(to, q);
      usleep(1000);
    }
    return received;
  }

  static unsigned ours(const Port& port, uint16_t queue) {
    rte_mbuf* burst[32];
    const uint16_t n = rte_eth_rx_burst(port.ethdev_id(), queue, burst, 32);
    unsigned count = 0;
    for (uint16_t i = 0; i < n; ++i) {
      count += std::memcmp(rte_pktmbuf_mtod_offset(burst[i], char*, 6), kMark, sizeof kMark) == 0;
      rte_pktmbuf_free(burst[i]);
    }
    return count;
  }

  static void send_and_receive(const std::string& driver, unsigned workers, uint16_t queues) {
    auto a = Port::open(device(driver + "0,iface=wcta"), workers, test_pool());
    ASSERT_TRUE(a) << a.error().message;
    auto b = Port::open(device("net_af_packet1,iface=wctb"), 1, test_pool());
    ASSERT_TRUE(b) << b.error().message;
    EXPECT_EQ(a->queues(), queues);
    EXPECT_EQ(a->netdev(), "wcta");
    ASSERT_TRUE(a->start());
    ASSERT_TRUE(b->start());
    EXPECT_EQ(pass(*a, *b, 20), 20u);
    EXPECT_EQ(pass(*b, *a, 20), 20u);
    EXPECT_GE(a->counters().received_packets, 20u);
    EXPECT_GE(a->counters().sent_packets, 20u);
  }
};

TEST_F(VethPort, AfPacketOneQueue) {
  send_and_receive("net_af_packet", 1, 1);
}
TEST_F(VethPort, AfPacketFourQueues) {
  send_and_receive("net_af_packet", 4, 4);
}
TEST_F(VethPort, AfXdpHasOneQueueOnVeth) {
  send_and_receive("net_af_xdp", 4, 1);
}

TEST_F(VethPort, AfPacketSocketsThatNobodyReadsAreRefused) {
  auto port = Port::open(device("net_af_packet0,iface=wcta,qpairs=4"), 2, test_pool());
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().message,
            "port p0: device net_af_packet0,iface=wcta,qpairs=4: it has 4 queues, but only 2 would "
            "be read");
}

TEST_F(VethPort, ExceptionPortIsATapWithThePortsMac) {
  auto port = Port::open(device("net_af_packet0,iface=wcta"), 1, test_pool());
  ASSERT_TRUE(port) << port.error().message;
  {
    auto tap = ExceptionPort::open(device("net_af_packet0,iface=wcta"), *port, test_pool());
    ASSERT_TRUE(tap) << tap.error().message;
    EXPECT_EQ(tap->interface_name(), "wc-p0");
    const std::string look =
        "ip link show wc-p0 up | grep -q 'link/ether " + port->mac().to_string() + " '";
    EXPECT_EQ(system(look.c_str()), 0);
    rte_mbuf* packets[2] = {broadcast_frame(), broadcast_frame()};
    EXPECT_EQ(tap->to_kernel(packets, 2), 2);
  }
  EXPECT_EQ(if_nametoindex("wc-p0"), 0u);
}

}  // namespace
}  // namespace wirecache::port

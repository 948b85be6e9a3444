// Ports on virtual drivers, set up by their profiles: packets through each of them.
#include <arpa/inet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <rte_dev.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "tests/unit/port/port_fixture.h"

namespace wirecache::port {
namespace {

using Texts = std::vector<std::string>;

// A packet socket on an interface, for what leaves a port.
class Listener {
 public:
  explicit Listener(const std::string& interface) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(0x0003);  // ETH_P_ALL
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    bound_ = bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Listener() { close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  bool bound() const { return bound_; }
  // "" where none came in time.
  std::string next(int timeout_ms) const {
    pollfd ready{fd_, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) != 1) return "";
    char frame[2048];
    const ssize_t size = recv(fd_, frame, sizeof frame, 0);
    return size > 0 ? std::string(frame, static_cast<size_t>(size)) : "";
  }

 private:
  int fd_ = -1;
  bool bound_ = false;
};

TEST(RingPort, IsItsOwnPeerQueueByQueue) {
  auto port = open_port("net_ring0", 3);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->profile_name(), "ring");
  EXPECT_EQ(port->rx_queues(), 3);
  EXPECT_EQ(port->tx_queues(), 3);
  EXPECT_FALSE(port->main_has_queue());
  EXPECT_TRUE(port->fills_all_queues());
  ASSERT_TRUE(port->start());
  EXPECT_EQ(send_marked(*port, 2, 5), 5u);
  EXPECT_EQ(receive_marked(*port, 0), 0u);
  EXPECT_EQ(receive_marked(*port, 1), 0u);
  EXPECT_EQ(receive_marked(*port, 2), 5u);
}

TEST(RingPort, HasSixteenQueuesAtMost) {
  auto port = open_port("net_ring0", 20);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->rx_queues(), 16);  // RTE_PMD_RING_MAX_RX_RINGS
  EXPECT_EQ(port->not_granted(), Texts{"16 of 20 RX queues"});
}

// Files of libpcap: a header of 24 bytes, then 16 bytes before each frame (pcap-savefile(5)).
constexpr uint32_t kPcapHeader[6] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};

std::string pcap_file(unsigned frames) {
  std::string text(reinterpret_cast<const char*>(kPcapHeader), sizeof kPcapHeader);
  std::string frame(60, '\0');
  frame.replace(6, sizeof kMark, reinterpret_cast<const char*>(kMark), sizeof kMark);
  const uint32_t record[4] = {0, 0, 60, 60};
  for (unsigned i = 0; i < frames; ++i)
    text += std::string(reinterpret_cast<const char*>(record), sizeof record) + frame;
  return text;
}

TEST(PcapPort, HasAQueueForEachStream) {
  char directory[] = "/tmp/wc-pcap-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string in_a = std::string(directory) + "/a.pcap";
  const std::string in_b = std::string(directory) + "/b.pcap";
  const std::string out = std::string(directory) + "/out.pcap";
  std::ofstream(in_a, std::ios::binary) << pcap_file(3);
  std::ofstream(in_b, std::ios::binary) << pcap_file(4);
  {
    auto port = open_port("net_pcap0,rx_pcap=" + in_a + ",rx_pcap=" + in_b + ",tx_pcap=" + out, 2);
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_EQ(port->profile_name(), "pcap");
    EXPECT_EQ(port->rx_queues(), 2);
    EXPECT_EQ(port->tx_queues(), 1);
    EXPECT_EQ(std::min(port->rx_queues(), port->tx_queues()), 1);
    EXPECT_FALSE(port->main_has_queue());
    ASSERT_TRUE(port->start());
    EXPECT_EQ(receive_marked(*port, 0), 3u);
    EXPECT_EQ(receive_marked(*port, 1), 4u);
    EXPECT_EQ(send_marked(*port, 0, 2), 2u);
  }
  std::ifstream file(out, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written.size(), 24u + 2 * (16 + 60));
  EXPECT_EQ(std::system(("rm -r " + std::string(directory)).c_str()), 0);
}

TEST(PcapPort, MainGetsAStreamThatIsToSpare) {
  char directory[] = "/tmp/wc-pcap-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = directory;
  std::ofstream(path + "/in.pcap", std::ios::binary) << pcap_file(1);
  {
    auto port = open_port("net_pcap0,rx_pcap=" + path + "/in.pcap,tx_pcap=" + path +
                              "/a.pcap,tx_pcap=" + path + "/b.pcap",
                          1);
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_EQ(port->rx_queues(), 1);
    EXPECT_EQ(port->tx_queues(), 2);
    EXPECT_TRUE(port->main_has_queue());
  }
  EXPECT_EQ(std::system(("rm -r " + path).c_str()), 0);
}

TEST(MemifPort, BothEndsHaveAsManyQueues) {
  char directory[] = "/tmp/wc-memif-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string common =
      ",socket-abstract=no,socket=" + std::string(directory) + "/memif.sock,role=";
  {
    auto server = open_port("net_memif0" + common + "server", 2);
    ASSERT_TRUE(server) << server.error().message;
    auto client = open_port("net_memif1" + common + "client", 2);
    ASSERT_TRUE(client) << client.error().message;
    EXPECT_EQ(client->profile_name(), "memif");
    EXPECT_EQ(client->rx_queues(), 2);
    EXPECT_EQ(client->tx_queues(), 2);
    EXPECT_TRUE(client->fills_all_queues());
    ASSERT_TRUE(server->start());
    ASSERT_TRUE(client->start());
    rte_eth_link link{};
    for (int wait = 0; wait < 10000 && link.link_status == 0; ++wait) {
      rte_eth_link_get_nowait(client->ethdev_id(), &link);
      usleep(1000);
    }
    ASSERT_EQ(link.link_status, 1);
    EXPECT_EQ(send_marked(*client, 1, 10), 10u);
    EXPECT_EQ(receive_marked(*server, 0), 0u);
    EXPECT_EQ(receive_marked(*server, 1), 10u);
  }
  EXPECT_EQ(std::system(("rm -r " + std::string(directory)).c_str()), 0);
}

class KernelPort : public VethPort {};

// UDP from 10.0.0.1:53 to 10.0.0.9:40000 with 6 bytes of data, its checksum left at that of the
// pseudo-header (0x1429); scapy computes 0x2526 for the whole.
constexpr std::array<uint8_t, 48> kUdp = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x77,  // Ethernet
    0x08, 0x00, 0x45, 0x00, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x40, 0x11,  // IPv4
    0x66, 0xc2, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00, 0x09,              //
    0x00, 0x35, 0x9c, 0x40, 0x00, 0x0e, 0x14, 0x29,                          // UDP
    'a',  'b',  'c',  'd',  'e',  'f'};
constexpr size_t kChecksumOffset = 14 + 20 + 6;

TEST_F(KernelPort, TapTakesTheUdpChecksumOver) {
  auto port = open_port("net_tap7,iface=wct7", 2);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->profile_name(), "tap");
  EXPECT_EQ(port->rx_queues(), 2);
  EXPECT_EQ(port->tx_queues(), 2);
  EXPECT_EQ(port->tx_checksum(), net::UdpChecksum::kDevice);
  EXPECT_EQ(port->not_granted(), Texts());
  ASSERT_TRUE(port->start());
  const Listener kernel("wct7");
  ASSERT_TRUE(kernel.bound());

  rte_mbuf* packet = rte_pktmbuf_alloc(test_pool());
  std::memcpy(rte_pktmbuf_append(packet, kUdp.size()), kUdp.data(), kUdp.size());
  packet->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV4;
  packet->l2_len = 14;
  packet->l3_len = 20;
  ASSERT_EQ(rte_eth_tx_burst(port->ethdev_id(), 0, &packet, 1), 1);
  std::string frame;
  for (int i = 0; i < 50 && frame.substr(0, 12) != std::string(kUdp.begin(), kUdp.begin() + 12);
       ++i)
    frame = kernel.next(1000);
  ASSERT_EQ(frame.size(), kUdp.size());
  uint16_t checksum = 0;
  std::memcpy(&checksum, frame.data() + kChecksumOffset, sizeof checksum);
  EXPECT_EQ(ntohs(checksum), 0x2526);
}

TEST_F(KernelPort, TapWithoutTheOffloadSaysSo) {
  config::PortConfig config = device("net_tap7,iface=wct7");
  config.offloads = Texts{"rx-udp-checksum", "tx-fast-free"};
  auto port = open_port(config, 1);
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->tx_checksum(), net::UdpChecksum::kSoftware);
  EXPECT_EQ(port->not_granted(), Texts{"fast free of what was sent"});
}

// LACP frames go to 01-80-C2-00-00-02 with EtherType 88-09 (IEEE Std 802.1AX, 6.2.11.2 and Annex
// 57A).
TEST_F(KernelPort, BondingSendsLacpThroughMainsQueue) {
  ASSERT_EQ(rte_dev_probe("net_af_packet8,iface=wcta,qpairs=2"), 0);
  {
    auto port = open_port("net_bonding0,mode=4,slave=net_af_packet8", 1);
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_EQ(port->driver(), "net_bonding");
    EXPECT_EQ(port->profile_name(), "bonding");
    EXPECT_EQ(port->rx_queues(), 1);
    EXPECT_EQ(port->tx_queues(), 2);
    EXPECT_TRUE(port->main_has_queue());
    EXPECT_EQ(port->not_granted(),
              (Texts{"RX IPv4 checksum: checked in software",
                     "RX UDP checksum: checked in software", "fast free of what was sent"}));
    const Listener wire("wctb");
    ASSERT_TRUE(wire.bound());
    ASSERT_TRUE(port->start());
    bool lacp = false;
    for (int i = 0; i < 500 && !lacp; ++i) {
      port->keep_alive();
      const std::string frame = wire.next(20);
      lacp = frame.substr(0, 6) == std::string("\x01\x80\xc2\x00\x00\x02", 6) &&
             frame.substr(12, 2) == "\x88\x09";
    }
    EXPECT_TRUE(lacp);
  }
  EXPECT_EQ(rte_eal_hotplug_remove("vdev", "net_af_packet8"), 0);
}

TEST_F(KernelPort, BondingOfNothingIsOneClearLine) {
  auto port = open_port("net_bonding0,mode=4,slave=net_nosuch0", 1);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().kind, StartFailure::kDevice);
  EXPECT_TRUE(port.error().message.starts_with("port p0: device net_bonding0"));
  EXPECT_EQ(port.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace wirecache::port

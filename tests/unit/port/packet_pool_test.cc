#include "lib/port/packet_pool.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

namespace wirecache::port {
namespace {

config::Config with_port(const char* device, unsigned workers) {
  config::Config config;
  for (unsigned i = 0; i < workers; ++i) config.cores.workers.push_back(i + 1);
  config.ports.resize(1);
  config.ports[0].device = device;
  return config;
}

// 2 lcores or more with a cache of 1.5 * 256 and a burst of 64 each; a TAP's 256 for each port.
constexpr unsigned kLcore = 384 + 64;
constexpr unsigned kTap = 256;

TEST(MbufsNeeded, CountsDescriptorsCachesBurstsAndRings) {
  // Not probed: the default profile's 512 + 512 in each pair.
  EXPECT_EQ(mbufs_needed(with_port("0000:3b:00.0", 1), 0), 1024u + kTap + 2 * kLcore);
  EXPECT_EQ(mbufs_needed(with_port("0000:3b:00.0", 4), 1000), 4 * 1024u + kTap + 5 * kLcore + 1000);
}

TEST(MbufsNeeded, FollowTheProfile) {
  // AF_XDP: fill and completion ring of 2,048 each, and as many in TX; one queue, as the interface
  // tells of no more.
  EXPECT_EQ(mbufs_needed(with_port("net_af_xdp0,iface=nosuch", 4), 0), 6144u + kTap + 5 * kLcore);
  // AF_PACKET copies: a burst in and one out of each pair.
  EXPECT_EQ(mbufs_needed(with_port("net_af_packet0,iface=v", 2), 0),
            2 * 2 * 32u + kTap + 3 * kLcore);
}

TEST(MbufsNeeded, FollowThePortsOwnWord) {
  config::Config config = with_port("0000:3b:00.0", 2);
  config.ports[0].rx_descriptors = 4096;
  config.ports[0].tx_descriptors = 64;
  EXPECT_EQ(mbufs_needed(config, 0), 2 * 4160u + kTap + 3 * kLcore);
}

TEST(MbufsNeeded, MainsOwnQueueCounts) {
  // Bonding: 1,024 + 1,024, a TX queue more than workers, in each of two members.
  EXPECT_EQ(mbufs_needed(with_port("net_bonding0,mode=4,slave=a,slave=b", 2), 0),
            2 * (2 + 3) * 1024u + kTap + 3 * kLcore);
}

TEST(MbufsNeeded, QueuesAreAtMostTheWorkers) {
  config::Config config = with_port("0000:3b:00.0", 2);
  config.ports[0].queues = 8;
  EXPECT_EQ(mbufs_needed(config, 0), 2 * 1024u + kTap + 3 * kLcore);
  config.ports[0].queues = 1;
  EXPECT_EQ(mbufs_needed(config, 0), 1024u + kTap + 3 * kLcore);
}

TEST(MbufsNeeded, IsTheSumOfItsParts) {
  config::Config config = with_port("net_ring0", 3);
  config.ports.push_back(config.ports[0]);
  const unsigned port = port_mbufs(config.ports[0], config.driver_profiles, 3);
  EXPECT_EQ(port, 3 * (32u + 1024u) + kTap);
  EXPECT_EQ(mbufs_needed(config, 7), 2 * port + lcore_mbufs(4) + 7);
}

TEST(PacketPool, MbufsHaveHeadroomDataRoomAndPrivateArea) {
  auto pool = create_packet_pool(0, 1023, 20);
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ((*pool)->size, 1023u);
  EXPECT_EQ(rte_pktmbuf_priv_size(*pool), 24);
  rte_mbuf* packet = rte_pktmbuf_alloc(*pool);
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(rte_pktmbuf_headroom(packet), 128);
  EXPECT_EQ(rte_pktmbuf_tailroom(packet), 2048);
  rte_pktmbuf_free(packet);
  rte_mempool_free(*pool);
}

TEST(PacketPool, TooManyIsAMemoryFailureInOneLine) {
  auto pool = create_packet_pool(1, 100'000'000, 0);
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().kind, StartFailure::kMemory);
  EXPECT_EQ(pool.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(
      pool.error().message.starts_with("no memory for 100000000 packet buffers on NUMA node 1"));
}

}  // namespace
}  // namespace wirecache::port

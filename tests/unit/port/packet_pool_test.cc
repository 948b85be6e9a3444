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

TEST(MbufsNeeded, CountsDescriptorsCachesBurstsAndRings) {
  // 1 queue of 1,024 + 1,024; the TAP's 256; 2 lcores with a cache of 1.5 * 256 and a burst of 64.
  EXPECT_EQ(mbufs_needed(with_port("0000:3b:00.0", 1), 0), 2048u + 256 + 2 * (384 + 64));
  EXPECT_EQ(mbufs_needed(with_port("0000:3b:00.0", 4), 1000), 4 * 2048u + 256 + 5 * 448 + 1000);
}

TEST(MbufsNeeded, AfXdpHasRingsOfItsOwnSize) {
  EXPECT_EQ(mbufs_needed(with_port("net_af_xdp0,iface=v", 1), 0), 4096u + 256 + 2 * 448);
}

TEST(MbufsNeeded, QueuesAreAtMostTheWorkers) {
  config::Config config = with_port("net_af_packet0,iface=v", 2);
  config.ports[0].queues = 8;
  EXPECT_EQ(mbufs_needed(config, 0), 2 * 2048u + 256 + 3 * 448);
  config.ports[0].queues = 1;
  EXPECT_EQ(mbufs_needed(config, 0), 2048u + 256 + 3 * 448);
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

#include "lib/metrics/platform_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/rig.h"

namespace wirecache::metrics {
namespace {

using testing::Rig;
using testing::RigOptions;
using testing::Wire;

RigOptions two_ports() {
  RigOptions options;
  options.workers = 2;
  options.queues = {2, 1};
  options.mbufs = 2047;
  return options;
}

// Of a station that is not ours: dropped by the worker, whatever else it is.
Wire frame_for_another() {
  Wire frame(60, 0);
  frame[0] = 0x02;
  frame[5] = 0x99;
  return frame;
}

TEST(PlatformStats, DriverCountersByPortAndQueue) {
  Rig rig(two_ports());
  PlatformStats platform({&rig.node()});
  for (int i = 0; i < 3; ++i) rig.inject_frame(frame_for_another(), 0, 0);
  for (int i = 0; i < 5; ++i) rig.inject_frame(frame_for_another(), 0, 1);
  for (int i = 0; i < 7; ++i) rig.inject_frame(frame_for_another(), 1, 0);
  rig.poll();
  const std::vector<DriverSample>& ports = platform.nodes()[0].ports;
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0].received_packets.value(), 0u) << "read before the next sample";
  platform.sample();
  EXPECT_EQ(ports[0].queue_count, 2u);
  EXPECT_EQ(ports[1].queue_count, 1u);
  EXPECT_EQ(ports[0].received_packets.value(), 8u);
  EXPECT_EQ(ports[0].queues[0].received_packets.value(), 3u);
  EXPECT_EQ(ports[0].queues[1].received_packets.value(), 5u);
  EXPECT_EQ(ports[1].received_packets.value(), 7u);
  EXPECT_EQ(ports[1].queues[0].received_packets.value(), 7u);
  EXPECT_EQ(ports[1].sent_packets.value(), 0u);
}

TEST(PlatformStats, SentPacketsOfAQueue) {
  Rig rig(two_ports());
  PlatformStats platform({&rig.node()});
  const Wire header_only = {0x12, 0x34, 0x01, 0x00, 0, 0,
                            0,    0,    0,    0,    0, 0};  // no question: FORMERR
  rig.ask(header_only);
  rig.poll(2);
  ASSERT_EQ(rig.sent().size(), 1u);
  platform.sample();
  const DriverSample& port = platform.nodes()[0].ports[0];
  EXPECT_EQ(port.sent_packets.value(), 1u);
  EXPECT_EQ(port.queues[0].sent_packets.value() + port.queues[1].sent_packets.value(), 1u);
}

TEST(PlatformStats, PoolFill) {
  Rig rig(two_ports());
  PlatformStats platform({&rig.node()});
  const NodeSample& node = platform.nodes()[0];
  EXPECT_EQ(node.mbufs.value(), 2047u);
  EXPECT_EQ(node.mbufs_in_use.value(), 0u);
  for (int i = 0; i < 9; ++i) rig.inject_frame(frame_for_another());
  platform.sample();
  EXPECT_EQ(node.mbufs_in_use.value(), 9u);
  rig.poll();
  platform.sample();
  EXPECT_EQ(node.mbufs_in_use.value(), 0u);
}

TEST(PlatformStats, RingFillByReceiver) {
  Rig rig(two_ports());
  worker::HandoverRings& rings = rig.node().rings();
  const unsigned main = rig.node().main_lcore();
  PlatformStats platform({&rig.node()});
  const std::vector<RingSample>& samples = platform.nodes()[0].rings;
  ASSERT_EQ(samples.size(), 3u);  // two workers and main
  for (const auto& [from, to] : {std::pair{0u, main}, {1u, main}, {1u, main}, {0u, 1u}})
    ASSERT_TRUE(rings.push(from, to, rte_pktmbuf_alloc(rig.pool())));
  platform.sample();
  EXPECT_EQ(samples[0].entries.value(), 0u);
  EXPECT_EQ(samples[1].entries.value(), 1u);
  EXPECT_EQ(samples[2].entries.value(), 3u);
}

// As many as one ring takes, from each of the others.
TEST(PlatformStats, RingCapacityIsWhatFits) {
  Rig rig(two_ports());
  worker::HandoverRings& rings = rig.node().rings();
  PlatformStats platform({&rig.node()});
  uint64_t pushed = 0;
  for (rte_mbuf* mbuf; (mbuf = rte_pktmbuf_alloc(rig.pool())) != nullptr; ++pushed) {
    if (rings.push(0, 1, mbuf)) continue;
    rte_pktmbuf_free(mbuf);
    break;
  }
  platform.sample();
  const RingSample& ring = platform.nodes()[0].rings[1];
  EXPECT_EQ(ring.entries.value(), pushed);
  ASSERT_EQ(rings.room(0, 1), 0u) << "the pool was empty first";
  EXPECT_EQ(ring.capacity.value(), 2 * pushed);
}

TEST(PlatformStats, RoutesNameTheirPort) {
  Rig rig(two_ports());
  PlatformStats platform({&rig.node()});
  upstream::RouteTable table;
  table.count = 3;
  table.servers[0].port_index = 1;
  table.servers[0].usable = true;
  table.servers[2].usable = true;
  platform.note_routes(0, table);
  const auto& routes = platform.nodes()[0].routes;
  EXPECT_EQ(routes[0].value(), 2u);
  EXPECT_EQ(routes[1].value(), 0u);
  EXPECT_EQ(routes[2].value(), 1u);
  table.servers[0].usable = false;
  platform.note_routes(0, table);
  EXPECT_EQ(routes[0].value(), 0u);
}

// Main samples while a scrape reads.
TEST(PlatformStats, IsReadByAnotherThreadWhileItSamples) {
  Rig rig(two_ports());
  PlatformStats platform({&rig.node()});
  uint64_t highest = 0;
  std::thread scrape([&] {
    for (int i = 0; i < 1000; ++i)
      highest = std::max(highest, platform.nodes()[0].ports[0].received_packets.value());
  });
  for (int i = 0; i < 100; ++i) {
    rig.inject_frame(frame_for_another());
    rig.poll();
    platform.sample();
  }
  scrape.join();
  EXPECT_LE(highest, 100u);
  EXPECT_EQ(platform.nodes()[0].ports[0].received_packets.value(), 100u);
}

}  // namespace
}  // namespace wirecache::metrics

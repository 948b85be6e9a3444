#include "lib/metrics/platform_families.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/metrics/exposition.h"

namespace wirecache::metrics {
namespace {

TEST(PlatformFamilies, DriversAndTheirQueuesInUse) {
  Appliance appliance({.workers = 1, .ports = 2, .queues = 2, .servers = 1});
  DriverSample& driver = appliance.platform[0].ports[1];
  driver.received_packets.set(1);
  driver.received_bytes.set(2);
  driver.sent_packets.set(3);
  driver.sent_bytes.set(4);
  driver.missed_packets.set(5);
  driver.receive_errors.set(6);
  driver.send_errors.set(7);
  driver.no_mbuf.set(8);
  driver.queues[1].received_packets.set(9);
  driver.queues[1].sent_packets.set(10);
  driver.queues[1].errors.set(11);
  expect_lines(appliance.sources,
               {
                   "# TYPE wirecache_driver_received_packets_total counter",
                   "wirecache_driver_received_packets_total{port=\"p0\"} 0",
                   "wirecache_driver_received_packets_total{port=\"p1\"} 1",
                   "wirecache_driver_received_bytes_total{port=\"p1\"} 2",
                   "wirecache_driver_sent_packets_total{port=\"p1\"} 3",
                   "wirecache_driver_sent_bytes_total{port=\"p1\"} 4",
                   "wirecache_driver_missed_packets_total{port=\"p1\"} 5",
                   "wirecache_driver_receive_errors_total{port=\"p1\"} 6",
                   "wirecache_driver_send_errors_total{port=\"p1\"} 7",
                   "wirecache_driver_no_mbuf_total{port=\"p1\"} 8",
                   "wirecache_driver_queue_received_packets_total{port=\"p1\",queue=\"0\"} 0",
                   "wirecache_driver_queue_received_packets_total{port=\"p1\",queue=\"1\"} 9",
                   "wirecache_driver_queue_sent_packets_total{port=\"p1\",queue=\"1\"} 10",
                   "wirecache_driver_queue_errors_total{port=\"p1\",queue=\"1\"} 11",
               });
  for (const std::string& line : scrape(appliance.sources))
    EXPECT_EQ(line.find("queue=\"2\""), std::string::npos) << line;
}

TEST(PlatformFamilies, PoolsAndRingsOfTwoNodes) {
  Appliance appliance({.workers = 3, .ports = 1, .queues = 1, .servers = 1});
  Sources& sources = appliance.sources;
  sources.nodes = {{"0", {"p0"}}, {"1", {"p1"}}};
  sources.workers[2].node = 1;
  appliance.platform = std::vector<NodeSample>(2);
  appliance.platform[0].rings = std::vector<RingSample>(3);
  appliance.platform[1].rings = std::vector<RingSample>(2);
  appliance.platform[1].mbufs.set(8191);
  appliance.platform[1].mbufs_in_use.set(600);
  appliance.platform[0].rings[1].entries.set(5);
  appliance.platform[0].rings[2].entries.set(6);
  appliance.platform[1].rings[0].entries.set(7);
  appliance.platform[1].rings[1].capacity.set(1024);
  expect_lines(sources, {
                            "wirecache_mbufs{node=\"1\"} 8191",
                            "wirecache_mbufs_in_use{node=\"1\"} 600",
                            "wirecache_ring_entries{node=\"0\",receiver=\"0\"} 0",
                            "wirecache_ring_entries{node=\"0\",receiver=\"1\"} 5",
                            "wirecache_ring_entries{node=\"0\",receiver=\"main\"} 6",
                            "wirecache_ring_entries{node=\"1\",receiver=\"2\"} 7",
                            "wirecache_ring_capacity{node=\"1\",receiver=\"main\"} 1024",
                        });
}

TEST(PlatformFamilies, RoutesToServers) {
  Appliance appliance({.workers = 1, .ports = 2, .queues = 1, .servers = 2});
  appliance.platform[0].routes[1].set(2);
  expect_lines(
      appliance.sources,
      {
          "wirecache_upstream_usable{node=\"0\",server=\"192.0.2.1:53\"} 0",
          "wirecache_upstream_usable{node=\"0\",server=\"192.0.2.2:53\"} 1",
          "wirecache_upstream_route_info{node=\"0\",server=\"192.0.2.2:53\",port=\"p1\"} 1",
      });
  for (const std::string& line : scrape(appliance.sources))
    EXPECT_EQ(line.find("route_info{node=\"0\",server=\"192.0.2.1:53\""), std::string::npos);
}

TEST(PlatformFamilies, LimitsOfEachWorker) {
  Appliance appliance;
  appliance.sources.max_waiting = 65536;
  appliance.sources.max_pending = 16384;
  expect_lines(appliance.sources, {"wirecache_waiting_clients_limit 65536",
                                   "wirecache_pending_questions_limit 16384"});
}

TEST(PlatformFamilies, ExceptionPorts) {
  Appliance appliance;
  appliance.exception.to_kernel.add(12);
  appliance.exception.to_kernel_dropped.add(13);
  appliance.exception.from_kernel.add(14);
  appliance.exception.from_kernel_dropped.add(15);
  expect_lines(appliance.sources, {
                                      "wirecache_exception_to_kernel_packets_total 12",
                                      "wirecache_exception_to_kernel_dropped_packets_total 13",
                                      "wirecache_exception_from_kernel_packets_total 14",
                                      "wirecache_exception_from_kernel_dropped_packets_total 15",
                                  });
}

TEST(PlatformFamilies, KernelSockets) {
  Appliance appliance;
  appliance.stream.received.add(7);
  appliance.stream.queries.add(5);
  appliance.stream.query_drops[stats::StreamQueryDrop::kRingFull].add(2);
  appliance.stream.replies.add(5);
  appliance.stream.sent.add(4);
  appliance.stream.reply_drops[stats::StreamReplyDrop::kSendFailed].add();
  expect_lines(appliance.sources,
               {"wirecache_stream_datagrams_received_total 7", "wirecache_stream_queries_total 5",
                "wirecache_stream_query_drops_total{reason=\"ring_full\"} 2",
                "wirecache_stream_replies_total 5", "wirecache_stream_datagrams_sent_total 4",
                "wirecache_stream_reply_drops_total{reason=\"send_failed\"} 1"});
}

TEST(PlatformFamilies, AreLeftOutWhereThereIsNothingToRead) {
  Appliance appliance;
  appliance.sources.platform = nullptr;
  appliance.sources.exception = nullptr;
  appliance.sources.stream = nullptr;
  for (const std::string& line : scrape(appliance.sources)) {
    for (const char* family : {"wirecache_exception_", "wirecache_stream_", "wirecache_driver_",
                               "wirecache_mbufs", "wirecache_ring_", "wirecache_upstream_usable"})
      EXPECT_EQ(line.find(family), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace wirecache::metrics

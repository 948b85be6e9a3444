#include "tests/unit/metrics/exposition.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "lib/metrics/stats_collectable.h"

namespace wirecache::metrics {
namespace {

using stats::Counter;

template <typename Enum>
void count_each(stats::CounterArray<Enum>& counters) {
  for (size_t e = 0; e < stats::CounterArray<Enum>::kSize; ++e)
    counters[static_cast<Enum>(e)].add();
}

void count_all(std::initializer_list<Counter*> counters) {
  for (Counter* counter : counters) counter->add();
}

void count_worker(stats::WorkerStats& stats) {
  count_each(stats.query_types);
  count_each(stats.outcomes);
  count_each(stats.drops);
  count_each(stats.query_drops);
  count_each(stats.malformed);
  count_each(stats.cache);
  count_each(stats.upstream);
  for (Counter& counter : stats.responses) counter.add();
  for (stats::PortStats& port : stats.ports) {
    count_each(port.queries);
    count_all({&port.received, &port.punted, &port.sent, &port.send_dropped});
  }
  for (stats::ServerStats& server : stats.servers) {
    count_each(server.events);
    server.latency.record(1'000'000);
  }
  count_all({&stats.polls, &stats.handed_to_owner, &stats.from_stream, &stats.urgent_punts,
             &stats.waiting, &stats.pending, &stats.cache_entries, &stats.cache_bytes,
             &stats.kernel_packets_sent, &stats.kernel_packets_dropped});
  stats.hit_latency.record(1'000);
  stats.miss_latency.record(1'000'000);
}

void count_driver(DriverSample& driver) {
  count_all({&driver.received_packets, &driver.received_bytes, &driver.sent_packets,
             &driver.sent_bytes, &driver.missed_packets, &driver.receive_errors,
             &driver.send_errors, &driver.no_mbuf});
  for (DriverQueueSample& queue : driver.queues)
    count_all({&queue.received_packets, &queue.sent_packets, &queue.errors});
}

}  // namespace

Appliance::Appliance(const Extent& extent) : workers(extent.workers), platform(1) {
  sources.nodes.resize(1);
  sources.nodes[0].label = "0";
  platform[0].ports = std::vector<DriverSample>(extent.ports);
  platform[0].rings = std::vector<RingSample>(extent.workers + 1);
  for (size_t port = 0; port < extent.ports; ++port) {
    sources.nodes[0].ports.push_back("p" + std::to_string(port));
    platform[0].ports[port].queue_count = extent.queues;
  }
  for (unsigned id = 0; id < extent.workers; ++id)
    sources.workers.push_back({&workers[id], id, 0, id + 1});
  for (size_t server = 0; server < extent.servers; ++server)
    sources.servers.push_back("192.0.2." + std::to_string(server + 1) + ":53");
  sources.exception = &exception;
  sources.stream = &stream;
  sources.platform = &platform;
}

void Appliance::count_everything() {
  for (stats::WorkerStats& stats : workers) count_worker(stats);
  count_all({&exception.to_kernel, &exception.to_kernel_dropped, &exception.from_kernel,
             &exception.from_kernel_dropped, &stream.received, &stream.queries, &stream.replies,
             &stream.sent});
  for (size_t i = 0; i < stream.query_drops.kSize; ++i)
    stream.query_drops[static_cast<stats::StreamQueryDrop>(i)].add();
  for (size_t i = 0; i < stream.reply_drops.kSize; ++i)
    stream.reply_drops[static_cast<stats::StreamReplyDrop>(i)].add();
  for (NodeSample& node : platform) {
    count_all({&node.mbufs, &node.mbufs_in_use});
    for (DriverSample& driver : node.ports) count_driver(driver);
    for (RingSample& ring : node.rings) count_all({&ring.entries, &ring.capacity});
    for (Counter& route : node.routes) route.add();
  }
}

std::vector<std::string> scrape(const Sources& sources) {
  std::istringstream text(
      prometheus::TextSerializer().Serialize(StatsCollectable(sources).Collect()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void expect_lines(const Sources& sources, const std::vector<std::string>& wanted) {
  const std::vector<std::string> all = scrape(sources);
  const std::set<std::string> found(all.begin(), all.end());
  for (const std::string& line : wanted) EXPECT_TRUE(found.contains(line)) << line;
}

bool have_promtool() {
  return std::system("command -v promtool >/dev/null 2>&1") == 0;
}

std::string promtool_complaints(const std::vector<std::string>& lines) {
  char path[] = "/tmp/wirecache-scrape-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return "no temporary file";
  close(fd);
  {
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << '\n';
  }
  const std::string command = "promtool check metrics 2>&1 <" + std::string(path);
  std::string said;
  FILE* promtool = popen(command.c_str(), "r");
  char buffer[4096];
  while (promtool != nullptr && std::fgets(buffer, sizeof buffer, promtool) != nullptr)
    said += buffer;
  const int status = promtool != nullptr ? pclose(promtool) : -1;
  unlink(path);
  return status == 0 ? said : said + "exit status " + std::to_string(status);
}

}  // namespace wirecache::metrics

#include "lib/metrics/worker_families.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/metrics/exposition.h"

namespace wirecache::metrics {
namespace {

using stats::Upstream;
using stats::WorkerStats;

class WorkerFamiliesTest : public testing::Test {
 protected:
  WorkerStats& worker(size_t id) { return appliance_.workers[id]; }
  void expect_lines(const std::vector<std::string>& wanted) {
    metrics::expect_lines(appliance_.sources, wanted);
  }
  std::vector<std::string> lines() { return scrape(appliance_.sources); }
  bool any_line_has(const std::string& text) {
    for (const std::string& line : lines()) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }

  Appliance appliance_;
};

TEST_F(WorkerFamiliesTest, PlainCountersAndGauges) {
  worker(1).polls.add(16);
  worker(1).kernel_packets_sent.add(14);
  worker(1).kernel_packets_dropped.add(15);
  worker(0).handed_to_owner.add(17);
  worker(0).from_stream.add(18);
  worker(0).urgent_punts.add(19);
  worker(0).waiting.set(3);
  worker(0).pending.set(2);
  worker(1).cache_entries.set(40);
  worker(1).cache_bytes.set(2097152);
  expect_lines({
      "# TYPE wirecache_polls_total counter",
      "wirecache_polls_total{worker=\"1\"} 16",
      "wirecache_kernel_packets_sent_total{worker=\"1\"} 14",
      "wirecache_kernel_packets_dropped_total{worker=\"1\"} 15",
      "wirecache_queries_handed_over_total{worker=\"0\"} 17",
      "wirecache_kernel_socket_queries_total{worker=\"0\"} 18",
      "wirecache_urgent_punts_total{worker=\"0\"} 19",
      "# TYPE wirecache_waiting_clients gauge",
      "wirecache_waiting_clients{worker=\"0\"} 3",
      "wirecache_pending_questions{worker=\"0\"} 2",
      "wirecache_cache_entries{worker=\"1\"} 40",
      "wirecache_cache_bytes{worker=\"1\"} 2097152",
  });
}

// The slot after the last port is the kernel's sockets, which receive and punt no packets.
TEST_F(WorkerFamiliesTest, CountersByPort) {
  worker(0).ports[0].received.add(1000000001);
  worker(1).ports[1].received.add(2);
  worker(1).ports[1].punted.add(3);
  worker(0).ports[1].sent.add(4);
  worker(0).ports[2].sent.add(5);
  worker(0).ports[0].send_dropped.add(6);
  worker(0).ports[2].send_dropped.add(7);
  expect_lines({
      "# TYPE wirecache_packets_received_total counter",
      "wirecache_packets_received_total{worker=\"0\",port=\"p0\"} 1000000001",
      "wirecache_packets_received_total{worker=\"0\",port=\"p1\"} 0",
      "wirecache_packets_received_total{worker=\"1\",port=\"p1\"} 2",
      "wirecache_punted_packets_total{worker=\"1\",port=\"p1\"} 3",
      "wirecache_packets_sent_total{worker=\"0\",port=\"p1\"} 4",
      "wirecache_packets_sent_total{worker=\"0\",port=\"(kernel)\"} 5",
      "wirecache_send_drops_total{worker=\"0\",port=\"p0\"} 6",
      "wirecache_send_drops_total{worker=\"0\",port=\"(kernel)\"} 7",
  });
  EXPECT_FALSE(any_line_has("received_total{worker=\"0\",port=\"(kernel)\"}"));
  EXPECT_FALSE(any_line_has("punted_packets_total{worker=\"0\",port=\"(kernel)\"}"));
}

TEST_F(WorkerFamiliesTest, QueriesByPortFamilyAndType) {
  worker(0).count_query(0, stats::Family::kIpv4, 1);
  worker(0).count_query(0, stats::Family::kIpv6, 28);
  worker(0).count_query(0, stats::Family::kIpv6, 65);
  worker(1).count_query(1, stats::Family::kIpv4, 65535);
  worker(1).count_query(2, stats::Family::kIpv6, 255);
  expect_lines({
      "wirecache_client_queries_total{worker=\"0\",port=\"p0\",family=\"ipv4\"} 1",
      "wirecache_client_queries_total{worker=\"0\",port=\"p0\",family=\"ipv6\"} 2",
      "wirecache_client_queries_total{worker=\"0\",port=\"p1\",family=\"ipv4\"} 0",
      "wirecache_client_queries_total{worker=\"1\",port=\"p1\",family=\"ipv4\"} 1",
      "wirecache_client_queries_total{worker=\"1\",port=\"(kernel)\",family=\"ipv6\"} 1",
      "wirecache_questions_total{worker=\"0\",type=\"A\"} 1",
      "wirecache_questions_total{worker=\"0\",type=\"AAAA\"} 1",
      "wirecache_questions_total{worker=\"0\",type=\"HTTPS\"} 1",
      "wirecache_questions_total{worker=\"0\",type=\"other\"} 0",
      "wirecache_questions_total{worker=\"1\",type=\"other\"} 1",
      "wirecache_questions_total{worker=\"1\",type=\"ANY\"} 1",
  });
}

TEST_F(WorkerFamiliesTest, CountersByReason) {
  worker(0).outcomes[stats::Outcome::kHit].add(5);
  worker(0).outcomes[stats::Outcome::kMiss].add(6);
  worker(1).drops[stats::Drop::kBadUdpChecksum].add(7);
  worker(1).query_drops[stats::QueryDrop::kTxFull].add(8);
  worker(0).malformed[stats::Malformed::kFormErr].add(9);
  worker(0).malformed[stats::Malformed::kMetaType].add(10);
  expect_lines({
      "# TYPE wirecache_queries_total counter",
      "wirecache_queries_total{worker=\"0\",outcome=\"hit\"} 5",
      "wirecache_queries_total{worker=\"0\",outcome=\"miss\"} 6",
      "wirecache_queries_total{worker=\"1\",outcome=\"refused\"} 0",
      "wirecache_drops_total{worker=\"1\",reason=\"bad_udp_checksum\"} 7",
      "wirecache_drops_total{worker=\"0\",reason=\"stopping\"} 0",
      "wirecache_query_drops_total{worker=\"1\",reason=\"tx_full\"} 8",
      "wirecache_malformed_total{worker=\"0\",kind=\"formerr\"} 9",
      "wirecache_malformed_total{worker=\"0\",kind=\"meta_type\"} 10",
      "wirecache_malformed_total{worker=\"1\",kind=\"short\"} 0",
  });
}

// Names of IANA's "DNS RCODEs".
TEST_F(WorkerFamiliesTest, ResponsesByRcode) {
  worker(0).responses[0].add(100);
  worker(0).responses[3].add(30);
  worker(0).responses[9].add(9);
  worker(0).responses[13].add(1);
  worker(0).responses[16].add(4);
  worker(0).responses[23].add(2);
  expect_lines({
      "wirecache_responses_total{worker=\"0\",rcode=\"NOERROR\"} 100",
      "wirecache_responses_total{worker=\"0\",rcode=\"FORMERR\"} 0",
      "wirecache_responses_total{worker=\"0\",rcode=\"SERVFAIL\"} 0",
      "wirecache_responses_total{worker=\"0\",rcode=\"NXDOMAIN\"} 30",
      "wirecache_responses_total{worker=\"0\",rcode=\"NOTIMP\"} 0",
      "wirecache_responses_total{worker=\"0\",rcode=\"REFUSED\"} 0",
      "wirecache_responses_total{worker=\"0\",rcode=\"NOTAUTH\"} 9",
      "wirecache_responses_total{worker=\"0\",rcode=\"RCODE13\"} 1",
      "wirecache_responses_total{worker=\"0\",rcode=\"BADVERS\"} 4",
      "wirecache_responses_total{worker=\"0\",rcode=\"BADCOOKIE\"} 2",
      "wirecache_responses_total{worker=\"1\",rcode=\"BADVERS\"} 0",
  });
  EXPECT_FALSE(any_line_has("worker=\"1\",rcode=\"NOTAUTH\""))
      << "a rare rcode appears only once it was sent";
}

TEST_F(WorkerFamiliesTest, UpstreamEventsByServer) {
  const std::vector<std::string> families = {"queries",    "answers_taken", "timeouts",
                                             "failures",   "truncated",     "icmp_unreachable",
                                             "unreachable"};
  std::vector<std::string> wanted;
  for (size_t e = 0; e < families.size(); ++e) {
    worker(0).servers[0].events[static_cast<Upstream>(e)].add(e + 1);
    worker(1).servers[1].events[static_cast<Upstream>(e)].add(e + 11);
    const std::string family = "wirecache_upstream_" + families[e] + "_total";
    wanted.push_back("# TYPE " + family + " counter");
    wanted.push_back(family + "{worker=\"0\",server=\"192.0.2.1:53\"} " + std::to_string(e + 1));
    wanted.push_back(family + "{worker=\"1\",server=\"192.0.2.2:53\"} " + std::to_string(e + 11));
    wanted.push_back(family + "{worker=\"1\",server=\"192.0.2.1:53\"} 0");
  }
  expect_lines(wanted);
  EXPECT_FALSE(any_line_has("server=\"none\""));
}

TEST_F(WorkerFamiliesTest, UpstreamEventsOfNoServer) {
  worker(0).upstream[Upstream::kUnreachable].add(6);
  worker(0).upstream[Upstream::kGaveUp].add(7);
  expect_lines({
      "wirecache_upstream_unreachable_total{worker=\"0\",server=\"none\"} 6",
      "wirecache_upstream_gave_up_total{worker=\"0\"} 7",
  });
}

// Of all workers; from 16 µs to 17 s.
TEST_F(WorkerFamiliesTest, UpstreamLatencyByServer) {
  worker(0).servers[1].latency.record(1'000'000);
  worker(1).servers[1].latency.record(1'500'000);
  worker(1).servers[1].latency.record(1'000);
  worker(1).servers[1].latency.record(20'000'000'000);
  const std::string head = "wirecache_upstream_latency_seconds";
  expect_lines({
      "# TYPE " + head + " histogram",
      head + "_bucket{server=\"192.0.2.2:53\",le=\"1.6384e-05\"} 1",
      head + "_bucket{server=\"192.0.2.2:53\",le=\"0.001048576\"} 2",
      head + "_bucket{server=\"192.0.2.2:53\",le=\"0.002097152\"} 3",
      head + "_bucket{server=\"192.0.2.2:53\",le=\"17.179869184\"} 3",
      head + "_bucket{server=\"192.0.2.2:53\",le=\"+Inf\"} 4",
      head + "_count{server=\"192.0.2.2:53\"} 4",
      head + "_sum{server=\"192.0.2.2:53\"} 20.002501",
      head + "_count{server=\"192.0.2.1:53\"} 0",
  });
}

TEST_F(WorkerFamiliesTest, CacheEvents) {
  worker(1).cache[stats::Cache::kInserted].add(8);
  worker(1).cache[stats::Cache::kReplaced].add(9);
  worker(1).cache[stats::Cache::kEvicted].add(10);
  worker(1).cache[stats::Cache::kRejected].add(11);
  expect_lines({
      "wirecache_cache_inserted_total{worker=\"1\"} 8",
      "wirecache_cache_replaced_total{worker=\"1\"} 9",
      "wirecache_cache_evicted_total{worker=\"1\"} 10",
      "wirecache_cache_rejected_total{worker=\"1\"} 11",
  });
}

// Buckets are cumulative, their borders seconds that belong to the bucket below (le).
TEST_F(WorkerFamiliesTest, ClientLatencyBuckets) {
  stats::Histogram& hit = worker(0).hit_latency;
  hit.record(1);
  hit.record(200);
  hit.record(256);
  hit.record(257);
  hit.record(1024, 10);
  hit.record(uint64_t{1} << 34);
  hit.record((uint64_t{1} << 34) + 1);
  worker(1).miss_latency.record(1500000);
  expect_lines({
      "# TYPE wirecache_hit_latency_seconds histogram",
      "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"2.56e-07\"} 3",
      "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"5.12e-07\"} 4",
      "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"1.024e-06\"} 14",
      "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"4.294967296\"} 14",
      "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"17.179869184\"} 15",
      "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"+Inf\"} 16",
      "wirecache_hit_latency_seconds_count{worker=\"0\"} 16",
      "wirecache_miss_latency_seconds_bucket{worker=\"1\",le=\"0.001048576\"} 0",
      "wirecache_miss_latency_seconds_bucket{worker=\"1\",le=\"0.002097152\"} 1",
      "wirecache_miss_latency_seconds_sum{worker=\"1\"} 0.0015",
  });
}

// 2^8 to 2^34 ns and all above: 28 series for each worker. The serialiser prints 16 digits.
TEST_F(WorkerFamiliesTest, HistogramBordersArePowersOfTwoNanoseconds) {
  const std::string head = "wirecache_hit_latency_seconds_bucket{worker=\"0\",le=\"";
  std::vector<std::string> borders;
  for (const std::string& line : lines()) {
    if (line.find(head) != 0) continue;
    borders.push_back(line.substr(head.size(), line.find('"', head.size()) - head.size()));
  }
  ASSERT_EQ(borders.size(), 28u);
  EXPECT_EQ(borders.back(), "+Inf");
  for (size_t i = 0; i < 27; ++i)
    EXPECT_DOUBLE_EQ(std::stod(borders[i]) * 1e9, static_cast<double>(uint64_t{256} << i));
}

TEST_F(WorkerFamiliesTest, HelpNamesEveryReason) {
  std::string help;
  for (const std::string& line : lines())
    if (line.find("# HELP wirecache_drops_total ") == 0) help = line;
  for (const stats::Name& name : stats::kDropNames)
    EXPECT_NE(help.find(std::string(name.label) + ": " + std::string(name.help)), std::string::npos)
        << name.label;
}

// Two nodes: workers count through, each names its own node's ports.
TEST_F(WorkerFamiliesTest, WorkersOfTwoNodes) {
  Sources sources;
  sources.nodes = {{"0", {"eth0"}}, {"1", {"eth1", "eth2"}}};
  sources.workers = {{&worker(0), 0, 0, 2}, {&worker(1), 1, 1, 18}};
  worker(1).ports[1].received.add(4);
  worker(1).ports[2].sent.add(5);
  metrics::expect_lines(sources,
                        {"wirecache_worker_info{worker=\"0\",node=\"0\",cpu=\"2\"} 1",
                         "wirecache_worker_info{worker=\"1\",node=\"1\",cpu=\"18\"} 1",
                         "wirecache_packets_received_total{worker=\"0\",port=\"eth0\"} 0",
                         "wirecache_packets_received_total{worker=\"1\",port=\"eth2\"} 4",
                         "wirecache_packets_sent_total{worker=\"1\",port=\"(kernel)\"} 5"});
}

}  // namespace
}  // namespace wirecache::metrics

#include "lib/metrics/stats_collectable.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace wirecache::metrics {
namespace {

using stats::WorkerStats;

std::vector<std::string> lines_of(const StatsCollectable& stats) {
  std::istringstream text(prometheus::TextSerializer().Serialize(stats.Collect()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class StatsCollectableTest : public testing::Test {
 protected:
  std::vector<std::string> lines() {
    return lines_of(StatsCollectable({&workers_[0], &workers_[1]}, &exception_));
  }
  void expect_lines(const std::vector<std::string>& wanted) {
    const std::vector<std::string> all = lines();
    const std::set<std::string> found(all.begin(), all.end());
    for (const std::string& line : wanted) EXPECT_TRUE(found.contains(line)) << line;
  }

  WorkerStats workers_[2];
  stats::ExceptionStats exception_;
};

TEST_F(StatsCollectableTest, PlainCountersAndGauges) {
  workers_[0].received.add(1000000001);
  workers_[0].client_queries.add(11);
  workers_[0].upstream_answers_taken.add(12);
  workers_[1].punted.add(13);
  workers_[1].polls.add(16);
  workers_[1].kernel_packets_sent.add(14);
  workers_[1].kernel_packets_dropped.add(15);
  workers_[0].waiting.set(3);
  workers_[0].pending.set(2);
  workers_[1].cache_entries.set(40);
  workers_[1].cache_bytes.set(2097152);
  expect_lines({
      "# TYPE wirecache_packets_received_total counter",
      "wirecache_packets_received_total{worker=\"0\"} 1000000001",
      "wirecache_packets_received_total{worker=\"1\"} 0",
      "wirecache_client_queries_total{worker=\"0\"} 11",
      "wirecache_upstream_answers_taken_total{worker=\"0\"} 12",
      "wirecache_punted_packets_total{worker=\"1\"} 13",
      "wirecache_polls_total{worker=\"1\"} 16",
      "wirecache_kernel_packets_sent_total{worker=\"1\"} 14",
      "wirecache_kernel_packets_dropped_total{worker=\"1\"} 15",
      "# TYPE wirecache_waiting_clients gauge",
      "wirecache_waiting_clients{worker=\"0\"} 3",
      "wirecache_pending_questions{worker=\"0\"} 2",
      "wirecache_cache_entries{worker=\"1\"} 40",
      "wirecache_cache_bytes{worker=\"1\"} 2097152",
  });
}

TEST_F(StatsCollectableTest, CountersByReason) {
  workers_[0].outcomes[stats::Outcome::kHit].add(5);
  workers_[0].outcomes[stats::Outcome::kMiss].add(6);
  workers_[1].drops[stats::Drop::kBadUdpChecksum].add(7);
  workers_[1].query_drops[stats::QueryDrop::kTxFull].add(8);
  expect_lines({
      "# TYPE wirecache_queries_total counter",
      "wirecache_queries_total{worker=\"0\",outcome=\"hit\"} 5",
      "wirecache_queries_total{worker=\"0\",outcome=\"miss\"} 6",
      "wirecache_queries_total{worker=\"1\",outcome=\"refused\"} 0",
      "wirecache_drops_total{worker=\"1\",reason=\"bad_udp_checksum\"} 7",
      "wirecache_drops_total{worker=\"0\",reason=\"stopping\"} 0",
      "wirecache_query_drops_total{worker=\"1\",reason=\"tx_full\"} 8",
  });
}

// Names of IANA's "DNS RCODEs".
TEST_F(StatsCollectableTest, ResponsesByRcode) {
  workers_[0].responses[0].add(100);
  workers_[0].responses[3].add(30);
  workers_[0].responses[9].add(9);
  workers_[0].responses[13].add(1);
  workers_[0].responses[16].add(4);
  workers_[0].responses[23].add(2);
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
  for (const std::string& line : lines()) {
    EXPECT_EQ(line.find("worker=\"1\",rcode=\"NOTAUTH\""), std::string::npos)
        << "a rare rcode appears only once it was sent";
  }
}

TEST_F(StatsCollectableTest, UpstreamCacheAndException) {
  workers_[0].upstream[stats::Upstream::kQuerySent].add(1);
  workers_[0].upstream[stats::Upstream::kAnswerTaken].add(2);
  workers_[0].upstream[stats::Upstream::kTimeout].add(3);
  workers_[0].upstream[stats::Upstream::kFailure].add(4);
  workers_[0].upstream[stats::Upstream::kTruncated].add(5);
  workers_[0].upstream[stats::Upstream::kUnreachable].add(6);
  workers_[0].upstream[stats::Upstream::kGaveUp].add(7);
  workers_[1].cache[stats::Cache::kInserted].add(8);
  workers_[1].cache[stats::Cache::kReplaced].add(9);
  workers_[1].cache[stats::Cache::kEvicted].add(10);
  workers_[1].cache[stats::Cache::kRejected].add(11);
  exception_.to_kernel.add(12);
  exception_.from_kernel_dropped.add(13);
  expect_lines({
      "wirecache_upstream_queries_total{worker=\"0\"} 1",
      "wirecache_upstream_answers_total{worker=\"0\"} 2",
      "wirecache_upstream_timeouts_total{worker=\"0\"} 3",
      "wirecache_upstream_failures_total{worker=\"0\"} 4",
      "wirecache_upstream_truncated_total{worker=\"0\"} 5",
      "wirecache_upstream_unreachable_total{worker=\"0\"} 6",
      "wirecache_upstream_gave_up_total{worker=\"0\"} 7",
      "wirecache_cache_inserted_total{worker=\"1\"} 8",
      "wirecache_cache_replaced_total{worker=\"1\"} 9",
      "wirecache_cache_evicted_total{worker=\"1\"} 10",
      "wirecache_cache_rejected_total{worker=\"1\"} 11",
      "wirecache_exception_to_kernel_packets_total 12",
      "wirecache_exception_from_kernel_dropped_packets_total 13",
  });
}

TEST_F(StatsCollectableTest, ExceptionPortIsLeftOutWhereThereIsNone) {
  for (const std::string& line : lines_of(StatsCollectable({&workers_[0]}, nullptr)))
    EXPECT_EQ(line.find("wirecache_exception_"), std::string::npos);
}

TEST_F(StatsCollectableTest, BuildInfo) {
  size_t found = 0;
  for (const std::string& line : lines())
    if (line == "wirecache_build_info{version=\"" WC_VERSION "\"} 1") ++found;
  EXPECT_EQ(found, 1u);
}

// Buckets are cumulative, their borders seconds that belong to the bucket below (le).
TEST_F(StatsCollectableTest, HistogramBuckets) {
  stats::Histogram& hit = workers_[0].hit_latency;
  hit.record(1);
  hit.record(200);
  hit.record(256);
  hit.record(257);
  hit.record(1024, 10);
  hit.record(uint64_t{1} << 34);
  hit.record((uint64_t{1} << 34) + 1);
  workers_[1].miss_latency.record(1500000);
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
TEST_F(StatsCollectableTest, HistogramBordersArePowersOfTwoNanoseconds) {
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

TEST_F(StatsCollectableTest, HelpNamesEveryReason) {
  std::string help;
  for (const std::string& line : lines())
    if (line.find("# HELP wirecache_drops_total ") == 0) help = line;
  for (const stats::Name& name : stats::kDropNames)
    EXPECT_NE(help.find(std::string(name.label) + ": " + std::string(name.help)), std::string::npos)
        << name.label;
}

// The independent judge of names, types and help texts, where it is installed.
TEST_F(StatsCollectableTest, PromtoolFindsNothingToSay) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed";
  FILE* promtool = popen("promtool check metrics 2>&1 >/dev/null", "w");
  ASSERT_NE(promtool, nullptr);
  for (const std::string& line : lines()) std::fprintf(promtool, "%s\n", line.c_str());
  EXPECT_EQ(pclose(promtool), 0);
}

}  // namespace
}  // namespace wirecache::metrics

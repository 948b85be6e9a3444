#include "lib/metrics/stats_collectable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "tests/unit/metrics/exposition.h"

namespace wirecache::metrics {
namespace {

constexpr Extent kMost{config::kMaxWorkers, config::kMaxPorts, DriverSample::kMaxQueues,
                       config::kMaxServers};

bool is_sample(const std::string& line) {
  return !line.empty() && line[0] != '#';
}

// "name{labels}" of a sample.
std::string series_of(const std::string& line) {
  return line.substr(0, line.rfind(' '));
}

TEST(StatsCollectable, BuildInfo) {
  const Appliance appliance;
  const std::vector<std::string> lines = scrape(appliance.sources);
  EXPECT_EQ(std::ranges::count(lines, "wirecache_build_info{version=\"" WC_VERSION "\"} 1"), 1);
}

TEST(StatsCollectable, ServerLabels) {
  EXPECT_EQ(server_label(*IpAddress::parse("192.0.2.1"), 53), "192.0.2.1:53");
  EXPECT_EQ(server_label(*IpAddress::parse("2001:db8::1"), 5353), "[2001:db8::1]:5353");
}

// Everything that can be counted is to be seen: once all counters stand at one, nothing is at zero
// but the buckets below the latencies that were counted.
TEST(StatsCollectable, EveryCounterIsExported) {
  Appliance appliance;
  appliance.count_everything();
  appliance.sources.max_waiting = 1;
  appliance.sources.max_pending = 1;
  for (const std::string& line : scrape(appliance.sources)) {
    if (!is_sample(line) || line.find("_bucket{") != std::string::npos) continue;
    EXPECT_NE(line.substr(line.rfind(' ')), " 0") << line;
  }
}

// The largest configuration with all counters set, so that those which appear when they count are
// there as well.
TEST(StatsCollectable, LargestScrapeIsBounded) {
  Appliance appliance(kMost);
  appliance.count_everything();
  const std::vector<std::string> lines = scrape(appliance.sources);
  std::set<std::string> series;
  for (const std::string& line : lines) {
    if (!is_sample(line)) continue;
    EXPECT_TRUE(series.insert(series_of(line)).second) << line;
  }
  EXPECT_LE(series.size(), kMaxSeries);
  EXPECT_GE(series.size(), kMaxSeries * 9 / 10) << "the stated limit says too little";
}

// The independent judge of names, types and help texts, where it is installed.
TEST(StatsCollectable, PromtoolFindsNothingToSay) {
  if (!have_promtool()) GTEST_SKIP() << "promtool is not installed";
  Appliance appliance;
  EXPECT_EQ(promtool_complaints(scrape(appliance.sources)), "");
  appliance.count_everything();
  EXPECT_EQ(promtool_complaints(scrape(appliance.sources)), "");
}

TEST(StatsCollectable, PromtoolWouldSaySomething) {
  if (!have_promtool()) GTEST_SKIP() << "promtool is not installed";
  EXPECT_NE(
      promtool_complaints({"# HELP bad_name Counts.", "# TYPE bad_name counter", "bad_name 1"}),
      "");
}

}  // namespace
}  // namespace wirecache::metrics

// What the exporter's tests share: a scrape as lines, sources to scrape, all counters set. Test
// code, any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/metrics/sources.h"

namespace wirecache::metrics {

// How much there is to scrape.
struct Extent {
  size_t workers = 2;
  size_t ports = 2;
  size_t queues = 2;  // of each port
  size_t servers = 2;
};

// Counters of one node and the sources that name them: ports p0…, servers 192.0.2.1:53…, worker w
// on CPU w + 1. Not copied, for the sources refer to it.
struct Appliance {
  explicit Appliance(const Extent& extent = {});
  Appliance(const Appliance&) = delete;
  Appliance& operator=(const Appliance&) = delete;

  // Adds one to every counter that there is.
  void count_everything();

  std::vector<stats::WorkerStats> workers;
  stats::ExceptionStats exception;
  stats::StreamStats stream;
  std::vector<NodeSample> platform;
  Sources sources;
};

std::vector<std::string> scrape(const Sources& sources);

// Fails the test for each of `wanted` that the scrape has not as a line.
void expect_lines(const Sources& sources, const std::vector<std::string>& wanted);

// What `promtool check metrics` has to say of the lines, its exit code behind it if that is not 0.
std::string promtool_complaints(const std::vector<std::string>& lines);
bool have_promtool();

}  // namespace wirecache::metrics

// What drivers, pools and rings say of themselves, read by main and kept for the exporter.
//
// Some drivers ask their NIC by a mailbox when they are asked for counters, and hardly one expects
// that from two threads: so main takes a sample about once a second, and a scrape reads the last.
// Invariant: each value is written by main alone (see stats/counter.h); a scrape in the middle of a
// sample sees new values beside old ones, as it does with the workers' counters.
// Thread: construction, sample() and note_routes() by main, also while workers run; nodes() by any.
// The nodes and their ports outlive the last sample().
#pragma once

#include <cstddef>
#include <vector>

#include "lib/metrics/platform_sample.h"
#include "lib/upstream/server_route.h"
#include "lib/worker/node.h"

namespace wirecache::metrics {

class PlatformStats {
 public:
  explicit PlatformStats(const std::vector<worker::Node*>& nodes);

  // Reads everything once. Slow where drivers are (a mailbox), never blocked by workers.
  void sample();
  // Keeps by which port each server is reached from the node in place `node`.
  void note_routes(size_t node, const upstream::RouteTable& table);

  const std::vector<NodeSample>& nodes() const { return samples_; }

 private:
  std::vector<worker::Node*> nodes_;
  std::vector<NodeSample> samples_;  // one a node
};

}  // namespace wirecache::metrics

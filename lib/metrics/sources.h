// Where the exporter's numbers come from, and the names that its labels give to their owners.
//
// Made by main before the exporter starts and not changed afterwards. Counters belong to their
// writers and outlive whoever reads them by this.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/metrics/platform_sample.h"
#include "lib/stats/stream_stats.h"
#include "lib/stats/worker_stats.h"

namespace wirecache::metrics {

struct NodeSource {
  std::string label;               // node="0"
  std::vector<std::string> ports;  // names in the order of the node's ports, all nodes' differ
};

struct WorkerSource {
  const stats::WorkerStats* stats = nullptr;
  unsigned id = 0;    // over all nodes: worker="0"
  unsigned node = 0;  // its place in Sources::nodes
  unsigned cpu = 0;
};

struct Sources {
  std::vector<NodeSource> nodes;
  std::vector<WorkerSource> workers;  // those of a node in the node's order
  std::vector<std::string> servers;   // server_label() of each, in the order of the configuration
  uint64_t max_waiting = 0;           // clients that may wait, of each worker
  uint64_t max_pending = 0;           // questions in flight, of each worker
  const stats::ExceptionStats* exception = nullptr;  // null: its series are left out
  const stats::StreamStats* stream = nullptr;        // the same
  // PlatformStats::nodes(), by the same nodes; null: its series are left out.
  const std::vector<NodeSample>* platform = nullptr;
};

// "192.0.2.1:53" or "[2001:db8::1]:53".
std::string server_label(const IpAddress& address, uint16_t port);

}  // namespace wirecache::metrics

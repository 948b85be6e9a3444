// Which workers and ports work together: each NUMA node with its own workers, ports, packet pool,
// rings and cache, sharing nothing with the others.
//
// A pure function from topology and configuration to groups, so that machines can be made up in
// tests. Invariant: every worker and every port is in exactly one group, and each group has at
// least one of both. What crosses nodes is done as asked for and named in a warning.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/config/config.h"

namespace wirecache::config {

// NUMA nodes as the kernel numbers them; kUnknownNode where it cannot tell (virtual devices).
inline constexpr int kUnknownNode = -1;

struct Topology {
  std::vector<int> worker_nodes;  // by place in cores.workers
  std::vector<int> port_nodes;    // by place in ports
};

struct NodeGroup {
  int numa_node = 0;
  std::vector<unsigned> workers;  // places in cores.workers, in order
  std::vector<unsigned> ports;    // places in ports, in order
};

struct Placement {
  std::vector<NodeGroup> groups;  // by NUMA node
  std::vector<std::string> warnings;
};

// A port is with the workers of its own node (ports.numa_node, where given, goes before what the
// topology says). One whose node is unknown goes to a node whose workers have no port yet, else to
// the first worker's. Ports on a node without workers, and workers on a node without ports, join
// the first group that has what they lack.
Placement plan_placement(const Config& config, const Topology& topology);

// The configuration as one group sees it: its own workers and ports alone, and its share of the
// cache's memory by its number of workers.
Config config_of(const Config& config, const NodeGroup& group);

}  // namespace wirecache::config

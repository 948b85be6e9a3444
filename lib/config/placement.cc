#include "lib/config/placement.h"

#include <algorithm>

namespace wirecache::config {
namespace {

class Planner {
 public:
  Planner(const Config& config, const Topology& topology) : config_(config), topology_(topology) {}

  Placement plan() && {
    for (unsigned worker = 0; worker < config_.cores.workers.size(); ++worker)
      group_at(node_of_worker(worker)).workers.push_back(worker);
    const NodeGroup* first = &group_at(node_of_worker(0));
    home_ = first->numa_node;
    place_known_ports();
    place_unknown_ports();
    for (NodeGroup& group : groups_) std::ranges::sort(group.ports);
    join_idle_workers();
    std::ranges::sort(groups_, {}, &NodeGroup::numa_node);
    return {std::move(groups_), std::move(warnings_)};
  }

 private:
  int node_of_worker(unsigned worker) const {
    const int node = worker < topology_.worker_nodes.size() ? topology_.worker_nodes[worker] : 0;
    return std::max(node, 0);
  }

  int node_of_port(unsigned port) const {
    if (const auto& given = config_.ports[port].numa_node) return static_cast<int>(*given);
    return port < topology_.port_nodes.size() ? topology_.port_nodes[port] : kUnknownNode;
  }

  NodeGroup* find(int node) {
    const auto found = std::ranges::find(groups_, node, &NodeGroup::numa_node);
    return found == groups_.end() ? nullptr : &*found;
  }

  NodeGroup& group_at(int node) {
    if (NodeGroup* group = find(node); group != nullptr) return *group;
    groups_.push_back({node, {}, {}});
    return groups_.back();
  }

  void place_known_ports() {
    for (unsigned port = 0; port < config_.ports.size(); ++port) {
      const int node = node_of_port(port);
      if (node == kUnknownNode) continue;
      NodeGroup* group = find(node);
      if (group == nullptr) {
        group = find(home_);
        warnings_.push_back(
            "port " + config_.ports[port].name + " is on NUMA node " + std::to_string(node) +
            ", where no worker is: its packets cross to node " + std::to_string(home_));
      }
      group->ports.push_back(port);
    }
  }

  void place_unknown_ports() {
    for (unsigned port = 0; port < config_.ports.size(); ++port) {
      if (node_of_port(port) != kUnknownNode) continue;
      const auto without =
          std::ranges::find_if(groups_, [](const NodeGroup& group) { return group.ports.empty(); });
      (without != groups_.end() ? *without : *find(home_)).ports.push_back(port);
    }
  }

  // Groups without ports are dissolved.
  void join_idle_workers() {
    const auto host =
        std::ranges::find_if(groups_, [](const NodeGroup& group) { return !group.ports.empty(); });
    if (host == groups_.end()) return;  // no ports at all: not a checked configuration
    for (const NodeGroup& group : groups_) {
      if (!group.ports.empty()) continue;
      for (const unsigned worker : group.workers) {
        host->workers.push_back(worker);
        warnings_.push_back("worker " + std::to_string(worker) + " (CPU " +
                            std::to_string(config_.cores.workers[worker]) + ") is on NUMA node " +
                            std::to_string(group.numa_node) +
                            ", which has no port: it works across nodes for node " +
                            std::to_string(host->numa_node));
      }
    }
    std::ranges::sort(host->workers);
    std::erase_if(groups_, [](const NodeGroup& group) { return group.ports.empty(); });
  }

  const Config& config_;
  const Topology& topology_;
  int home_ = 0;  // the node of the first worker
  std::vector<NodeGroup> groups_;
  std::vector<std::string> warnings_;
};

}  // namespace

Placement plan_placement(const Config& config, const Topology& topology) {
  return Planner(config, topology).plan();
}

Config config_of(const Config& config, const NodeGroup& group) {
  Config own = config;
  own.cores.workers.clear();
  own.ports.clear();
  for (const unsigned worker : group.workers)
    own.cores.workers.push_back(config.cores.workers[worker]);
  for (const unsigned port : group.ports) own.ports.push_back(config.ports[port]);
  own.cache.memory_mb = config.cache.memory_mb * group.workers.size() / config.cores.workers.size();
  return own;
}

}  // namespace wirecache::config

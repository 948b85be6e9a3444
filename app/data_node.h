// One NUMA node's part of the appliance: its packet pool, ports, exception ports, workers and
// routes, made and run together, sharing nothing with other nodes.
//
// The starting steps are called by Appliance, each once and in the order in which they stand here.
// Thread: main only; the workers run on lcores of their own between launch() and stop_workers().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/bridge.h"
#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/config/placement.h"
#include "lib/control/ingress_guard.h"
#include "lib/control/kernel_network.h"
#include "lib/control/netlink.h"
#include "lib/control/upstream_routes.h"
#include "lib/port/exception_port.h"
#include "lib/port/port.h"
#include "lib/port/start_error.h"
#include "lib/worker/node.h"
#include "lib/worker/worker.h"

namespace wirecache::app {

using Started = Expected<void, port::StartError>;

class DataNode {
 public:
  DataNode(const config::Config& whole, config::NodeGroup group, stats::ExceptionStats& exception)
      : group_(std::move(group)),
        config_(config::config_of(whole, group_)),
        exception_stats_(exception) {}
  ~DataNode();
  DataNode(const DataNode&) = delete;
  DataNode& operator=(const DataNode&) = delete;

  Started open_ports();
  Started set_up_exception_ports(control::Netlink& netlink);
  Started create_node(control::KernelNetwork& network);
  Started create_workers();
  Started start_ports();
  Started launch();

  // Housekeeping, from launch on. Whether there was anything to carry.
  bool carry_packets() { return bridge_->step(); }
  // Memory for the cache as it grows; at each of main's turns.
  void provision_cache() { node_->provision_cache(); }
  // Lets devices send what they have to by themselves.
  void keep_ports_alive();
  // Shows the state of the ports' links at the exception ports, where it has changed.
  void follow_links(control::Netlink& netlink, const control::LinkMonitor& links);
  // Gives exception ports that have been set down and up again the addresses that the kernel forgot
  // meanwhile. Whether there was one: its routes are gone as well.
  bool restore_addresses(control::Netlink& netlink, const control::LinkMonitor& links);
  // Decides by the kernel's news how upstreams are reached, and tells the workers.
  void follow_routes();
  void probe_neighbours();
  const upstream::RouteTable& routes() const { return routes_->table(); }
  bool any_upstream_usable() const { return routes_->any_usable(); }
  // Whether every worker has polled since the last call.
  bool workers_moved();
  // No client waits and nothing is on its way.
  bool settled() const;
  void stop_workers();

  const config::NodeGroup& group() const { return group_; }
  worker::Node& node() { return *node_; }
  const worker::Node& node() const { return *node_; }
  unsigned packet_buffers() const { return pool_->size; }
  const std::vector<port::Port>& ports() const { return ports_; }
  // Where the kernel has the port with this place in the whole configuration; 0: not this node's.
  unsigned exception_ifindex(unsigned port) const;
  Bridge& bridge() { return *bridge_; }

 private:
  std::vector<worker::PortRef> port_refs() const;
  void publish_routes();
  Expected<void> add_addresses(control::Netlink& netlink, size_t port);

  const config::NodeGroup group_;
  const config::Config config_;  // as this node sees it
  rte_mempool* pool_ = nullptr;
  std::vector<port::Port> ports_;
  std::vector<port::ExceptionPort> exception_ports_;  // until the bridge has them
  std::vector<control::IngressGuard> guards_;
  std::vector<unsigned> netdev_ifindexes_;  // of the interfaces below the ports; 0: none
  std::vector<unsigned> exception_ifindexes_;
  std::vector<uint64_t> times_set_up_;     // the exception ports, by when they have their addresses
  std::vector<control::LinkState> links_;  // of the ports, as the exception ports show them
  std::unique_ptr<worker::Node> node_;
  std::vector<std::unique_ptr<worker::Worker>> workers_;
  std::unique_ptr<control::UpstreamRoutes> routes_;
  std::unique_ptr<Bridge> bridge_;
  stats::ExceptionStats& exception_stats_;
  std::vector<uint64_t> polls_seen_;
  bool launched_ = false;
};

}  // namespace wirecache::app

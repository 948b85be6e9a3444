#include "app/data_node.h"

#include <net/if.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include "lib/control/interface_ipv6.h"
#include "lib/control/interface_neighbours.h"
#include "lib/port/eal.h"
#include "lib/port/node_memory.h"
#include "lib/port/packet_pool.h"

namespace wirecache::app {
namespace {

using port::StartFailure;

control::LinkState link_of_device(const port::Port& port) {
  rte_eth_link link{};
  const bool up = rte_eth_link_get_nowait(port.ethdev_id(), &link) == 0 && link.link_status != 0;
  return up ? control::LinkState::kUp : control::LinkState::kDown;
}

struct LaunchArgument {
  worker::Worker* worker;
  config::IdlePolicy idle;
};

int run_worker(void* argument) {
  const std::unique_ptr<LaunchArgument> launch(static_cast<LaunchArgument*>(argument));
  // Signals (those of the TAP among them) are main's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  launch->worker->run(launch->idle);
  return 0;
}

}  // namespace

Started DataNode::open_ports() {
  const auto lcores = static_cast<unsigned>(config_.cores.workers.size() + 1);
  const unsigned mbufs = port::mbufs_needed(config_, worker::HandoverRings::mbufs_held(lcores));
  auto pool = port::create_packet_pool(group_.numa_node, mbufs, worker::kHandoverBytes);
  if (!pool) return Unexpected(pool.error());
  pool_ = *pool;
  for (const config::PortConfig& port_config : config_.ports) {
    auto port = port::Port::open(port_config, config_.driver_profiles, lcores - 1, pool_);
    if (!port) return Unexpected(port.error());
    if (port->kernel_sees_packets()) {
      auto guard = control::IngressGuard::install(port->netdev());
      if (!guard)
        return port::device_failure(port_config.name, port_config.device, guard.error().message);
      guards_.push_back(std::move(*guard));
    }
    auto exception_port = port::ExceptionPort::open(port_config, *port, pool_);
    if (!exception_port) return Unexpected(exception_port.error());
    netdev_ifindexes_.push_back(if_nametoindex(port->netdev().c_str()));
    ports_.push_back(std::move(*port));
    exception_ports_.push_back(std::move(*exception_port));
  }
  return {};
}

Started DataNode::set_up_exception_ports(control::Netlink& netlink) {
  for (size_t i = 0; i < ports_.size(); ++i) {
    const config::PortConfig& port = config_.ports[i];
    const std::string& tap = exception_ports_[i].interface_name();
    const auto index = netlink.link_index(tap);
    if (!index) return port::device_failure(port.name, port.device, index.error().message);
    if (auto up = netlink.set_link_up(*index); !up)
      return port::device_failure(port.name, port.device, up.error().message);
    if (auto prepared = control::prepare_neighbours(tap); !prepared)
      return port::device_failure(port.name, port.device, prepared.error().message);
    const bool has_v6 = std::ranges::any_of(
        port.addresses, [](const IpPrefix& prefix) { return prefix.address.is_v6(); });
    if (has_v6) {
      if (auto prepared = control::prepare_ipv6(tap); !prepared)
        return port::device_failure(port.name, port.device, prepared.error().message);
    }
    exception_ifindexes_.push_back(*index);
    if (auto added = add_addresses(netlink, i); !added)
      return port::device_failure(port.name, port.device, added.error().message);
  }
  times_set_up_.assign(ports_.size(), 0);
  return {};
}

Expected<void> DataNode::add_addresses(control::Netlink& netlink, size_t port) {
  for (const IpPrefix& address : config_.ports[port].addresses) {
    if (auto added = netlink.add_address(exception_ifindexes_[port], address); !added)
      return Unexpected(added.error());
  }
  return {};
}

unsigned DataNode::exception_ifindex(unsigned port) const {
  const auto place = std::ranges::find(group_.ports, port);
  if (place == group_.ports.end()) return 0;
  return exception_ifindexes_[static_cast<size_t>(place - group_.ports.begin())];
}

Started DataNode::create_node(control::KernelNetwork& network) {
  const port::NodeMemory memory(group_.numa_node);
  worker::NodeOptions options;
  options.name = "node" + std::to_string(group_.numa_node);
  options.numa_node = group_.numa_node;
  options.workers = static_cast<unsigned>(config_.cores.workers.size());
  options.clock = TscClock(rte_get_tsc_hz());
  options.secret = HashSecret::random();
  options.pool = pool_;
  options.cache = config_.cache;
  options.cache_pages = config_.eal.huge_pages == config::HugePages::kOff
                            ? cache::HugePages::kTransparent
                            : cache::HugePages::kWhereFree;
  std::vector<control::PortSide> sides;
  options.ports = port_refs();
  for (size_t i = 0; i < ports_.size(); ++i) {
    sides.push_back({ports_[i].name(), exception_ifindexes_[i], config_.ports[i].addresses,
                     control::LinkState::kUp});
  }
  auto node = worker::Node::create(std::move(options));
  if (!node) return port::start_failure(StartFailure::kMemory, node.error());
  node_ = std::move(*node);

  routes_ = std::make_unique<control::UpstreamRoutes>(config_.upstream, std::move(sides), network);
  links_.assign(ports_.size(), control::LinkState::kUp);
  bridge_ = std::make_unique<Bridge>(*node_, std::move(exception_ports_), exception_stats_);
  publish_routes();
  return {};
}

// Queries are spread in software where the devices leave a worker without any.
std::vector<worker::PortRef> DataNode::port_refs() const {
  const size_t workers = config_.cores.workers.size();
  std::vector<worker::PortRef> refs;
  std::vector<worker::QueueCounts> queues;
  for (const port::Port& port : ports_) {
    worker::PortRef& ref = refs.emplace_back();
    ref.ethdev_id = port.ethdev_id();
    ref.queues = {port.rx_queues(), port.tx_queues()};
    if (port.main_has_queue()) ref.main_queue = --ref.queues.transmit;
    ref.mac = port.mac();
    ref.burst = std::min(port.burst(), worker::kBurstPackets);
    ref.udp_checksum = port.tx_checksum();
    queues.push_back(ref.queues);
  }
  const worker::QueuePlan plan = worker::plan_queues(queues, static_cast<unsigned>(workers));
  const bool idle_workers = std::ranges::any_of(
      plan.polled, [](const std::vector<worker::QueueRef>& polled) { return polled.empty(); });
  for (size_t i = 0; i < refs.size(); ++i) {
    const config::Spread wanted = config_.ports[i].spread;
    const bool spread =
        wanted == config::Spread::kAuto ? idle_workers : wanted == config::Spread::kOn;
    if (spread && workers > 1) refs[i].spread = worker::PortRef::Spread::kToOwner;
  }
  return refs;
}

Started DataNode::create_workers() {
  const port::NodeMemory memory(group_.numa_node);
  for (unsigned id = 0; id < node_->workers(); ++id) {
    auto made = worker::Worker::create(*node_, {id, config_.upstream, Random::from_kernel()});
    if (!made) return port::start_failure(StartFailure::kMemory, made.error());
    workers_.push_back(std::move(*made));
  }
  polls_seen_.assign(workers_.size(), 0);
  return {};
}

Started DataNode::start_ports() {
  for (port::Port& port : ports_) {
    if (auto started = port.start(); !started) return Unexpected(started.error());
  }
  return {};
}

Started DataNode::launch() {
  for (unsigned id = 0; id < node_->workers(); ++id) {
    auto argument =
        std::make_unique<LaunchArgument>(LaunchArgument{workers_[id].get(), config_.cores.idle});
    const unsigned lcore = port::worker_lcore(group_.workers[id]);
    if (rte_eal_remote_launch(run_worker, argument.get(), lcore) != 0)
      return port::start_failure(StartFailure::kOther, "a worker's lcore does not start");
    (void)argument.release();  // now the worker's
    launched_ = true;
  }
  return {};
}

void DataNode::keep_ports_alive() {
  for (port::Port& port : ports_) port.keep_alive();
}

void DataNode::follow_links(control::Netlink& netlink, const control::LinkMonitor& links) {
  for (size_t i = 0; i < ports_.size(); ++i) {
    const unsigned netdev = netdev_ifindexes_[i];
    const control::LinkState state = netdev != 0 ? links.state(netdev) : link_of_device(ports_[i]);
    if (state == links_[i]) continue;
    links_[i] = state;
    routes_->set_link(i, state);
    const char* name = ports_[i].name().c_str();
    std::fprintf(stderr, "port %s: link %s\n", name,
                 state == control::LinkState::kUp ? "up" : "down");
    if (auto set = netlink.set_carrier(exception_ifindexes_[i], state); !set)
      std::fprintf(stderr, "port %s: %s\n", name, set.error().message.c_str());
  }
}

bool DataNode::restore_addresses(control::Netlink& netlink, const control::LinkMonitor& links) {
  bool any = false;
  for (size_t i = 0; i < ports_.size(); ++i) {
    const uint64_t times = links.times_set_up(exception_ifindexes_[i]);
    if (times == times_set_up_[i]) continue;
    times_set_up_[i] = times;
    any = true;
    const char* name = ports_[i].name().c_str();
    std::fprintf(stderr, "port %s: its exception interface was set up again\n", name);
    if (auto added = add_addresses(netlink, i); !added)
      std::fprintf(stderr, "port %s: %s\n", name, added.error().message.c_str());
  }
  return any;
}

void DataNode::follow_routes() {
  if (routes_->refresh()) publish_routes();
  for (const std::string& line : routes_->take_log()) std::fprintf(stderr, "%s\n", line.c_str());
}

void DataNode::publish_routes() {
  auto snapshot = std::make_unique<worker::Snapshot>(config_);
  snapshot->routes = routes_->table();
  node_->publish(std::move(snapshot));
}

void DataNode::probe_neighbours() {
  routes_->probe();
  node_->reclaim_snapshots();
}

bool DataNode::workers_moved() {
  bool all = true;
  for (unsigned id = 0; id < node_->workers(); ++id) {
    const uint64_t polls = node_->stats(id).polls.value();
    all &= polls != polls_seen_[id];
    polls_seen_[id] = polls;
  }
  return all;
}

bool DataNode::settled() const {
  uint64_t queries = 0;
  uint64_t done = 0;
  for (unsigned id = 0; id < node_->workers(); ++id) {
    const stats::WorkerStats& stats = node_->stats(id);
    if (stats.waiting.value() != 0) return false;
    queries += stats.client_queries();
    done += stats.query_drops.sum();
    for (const stats::Counter& responses : stats.responses) done += responses.value();
  }
  return queries == done;
}

void DataNode::stop_workers() {
  if (!launched_) return;
  node_->set_phase(worker::Phase::kStopped);
  for (const unsigned worker : group_.workers) rte_eal_wait_lcore(port::worker_lcore(worker));
  launched_ = false;
}

// Ports go while the node still stands, for its rings and pool hold their mbufs.
DataNode::~DataNode() {
  stop_workers();
  workers_.clear();
  for (port::Port& port : ports_) port.stop_and_close();
  bridge_.reset();
  exception_ports_.clear();
  ports_.clear();
  routes_.reset();
  node_.reset();
}

}  // namespace wirecache::app

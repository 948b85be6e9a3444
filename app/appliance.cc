#include "app/appliance.h"

#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/start_log.h"
#include "lib/config/describe.h"
#include "lib/config/placement.h"
#include "lib/port/devargs.h"
#include "lib/port/eal.h"
#include "lib/port/topology.h"

namespace wirecache::app {
namespace {

using port::StartError;
using port::StartFailure;

constexpr unsigned kIdleSleepUs = 50;
// Some devices answer slowly: not in every round. A bond sends its LACP within 100 ms.
constexpr uint64_t kLinkLookUs = 50'000;
constexpr uint64_t kWatchUs = 1'000'000;
constexpr uint64_t kDrainSlackUs = 500'000;

void warn(const std::string& text) {
  std::fprintf(stderr, "wirecached: warning: %s\n", text.c_str());
}

uint64_t now_us() {
  return rte_rdtsc() / (rte_get_tsc_hz() / 1'000'000);
}

}  // namespace

std::atomic<bool> Appliance::stop_requested_{false};

Expected<std::unique_ptr<Appliance>, StartError> Appliance::start(const config::Config& config,
                                                                  const std::string& program_name) {
  if (auto allowed = port::check_privilege(); !allowed) return Unexpected(allowed.error());
  if (auto eal = port::start_eal(config, program_name); !eal) return Unexpected(eal.error());
  std::unique_ptr<Appliance> appliance(new Appliance(config));
  using Step = Started (Appliance::*)();
  constexpr Step kSteps[] = {&Appliance::bring_up_netdevs,       &Appliance::make_nodes,
                             &Appliance::set_up_exception_ports, &Appliance::add_routes,
                             &Appliance::reserve_source_ports,   &Appliance::create_workers,
                             &Appliance::start_stream,           &Appliance::start_ports,
                             &Appliance::start_metrics,          &Appliance::launch};
  for (const Step step : kSteps) {
    if (auto done = (appliance.get()->*step)(); !done) return Unexpected(done.error());
  }
  return appliance;
}

Started Appliance::on_each(Started (DataNode::*step)()) {
  for (const auto& node : nodes_) {
    if (auto done = (node.get()->*step)(); !done) return Unexpected(done.error());
  }
  return {};
}

Started Appliance::bring_up_netdevs() {
  auto netlink = control::Netlink::open();
  if (!netlink) return port::start_failure(StartFailure::kOther, netlink.error());
  netlink_ = std::make_unique<control::Netlink>(std::move(*netlink));
  for (const config::PortConfig& port : config_.ports) {
    const std::string netdev = port::netdev_of(port.device);
    if (netdev.empty()) continue;
    const auto index = netlink_->link_index(netdev);
    if (!index) return port::device_failure(port.name, port.device, index.error().message);
    if (auto up = netlink_->set_link_up(*index); !up)
      return port::device_failure(port.name, port.device, up.error().message);
  }
  return {};
}

config::Topology Appliance::topology() const {
  config::Topology topology;
  for (const unsigned cpu : config_.cores.workers)
    topology.worker_nodes.push_back(port::cpu_node(cpu));
  for (const config::PortConfig& port : config_.ports)
    topology.port_nodes.push_back(port::device_node(port.device));
  return topology;
}

Started Appliance::make_nodes() {
  config::Placement placement = config::plan_placement(config_, topology());
  for (const std::string& warning : placement.warnings) warn(warning);
  for (config::NodeGroup& group : placement.groups)
    nodes_.push_back(std::make_unique<DataNode>(config_, std::move(group), exception_stats_));
  return on_each(&DataNode::open_ports);
}

Started Appliance::set_up_exception_ports() {
  for (const auto& node : nodes_) {
    if (auto done = node->set_up_exception_ports(*netlink_); !done) return done;
  }
  return {};
}

Started Appliance::add_routes() {
  for (const config::RouteConfig& route : config_.routes) {
    if (auto added = add_route(route); !added)
      return port::start_failure(StartFailure::kOther, added.error());
  }
  return {};
}

Expected<void> Appliance::add_route(const config::RouteConfig& route) {
  std::vector<control::Gateway> gateways;
  for (const IpAddress& via : route.via) {
    const auto port = static_cast<unsigned>(*config::port_on_network_of(config_, via));
    unsigned interface = 0;
    for (const auto& node : nodes_) interface = std::max(interface, node->exception_ifindex(port));
    gateways.push_back({via, interface});
  }
  return netlink_->add_route(route.to, gateways);
}

void Appliance::restore_exception_ports() {
  bool any = false;
  for (const auto& node : nodes_) any |= node->restore_addresses(*netlink_, network_->links());
  if (!any) return;
  for (const config::RouteConfig& route : config_.routes) {
    // One by a port that is still down comes when that is set up.
    if (auto added = add_route(route); !added) warn(added.error().message);
  }
}

Started Appliance::reserve_source_ports() {
  auto reserved = control::ReservedPorts::reserve(config_.upstream.first_source_port,
                                                  config_.upstream.last_source_port);
  if (!reserved) return port::start_failure(StartFailure::kOther, reserved.error());
  reserved_ports_ = std::make_unique<control::ReservedPorts>(std::move(*reserved));
  return {};
}

Started Appliance::create_workers() {
  auto network = control::KernelNetwork::open();
  if (!network) return port::start_failure(StartFailure::kOther, network.error());
  network_ = std::move(*network);
  for (const auto& node : nodes_) {
    if (auto made = node->create_node(*network_); !made) return made;
  }
  return on_each(&DataNode::create_workers);
}

// The first node's workers serve what comes by the kernel's sockets.
Started Appliance::start_stream() {
  DataNode& node = *nodes_.front();
  auto started = stream::UdpService::start(node.node(), config_.listen, stream_stats_);
  if (!started) return port::start_failure(StartFailure::kOther, started.error());
  stream_ = std::move(*started);
  for (const std::string& warning : stream_->warnings()) warn(warning);
  node.bridge().set_stream(stream_.get());
  return {};
}

Started Appliance::start_ports() {
  return on_each(&DataNode::start_ports);
}

metrics::Sources Appliance::metrics_sources() {
  std::vector<worker::Node*> nodes;
  for (const auto& node : nodes_) nodes.push_back(&node->node());
  platform_ = std::make_unique<metrics::PlatformStats>(nodes);
  metrics::Sources sources;
  for (unsigned i = 0; i < nodes_.size(); ++i) {
    DataNode& node = *nodes_[i];
    metrics::NodeSource& source = sources.nodes.emplace_back();
    source.label = std::to_string(node.group().numa_node);
    for (const port::Port& port : node.ports()) source.ports.push_back(port.name());
    const std::vector<unsigned>& workers = node.group().workers;
    for (unsigned id = 0; id < workers.size(); ++id)
      sources.workers.push_back(
          {&node.node().stats(id), workers[id], i, config_.cores.workers[workers[id]]});
  }
  for (const config::UpstreamServer& server : config_.upstream.servers)
    sources.servers.push_back(metrics::server_label(server.address, server.port));
  sources.max_waiting = config_.upstream.max_waiting;
  sources.max_pending = config_.upstream.max_pending;
  sources.exception = &exception_stats_;
  sources.stream = &stream_stats_;
  sources.platform = &platform_->nodes();
  return sources;
}

Started Appliance::start_metrics() {
  if (config_.metrics.address.empty()) return {};
  metrics::Exporter::Options options;
  options.address = config_.metrics.address;
  options.port = config_.metrics.port;
  options.sources = metrics_sources();
  options.ready = [this] { return ready_.load(std::memory_order_relaxed); };
  options.healthy = [this] { return healthy_.load(std::memory_order_relaxed); };
  auto exporter = metrics::Exporter::start(options);
  if (!exporter) return port::start_failure(StartFailure::kOther, exporter.error());
  exporter_ = std::move(*exporter);
  return {};
}

Started Appliance::launch() {
  if (auto launched = on_each(&DataNode::launch); !launched) return launched;
  std::fputs(config::describe(config_).c_str(), stderr);
  for (const auto& node : nodes_) std::fputs(start_log(config_, *node).c_str(), stderr);
  return {};
}

config::ExitCode Appliance::run() {
  next_watch_us_ = now_us() + kWatchUs;
  update_readiness();
  while (!stop_requested_.load(std::memory_order_relaxed)) {
    const bool busy = carry_packets();
    housekeep(now_us());
    if (!busy) usleep(kIdleSleepUs);
  }
  std::fputs("stopping: answering those who wait\n", stderr);
  drain();
  for (const auto& node : nodes_) node->stop_workers();
  return config::ExitCode::kOk;
}

bool Appliance::carry_packets() {
  bool busy = false;
  busy |= stream_->poll(TscTime{rte_rdtsc()});
  for (const auto& node : nodes_) busy |= node->carry_packets();
  return busy;
}

void Appliance::housekeep(uint64_t now) {
  for (const auto& node : nodes_) node->provision_cache();
  const bool news = network_->poll(now);
  const bool look_at_links = news || now >= next_link_look_us_;
  if (look_at_links) {
    restore_exception_ports();
    for (const auto& node : nodes_) {
      node->keep_ports_alive();
      node->follow_links(*netlink_, network_->links());
      node->follow_routes();
    }
    update_readiness();
    next_link_look_us_ = now + kLinkLookUs;
  }
  if (now >= next_probe_us_) {
    for (const auto& node : nodes_) node->probe_neighbours();
    next_probe_us_ = now + control::kProbeIntervalUs;
  }
  if (now >= next_watch_us_) {
    // A worker that polled nothing in a whole second hangs.
    bool all_moving = true;
    for (const auto& node : nodes_) all_moving &= node->workers_moved();
    healthy_.store(all_moving, std::memory_order_relaxed);
    sample_platform();
    next_watch_us_ = now + kWatchUs;
  }
}

void Appliance::sample_platform() {
  if (platform_ == nullptr) return;
  for (size_t i = 0; i < nodes_.size(); ++i) platform_->note_routes(i, nodes_[i]->routes());
  platform_->sample();
}

void Appliance::update_readiness() {
  const bool usable =
      std::ranges::all_of(nodes_, [](const auto& node) { return node->any_upstream_usable(); });
  const bool ready = usable && !draining_;
  if (ready && !ready_.load(std::memory_order_relaxed)) std::fputs("ready\n", stderr);
  ready_.store(ready, std::memory_order_relaxed);
}

void Appliance::set_phase(worker::Phase phase) {
  for (const auto& node : nodes_) node->node().set_phase(phase);
}

// New queries are dropped from now on; those that wait have until their deadline.
void Appliance::drain() {
  set_phase(worker::Phase::kDraining);
  draining_ = true;
  update_readiness();
  // A worker has seen the phase when it has begun a second round since.
  std::vector<std::pair<const stats::Counter*, uint64_t>> polls;
  for (const auto& node : nodes_) {
    for (unsigned id = 0; id < node->node().workers(); ++id) {
      const stats::Counter& counter = node->node().stats(id).polls;
      polls.emplace_back(&counter, counter.value() + 2);
    }
  }
  const auto done = [&] {
    return std::ranges::all_of(polls, [](const auto& p) { return p.first->value() >= p.second; }) &&
           std::ranges::all_of(nodes_, [](const auto& node) { return node->settled(); });
  };
  const uint64_t until = now_us() + config_.upstream.deadline_ms * 1000ull + kDrainSlackUs;
  while (now_us() < until && !done()) {
    carry_packets();
    housekeep(now_us());
    usleep(kIdleSleepUs);
  }
}

// EAL goes last: everything else holds memory of it.
Appliance::~Appliance() {
  exporter_.reset();
  platform_.reset();
  for (const auto& node : nodes_) node->stop_workers();
  stream_.reset();
  nodes_.clear();
  network_.reset();
  reserved_ports_.reset();
  port::stop_eal();
}

}  // namespace wirecache::app

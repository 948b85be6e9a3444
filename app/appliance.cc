#include "app/appliance.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "lib/config/describe.h"
#include "lib/control/interface_ipv6.h"
#include "lib/port/devargs.h"
#include "lib/port/eal.h"
#include "lib/port/packet_pool.h"

namespace wirecache::app {
namespace {

using port::StartError;
using port::StartFailure;

constexpr unsigned kIdleSleepUs = 50;
constexpr uint64_t kNeighbourRequestUs = 2'000'000;
constexpr uint64_t kWatchUs = 1'000'000;
constexpr uint64_t kDrainSlackUs = 500'000;

Unexpected<StartError> as_start_error(StartFailure kind, const Error& error) {
  return port::start_failure(kind, error.message);
}

Unexpected<StartError> device_error(const config::PortConfig& port, const Error& error) {
  return port::start_failure(StartFailure::kDevice, "port " + port.name + ": device " +
                                                        port.device + ": " + error.message);
}

uint64_t now_us() {
  return rte_rdtsc() / (rte_get_tsc_hz() / 1'000'000);
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

std::atomic<bool> Appliance::stop_requested_{false};

Expected<std::unique_ptr<Appliance>, StartError> Appliance::start(const config::Config& config,
                                                                  const std::string& program_name) {
  if (auto allowed = port::check_privilege(); !allowed) return Unexpected(allowed.error());
  if (auto eal = port::start_eal(config, program_name); !eal) return Unexpected(eal.error());
  std::unique_ptr<Appliance> appliance(new Appliance(config));
  using Step = Started (Appliance::*)();
  constexpr Step kSteps[] = {&Appliance::bring_up_netdevs,
                             &Appliance::open_ports,
                             &Appliance::set_up_exception_ports,
                             &Appliance::reserve_source_ports,
                             &Appliance::create_node,
                             &Appliance::create_workers,
                             &Appliance::start_ports,
                             &Appliance::start_metrics,
                             &Appliance::launch};
  for (const Step step : kSteps) {
    if (auto done = (appliance.get()->*step)(); !done) return Unexpected(done.error());
  }
  return appliance;
}

Appliance::Started Appliance::bring_up_netdevs() {
  auto netlink = control::Netlink::open();
  if (!netlink) return as_start_error(StartFailure::kOther, netlink.error());
  netlink_ = std::make_unique<control::Netlink>(std::move(*netlink));
  for (const config::PortConfig& port : config_.ports) {
    const std::string netdev = port::devarg(port.device, "iface");
    if (netdev.empty()) continue;
    const auto index = netlink_->link_index(netdev);
    if (!index) return device_error(port, index.error());
    if (auto up = netlink_->set_link_up(*index); !up) return device_error(port, up.error());
  }
  return {};
}

Appliance::Started Appliance::open_ports() {
  const auto lcores = static_cast<unsigned>(config_.cores.workers.size() + 1);
  const unsigned mbufs = port::mbufs_needed(config_, worker::HandoverRings::mbufs_held(lcores));
  auto pool =
      port::create_packet_pool(static_cast<int>(rte_socket_id()), mbufs, worker::kHandoverBytes);
  if (!pool) return Unexpected(pool.error());
  pool_ = *pool;
  for (const config::PortConfig& port_config : config_.ports) {
    auto port = port::Port::open(port_config, lcores - 1, pool_);
    if (!port) return Unexpected(port.error());
    if (port->kernel_sees_packets()) {
      auto guard = control::IngressGuard::install(port->netdev());
      if (!guard) return device_error(port_config, guard.error());
      guards_.push_back(std::move(*guard));
    }
    auto exception_port = port::ExceptionPort::open(port_config, *port, pool_);
    if (!exception_port) return Unexpected(exception_port.error());
    ports_.push_back(std::move(*port));
    exception_ports_.push_back(std::move(*exception_port));
  }
  return {};
}

Appliance::Started Appliance::set_up_exception_ports() {
  for (size_t i = 0; i < ports_.size(); ++i) {
    const config::PortConfig& port = config_.ports[i];
    const std::string& tap = exception_ports_[i].interface_name();
    const auto index = netlink_->link_index(tap);
    if (!index) return device_error(port, index.error());
    if (auto up = netlink_->set_link_up(*index); !up) return device_error(port, up.error());
    const bool has_v6 = std::ranges::any_of(
        port.addresses, [](const IpPrefix& prefix) { return prefix.address.is_v6(); });
    if (has_v6) {
      if (auto prepared = control::prepare_ipv6(tap); !prepared)
        return device_error(port, prepared.error());
    }
    for (const IpPrefix& address : port.addresses) {
      if (auto added = netlink_->add_address(*index, address); !added)
        return device_error(port, added.error());
    }
    exception_ifindexes_.push_back(*index);
  }
  return {};
}

Appliance::Started Appliance::reserve_source_ports() {
  auto reserved = control::ReservedPorts::reserve(config_.upstream.first_source_port,
                                                  config_.upstream.last_source_port);
  if (!reserved) return as_start_error(StartFailure::kOther, reserved.error());
  reserved_ports_ = std::make_unique<control::ReservedPorts>(std::move(*reserved));
  return {};
}

Appliance::Started Appliance::create_node() {
  worker::NodeOptions options;
  options.numa_node = static_cast<int>(rte_socket_id());
  options.workers = static_cast<unsigned>(config_.cores.workers.size());
  options.clock = TscClock(rte_get_tsc_hz());
  options.secret = HashSecret::random();
  options.pool = pool_;
  options.cache = config_.cache;
  std::vector<PortSide> sides;
  for (size_t i = 0; i < ports_.size(); ++i) {
    options.ports.push_back({ports_[i].ethdev_id(), ports_[i].queues(), ports_[i].mac()});
    sides.push_back({ports_[i].mac(), exception_ifindexes_[i]});
  }
  auto node = worker::Node::create(std::move(options));
  if (!node) return as_start_error(StartFailure::kMemory, node.error());
  node_ = std::move(*node);

  auto neighbours = control::NeighbourTable::open();
  if (!neighbours) return as_start_error(StartFailure::kOther, neighbours.error());
  routes_ = std::make_unique<Routes>(config_, std::move(sides), std::move(*neighbours));
  bridge_ = std::make_unique<Bridge>(*node_, std::move(exception_ports_), exception_stats_);
  node_->publish(routes_->make_snapshot());
  return {};
}

Appliance::Started Appliance::create_workers() {
  for (unsigned id = 0; id < node_->workers(); ++id) {
    auto made = worker::Worker::create(*node_, {id, config_.upstream, Random::from_kernel()});
    if (!made) return as_start_error(StartFailure::kMemory, made.error());
    workers_.push_back(std::move(*made));
  }
  polls_seen_.assign(workers_.size(), 0);
  return {};
}

Appliance::Started Appliance::start_metrics() {
  if (config_.metrics.address.empty()) return {};
  metrics::Exporter::Options options;
  options.address = config_.metrics.address;
  options.port = config_.metrics.port;
  for (unsigned id = 0; id < node_->workers(); ++id) options.workers.push_back(&node_->stats(id));
  options.exception = &exception_stats_;
  options.ready = [this] { return ready_.load(std::memory_order_relaxed); };
  options.healthy = [this] { return healthy_.load(std::memory_order_relaxed); };
  auto exporter = metrics::Exporter::start(options);
  if (!exporter) return as_start_error(StartFailure::kOther, exporter.error());
  exporter_ = std::move(*exporter);
  return {};
}

Appliance::Started Appliance::start_ports() {
  for (port::Port& port : ports_) {
    if (auto started = port.start(); !started) return Unexpected(started.error());
  }
  return {};
}

Appliance::Started Appliance::launch() {
  for (unsigned id = 0; id < node_->workers(); ++id) {
    auto argument =
        std::make_unique<LaunchArgument>(LaunchArgument{workers_[id].get(), config_.cores.idle});
    if (rte_eal_remote_launch(run_worker, argument.get(), port::worker_lcore(id)) != 0)
      return port::start_failure(StartFailure::kOther, "a worker's lcore does not start");
    (void)argument.release();  // now the worker's
    launched_ = true;
  }
  std::fputs(config::describe(config_).c_str(), stderr);
  for (const port::Port& port : ports_) {
    std::fprintf(stderr, "port %s: driver %s, MAC %s, %u queues\n", port.name().c_str(),
                 port.driver().c_str(), port.mac().to_string().c_str(), port.queues());
  }
  return {};
}

config::ExitCode Appliance::run() {
  next_watch_us_ = now_us() + kWatchUs;
  update_readiness();
  while (!stop_requested_.load(std::memory_order_relaxed)) {
    const bool busy = bridge_->step();
    housekeep(now_us());
    if (!busy) usleep(kIdleSleepUs);
  }
  std::fputs("stopping: answering those who wait\n", stderr);
  drain();
  stop_workers();
  return config::ExitCode::kOk;
}

void Appliance::housekeep(uint64_t now) {
  if (routes_->poll()) {
    node_->publish(routes_->make_snapshot());
    update_readiness();
  }
  if (now >= next_neighbour_request_us_) {
    routes_->request_neighbours();
    node_->reclaim_snapshots();
    next_neighbour_request_us_ = now + kNeighbourRequestUs;
  }
  if (now >= next_watch_us_) {
    watch_workers();
    next_watch_us_ = now + kWatchUs;
  }
}

void Appliance::update_readiness() {
  const bool ready = routes_->any_usable() && node_->phase() == worker::Phase::kRunning;
  if (ready && !ready_.load(std::memory_order_relaxed)) std::fputs("ready\n", stderr);
  ready_.store(ready, std::memory_order_relaxed);
}

// A worker that polled nothing in a whole second hangs.
void Appliance::watch_workers() {
  bool all_moving = true;
  for (unsigned id = 0; id < node_->workers(); ++id) {
    const uint64_t polls = node_->stats(id).polls.value();
    all_moving &= polls != polls_seen_[id];
    polls_seen_[id] = polls;
  }
  healthy_.store(all_moving, std::memory_order_relaxed);
}

// New queries are dropped from now on; those that wait have until their deadline.
void Appliance::drain() {
  node_->set_phase(worker::Phase::kDraining);
  update_readiness();
  // A worker has seen the phase when it has begun a second round since.
  std::vector<uint64_t> polls;
  for (unsigned id = 0; id < node_->workers(); ++id)
    polls.push_back(node_->stats(id).polls.value());
  const auto all_know = [&] {
    for (unsigned id = 0; id < node_->workers(); ++id) {
      if (node_->stats(id).polls.value() < polls[id] + 2) return false;
    }
    return true;
  };
  const uint64_t until = now_us() + config_.upstream.deadline_ms * 1000ull + kDrainSlackUs;
  while (now_us() < until && !(all_know() && settled())) {
    bridge_->step();
    housekeep(now_us());
    usleep(kIdleSleepUs);
  }
}

bool Appliance::settled() const {
  uint64_t queries = 0;
  uint64_t done = 0;
  for (unsigned id = 0; id < node_->workers(); ++id) {
    const stats::WorkerStats& stats = node_->stats(id);
    if (stats.waiting.value() != 0) return false;
    queries += stats.client_queries.value();
    done += stats.query_drops.sum();
    for (const stats::Counter& responses : stats.responses) done += responses.value();
  }
  return queries == done;
}

void Appliance::stop_workers() {
  if (!launched_) return;
  node_->set_phase(worker::Phase::kStopped);
  rte_eal_mp_wait_lcore();
  launched_ = false;
}

// Ports go while the node still stands, for its rings and pool hold their mbufs; EAL goes last.
Appliance::~Appliance() {
  stop_workers();
  exporter_.reset();
  workers_.clear();
  for (port::Port& port : ports_) port.stop_and_close();
  bridge_.reset();
  exception_ports_.clear();
  ports_.clear();
  routes_.reset();
  node_.reset();
  guards_.clear();
  reserved_ports_.reset();
  port::stop_eal();
}

}  // namespace wirecache::app

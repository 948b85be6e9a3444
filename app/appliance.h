// The whole appliance: started in order, run until told to stop, stopped in the reverse order.
//
// Owns everything that the program is made of. Thread: main only; workers run on lcores of their
// own between launch and stop. Signals reach it as a flag (request_stop()).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/data_node.h"
#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/config/exit_code.h"
#include "lib/control/kernel_network.h"
#include "lib/control/netlink.h"
#include "lib/control/reserved_ports.h"
#include "lib/metrics/exporter.h"
#include "lib/metrics/platform_stats.h"
#include "lib/port/start_error.h"
#include "lib/stats/stream_stats.h"
#include "lib/stream/udp_service.h"

namespace wirecache::app {

class Appliance {
 public:
  // Starts everything up to the launched workers. `config` outlives the appliance.
  static Expected<std::unique_ptr<Appliance>, port::StartError> start(
      const config::Config& config, const std::string& program_name);
  ~Appliance();
  Appliance(const Appliance&) = delete;
  Appliance& operator=(const Appliance&) = delete;

  // Housekeeping until request_stop(); then drains and stops the workers.
  config::ExitCode run();
  // Safe in a signal handler.
  static void request_stop() { stop_requested_.store(true, std::memory_order_relaxed); }

 private:
  explicit Appliance(const config::Config& config) : config_(config) {}
  // The steps of start(), in order.
  Started bring_up_netdevs();
  Started make_nodes();
  config::Topology topology() const;
  Started set_up_exception_ports();
  Started add_routes();
  Started reserve_source_ports();
  Started create_workers();
  Started start_stream();
  Started start_ports();
  Started start_metrics();
  metrics::Sources metrics_sources();
  Started launch();

  Expected<void> add_route(const config::RouteConfig& route);
  // What the kernel forgot of exception ports that were set down and up.
  void restore_exception_ports();
  // One step on every node, until one fails.
  Started on_each(Started (DataNode::*step)());
  bool carry_packets();
  void housekeep(uint64_t now_us);
  void sample_platform();
  void update_readiness();
  void set_phase(worker::Phase phase);
  void drain();

  static std::atomic<bool> stop_requested_;

  const config::Config& config_;
  std::unique_ptr<control::Netlink> netlink_;
  std::unique_ptr<control::KernelNetwork> network_;
  stats::ExceptionStats exception_stats_;  // of all nodes' exception ports
  std::vector<std::unique_ptr<DataNode>> nodes_;
  std::unique_ptr<control::ReservedPorts> reserved_ports_;
  stats::StreamStats stream_stats_;
  std::unique_ptr<stream::UdpService> stream_;
  std::unique_ptr<metrics::PlatformStats> platform_;  // null: no exporter
  std::unique_ptr<metrics::Exporter> exporter_;
  bool draining_ = false;

  uint64_t next_link_look_us_ = 0;
  uint64_t next_probe_us_ = 0;
  uint64_t next_watch_us_ = 0;
  std::atomic<bool> ready_{false};   // read by the metrics listener
  std::atomic<bool> healthy_{true};  // read by the metrics listener
};

}  // namespace wirecache::app

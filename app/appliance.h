// The whole appliance: started in order, run until told to stop, stopped in the reverse order.
//
// Owns everything that the program is made of. Thread: main only; workers run on lcores of their
// own between launch and stop. Signals reach it as a flag (request_stop()).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/bridge.h"
#include "app/routes.h"
#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/config/exit_code.h"
#include "lib/control/ingress_guard.h"
#include "lib/control/netlink.h"
#include "lib/control/reserved_ports.h"
#include "lib/metrics/exporter.h"
#include "lib/port/port.h"
#include "lib/port/start_error.h"
#include "lib/worker/node.h"
#include "lib/worker/worker.h"

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
  using Started = Expected<void, port::StartError>;

  explicit Appliance(const config::Config& config) : config_(config) {}
  // The steps of start(), in order.
  Started bring_up_netdevs();
  Started open_ports();
  Started set_up_exception_ports();
  Started reserve_source_ports();
  Started create_node();
  Started create_workers();
  Started start_ports();
  Started start_metrics();
  Started launch();

  void housekeep(uint64_t now_us);
  void update_readiness();
  void watch_workers();
  void drain();
  bool settled() const;
  void stop_workers();

  static std::atomic<bool> stop_requested_;

  const config::Config& config_;
  std::unique_ptr<control::Netlink> netlink_;
  rte_mempool* pool_ = nullptr;
  std::vector<port::Port> ports_;
  std::vector<port::ExceptionPort> exception_ports_;  // until the bridge has them
  std::vector<control::IngressGuard> guards_;
  std::unique_ptr<control::ReservedPorts> reserved_ports_;
  std::vector<unsigned> exception_ifindexes_;
  std::unique_ptr<worker::Node> node_;
  std::vector<std::unique_ptr<worker::Worker>> workers_;
  std::unique_ptr<Routes> routes_;
  std::unique_ptr<Bridge> bridge_;
  stats::ExceptionStats exception_stats_;
  std::unique_ptr<metrics::Exporter> exporter_;
  bool launched_ = false;

  uint64_t next_neighbour_request_us_ = 0;
  uint64_t next_watch_us_ = 0;
  std::vector<uint64_t> polls_seen_;
  std::atomic<bool> ready_{false};   // read by the metrics listener
  std::atomic<bool> healthy_{true};  // read by the metrics listener
};

}  // namespace wirecache::app

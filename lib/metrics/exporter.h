// The HTTP listener for operators: /metrics for Prometheus, /healthz and /readyz for supervisors.
//
// Invariant: the listener only reads; nothing that a client of it sends changes the data plane.
// Thread: start() and destruction on main. Requests are served by one thread of the listener's own,
// which runs on the CPUs of the thread that called start() and takes no signals; it alone calls the
// two checks, so these must be safe to call from there at any time between start() and destruction.
// Owns the listening socket and the thread. Counters and whatever the checks use outlive it.
//
//   GET /metrics   200, text exposition format 0.0.4
//   GET /healthz   200 "ok", or 503 with the reason in a line
//   GET /readyz    200 "ready", or 503 with the reason in a line
// HEAD as GET; other methods 405, other paths 404.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lib/base/expected.h"
#include "lib/metrics/sources.h"

struct MHD_Daemon;

namespace wirecache::metrics {

class Exporter {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // IPv4 or IPv6 in text, without brackets
    uint16_t port = 9353;               // 0: the kernel chooses, see port()
    Sources sources;
    std::function<bool()> healthy;  // the process does its work; empty: always
    std::function<bool()> ready;    // queries may be sent to it; empty: always
  };

  // Listens and serves from when it returns. Error: one line, "metrics: cannot listen on
  // 127.0.0.1:9353: Address already in use".
  static Expected<std::unique_ptr<Exporter>> start(const Options& options);

  // Stops listening, closes all connections and waits for the thread to end.
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  // The port that is listened on.
  uint16_t port() const { return port_; }

 private:
  class Service;

  explicit Exporter(std::unique_ptr<Service> service);

  std::unique_ptr<Service> service_;  // what the thread works with
  MHD_Daemon* daemon_ = nullptr;      // the thread and its sockets
  uint16_t port_ = 0;
};

}  // namespace wirecache::metrics

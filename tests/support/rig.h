// A node with its workers in one process and thread: real ethdevs (rings at both ends), real pool
// and partitions, simulated time and neighbours. Packets in, packets out; used by tests, fuzzing
// and benchmarks.
//
// Addresses: the appliance is 10.0.0.1 and fd00::1, the upstreams are 10.0.0.2 and 10.0.0.3,
// clients are whatever a test says.
#pragma once

#include <rte_mempool.h>
#include <rte_ring.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/net/frame.h"
#include "lib/worker/node.h"
#include "lib/worker/worker.h"
#include "tests/support/dns_builder.h"

namespace wirecache::testing {

struct RigOptions {
  unsigned workers = 1;
  std::vector<uint16_t> queues = {};  // by port; default: one port with a queue a worker
  uint16_t more_transmit_queues = 0;  // than receive queues, on each port
  worker::PortRef::Spread spread = worker::PortRef::Spread::kByDevice;
  unsigned mbufs = 4095;
  config::Config config = default_config();

  static config::Config default_config();
};

struct Client {
  IpAddress address = *IpAddress::parse("10.0.0.9");
  IpAddress server = *IpAddress::parse("10.0.0.1");
  uint16_t port = 40000;
  MacAddress mac{{0x02, 0, 0, 0, 0, 9}};
  int vlan = -1;
  unsigned on_port = 0;
  unsigned on_queue = 0;
};

// One frame that the appliance sent, taken apart.
struct Sent {
  Wire frame;
  net::Frame headers;
  Wire message;
};

class Rig {
 public:
  explicit Rig(const RigOptions& options = {});
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  worker::Node& node() { return *node_; }
  rte_mempool* pool() { return pool_; }
  unsigned mbufs_in_use() const { return rte_mempool_in_use_count(pool_); }
  MacAddress port_mac(unsigned port = 0) const { return node_->ports()[port].mac; }

  // Puts a frame on a queue as the wire would.
  void inject_frame(const Wire& frame, unsigned port = 0, unsigned queue = 0);
  void ask(const Wire& message, const Client& client = {});
  // The frame of a query from `client`.
  Wire client_frame(const Wire& message, const Client& client = {}) const;

  // A query that came by the kernel's sockets, as the stream service hands it to a worker; and the
  // replies that wait for the service.
  void ask_by_stream(const Wire& message, const Client& client = {}, unsigned worker = 0);
  std::vector<Sent> stream_replies();
  // What was punted since the last call, urgent frames first.
  std::vector<Wire> punted();

  // Every worker polls once (or `rounds` times) at the simulated time.
  void poll(unsigned rounds = 1);
  void poll_worker(unsigned id) { workers_[id]->poll(now_); }
  void advance_ms(uint64_t ms) { now_.ticks += ms * kTicksPerMs; }
  TscTime now() const { return now_; }

  // Everything sent since the last call, over all ports and queues; frames that are no UDP are kept
  // in frame only.
  std::vector<Sent> sent();
  // The same, split: queries to upstreams and replies to clients.
  struct Traffic {
    std::vector<Sent> upstream;
    std::vector<Sent> replies;
  };
  Traffic traffic();
  // Sends an answer to an upstream query as its server would, on the given queue.
  void answer(const Sent& query, const Wire& message, unsigned queue = 0);
  Wire answer_frame(const Sent& query, const Wire& message) const;

  // Without allocating: frees what was sent; or, before that, answers every second upstream query
  // in its own mbuf with the question alone (NODATA without SOA) and frees the rest.
  void discard_sent();
  void answer_all_in_place();

  // Servers' neighbours appear or vanish.
  void set_servers_usable(bool usable);

  uint64_t sum(const stats::Counter stats::WorkerStats::*counter) const;
  uint64_t sum(uint64_t (stats::WorkerStats::*sum_of_worker)() const) const;
  uint64_t outcome(stats::Outcome outcome) const;
  uint64_t drops(stats::Drop drop) const;
  uint64_t upstream(stats::Upstream event) const;
  uint64_t responses() const;
  // The accounting equations of worker_stats.h; "" where they hold.
  std::string accounting() const;

  static constexpr uint64_t kTicksPerMs = 2'100'000;  // a 2.1 GHz clock

 private:
  bool turn_into_answer(rte_mbuf* mbuf);
  void add_port(uint16_t receive_queues);
  static Sent take_apart(rte_mbuf* mbuf);
  void publish();

  RigOptions options_;
  std::string name_;
  rte_mempool* pool_ = nullptr;
  std::vector<std::vector<rte_ring*>> rx_;  // [port][queue]
  std::vector<std::vector<rte_ring*>> tx_;
  std::vector<worker::PortRef> ports_;
  std::unique_ptr<worker::Node> node_;
  std::vector<std::unique_ptr<worker::Worker>> workers_;
  bool servers_usable_ = true;
  TscTime now_{1'000'000 * kTicksPerMs};
};

}  // namespace wirecache::testing

// The burst loop: one worker on one lcore, run to completion.
//
//     NIC queue ─▶ classify ─▶ parse ─▶ look up ─┬─ hit ──▶ answer in the same mbuf ─▶ transmit
//                     │                 ▲        └─ miss ─▶ the key's owner (MissHandler)
//                     │                 └─ queries handed over by workers, and by main from sockets
//                     ├─ upstream answer, ICMP error ─▶ the owner of its source port (MissHandler)
//                     └─ anything else ─▶ main ─▶ exception port
//
// Where a device fills fewer queues than there are workers, whoever receives a query hands it to
// the owner of its key, which looks it up.
//
// A worker never blocks, allocates, locks, logs or makes a system call (but to give up an idle CPU,
// where the configuration says so), and reads the clock once a round. Thread: all calls but
// create() on its own lcore (or, in tests, on one thread for all workers).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "lib/base/clock.h"
#include "lib/base/expected.h"
#include "lib/base/random.h"
#include "lib/config/config.h"
#include "lib/worker/classify.h"
#include "lib/worker/miss_handler.h"
#include "lib/worker/node.h"
#include "lib/worker/packet.h"
#include "lib/worker/transmitter.h"

namespace wirecache::worker {

struct WorkerOptions {
  unsigned id = 0;
  config::UpstreamConfig upstream;
  Random random;
};

class Worker {
 public:
  // By main, before any worker runs. The node outlives the worker.
  static Expected<std::unique_ptr<Worker>> create(Node& node, const WorkerOptions& options);

  // Becomes a reader of the node's partitions / ceases to be one.
  void go_online();
  void go_offline();
  // One round at time `now`: receive, work, transmit. Whether there was anything to do.
  bool poll(TscTime now);
  // Polls until Phase::kStopped.
  void run(config::IdlePolicy idle);

 private:
  struct Burst {
    uint16_t count = 0;
    std::array<Packet*, kBurstPackets> packets;
    void add(Packet& packet) { packets[count++] = &packet; }
  };

  Worker(Node& node, unsigned id, std::unique_ptr<upstream::Resolver> resolver);

  void begin_round(TscTime now);
  bool receive(QueueRef queue);
  bool receive_handovers();
  void take_handovers(rte_mbuf** mbufs, unsigned count);
  void take_handover(Packet& packet);
  void make_key(Packet& packet);

  void begin_burst();
  void classify_burst(rte_mbuf** mbufs, uint16_t count, uint8_t port_index);
  void parse_burst();
  void hand_to_owners();
  void look_up_burst();
  void answer_burst();

  bool admit(Packet& packet);
  bool drop_if_silent(Packet& packet, dns::QueryStatus status);
  void answer_unlooked(Packet& packet, dns::QueryStatus status);
  void answer_malformed(Packet& packet, stats::Malformed kind, dns::Rcode rcode);
  void refuse_kind(Packet& packet, stats::Malformed kind);
  void refuse(Packet& packet);
  void reply_empty(Packet& packet, dns::Rcode rcode);
  void answer_hit(Packet& packet);
  void hand_miss(Packet& packet);
  void hand_answer(Packet& packet, HandoverKind kind);
  bool hand(Packet& packet, HandoverKind kind, unsigned to);
  void punt(Packet& packet);
  void punt_urgent(Packet& packet);
  void drop(Packet& packet, stats::Drop reason);

  Node& node_;
  unsigned id_;
  stats::WorkerStats& stats_;
  Transmitter transmitter_;
  MissHandler misses_;

  const Snapshot* snapshot_ = nullptr;
  TscTime now_;
  uint32_t now_sec_ = 0;
  uint32_t rotation_ = 0;  // of addresses, where that is set
  uint64_t hits_in_round_ = 0;
  bool draining_ = false;
  std::array<Packet, kBurstPackets> packets_;
  Burst queries_;
  Burst lookups_;
};

}  // namespace wirecache::worker

// What the workers of one NUMA node share.
//
// Created and destroyed by main, outlives the workers. Workers read partitions of each other under
// the RCU variable, pass mbufs through the rings, and read snapshot and phase; nothing else is
// shared. Nodes share nothing with each other.
#pragma once

#include <rte_mempool.h>
#include <rte_rcu_qsbr.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/expected.h"
#include "lib/base/hash.h"
#include "lib/base/ip_address.h"
#include "lib/cache/partition.h"
#include "lib/config/config.h"
#include "lib/net/frame.h"
#include "lib/stats/worker_stats.h"
#include "lib/worker/handover.h"
#include "lib/worker/packet.h"
#include "lib/worker/queue_plan.h"
#include "lib/worker/snapshot.h"

namespace wirecache::worker {

// What workers and main must know of a port to send and receive on it.
struct PortRef {
  static constexpr int kNoQueue = -1;

  uint16_t ethdev_id = 0;
  QueueCounts queues;
  MacAddress mac;
  int main_queue = kNoQueue;  // the transmit queue that is main's own
  uint16_t burst = kBurstPackets;
  net::UdpChecksum udp_checksum = net::UdpChecksum::kSoftware;
  // kToOwner: who receives a query hands it to the owner of its key, for the device does not spread
  // packets over the workers.
  enum class Spread : uint8_t { kByDevice, kToOwner } spread = Spread::kByDevice;
};

enum class Phase : uint8_t {
  kRunning,
  kDraining,  // no new client queries; those that wait are answered or failed
  kStopped,   // workers leave their loop
};

struct NodeOptions {
  std::string name = "node0";  // unique in the process, at most 8 bytes
  int numa_node = 0;           // of all its memory
  unsigned workers = 1;
  TscClock clock{1};
  HashSecret secret;
  rte_mempool* pool = nullptr;  // mbufs with a private area of at least kHandoverBytes
  std::vector<PortRef> ports;
  config::CacheConfig cache;
  cache::HugePages cache_pages = cache::HugePages::kTransparent;
};

class Node {
 public:
  static Expected<std::unique_ptr<Node>> create(NodeOptions options);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  unsigned workers() const { return options_.workers; }
  unsigned main_lcore() const { return options_.workers; }  // main's place among the rings
  // In place of a port's index: the stream service, which takes queries and answers through the
  // kernel's sockets. Its queries come and its answers go by main's rings.
  uint8_t stream_port() const { return static_cast<uint8_t>(options_.ports.size()); }
  int numa_node() const { return options_.numa_node; }
  const std::string& name() const { return options_.name; }
  const TscClock& clock() const { return options_.clock; }
  const HashSecret& secret() const { return options_.secret; }
  rte_mempool* pool() const { return options_.pool; }
  const config::CacheConfig& cache_config() const { return options_.cache; }
  const std::vector<PortRef>& ports() const { return options_.ports; }
  // A port, or the stream service in place of one: no MAC, checksums made here.
  const PortRef& port(uint8_t index) const {
    return index < options_.ports.size() ? options_.ports[index] : stream_;
  }
  const QueuePlan& plan() const { return plan_; }
  rte_rcu_qsbr* rcu() const { return rcu_; }
  HandoverRings& rings() { return *rings_; }
  cache::Partition& partition(unsigned worker) { return *partitions_[worker]; }
  stats::WorkerStats& stats(unsigned worker) { return stats_[worker]; }

  const Snapshot* snapshot() const { return snapshot_.load(std::memory_order_acquire); }
  // Main: publishes a new snapshot; the one before stays until no worker can see it any more.
  void publish(std::unique_ptr<const Snapshot> snapshot);
  // Main, now and then: frees replaced snapshots that no worker can see. Never waits.
  void reclaim_snapshots();

  // Main, at each of its turns: memory for the partitions as they grow.
  void provision_cache();

  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  void set_phase(Phase phase) { phase_.store(phase, std::memory_order_release); }

 private:
  explicit Node(NodeOptions options);
  Expected<void> create_parts();
  Expected<void> create_partitions();

  NodeOptions options_;
  const PortRef stream_;
  QueuePlan plan_;
  rte_rcu_qsbr* rcu_ = nullptr;
  std::unique_ptr<stats::WorkerStats[]> stats_;
  std::unique_ptr<HandoverRings> rings_;
  std::unique_ptr<cache::SlabMemory> cache_memory_;
  std::vector<std::unique_ptr<cache::Partition>> partitions_;
  struct Retired {
    uint64_t token;
    std::unique_ptr<const Snapshot> snapshot;
  };
  std::unique_ptr<const Snapshot> current_;
  std::vector<Retired> retired_;
  std::atomic<const Snapshot*> snapshot_{nullptr};
  std::atomic<Phase> phase_{Phase::kRunning};
};

}  // namespace wirecache::worker

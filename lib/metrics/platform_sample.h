// What drivers, pools, rings and routes said when they were last asked: see platform_stats.h.
//
// Invariant: sizes are fixed when the sample is made, only counters change. Thread: written by main
// alone, read by any (see stats/counter.h).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "lib/stats/counter.h"
#include "lib/stats/worker_stats.h"

namespace wirecache::metrics {

// Counters of a driver's receive and transmit queue of the same number.
struct DriverQueueSample {
  stats::Counter received_packets;
  stats::Counter sent_packets;
  stats::Counter errors;  // received packets of the queue that were dropped
};

struct DriverSample {
  // Drivers report so many queues apart; those above are in the port's sums alone.
  static constexpr size_t kMaxQueues = 16;

  stats::Counter received_packets;
  stats::Counter received_bytes;
  stats::Counter sent_packets;
  stats::Counter sent_bytes;
  stats::Counter missed_packets;  // no descriptor free: the worker was too slow
  stats::Counter receive_errors;
  stats::Counter send_errors;
  stats::Counter no_mbuf;  // the pool was empty
  size_t queue_count = 0;  // in use and reported
  std::array<DriverQueueSample, kMaxQueues> queues;
};

// All rings to one receiver, together.
struct RingSample {
  stats::Counter entries;
  stats::Counter capacity;
};

struct NodeSample {
  stats::Counter mbufs;  // of the pool
  stats::Counter mbufs_in_use;
  std::vector<DriverSample> ports;
  std::vector<RingSample> rings;  // by receiver: the workers, then main
  // By server: 0 where it can't be reached now, else 1 + the node's index of the port to it.
  std::array<stats::Counter, stats::kMaxServers> routes;
};

}  // namespace wirecache::metrics

// Which worker polls which queue of which port, and through whom it sends: a pure function.
//
// Receive queue q of port p belongs to worker (p + q) modulo the number of workers, and so do the
// transmit queues, so that ports with one queue (AF_XDP on veth) spread over the workers as well. A
// worker without a transmit queue on a port sends through one that has. The stream service stands
// behind the last port: everybody sends to it through main. Main builds the plan; read-only
// afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wirecache::worker {

struct QueueRef {
  uint8_t port_index = 0;
  uint16_t queue = 0;
};

// Queues of one port that workers may use, 1 to workers each.
struct QueueCounts {
  uint16_t receive = 1;
  uint16_t transmit = 1;
};

struct QueuePlan {
  static constexpr int kNoQueue = -1;

  // By worker: the queues that it polls.
  std::vector<std::vector<QueueRef>> polled;
  // [worker][port]: its own transmit queue, or kNoQueue.
  std::vector<std::vector<int>> transmit;
  // [worker][port]: the lcore among the rings that sends for it where transmit says kNoQueue.
  std::vector<std::vector<unsigned>> relay;
};

QueuePlan plan_queues(std::span<const QueueCounts> ports, unsigned workers);

}  // namespace wirecache::worker

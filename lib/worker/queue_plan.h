// Which worker polls which queue of which port, and through whom it sends: a pure function.
//
// Queue q of port p belongs to worker (p + q) modulo the number of workers, so that ports with one
// queue (AF_XDP on veth) spread over the workers as well. A worker without a queue on a port sends
// through one that has. Main builds the plan; read-only afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wirecache::worker {

struct QueueRef {
  uint8_t port_index = 0;
  uint16_t queue = 0;
};

struct QueuePlan {
  static constexpr int kNoQueue = -1;

  // By worker: the queues that it polls.
  std::vector<std::vector<QueueRef>> polled;
  // [worker][port]: its own transmit queue, or kNoQueue.
  std::vector<std::vector<int>> transmit;
  // [worker][port]: the worker that sends for it where transmit says kNoQueue.
  std::vector<std::vector<unsigned>> relay;
};

// `queues[p]` is the number of queues of port p, 1 to workers.
QueuePlan plan_queues(std::span<const uint16_t> queues, unsigned workers);

}  // namespace wirecache::worker

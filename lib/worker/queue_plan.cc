#include "lib/worker/queue_plan.h"

#include <algorithm>

namespace wirecache::worker {

QueuePlan plan_queues(std::span<const QueueCounts> ports, unsigned workers) {
  const size_t stream_port = ports.size();
  QueuePlan plan;
  plan.polled.resize(workers);
  plan.transmit.assign(workers, std::vector<int>(ports.size() + 1, QueuePlan::kNoQueue));
  plan.relay.assign(workers, std::vector<unsigned>(ports.size() + 1, 0));
  for (size_t port = 0; port < ports.size(); ++port) {
    const auto owner = [&](unsigned queue) {
      return static_cast<unsigned>((port + queue) % workers);
    };
    const unsigned receive = std::min<unsigned>(ports[port].receive, workers);
    for (unsigned queue = 0; queue < receive; ++queue)
      plan.polled[owner(queue)].push_back(
          {static_cast<uint8_t>(port), static_cast<uint16_t>(queue)});
    const unsigned transmit = std::min<unsigned>(ports[port].transmit, workers);
    for (unsigned queue = 0; queue < transmit; ++queue)
      plan.transmit[owner(queue)][port] = static_cast<int>(queue);
    for (unsigned worker = 0; worker < workers; ++worker)
      plan.relay[worker][port] = owner(worker % transmit);
  }
  const unsigned main = workers;
  for (unsigned worker = 0; worker < workers; ++worker) plan.relay[worker][stream_port] = main;
  return plan;
}

}  // namespace wirecache::worker

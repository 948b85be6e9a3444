#include "lib/worker/queue_plan.h"

namespace wirecache::worker {

QueuePlan plan_queues(std::span<const uint16_t> queues, unsigned workers) {
  QueuePlan plan;
  plan.polled.resize(workers);
  plan.transmit.assign(workers, std::vector<int>(queues.size(), QueuePlan::kNoQueue));
  plan.relay.assign(workers, std::vector<unsigned>(queues.size(), 0));
  for (size_t port = 0; port < queues.size(); ++port) {
    const unsigned count = queues[port] < workers ? queues[port] : workers;
    for (unsigned queue = 0; queue < count; ++queue) {
      const auto owner = static_cast<unsigned>((port + queue) % workers);
      plan.polled[owner].push_back({static_cast<uint8_t>(port), static_cast<uint16_t>(queue)});
      plan.transmit[owner][port] = static_cast<int>(queue);
    }
    for (unsigned worker = 0; worker < workers; ++worker)
      plan.relay[worker][port] = static_cast<unsigned>((port + worker % count) % workers);
  }
  return plan;
}

}  // namespace wirecache::worker

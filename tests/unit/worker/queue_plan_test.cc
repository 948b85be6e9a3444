#include "lib/worker/queue_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace wirecache::worker {
namespace {

TEST(QueuePlan, OneQueueAWorker) {
  const std::vector<uint16_t> queues = {4};
  const QueuePlan plan = plan_queues(queues, 4);
  for (unsigned worker = 0; worker < 4; ++worker) {
    ASSERT_EQ(plan.polled[worker].size(), 1u);
    EXPECT_EQ(plan.polled[worker][0].queue, worker);
    EXPECT_EQ(plan.transmit[worker][0], static_cast<int>(worker));
  }
}

TEST(QueuePlan, PortsWithOneQueueSpreadOverTheWorkers) {
  const std::vector<uint16_t> queues = {1, 1, 1};
  const QueuePlan plan = plan_queues(queues, 2);
  EXPECT_EQ(plan.polled[0].size(), 2u);
  EXPECT_EQ(plan.polled[1].size(), 1u);
  EXPECT_EQ(plan.transmit[0][1], QueuePlan::kNoQueue);
  EXPECT_EQ(plan.relay[0][1], 1u);
}

// Whatever the counts: each queue is polled by exactly one worker, and whoever has none sends
// through one that has.
TEST(QueuePlan, EveryQueueHasOneOwnerAndEveryWorkerAWayOut) {
  for (unsigned workers = 1; workers <= 8; ++workers) {
    for (uint16_t first = 1; first <= workers; ++first) {
      for (uint16_t second = 1; second <= workers; ++second) {
        const std::vector<uint16_t> queues = {first, second};
        const QueuePlan plan = plan_queues(queues, workers);
        std::multiset<std::pair<unsigned, unsigned>> polled;
        for (const auto& refs : plan.polled) {
          for (const QueueRef& ref : refs) polled.insert({ref.port_index, ref.queue});
        }
        EXPECT_EQ(polled.size(), static_cast<size_t>(first + second));
        EXPECT_EQ(std::set(polled.begin(), polled.end()).size(), polled.size());
        for (unsigned worker = 0; worker < workers; ++worker) {
          for (size_t port = 0; port < 2; ++port)
            EXPECT_NE(plan.transmit[plan.relay[worker][port]][port], QueuePlan::kNoQueue);
        }
      }
    }
  }
}

}  // namespace
}  // namespace wirecache::worker

#include "lib/worker/queue_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace wirecache::worker {
namespace {

TEST(QueuePlan, OneQueueAWorker) {
  const std::vector<QueueCounts> ports = {{4, 4}};
  const QueuePlan plan = plan_queues(ports, 4);
  for (unsigned worker = 0; worker < 4; ++worker) {
    ASSERT_EQ(plan.polled[worker].size(), 1u);
    EXPECT_EQ(plan.polled[worker][0].queue, worker);
    EXPECT_EQ(plan.transmit[worker][0], static_cast<int>(worker));
  }
}

TEST(QueuePlan, PortsWithOneQueueSpreadOverTheWorkers) {
  const std::vector<QueueCounts> ports = {{1, 1}, {1, 1}, {1, 1}};
  const QueuePlan plan = plan_queues(ports, 2);
  EXPECT_EQ(plan.polled[0].size(), 2u);
  EXPECT_EQ(plan.polled[1].size(), 1u);
  EXPECT_EQ(plan.transmit[0][1], QueuePlan::kNoQueue);
  EXPECT_EQ(plan.relay[0][1], 1u);
}

// A device that fills one receive queue still lets each worker transmit.
TEST(QueuePlan, OneReceiveQueueAndATransmitQueueAWorker) {
  const std::vector<QueueCounts> ports = {{1, 3}};
  const QueuePlan plan = plan_queues(ports, 3);
  EXPECT_EQ(plan.polled[0].size(), 1u);
  EXPECT_TRUE(plan.polled[1].empty());
  EXPECT_TRUE(plan.polled[2].empty());
  for (unsigned worker = 0; worker < 3; ++worker)
    EXPECT_EQ(plan.transmit[worker][0], static_cast<int>(worker));
}

TEST(QueuePlan, TheStreamServiceIsReachedThroughMain) {
  const std::vector<QueueCounts> ports = {{2, 2}, {1, 1}};
  const QueuePlan plan = plan_queues(ports, 2);
  for (unsigned worker = 0; worker < 2; ++worker) {
    EXPECT_EQ(plan.transmit[worker][2], QueuePlan::kNoQueue);
    EXPECT_EQ(plan.relay[worker][2], 2u);
  }
}

// Whatever the counts: each queue has exactly one user, and whoever has no transmit queue sends
// through one that has.
TEST(QueuePlan, EveryQueueHasOneOwnerAndEveryWorkerAWayOut) {
  for (unsigned workers = 1; workers <= 6; ++workers) {
    for (uint16_t receive = 1; receive <= workers; ++receive) {
      for (uint16_t transmit = 1; transmit <= workers; ++transmit) {
        const std::vector<QueueCounts> ports = {{receive, transmit}, {transmit, receive}};
        const QueuePlan plan = plan_queues(ports, workers);
        std::multiset<std::pair<unsigned, unsigned>> polled;
        std::multiset<std::pair<size_t, int>> sent;
        for (unsigned worker = 0; worker < workers; ++worker) {
          for (const QueueRef& ref : plan.polled[worker])
            polled.insert({ref.port_index, ref.queue});
          for (size_t port = 0; port < 2; ++port) {
            const int own = plan.transmit[worker][port];
            if (own != QueuePlan::kNoQueue) sent.insert({port, own});
            EXPECT_NE(plan.transmit[plan.relay[worker][port]][port], QueuePlan::kNoQueue);
          }
        }
        const auto all = static_cast<size_t>(receive + transmit);
        EXPECT_EQ(polled.size(), all);
        EXPECT_EQ(std::set(polled.begin(), polled.end()).size(), all);
        EXPECT_EQ(sent.size(), all);
        EXPECT_EQ(std::set(sent.begin(), sent.end()).size(), all);
      }
    }
  }
}

}  // namespace
}  // namespace wirecache::worker

// Several workers on one node: one copy of an answer, fetched once, whoever is asked.
#include <gtest/gtest.h>

#include "tests/support/rig.h"

namespace wirecache::worker {
namespace {

using testing::a_record;
using testing::Client;
using testing::Rig;
using testing::RigOptions;
using testing::Sent;

class ManyWorkers : public ::testing::TestWithParam<RigOptions> {
 protected:
  // A client behind each (port, queue).
  static std::vector<Client> clients(const RigOptions& options) {
    std::vector<uint16_t> queues = options.queues;
    if (queues.empty()) queues = {static_cast<uint16_t>(options.workers)};
    std::vector<Client> all;
    for (unsigned port = 0; port < queues.size(); ++port) {
      for (unsigned queue = 0; queue < queues[port]; ++queue) {
        Client client;
        client.port = static_cast<uint16_t>(20000 + 100 * port + queue);
        client.on_port = port;
        client.on_queue = queue;
        all.push_back(client);
      }
    }
    return all;
  }
};

TEST_P(ManyWorkers, OneNameThroughEveryQueueIsFetchedOnceAndStoredOnce) {
  Rig rig(GetParam());
  const auto everyone = clients(GetParam());
  for (int name = 0; name < 50; ++name) {
    const std::string text = "n" + std::to_string(name) + ".example.com";
    for (const Client& client : everyone) rig.ask(testing::make_query({.name = text}), client);
    rig.poll(4);
    auto traffic = rig.traffic();
    ASSERT_EQ(traffic.upstream.size(), 1u) << text;
    EXPECT_TRUE(traffic.replies.empty());
    // The answer arrives on any queue of the upstream's port.
    const auto queues = GetParam().queues.empty() ? GetParam().workers : GetParam().queues[0];
    rig.answer(traffic.upstream[0],
               testing::make_answer(traffic.upstream[0].message, {.answer = {a_record(text, 300)}}),
               static_cast<unsigned>(name) % queues);
    rig.poll(4);
    EXPECT_EQ(rig.traffic().replies.size(), everyone.size());
    for (const Client& client : everyone) rig.ask(testing::make_query({.name = text}), client);
    rig.poll(4);
    traffic = rig.traffic();
    EXPECT_TRUE(traffic.upstream.empty());
    EXPECT_EQ(traffic.replies.size(), everyone.size());
  }
  EXPECT_EQ(rig.sum(&stats::WorkerStats::cache_entries), 50u);
  EXPECT_EQ(rig.outcome(stats::Outcome::kHit), 50 * everyone.size());
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

RigOptions setup(unsigned workers, std::vector<uint16_t> queues) {
  RigOptions options;
  options.workers = workers;
  options.queues = std::move(queues);
  return options;
}

// A device that fills one queue.
RigOptions spread_setup(unsigned workers, uint16_t more_transmit_queues) {
  RigOptions options = setup(workers, {1});
  options.more_transmit_queues = more_transmit_queues;
  options.spread = PortRef::Spread::kToOwner;
  return options;
}

INSTANTIATE_TEST_SUITE_P(Setups, ManyWorkers,
                         ::testing::Values(setup(1, {}), setup(2, {}), setup(4, {}), setup(4, {1}),
                                           setup(4, {1, 1, 1, 1}), setup(3, {2, 1}),
                                           spread_setup(4, 0), spread_setup(4, 3)),
                         [](const auto& info) {
                           std::string name = std::to_string(info.param.workers) + "Workers";
                           for (const uint16_t queues : info.param.queues)
                             name += "Port" + std::to_string(queues);
                           if (info.param.spread == PortRef::Spread::kToOwner)
                             name += "Spread" + std::to_string(info.param.more_transmit_queues);
                           return name;
                         });

// With one filled queue every worker looks up and answers its own keys, by a transmit queue of its
// own.
TEST(ManyWorkersSpread, HitsAreAnsweredByTheOwners) {
  Rig rig(spread_setup(4, 3));
  for (int name = 0; name < 200; ++name) {
    const std::string text = "h" + std::to_string(name) + ".example";
    rig.ask(testing::make_query({.name = text}));
    rig.poll(3);
    auto upstream = rig.traffic().upstream;
    ASSERT_EQ(upstream.size(), 1u);
    rig.answer(upstream[0],
               testing::make_answer(upstream[0].message, {.answer = {a_record(text, 300)}}));
    rig.poll(3);
    rig.ask(testing::make_query({.name = text}));
    rig.poll(3);
    EXPECT_EQ(rig.traffic().replies.size(), 2u);
  }
  for (unsigned id = 0; id < 4; ++id) {
    const stats::WorkerStats& stats = rig.node().stats(id);
    EXPECT_EQ(stats.outcomes[stats::Outcome::kHit].value(), stats.cache_entries.value());
    EXPECT_GT(stats.cache_entries.value(), 20u);
    EXPECT_EQ(stats.received() != 0, id == 0);
  }
  EXPECT_EQ(rig.outcome(stats::Outcome::kHit), 200u);
  EXPECT_EQ(rig.accounting(), "");
}

// A ring that is full is no loss: the receiver answers, for it may read every partition.
TEST(ManyWorkersSpread, WhatFindsItsRingFullIsAnsweredByTheReceiver) {
  Rig rig(spread_setup(2, 1));
  std::string name = "a";  // until the other worker owns it
  while (rig.node().stats(1).cache_entries.value() == 0) {
    name += "a";
    rig.ask(testing::make_query({.name = name}));
    rig.poll(2);
    auto upstream = rig.traffic().upstream;
    ASSERT_EQ(upstream.size(), 1u);
    rig.answer(upstream[0],
               testing::make_answer(upstream[0].message, {.answer = {a_record(name, 300)}}));
    rig.poll(2);
    rig.sent();
  }
  const uint64_t handed_before = rig.sum(&stats::WorkerStats::handed_to_owner);
  const unsigned slots = HandoverRings::slots(3);
  for (unsigned i = 0; i < slots + 40; ++i) {
    rig.ask(testing::make_query({.name = name}));
    rig.poll_worker(0);
  }
  EXPECT_EQ(rig.sum(&stats::WorkerStats::handed_to_owner) - handed_before, slots);
  EXPECT_EQ(rig.node().stats(0).outcomes[stats::Outcome::kHit].value(), 40u);
  rig.discard_sent();
  for (unsigned i = 0; i < slots; i += 256) {
    rig.poll();
    rig.discard_sent();
  }
  EXPECT_EQ(rig.outcome(stats::Outcome::kHit), slots + 40);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

TEST(ManyWorkersPartitions, KeysSpreadOverThePartitions) {
  Rig rig(setup(4, {}));
  for (int name = 0; name < 200; ++name) {
    rig.ask(testing::make_query({.name = "s" + std::to_string(name) + ".example"}));
    rig.poll(3);
    auto upstream = rig.traffic().upstream;
    ASSERT_EQ(upstream.size(), 1u);
    rig.answer(
        upstream[0],
        testing::make_answer(upstream[0].message,
                             {.answer = {a_record("s" + std::to_string(name) + ".example", 300)}}));
    rig.poll(3);
    rig.sent();
  }
  for (unsigned id = 0; id < 4; ++id) EXPECT_GT(rig.node().stats(id).cache_entries.value(), 20u);
}

}  // namespace
}  // namespace wirecache::worker

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

INSTANTIATE_TEST_SUITE_P(Setups, ManyWorkers,
                         ::testing::Values(setup(1, {}), setup(2, {}), setup(4, {}), setup(4, {1}),
                                           setup(4, {1, 1, 1, 1}), setup(3, {2, 1})),
                         [](const auto& info) {
                           std::string name = std::to_string(info.param.workers) + "Workers";
                           for (const uint16_t queues : info.param.queues)
                             name += "Port" + std::to_string(queues);
                           return name;
                         });

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

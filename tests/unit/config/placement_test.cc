// Machines made up: sockets, CPUs and cards in all the ways that racks have them.
#include "lib/config/placement.h"

#include <gtest/gtest.h>

namespace wirecache::config {
namespace {

using Places = std::vector<unsigned>;

Config machine_with(size_t workers, size_t ports) {
  Config config;
  for (unsigned cpu = 0; cpu < workers; ++cpu) config.cores.workers.push_back(cpu + 1);
  for (size_t port = 0; port < ports; ++port) {
    config.ports.emplace_back();
    config.ports.back().name = "p" + std::to_string(port);
  }
  config.cache.memory_mb = 1000;
  return config;
}

TEST(Placement, OneNodeIsOneGroup) {
  const auto placement = plan_placement(machine_with(3, 2), {{0, 0, 0}, {0, 0}});
  ASSERT_EQ(placement.groups.size(), 1u);
  EXPECT_EQ(placement.groups[0].numa_node, 0);
  EXPECT_EQ(placement.groups[0].workers, (Places{0, 1, 2}));
  EXPECT_EQ(placement.groups[0].ports, (Places{0, 1}));
  EXPECT_TRUE(placement.warnings.empty());
}

TEST(Placement, EachNodeHasItsOwnWorkersAndPorts) {
  const auto placement = plan_placement(machine_with(4, 2), {{1, 0, 1, 0}, {1, 0}});
  ASSERT_EQ(placement.groups.size(), 2u);
  EXPECT_EQ(placement.groups[0].numa_node, 0);
  EXPECT_EQ(placement.groups[0].workers, (Places{1, 3}));
  EXPECT_EQ(placement.groups[0].ports, (Places{1}));
  EXPECT_EQ(placement.groups[1].numa_node, 1);
  EXPECT_EQ(placement.groups[1].workers, (Places{0, 2}));
  EXPECT_EQ(placement.groups[1].ports, (Places{0}));
  EXPECT_TRUE(placement.warnings.empty());
}

TEST(Placement, OneNodeThatIsNotTheFirst) {
  const auto placement = plan_placement(machine_with(2, 1), {{1, 1}, {1}});
  ASSERT_EQ(placement.groups.size(), 1u);
  EXPECT_EQ(placement.groups[0].numa_node, 1);
  EXPECT_TRUE(placement.warnings.empty());
}

TEST(Placement, APortWithoutWorkersOnItsNodeCrossesAndIsNamed) {
  const auto placement = plan_placement(machine_with(2, 2), {{0, 0}, {0, 1}});
  ASSERT_EQ(placement.groups.size(), 1u);
  EXPECT_EQ(placement.groups[0].ports, (Places{0, 1}));
  ASSERT_EQ(placement.warnings.size(), 1u);
  EXPECT_EQ(placement.warnings[0],
            "port p1 is on NUMA node 1, where no worker is: its packets cross to node 0");
}

TEST(Placement, AWorkerWithoutPortOnItsNodeCrossesAndIsNamed) {
  const auto placement = plan_placement(machine_with(3, 1), {{0, 1, 0}, {0}});
  ASSERT_EQ(placement.groups.size(), 1u);
  EXPECT_EQ(placement.groups[0].workers, (Places{0, 1, 2}));
  ASSERT_EQ(placement.warnings.size(), 1u);
  EXPECT_EQ(placement.warnings[0],
            "worker 1 (CPU 2) is on NUMA node 1, which has no port: it works across nodes for "
            "node 0");
}

TEST(Placement, NothingIsWhereItShouldBe) {
  // The only card on node 2, workers on 0 and 1.
  const auto placement = plan_placement(machine_with(2, 1), {{0, 1}, {2}});
  ASSERT_EQ(placement.groups.size(), 1u);
  EXPECT_EQ(placement.groups[0].numa_node, 0);
  EXPECT_EQ(placement.groups[0].workers, (Places{0, 1}));
  EXPECT_EQ(placement.groups[0].ports, (Places{0}));
  EXPECT_EQ(placement.warnings.size(), 2u);
}

TEST(Placement, VirtualPortsGoWhereWorkersHaveNone) {
  const auto placement =
      plan_placement(machine_with(2, 3), {{0, 1}, {kUnknownNode, kUnknownNode, kUnknownNode}});
  ASSERT_EQ(placement.groups.size(), 2u);
  EXPECT_EQ(placement.groups[0].ports, (Places{0, 2}));
  EXPECT_EQ(placement.groups[1].ports, (Places{1}));
  EXPECT_TRUE(placement.warnings.empty());
}

TEST(Placement, TheConfigurationGoesBeforeTheTopology) {
  Config config = machine_with(2, 2);
  config.ports[1].numa_node = 1;
  const auto placement = plan_placement(config, {{0, 1}, {0, kUnknownNode}});
  ASSERT_EQ(placement.groups.size(), 2u);
  EXPECT_EQ(placement.groups[1].ports, (Places{1}));
}

TEST(Placement, UnknownCpusAreOnNodeZero) {
  const auto placement = plan_placement(machine_with(2, 1), {{kUnknownNode, kUnknownNode}, {0}});
  ASSERT_EQ(placement.groups.size(), 1u);
  EXPECT_EQ(placement.groups[0].numa_node, 0);
}

// Whatever the machine: every worker and port is placed once, and no group lacks one of both.
TEST(Placement, EverythingIsPlacedOnce) {
  for (int code = 0; code < 3 * 3 * 3 * 4 * 4 * 4; ++code) {
    int rest = code;
    const auto next = [&rest](int base) {
      const int digit = rest % base;
      rest /= base;
      return digit;
    };
    Topology topology;
    for (int i = 0; i < 3; ++i) topology.worker_nodes.push_back(next(3));
    for (int i = 0; i < 3; ++i) topology.port_nodes.push_back(next(4) - 1);
    const auto placement = plan_placement(machine_with(3, 3), topology);
    std::vector<int> workers(3), ports(3);
    for (const NodeGroup& group : placement.groups) {
      EXPECT_FALSE(group.workers.empty());
      EXPECT_FALSE(group.ports.empty());
      for (const unsigned worker : group.workers) ++workers[worker];
      for (const unsigned port : group.ports) ++ports[port];
    }
    EXPECT_EQ(workers, (std::vector<int>{1, 1, 1})) << code;
    EXPECT_EQ(ports, (std::vector<int>{1, 1, 1})) << code;
  }
}

TEST(Placement, AGroupSeesItsOwnPartOfTheConfiguration) {
  const Config config = machine_with(4, 2);
  const auto placement = plan_placement(config, {{0, 0, 0, 1}, {0, 1}});
  ASSERT_EQ(placement.groups.size(), 2u);
  const Config first = config_of(config, placement.groups[0]);
  const Config second = config_of(config, placement.groups[1]);
  EXPECT_EQ(first.cores.workers, (Places{1, 2, 3}));
  EXPECT_EQ(second.cores.workers, (Places{4}));
  EXPECT_EQ(second.ports[0].name, "p1");
  EXPECT_EQ(first.cache.memory_mb, 750u);
  EXPECT_EQ(second.cache.memory_mb, 250u);
}

}  // namespace
}  // namespace wirecache::config

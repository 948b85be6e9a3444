// What comes of a profile on devices that are not here: their limits are those that DPDK 22.11's
// drivers tell of (named in the profiles).
#include "lib/port/port_setup.h"

#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include "lib/worker/packet.h"

namespace wirecache::port {
namespace {

using Texts = std::vector<std::string>;

static_assert(config::kMaxBurst == worker::kBurstPackets,
              "a port's burst has to fit into a worker's arrays");

constexpr uint64_t kUdp = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;
constexpr uint64_t kRxChecksums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;

const config::DriverProfile& profile(const char* driver) {
  return config::DriverProfiles::built_in().of_driver(driver);
}

// mlx5_dev_infos_get(): everything is there.
DeviceLimits generous() {
  return {1024, 1024, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
          kRxChecksums | RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
          RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE};
}

TEST(PlanPort, ACardThatHasAllGetsAQueueAWorkerAndOneForMain) {
  const PortSetup setup = plan_port({}, profile("mlx5_pci"), generous(), 4);
  EXPECT_EQ(setup.rx_queues, 4);
  EXPECT_EQ(setup.tx_queues, 5);
  EXPECT_TRUE(setup.main_has_queue);
  EXPECT_TRUE(setup.fills_all_queues);
  EXPECT_EQ(setup.rss_flows, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | kUdp);
  EXPECT_EQ(setup.rss, (Texts{"ipv4", "ipv4-udp", "ipv6", "ipv6-udp"}));
  EXPECT_EQ(setup.rx_offloads, kRxChecksums);  // never VLAN stripping
  EXPECT_EQ(setup.tx_offloads, RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
  EXPECT_EQ(setup.tx_checksum, net::UdpChecksum::kDevice);
  EXPECT_EQ(setup.rx_descriptors, 2048);
  EXPECT_EQ(setup.burst, 32);
  EXPECT_EQ(setup.not_granted, Texts());
}

TEST(PlanPort, OneWorkerNeedsNoRss) {
  const PortSetup setup = plan_port({}, profile("mlx5_pci"), generous(), 1);
  EXPECT_EQ(setup.rx_queues, 1);
  EXPECT_EQ(setup.tx_queues, 2);
  EXPECT_EQ(setup.rss_flows, 0u);
  EXPECT_TRUE(setup.fills_all_queues);
  EXPECT_EQ(setup.not_granted, Texts());
}

// virtio without VIRTIO_NET_F_RSS: pairs, and nobody to spread.
TEST(PlanPort, WithoutRssThereIsOneRxQueue) {
  const PortSetup setup = plan_port({}, profile("net_virtio"), {4, 4, 0, 0, 0}, 2);
  EXPECT_EQ(setup.rx_queues, 1);
  EXPECT_EQ(setup.tx_queues, 1);
  EXPECT_FALSE(setup.main_has_queue);
  EXPECT_FALSE(setup.fills_all_queues);
  EXPECT_EQ(setup.not_granted,
            (Texts{"RSS on ipv4", "RSS on ipv4-udp", "RSS on ipv6", "RSS on ipv6-udp",
                   "spreading over 2 RX queues: done in software"}));
}

TEST(PlanPort, VirtioWithRssGetsPairs) {
  const DeviceLimits device{2, 2, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | kUdp, 0, 0};
  const PortSetup setup = plan_port({}, profile("net_virtio"), device, 2);
  EXPECT_EQ(setup.rx_queues, 2);
  EXPECT_EQ(setup.tx_queues, 2);
  EXPECT_TRUE(setup.fills_all_queues);
  EXPECT_EQ(setup.rx_offloads, 0u);
}

// vmxnet3 below version 4 (QEMU's): RSS on addresses, not on UDP; 8 TX queues.
TEST(PlanPort, RssWithoutUdpDoesNotSpreadDns) {
  const DeviceLimits device{16, 8,
                            RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_IPV6 |
                                RTE_ETH_RSS_NONFRAG_IPV6_TCP,
                            0, 0};
  const PortSetup setup = plan_port({}, profile("net_vmxnet3"), device, 2);
  EXPECT_EQ(setup.rx_queues, 1);
  EXPECT_EQ(setup.tx_queues, 3);
  EXPECT_TRUE(setup.main_has_queue);
  EXPECT_FALSE(setup.fills_all_queues);
  EXPECT_EQ(setup.rss_flows, 0u);
  EXPECT_EQ(setup.not_granted, (Texts{"RSS on ipv4-udp", "RSS on ipv6-udp",
                                      "spreading over 2 RX queues: done in software"}));
}

TEST(PlanPort, Vmxnet3OfVersion4TakesPowersOfTwo) {
  const DeviceLimits device{16, 8, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP, 0, 0};
  const PortSetup setup = plan_port({}, profile("net_vmxnet3"), device, 7);
  EXPECT_EQ(setup.rx_queues, 4);
  EXPECT_EQ(setup.tx_queues, 8);
  EXPECT_TRUE(setup.main_has_queue);
  EXPECT_TRUE(setup.fills_all_queues);
  EXPECT_EQ(setup.not_granted, Texts{"4 of 7 RX queues"});
}

// eth_em_infos_get(): 2 queues, one is filled, and an 82540 has no second one.
TEST(PlanPort, E1000eHasOneQueue) {
  const DeviceLimits device{2, 2, 0, kRxChecksums, RTE_ETH_TX_OFFLOAD_UDP_CKSUM};
  const PortSetup setup = plan_port({}, profile("net_e1000_em"), device, 2);
  EXPECT_EQ(setup.rx_queues, 1);
  EXPECT_EQ(setup.tx_queues, 1);
  EXPECT_FALSE(setup.fills_all_queues);
  EXPECT_FALSE(setup.main_has_queue);
  EXPECT_EQ(setup.tx_checksum, net::UdpChecksum::kSoftware);
  EXPECT_EQ(setup.not_granted, Texts{"spreading over 2 RX queues: done in software"});
}

// IXGBE_RSS_OFFLOAD_ALL; 82599 tells of 128 queues, but its RSS reaches 16.
TEST(PlanPort, ThePortHasAsManyQueuesAsTheProfileAllows) {
  const DeviceLimits device{128, 64, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | kUdp, kRxChecksums,
                            RTE_ETH_TX_OFFLOAD_UDP_CKSUM};
  const PortSetup setup = plan_port({}, profile("net_ixgbe"), device, 20);
  EXPECT_EQ(setup.rx_queues, 16);
  EXPECT_EQ(setup.tx_queues, 16);
  EXPECT_FALSE(setup.main_has_queue);
  EXPECT_TRUE(setup.fills_all_queues);
  EXPECT_EQ(setup.tx_offloads, 0u);  // vector TX has none
  EXPECT_EQ(setup.not_granted, Texts{"16 of 20 RX queues"});
}

TEST(PlanPort, WhatTheDeviceLacksIsNamed) {
  DeviceLimits device = generous();
  device.rx_offloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  device.tx_offloads = 0;
  device.rss_flows = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
  const PortSetup setup = plan_port({}, profile("mlx5_pci"), device, 2);
  EXPECT_TRUE(setup.fills_all_queues);
  EXPECT_EQ(setup.rx_offloads, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM);
  EXPECT_EQ(setup.tx_checksum, net::UdpChecksum::kSoftware);
  EXPECT_EQ(setup.not_granted,
            (Texts{"RSS on ipv6", "RSS on ipv6-udp", "RX UDP checksum: checked in software",
                   "TX UDP checksum: done in software", "fast free of what was sent"}));
}

TEST(PlanPort, ThePortsOwnWordReplacesTheProfiles) {
  config::PortConfig port;
  port.queues = 2;
  port.rx_descriptors = 256;
  port.tx_descriptors = 128;
  port.burst = 8;
  port.rss = Texts{"ipv6-udp"};
  port.offloads = Texts{"rx-udp-checksum"};
  const PortSetup setup = plan_port(port, profile("mlx5_pci"), generous(), 4);
  EXPECT_EQ(setup.rx_queues, 2);
  EXPECT_EQ(setup.tx_queues, 3);
  EXPECT_TRUE(setup.main_has_queue);
  EXPECT_EQ(setup.rx_descriptors, 256);
  EXPECT_EQ(setup.tx_descriptors, 128);
  EXPECT_EQ(setup.burst, 8);
  EXPECT_EQ(setup.rss_flows, RTE_ETH_RSS_NONFRAG_IPV6_UDP);
  EXPECT_EQ(setup.rx_offloads, RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
  EXPECT_EQ(setup.tx_offloads, 0u);
}

TEST(PlanPort, AnEmptyListSwitchesRssOff) {
  config::PortConfig port;
  port.rss = Texts();
  const PortSetup setup = plan_port(port, profile("mlx5_pci"), generous(), 2);
  EXPECT_EQ(setup.rx_queues, 1);
  EXPECT_FALSE(setup.fills_all_queues);
}

TEST(PlanPort, RssOnAddressesAloneIsTakenWhereItIsAskedFor) {
  config::PortConfig port;
  port.rss = Texts{"ipv4", "ipv6"};
  const PortSetup setup = plan_port(port, profile("mlx5_pci"), generous(), 2);
  EXPECT_EQ(setup.rx_queues, 2);
  EXPECT_TRUE(setup.fills_all_queues);
}

TEST(PlanPort, EveryWordHasItsBits) {
  config::PortConfig port;
  port.rss = Texts(config::rss_words().begin(), config::rss_words().end());
  port.offloads = Texts(config::offload_words().begin(), config::offload_words().end());
  const PortSetup setup = plan_port(port, profile("mlx5_pci"), generous(), 2);
  EXPECT_EQ(setup.rss_flows,
            RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER |
                RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 |
                RTE_ETH_RSS_NONFRAG_IPV6_OTHER | RTE_ETH_RSS_NONFRAG_IPV6_TCP | kUdp);
  EXPECT_EQ(setup.rx_offloads, kRxChecksums);
  EXPECT_EQ(setup.tx_offloads, RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
  EXPECT_EQ(setup.not_granted, Texts());
}

TEST(PlanPort, ThereIsAlwaysAQueue) {
  const PortSetup setup = plan_port({}, profile("mlx5_pci"), {0, 0, 0, 0, 0}, 4);
  EXPECT_EQ(setup.rx_queues, 1);
  EXPECT_EQ(setup.tx_queues, 1);
}

TEST(PlanPort, NeverMoreThanTheMostThatWasCountedOn) {
  for (const config::DriverProfile& each : config::DriverProfiles::built_in().all()) {
    for (unsigned workers = 1; workers <= 64; ++workers) {
      const PortSetup setup = plan_port({}, each, generous(), workers);
      const QueueCounts most = most_queues({}, each, workers);
      EXPECT_LE(setup.rx_queues, most.rx) << each.name << " " << workers;
      EXPECT_LE(setup.tx_queues, most.tx) << each.name << " " << workers;
    }
  }
}

}  // namespace
}  // namespace wirecache::port

// What a port is set up with: the driver's profile and the port's overrides, as far as the device
// grants them. A pure function, so that devices that are not here can be tried.
//
// Invariant: at least one RX and one TX queue, no more than the device, the profile and the workers
// allow. Where nobody would spread packets over RX queues there is one: a queue that nobody fills
// would only leave a worker idle. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/net/frame.h"

namespace wirecache::port {

// What the device can do (rte_eth_dev_info).
struct DeviceLimits {
  uint16_t max_rx_queues = 1;
  uint16_t max_tx_queues = 1;
  uint64_t rss_flows = 0;    // RTE_ETH_RSS_*
  uint64_t rx_offloads = 0;  // RTE_ETH_RX_OFFLOAD_*
  uint64_t tx_offloads = 0;  // RTE_ETH_TX_OFFLOAD_*
};

struct PortSetup {
  uint16_t rx_queues = 1;
  uint16_t tx_queues = 1;
  bool main_has_queue = false;   // the last TX queue is no worker's
  bool fills_all_queues = true;  // false: packets were not spread, so there is one RX queue
  uint64_t rss_flows = 0;        // 0: RSS is off
  std::vector<std::string> rss;  // the same in words
  uint64_t rx_offloads = 0;
  uint64_t tx_offloads = 0;
  net::UdpChecksum tx_checksum = net::UdpChecksum::kSoftware;
  uint16_t rx_descriptors = 0;  // of each queue, before the driver's own limits
  uint16_t tx_descriptors = 0;
  uint16_t burst = 0;
  std::vector<std::string> not_granted;  // what was asked for and is not there: "RSS on ipv6-udp"
};

PortSetup plan_port(const config::PortConfig& config, const config::DriverProfile& profile,
                    const DeviceLimits& device, unsigned workers);

// RX and TX queues for `workers` before the device is known: the most that plan_port() may come to.
struct QueueCounts {
  uint16_t rx = 1;
  uint16_t tx = 1;
};
QueueCounts most_queues(const config::PortConfig& config, const config::DriverProfile& profile,
                        unsigned workers);

// Descriptors of each queue: the port's own word, or the profile's.
uint16_t rx_descriptors_of(const config::PortConfig& config, const config::DriverProfile& profile);
uint16_t tx_descriptors_of(const config::PortConfig& config, const config::DriverProfile& profile);

}  // namespace wirecache::port

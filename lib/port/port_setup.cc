#include "lib/port/port_setup.h"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace wirecache::port {
namespace {

using config::DriverProfile;
using config::PortConfig;
using config::Spreading;

struct Flow {
  std::string_view word;
  uint64_t bit;
};

// config::rss_words() as DPDK's bits.
constexpr std::array<Flow, 10> kFlows = {{
    {"ipv4", RTE_ETH_RSS_IPV4},
    {"ipv4-frag", RTE_ETH_RSS_FRAG_IPV4},
    {"ipv4-other", RTE_ETH_RSS_NONFRAG_IPV4_OTHER},
    {"ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP},
    {"ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP},
    {"ipv6", RTE_ETH_RSS_IPV6},
    {"ipv6-frag", RTE_ETH_RSS_FRAG_IPV6},
    {"ipv6-other", RTE_ETH_RSS_NONFRAG_IPV6_OTHER},
    {"ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP},
    {"ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP},
}};

struct Offload {
  std::string_view word;
  uint64_t rx_bit;
  uint64_t tx_bit;
  std::string_view without;  // what is done instead
};

// config::offload_words() as DPDK's bits.
constexpr std::array<Offload, 4> kOffloads = {{
    {"rx-ipv4-checksum", RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, 0, "RX IPv4 checksum: checked in software"},
    {"rx-udp-checksum", RTE_ETH_RX_OFFLOAD_UDP_CKSUM, 0, "RX UDP checksum: checked in software"},
    {"tx-udp-checksum", 0, RTE_ETH_TX_OFFLOAD_UDP_CKSUM, "TX UDP checksum: done in software"},
    {"tx-fast-free", 0, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, "fast free of what was sent"},
}};

bool named(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

uint16_t clamp_queues(unsigned queues, unsigned limit) {
  return static_cast<uint16_t>(std::max(std::min(queues, limit), 1U));
}

unsigned wanted_queues(const PortConfig& config, unsigned workers) {
  return config.queues == 0 ? workers : std::min(config.queues, workers);
}

bool is_udp(std::string_view word) {
  return word.ends_with("-udp");
}

// Takes what is granted of `asked`. True where it spreads DNS: a UDP field, if one was asked for,
// for a hash of addresses alone is no help against one busy client.
bool grant_rss(const std::vector<std::string>& asked, uint64_t granted, PortSetup* setup) {
  for (const Flow& flow : kFlows) {
    if (!named(asked, flow.word)) continue;
    if ((granted & flow.bit) == 0) {
      setup->not_granted.push_back("RSS on " + std::string(flow.word));
      continue;
    }
    setup->rss_flows |= flow.bit;
    setup->rss.emplace_back(flow.word);
  }
  if (std::ranges::any_of(asked, is_udp)) return std::ranges::any_of(setup->rss, is_udp);
  return !setup->rss.empty();
}

void grant_offloads(const std::vector<std::string>& asked, const DeviceLimits& device,
                    PortSetup* setup) {
  for (const Offload& offload : kOffloads) {
    if (!named(asked, offload.word)) continue;
    const bool granted = ((device.rx_offloads & offload.rx_bit) == offload.rx_bit) &&
                         ((device.tx_offloads & offload.tx_bit) == offload.tx_bit);
    if (!granted) {
      setup->not_granted.emplace_back(offload.without);
      continue;
    }
    setup->rx_offloads |= offload.rx_bit;
    setup->tx_offloads |= offload.tx_bit;
  }
  if ((setup->tx_offloads & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0)
    setup->tx_checksum = net::UdpChecksum::kDevice;
}

bool spreads_packets(const PortConfig& config, const DriverProfile& profile,
                     const DeviceLimits& device, PortSetup* setup) {
  switch (profile.spreads) {
    case Spreading::kRss:
      return grant_rss(config.rss.value_or(profile.rss), device.rss_flows, setup);
    case Spreading::kPeer:
      return true;
    case Spreading::kNone:
      break;
  }
  return false;
}

std::string of_rx_queues(unsigned given, unsigned wanted) {
  return std::to_string(given) + " of " + std::to_string(wanted) + " RX queues";
}

void plan_queues(const PortConfig& config, const DriverProfile& profile, const DeviceLimits& device,
                 unsigned workers, PortSetup* setup) {
  const unsigned wanted = wanted_queues(config, workers);
  const unsigned max_rx = std::min(device.max_rx_queues, profile.max_queues);
  const unsigned max_tx = std::min(device.max_tx_queues, profile.max_queues);
  const bool spread = wanted == 1 || spreads_packets(config, profile, device, setup);
  unsigned rx = clamp_queues(spread ? wanted : 1, max_rx);
  if (profile.paired_queues) rx = clamp_queues(rx, max_tx);
  if (profile.power_of_two_queues) rx = std::bit_floor(rx);
  setup->rx_queues = static_cast<uint16_t>(rx);
  setup->tx_queues = profile.paired_queues ? setup->rx_queues : clamp_queues(wanted + 1, max_tx);
  setup->main_has_queue = setup->tx_queues > wanted;
  setup->fills_all_queues = spread;
  if (!spread) {
    setup->rss_flows = 0;
    setup->rss.clear();
    setup->not_granted.push_back("spreading over " + std::to_string(wanted) +
                                 " RX queues: done in software");
  } else if (rx < wanted) {
    setup->not_granted.push_back(of_rx_queues(rx, wanted));
  }
  // RSS over one queue: some drivers refuse it.
  if (rx == 1) setup->rss_flows = 0;
  if (rx == 1) setup->rss.clear();
}

}  // namespace

PortSetup plan_port(const PortConfig& config, const DriverProfile& profile,
                    const DeviceLimits& device, unsigned workers) {
  PortSetup setup;
  plan_queues(config, profile, device, workers, &setup);
  grant_offloads(config.offloads.value_or(profile.offloads), device, &setup);
  setup.rx_descriptors = rx_descriptors_of(config, profile);
  setup.tx_descriptors = tx_descriptors_of(config, profile);
  setup.burst = config.burst.value_or(profile.burst);
  return setup;
}

QueueCounts most_queues(const PortConfig& config, const DriverProfile& profile, unsigned workers) {
  const unsigned wanted = wanted_queues(config, workers);
  QueueCounts counts;
  counts.rx = clamp_queues(wanted, profile.max_queues);
  counts.tx = profile.paired_queues ? counts.rx : clamp_queues(wanted + 1, profile.max_queues);
  return counts;
}

uint16_t rx_descriptors_of(const PortConfig& config, const DriverProfile& profile) {
  return config.rx_descriptors.value_or(profile.rx_descriptors);
}

uint16_t tx_descriptors_of(const PortConfig& config, const DriverProfile& profile) {
  return config.tx_descriptors.value_or(profile.tx_descriptors);
}

}  // namespace wirecache::port

#include "lib/port/port.h"

#include <net/if.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/port/devargs.h"
#include "lib/port/eal_log.h"
#include "lib/port/netdev.h"
#include "lib/port/packet_pool.h"

namespace wirecache::port {
namespace {

constexpr uint16_t kMaxAfPacketQueues = 16;  // RTE_PMD_AF_PACKET_MAX_RINGS

constexpr uint64_t kRssFlows = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP;

// Virtual drivers are told their queues when probed, so the count must be known before.
uint16_t queues_to_probe(const config::PortConfig& config, unsigned workers) {
  const std::string driver = device_driver(config.device);
  uint16_t limit = UINT16_MAX;
  if (driver == "net_af_packet") limit = kMaxAfPacketQueues;
  if (driver == "net_af_xdp") limit = combined_channels(devarg(config.device, "iface"));
  return choose_queues(config.queues, workers, limit, limit);
}

rte_eth_conf ethdev_conf(const rte_eth_dev_info& info, uint16_t queues) {
  rte_eth_conf conf{};
  conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  const uint64_t flows = info.flow_type_rss_offloads & kRssFlows;
  if (queues > 1 && flows != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = flows;
  }
  return conf;
}

int setup_queues(uint16_t id, uint16_t queues, const rte_eth_dev_info& info,
                 const rte_eth_conf& conf, rte_mempool* pool) {
  uint16_t rx_descriptors = kRxDescriptors;
  uint16_t tx_descriptors = kTxDescriptors;
  int result = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx_descriptors, &tx_descriptors);
  if (result < 0) return result;
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id));
  rte_eth_rxconf rx = info.default_rxconf;
  rx.offloads = conf.rxmode.offloads;
  rte_eth_txconf tx = info.default_txconf;
  tx.offloads = conf.txmode.offloads;
  for (uint16_t q = 0; q < queues; ++q) {
    result = rte_eth_rx_queue_setup(id, q, rx_descriptors, socket, &rx, pool);
    if (result < 0) return result;
    result = rte_eth_tx_queue_setup(id, q, tx_descriptors, socket, &tx);
    if (result < 0) return result;
  }
  return 0;
}

std::string telling(const EalLogCapture& log, int error) {
  const std::string line = log.most_telling();
  return line.empty() ? std::string(rte_strerror(std::abs(error))) : line;
}

}  // namespace

uint16_t choose_queues(unsigned wanted, unsigned workers, uint16_t max_rx, uint16_t max_tx) {
  unsigned queues = wanted == 0 ? workers : std::min(wanted, workers);
  queues = std::min({queues, unsigned{max_rx}, unsigned{max_tx}});
  return static_cast<uint16_t>(std::max(queues, 1U));
}

Unexpected<StartError> Port::failure(const std::string& why) const {
  return start_failure(StartFailure::kDevice, "port " + name_ + ": device " + device_ + ": " + why);
}

Expected<Port, StartError> Port::open(const config::PortConfig& config, unsigned workers,
                                      rte_mempool* pool) {
  Port port;
  port.name_ = config.name;
  port.device_ = config.device;
  if (auto probed = port.probe(config, workers); !probed)
    return Unexpected<StartError>(probed.error());
  if (auto configured = port.configure(config, workers, pool); !configured)
    return Unexpected<StartError>(configured.error());
  return port;
}

Expected<void, StartError> Port::probe(const config::PortConfig& config, unsigned workers) {
  const std::string name = device_name(config.device);
  if (is_pci_address(name)) {
    // EAL probed it at its start ("-a").
    const std::string full = name.size() == 7 ? "0000:" + name : name;
    if (rte_eth_dev_get_port_by_name(full.c_str(), &ethdev_id_) < 0)
      return failure("no driver has taken it (bind it to vfio-pci)");
    return {};
  }
  netdev_ = devarg(config.device, "iface");
  if (!netdev_.empty() && if_nametoindex(netdev_.c_str()) == 0)
    return failure("there is no network interface " + netdev_);
  uint16_t existing = 0;
  if (rte_eth_dev_get_port_by_name(name.c_str(), &existing) == 0)
    return failure("there is a device " + name + " already");
  const std::string devargs = complete_devargs(config.device, queues_to_probe(config, workers));
  const EalLogCapture log;
  if (const int result = rte_dev_probe(devargs.c_str()); result < 0)
    return failure(telling(log, result));
  if (rte_eth_dev_get_port_by_name(name.c_str(), &ethdev_id_) < 0)
    return failure("it is not an Ethernet device");
  return {};
}

Expected<void, StartError> Port::configure(const config::PortConfig& config, unsigned workers,
                                           rte_mempool* pool) {
  const EalLogCapture log;
  rte_eth_dev_info info{};
  int result = rte_eth_dev_info_get(ethdev_id_, &info);
  if (result < 0) return failure(telling(log, result));
  driver_ = info.driver_name;
  queues_ = choose_queues(config.queues, workers, info.max_rx_queues, info.max_tx_queues);
  // The kernel spreads packets over all sockets of the fan-out: one that nobody reads loses its
  // share.
  if (kernel_sees_packets() && info.max_rx_queues > queues_)
    return failure("it has " + std::to_string(info.max_rx_queues) + " queues, but only " +
                   std::to_string(queues_) + " would be read");
  const rte_eth_conf conf = ethdev_conf(info, queues_);
  result = rte_eth_dev_configure(ethdev_id_, queues_, queues_, &conf);
  if (result < 0) return failure(telling(log, result));
  result = setup_queues(ethdev_id_, queues_, info, conf, pool);
  if (result < 0) return failure(telling(log, result));

  rte_ether_addr address{};
  result = rte_eth_macaddr_get(ethdev_id_, &address);
  if (result < 0) return failure(telling(log, result));
  mac_ = MacAddress::from(address.addr_bytes);
  if (rte_eth_dev_get_mtu(ethdev_id_, &mtu_) < 0) mtu_ = RTE_ETHER_MTU;
  numa_node_ = std::max(rte_eth_dev_socket_id(ethdev_id_), 0);
  return {};
}

Expected<void, StartError> Port::start() {
  const EalLogCapture log;
  const int result = rte_eth_dev_start(ethdev_id_);
  if (result < 0) return failure(telling(log, result));
  started_ = true;
  // NDP comes by multicast. Promiscuous only where there is nothing narrower.
  if (!netdev_.empty() && all_multicast_.enable(netdev_)) return {};
  if (rte_eth_allmulticast_enable(ethdev_id_) < 0) rte_eth_promiscuous_enable(ethdev_id_);
  return {};
}

void Port::stop_and_close() {
  if (ethdev_id_ == kNoEthdev) return;
  const EalLogCapture log;
  rte_eth_dev_info info{};
  rte_device* device = rte_eth_dev_info_get(ethdev_id_, &info) == 0 ? info.device : nullptr;
  if (started_) rte_eth_dev_stop(ethdev_id_);
  started_ = false;
  rte_eth_dev_close(ethdev_id_);
  // A virtual device goes altogether, so that its name and its interface are free again.
  if (device != nullptr && !is_pci_address(device_)) rte_dev_remove(device);
  ethdev_id_ = kNoEthdev;
  all_multicast_ = AllMulticast();
}

Port::Port(Port&& other) noexcept {
  *this = std::move(other);
}

Port& Port::operator=(Port&& other) noexcept {
  if (this == &other) return *this;
  stop_and_close();
  name_ = std::move(other.name_);
  device_ = std::move(other.device_);
  driver_ = std::move(other.driver_);
  netdev_ = std::move(other.netdev_);
  mac_ = other.mac_;
  ethdev_id_ = std::exchange(other.ethdev_id_, kNoEthdev);
  queues_ = other.queues_;
  mtu_ = other.mtu_;
  numa_node_ = other.numa_node_;
  started_ = std::exchange(other.started_, false);
  all_multicast_ = std::move(other.all_multicast_);
  return *this;
}

Port::~Port() {
  stop_and_close();
}

bool Port::kernel_sees_packets() const {
  return driver_ == "net_af_packet";
}

PortCounters Port::counters() const {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(ethdev_id_, &stats) < 0) return {};
  PortCounters counters;
  counters.received_packets = stats.ipackets;
  counters.received_bytes = stats.ibytes;
  counters.sent_packets = stats.opackets;
  counters.sent_bytes = stats.obytes;
  counters.missed_packets = stats.imissed;
  counters.receive_errors = stats.ierrors;
  counters.send_errors = stats.oerrors;
  counters.no_mbuf = stats.rx_nombuf;
  return counters;
}

}  // namespace wirecache::port

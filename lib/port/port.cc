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

namespace wirecache::port {
namespace {

constexpr const char* kBonding = "net_bonding";

DeviceLimits limits_of(const rte_eth_dev_info& info) {
  return {info.max_rx_queues, info.max_tx_queues, info.flow_type_rss_offloads, info.rx_offload_capa,
          info.tx_offload_capa};
}

rte_eth_conf ethdev_conf(const PortSetup& setup) {
  rte_eth_conf conf{};
  // VLAN stripping is never asked for: tags have to come with the packets.
  conf.rxmode.offloads = setup.rx_offloads;
  conf.txmode.offloads = setup.tx_offloads;
  if (setup.rss_flows != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = setup.rss_flows;
  }
  return conf;
}

// A bonding device takes its members, and knows what they can do, when it is configured first.
int take_members(uint16_t id) {
  const rte_eth_conf none{};
  return rte_eth_dev_configure(id, 1, 1, &none);
}

void note_descriptors(uint16_t asked, uint16_t given, const char* which, PortSetup* setup) {
  if (given == asked) return;
  setup->not_granted.push_back(std::to_string(asked) + " " + which +
                               " descriptors: " + std::to_string(given));
}

// Cuts the counts to what the driver takes.
int adjust_descriptors(uint16_t id, PortSetup* setup) {
  const uint16_t rx = setup->rx_descriptors;
  const uint16_t tx = setup->tx_descriptors;
  const int result =
      rte_eth_dev_adjust_nb_rx_tx_desc(id, &setup->rx_descriptors, &setup->tx_descriptors);
  note_descriptors(rx, setup->rx_descriptors, "RX", setup);
  note_descriptors(tx, setup->tx_descriptors, "TX", setup);
  return result;
}

int setup_queues(uint16_t id, const PortSetup& setup, unsigned socket, rte_mempool* pool) {
  rte_eth_dev_info info{};
  int result = rte_eth_dev_info_get(id, &info);
  if (result < 0) return result;
  rte_eth_rxconf rx = info.default_rxconf;
  rx.offloads = setup.rx_offloads;
  rte_eth_txconf tx = info.default_txconf;
  tx.offloads = setup.tx_offloads;
  for (uint16_t q = 0; q < setup.rx_queues && result >= 0; ++q)
    result = rte_eth_rx_queue_setup(id, q, setup.rx_descriptors, socket, &rx, pool);
  for (uint16_t q = 0; q < setup.tx_queues && result >= 0; ++q)
    result = rte_eth_tx_queue_setup(id, q, setup.tx_descriptors, socket, &tx);
  return result;
}

std::string telling(const EalLogCapture& log, int error) {
  const std::string line = log.most_telling();
  return line.empty() ? std::string(rte_strerror(std::abs(error))) : line;
}

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : separator) + text;
  return all;
}

}  // namespace

const config::DriverProfile& profile_of(const config::PortConfig& port,
                                        const config::DriverProfiles& profiles) {
  if (!is_pci_address(port.device)) return profiles.of_vdev(device_name(port.device));
  uint16_t id = 0;
  rte_eth_dev_info info{};
  if (rte_eth_dev_get_port_by_name(full_pci_address(port.device).c_str(), &id) < 0 ||
      rte_eth_dev_info_get(id, &info) < 0)
    return profiles.of_driver("");
  return profiles.of_driver(info.driver_name);
}

QueueCounts expected_queues(const config::PortConfig& port, const config::DriverProfile& profile,
                            unsigned workers) {
  QueueCounts queues = most_queues(port, profile, workers);
  if (device_driver(port.device) != "net_af_xdp") return queues;
  queues.rx = std::min(queues.rx, combined_channels(netdev_of(port.device)));
  queues.tx = queues.rx;
  return queues;
}

Unexpected<StartError> Port::failure(const std::string& why) const {
  return device_failure(name_, device_, why);
}

Expected<Port, StartError> Port::open(const config::PortConfig& config,
                                      const config::DriverProfiles& profiles, unsigned workers,
                                      rte_mempool* pool) {
  Port port;
  port.name_ = config.name;
  port.device_ = config.device;
  if (auto probed = port.probe(config, profile_of(config, profiles), workers); !probed)
    return Unexpected<StartError>(probed.error());
  if (auto configured = port.configure(config, profiles, workers, pool); !configured)
    return Unexpected<StartError>(configured.error());
  return port;
}

Expected<void, StartError> Port::probe(const config::PortConfig& config,
                                       const config::DriverProfile& profile, unsigned workers) {
  const std::string name = device_name(config.device);
  if (is_pci_address(name)) {
    // EAL probed it at its start ("-a").
    if (rte_eth_dev_get_port_by_name(full_pci_address(name).c_str(), &ethdev_id_) < 0)
      return failure("no driver has taken it (bind it to vfio-pci)");
    return {};
  }
  netdev_ = netdev_of(config.device);
  if (!netdev_.empty() && if_nametoindex(netdev_.c_str()) == 0)
    return failure("there is no network interface " + netdev_);
  uint16_t existing = 0;
  if (rte_eth_dev_get_port_by_name(name.c_str(), &existing) == 0)
    return failure("there is a device " + name + " already");
  const std::string devargs =
      complete_devargs(config.device, expected_queues(config, profile, workers).rx,
                       rx_descriptors_of(config, profile));
  const EalLogCapture log;
  if (const int result = rte_dev_probe(devargs.c_str()); result < 0)
    return failure(telling(log, result));
  if (rte_eth_dev_get_port_by_name(name.c_str(), &ethdev_id_) < 0)
    return failure("it is not an Ethernet device");
  return {};
}

Expected<void, StartError> Port::configure(const config::PortConfig& config,
                                           const config::DriverProfiles& profiles, unsigned workers,
                                           rte_mempool* pool) {
  const EalLogCapture log;
  rte_eth_dev_info info{};
  int result = rte_eth_dev_info_get(ethdev_id_, &info);
  if (result < 0) return failure(telling(log, result));
  driver_ = info.driver_name;
  if (driver_ == kBonding) {
    result = take_members(ethdev_id_);
    if (result >= 0) result = rte_eth_dev_info_get(ethdev_id_, &info);
    if (result < 0) return failure(telling(log, result));
  }
  const config::DriverProfile& profile = profiles.of_driver(driver_);
  profile_name_ = profile.name;
  setup_ = plan_port(config, profile, limits_of(info), workers);
  // The kernel spreads packets over all sockets of the fan-out: one that nobody reads loses its
  // share.
  if (kernel_sees_packets() && info.max_rx_queues > setup_.rx_queues)
    return failure("it has " + std::to_string(info.max_rx_queues) + " queues, but only " +
                   std::to_string(setup_.rx_queues) + " would be read");
  note_unread_queues();
  const int node =
      config.numa_node ? static_cast<int>(*config.numa_node) : rte_eth_dev_socket_id(ethdev_id_);
  numa_node_ = std::max(node, 0);
  const rte_eth_conf conf = ethdev_conf(setup_);
  result = rte_eth_dev_configure(ethdev_id_, setup_.rx_queues, setup_.tx_queues, &conf);
  if (result >= 0) result = adjust_descriptors(ethdev_id_, &setup_);
  if (result >= 0) result = setup_queues(ethdev_id_, setup_, static_cast<unsigned>(node), pool);
  if (result < 0) return failure(telling(log, result));
  return read_addresses();
}

Expected<void, StartError> Port::read_addresses() {
  rte_ether_addr address{};
  if (const int result = rte_eth_macaddr_get(ethdev_id_, &address); result < 0)
    return failure(rte_strerror(-result));
  mac_ = MacAddress::from(address.addr_bytes);
  if (rte_eth_dev_get_mtu(ethdev_id_, &mtu_) < 0) mtu_ = RTE_ETHER_MTU;
  return {};
}

// AF_XDP: packets of the interface's other queues go on to the kernel.
void Port::note_unread_queues() {
  if (driver_ != "net_af_xdp") return;
  const uint16_t channels = combined_channels(netdev_);
  if (channels <= setup_.rx_queues) return;
  const std::string queues = std::to_string(setup_.rx_queues);
  setup_.not_granted.push_back("packets of " + std::to_string(channels - setup_.rx_queues) +
                               " more queues of " + netdev_ + " (ethtool -L " + netdev_ +
                               " combined " + queues + ")");
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
  profile_name_ = std::move(other.profile_name_);
  netdev_ = std::move(other.netdev_);
  mac_ = other.mac_;
  ethdev_id_ = std::exchange(other.ethdev_id_, kNoEthdev);
  setup_ = std::move(other.setup_);
  mtu_ = other.mtu_;
  numa_node_ = other.numa_node_;
  started_ = std::exchange(other.started_, false);
  all_multicast_ = std::move(other.all_multicast_);
  return *this;
}

Port::~Port() {
  stop_and_close();
}

void Port::keep_alive() {
  // LACP frames leave with the next burst of any queue (drivers/net/bonding/rte_eth_bond_pmd.c,
  // tx_burst_8023ad()).
  if (driver_ != kBonding || !main_has_queue()) return;
  rte_eth_tx_burst(ethdev_id_, static_cast<uint16_t>(tx_queues() - 1), nullptr, 0);
}

bool Port::kernel_sees_packets() const {
  return driver_ == "net_af_packet";
}

std::string describe(const Port& port) {
  const auto number = [](unsigned value) { return std::to_string(value); };
  const std::string start = "port " + port.name() + ": ";
  std::string text = start + "driver " + port.driver() + " (profile " + port.profile_name() +
                     "), MAC " + port.mac().to_string() + ", NUMA node " +
                     number(static_cast<unsigned>(port.numa_node())) + ", queues " +
                     number(port.rx_queues()) + " RX and " + number(port.tx_queues()) + " TX" +
                     (port.main_has_queue() ? " (one is main's)" : "") + ", descriptors " +
                     number(port.rx_descriptors()) + " and " + number(port.tx_descriptors()) +
                     ", burst " + number(port.burst());
  if (!port.rss().empty()) text += ", RSS on " + joined(port.rss(), " ");
  if (port.tx_checksum() == net::UdpChecksum::kDevice) text += ", UDP checksums by the device";
  text += "\n";
  if (!port.not_granted().empty())
    text += start + "not granted: " + joined(port.not_granted(), "; ") + "\n";
  return text;
}

}  // namespace wirecache::port

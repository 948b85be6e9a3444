// One network port of the data plane: an ethdev, set up by its driver's profile for one RX and one
// TX queue a worker, as far as the device goes (port_setup.h).
//
// Invariant: RX queue q (q < rx_queues()) and TX queue q (q < tx_queues()) of an open Port are each
// used by one lcore at a time; which, is the caller's choice. Thread: open, start and
// stop_and_close by main; the other accessors by anybody after open. Owns the ethdev, not the
// mempool; bursts go straight to rte_eth_rx_burst(ethdev_id(), q, ...).
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/config/config.h"
#include "lib/port/netdev.h"
#include "lib/port/port_setup.h"
#include "lib/port/start_error.h"

namespace wirecache::port {

// The profile of a port's driver. A PCI device's driver is known once EAL has probed it; until then
// its profile is "default".
const config::DriverProfile& profile_of(const config::PortConfig& port,
                                        const config::DriverProfiles& profiles);

// The most queues that the port will open, before it does: for AF_XDP no more than the interface
// has.
QueueCounts expected_queues(const config::PortConfig& port, const config::DriverProfile& profile,
                            unsigned workers);

class Port {
 public:
  // Probes the device and sets up its queues, offloads and RSS. Not started yet. Errors: kDevice,
  // "port NAME: device DEVICE: why".
  static Expected<Port, StartError> open(const config::PortConfig& config,
                                         const config::DriverProfiles& profiles, unsigned workers,
                                         rte_mempool* pool);
  Port(Port&& other) noexcept;
  Port& operator=(Port&& other) noexcept;
  ~Port();  // stop_and_close()

  Expected<void, StartError> start();
  // No lcore uses a queue any more. Safe to call twice.
  void stop_and_close();
  // Main, more often than every 100 ms, where main_has_queue(): lets a device send of its own
  // accord (bonding's LACP). Does nothing for others.
  void keep_alive();

  uint16_t ethdev_id() const { return ethdev_id_; }
  const std::string& name() const { return name_; }
  const MacAddress& mac() const { return mac_; }
  uint16_t rx_queues() const { return setup_.rx_queues; }
  uint16_t tx_queues() const { return setup_.tx_queues; }
  // The last TX queue, tx_queues() - 1, is main's own.
  bool main_has_queue() const { return setup_.main_has_queue; }
  // False: nobody would have spread packets over several RX queues, so there is one, and software
  // must spread. (There may be fewer RX queues than workers besides.)
  bool fills_all_queues() const { return setup_.fills_all_queues; }
  net::UdpChecksum tx_checksum() const { return setup_.tx_checksum; }
  uint16_t rx_descriptors() const { return setup_.rx_descriptors; }  // of each queue
  uint16_t tx_descriptors() const { return setup_.tx_descriptors; }
  uint16_t burst() const { return setup_.burst; }                     // packets to take at once
  const std::vector<std::string>& rss() const { return setup_.rss; }  // granted; empty: off
  // What was asked for and is not there, in a few words each: "RSS on ipv6-udp".
  const std::vector<std::string>& not_granted() const { return setup_.not_granted; }
  const std::string& profile_name() const { return profile_name_; }  // "af_packet"
  const std::string& driver() const { return driver_; }              // "net_af_packet"
  const std::string& netdev() const { return netdev_; }  // kernel interface below; empty for PCI
  int numa_node() const { return numa_node_; }           // never negative: 0 where unknown
  uint16_t mtu() const { return mtu_; }
  // AF_PACKET: the kernel gets a copy of every packet as well (see control/ingress_guard.h).
  bool kernel_sees_packets() const;

 private:
  Port() = default;
  Expected<void, StartError> probe(const config::PortConfig& config,
                                   const config::DriverProfile& profile, unsigned workers);
  Expected<void, StartError> configure(const config::PortConfig& config,
                                       const config::DriverProfiles& profiles, unsigned workers,
                                       rte_mempool* pool);
  Expected<void, StartError> read_addresses();
  void note_unread_queues();
  Unexpected<StartError> failure(const std::string& why) const;

  static constexpr uint16_t kNoEthdev = UINT16_MAX;
  std::string name_;
  std::string device_;
  std::string driver_;
  std::string profile_name_;
  std::string netdev_;
  MacAddress mac_;
  PortSetup setup_;
  uint16_t ethdev_id_ = kNoEthdev;
  uint16_t mtu_ = 0;
  int numa_node_ = 0;
  bool started_ = false;
  AllMulticast all_multicast_;
};

// A line or two for the log of a start: what the port got, and what it did not.
std::string describe(const Port& port);

}  // namespace wirecache::port

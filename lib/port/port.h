// One network port of the data plane: an ethdev, set up for one RX and one TX queue a worker.
//
// Invariant: RX and TX queue q (q < queues()) of an open Port are used by one lcore at a time;
// which, is the caller's choice. Thread: open, start, stop_and_close and counters by main; the
// other accessors by anybody after open. Owns the ethdev, not the mempool; bursts go straight to
// rte_eth_rx_burst(ethdev_id(), q, ...).
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <string>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/config/config.h"
#include "lib/port/netdev.h"
#include "lib/port/start_error.h"

namespace wirecache::port {

struct PortCounters {
  uint64_t received_packets = 0;
  uint64_t received_bytes = 0;
  uint64_t sent_packets = 0;
  uint64_t sent_bytes = 0;
  uint64_t missed_packets = 0;  // no descriptor free: the worker was too slow
  uint64_t receive_errors = 0;
  uint64_t send_errors = 0;
  uint64_t no_mbuf = 0;  // the pool was empty
};

// What a queue count of `wanted` (0: one a worker) comes to on a driver with these limits; at
// least 1.
uint16_t choose_queues(unsigned wanted, unsigned workers, uint16_t max_rx, uint16_t max_tx);

class Port {
 public:
  // Probes the device and sets up its queues, offloads, RSS and all-multicast. Not started yet.
  // Errors: kDevice, "port NAME: device DEVICE: why".
  static Expected<Port, StartError> open(const config::PortConfig& config, unsigned workers,
                                         rte_mempool* pool);
  Port(Port&& other) noexcept;
  Port& operator=(Port&& other) noexcept;
  ~Port();  // stop_and_close()

  Expected<void, StartError> start();
  // No lcore uses a queue any more. Safe to call twice.
  void stop_and_close();

  uint16_t ethdev_id() const { return ethdev_id_; }
  const std::string& name() const { return name_; }
  const MacAddress& mac() const { return mac_; }
  uint16_t queues() const { return queues_; }            // RX and TX queues, each
  const std::string& driver() const { return driver_; }  // "net_af_packet"
  const std::string& netdev() const { return netdev_; }  // kernel interface below; empty for PCI
  int numa_node() const { return numa_node_; }           // never negative: 0 where unknown
  uint16_t mtu() const { return mtu_; }
  // AF_PACKET: the kernel gets a copy of every packet as well (see control/ingress_guard.h).
  bool kernel_sees_packets() const;
  PortCounters counters() const;

 private:
  Port() = default;
  Expected<void, StartError> probe(const config::PortConfig& config, unsigned workers);
  Expected<void, StartError> configure(const config::PortConfig& config, unsigned workers,
                                       rte_mempool* pool);
  Unexpected<StartError> failure(const std::string& why) const;

  static constexpr uint16_t kNoEthdev = UINT16_MAX;
  std::string name_;
  std::string device_;
  std::string driver_;
  std::string netdev_;
  MacAddress mac_;
  uint16_t ethdev_id_ = kNoEthdev;
  uint16_t queues_ = 0;
  uint16_t mtu_ = 0;
  int numa_node_ = 0;
  bool started_ = false;
  AllMulticast all_multicast_;
};

}  // namespace wirecache::port

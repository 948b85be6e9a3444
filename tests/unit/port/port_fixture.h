// What tests of real ports share: a pool, configurations, marked frames, and a veth pair "wcta" -
// "wctb" in a network namespace that ends with the process.
#pragma once

#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "lib/port/packet_pool.h"
#include "lib/port/port.h"

namespace wirecache::port {

inline rte_mempool* test_pool() {
  static rte_mempool* pool = *create_packet_pool(0, 16383, 0);
  return pool;
}

inline config::PortConfig device(const std::string& devargs) {
  config::PortConfig config;
  config.name = "p0";
  config.device = devargs;
  config.exception_interface = "wc-p0";
  return config;
}

inline Expected<Port, StartError> open_port(const config::PortConfig& config, unsigned workers) {
  return Port::open(config, config::DriverProfiles::built_in(), workers, test_pool());
}

inline Expected<Port, StartError> open_port(const std::string& devargs, unsigned workers) {
  return open_port(device(devargs), workers);
}

// Source MAC and EtherType (local experiments, IEEE Std 802) of the frames that the tests send.
inline constexpr uint8_t kMark[8] = {0x02, 0, 0, 0, 0, 0x77, 0x88, 0xb5};

inline rte_mbuf* marked_frame() {
  rte_mbuf* packet = rte_pktmbuf_alloc(test_pool());
  char* frame = rte_pktmbuf_append(packet, 60);
  if (frame == nullptr) return packet;
  std::memset(frame, 0, 60);
  std::memset(frame, 0xff, 6);
  std::memcpy(frame + 6, kMark, sizeof kMark);
  return packet;
}

inline unsigned send_marked(const Port& port, uint16_t queue, unsigned count) {
  unsigned sent = 0;
  for (unsigned i = 0; i < count; ++i) {
    rte_mbuf* packet = marked_frame();
    const uint16_t n = rte_eth_tx_burst(port.ethdev_id(), queue, &packet, 1);
    if (n == 0) rte_pktmbuf_free(packet);
    sent += n;
  }
  return sent;
}

// Marked frames that wait in a queue.
inline unsigned receive_marked(const Port& port, uint16_t queue) {
  rte_mbuf* burst[32];
  const uint16_t n = rte_eth_rx_burst(port.ethdev_id(), queue, burst, 32);
  unsigned count = 0;
  for (uint16_t i = 0; i < n; ++i) {
    count += std::memcmp(rte_pktmbuf_mtod_offset(burst[i], char*, 6), kMark, sizeof kMark) == 0;
    rte_pktmbuf_free(burst[i]);
  }
  return count;
}

// The same over all queues, for as long as it takes to get `count`, at most some seconds.
inline unsigned wait_for_marked(const Port& port, unsigned count) {
  unsigned received = 0;
  for (int wait = 0; wait < 5000 && received < count; ++wait) {
    for (uint16_t q = 0; q < port.rx_queues(); ++q) received += receive_marked(port, q);
    usleep(1000);
  }
  return received;
}

// Needs root; skipped elsewhere.
class VethPort : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    static const bool made =
        unshare(CLONE_NEWNET) == 0 && system(
                                          "ip link add wcta type veth peer name wctb && "
                                          "ip link set wcta up && ip link set wctb up") == 0;
    if (!made) GTEST_SKIP() << "no network namespace or no veth here";
  }
};

}  // namespace wirecache::port

#include "lib/port/packet_pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <string>

#include "lib/port/devargs.h"
#include "lib/port/eal_log.h"
#include "lib/port/port.h"
#include "lib/port/port_setup.h"

namespace wirecache::port {
namespace {

// AF_XDP's fill and completion rings do not follow the descriptor counts that are asked for
// (drivers/net/af_xdp/rte_eth_af_xdp.c, ETH_AF_XDP_DFLT_NUM_DESCS).
constexpr unsigned kXdpFillDescriptors = 2048;
constexpr unsigned kXdpCompletionDescriptors = 2048;

unsigned queue_mbufs(const config::PortConfig& port, const config::DriverProfile& profile,
                     unsigned workers) {
  const QueueCounts queues = expected_queues(port, profile, workers);
  const unsigned tx_descriptors = tx_descriptors_of(port, profile);
  if (profile.copies) return (queues.rx + queues.tx) * profile.burst;
  if (device_driver(port.device) == "net_af_xdp")
    return queues.rx * (kXdpFillDescriptors + kXdpCompletionDescriptors + tx_descriptors);
  return queues.rx * rx_descriptors_of(port, profile) + queues.tx * tx_descriptors;
}

// The devices that hold mbufs on their own: the port's, or the members of a bonding device.
size_t device_count(const config::PortConfig& port) {
  return std::max<size_t>(devarg_values(port.device, "slave").size(), 1);
}

}  // namespace

unsigned port_mbufs(const config::PortConfig& port, const config::DriverProfiles& profiles,
                    unsigned workers) {
  const config::DriverProfile& profile = profile_of(port, profiles);
  const auto devices = static_cast<unsigned>(device_count(port));
  // Its exception port's; what that sends is copied at once.
  return devices * queue_mbufs(port, profile, workers) + kTapDescriptors;
}

unsigned lcore_mbufs(unsigned lcores) {
  // A cache may hold up to 1.5 times its size before it gives back.
  return lcores * (kPoolCacheMbufs * 3 / 2 + kBurstMbufs);
}

unsigned mbufs_needed(const config::Config& config, unsigned mbufs_in_rings) {
  const auto workers = static_cast<unsigned>(config.cores.workers.size());
  unsigned mbufs = mbufs_in_rings + lcore_mbufs(workers + 1);
  for (const config::PortConfig& port : config.ports)
    mbufs += port_mbufs(port, config.driver_profiles, workers);
  return mbufs;
}

Expected<rte_mempool*, StartError> create_packet_pool(int numa_node, unsigned mbufs,
                                                      unsigned private_bytes) {
  const std::string name = "wc_mbufs_" + std::to_string(numa_node);
  const auto private_size =
      static_cast<uint16_t>(RTE_ALIGN_CEIL(private_bytes, RTE_MBUF_PRIV_ALIGN));
  const EalLogCapture log;
  rte_mempool* pool = rte_pktmbuf_pool_create(name.c_str(), mbufs, kPoolCacheMbufs, private_size,
                                              RTE_MBUF_DEFAULT_BUF_SIZE, numa_node);
  if (pool != nullptr) return pool;
  return start_failure(StartFailure::kMemory,
                       "no memory for " + std::to_string(mbufs) + " packet buffers on NUMA node " +
                           std::to_string(numa_node) + ": " + rte_strerror(rte_errno) +
                           " (raise eal.memory_mb)");
}

}  // namespace wirecache::port

#include "lib/port/packet_pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <string>

#include "lib/port/devargs.h"
#include "lib/port/eal_log.h"

namespace wirecache::port {
namespace {

// AF_XDP's rings do not follow the descriptor counts that are asked for.
constexpr unsigned kXdpFillDescriptors = 2048;
constexpr unsigned kXdpCompletionDescriptors = 2048;

unsigned queue_mbufs(const config::PortConfig& port) {
  if (device_driver(port.device) == "net_af_xdp")
    return kXdpFillDescriptors + kXdpCompletionDescriptors;
  return kRxDescriptors + kTxDescriptors;
}

}  // namespace

unsigned mbufs_needed(const config::Config& config, unsigned mbufs_in_rings) {
  const auto workers = static_cast<unsigned>(config.cores.workers.size());
  unsigned mbufs = mbufs_in_rings;
  for (const config::PortConfig& port : config.ports) {
    const unsigned queues = port.queues == 0 ? workers : std::min(port.queues, workers);
    mbufs += queues * queue_mbufs(port);
    mbufs += kTapDescriptors;  // its exception port; what it sends is copied at once
  }
  // A cache may hold up to 1.5 times its size before it gives back.
  mbufs += (workers + 1) * (kPoolCacheMbufs * 3 / 2 + kBurstMbufs);
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

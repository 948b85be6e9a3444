// The mbuf pool of one NUMA node, shared by all queues of the node (so that MBUF_FAST_FREE holds).
//
// Invariant: an mbuf has room for a 2,048-byte frame behind RTE_PKTMBUF_HEADROOM. Thread: created
// by main after EAL's start; get and put from every lcore (per-lcore caches). Freed with the EAL.
#pragma once

#include <rte_mempool.h>

#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/port/start_error.h"

namespace wirecache::port {

// The TAP keeps an mbuf for each RX descriptor and reads one packet a system call: a short queue
// will do.
inline constexpr uint16_t kTapDescriptors = 256;
inline constexpr unsigned kPoolCacheMbufs = 256;  // per lcore
inline constexpr unsigned kBurstMbufs = 64;       // the largest burst that a lcore holds

// The most mbufs that the queues of a port and its exception port hold, set up for `workers`: by
// the counts of its driver's profile and its own. A PCI device's driver is known after EAL's start.
unsigned port_mbufs(const config::PortConfig& port, const config::DriverProfiles& profiles,
                    unsigned workers);
// One burst and a full cache for each lcore, main among them.
unsigned lcore_mbufs(unsigned lcores);
// Mbufs for one pool that serves all ports and workers, and `mbufs_in_rings`: the most that the
// caller's rings hold together.
unsigned mbufs_needed(const config::Config& config, unsigned mbufs_in_rings);

// `private_bytes`: size of the private area of each mbuf, rounded up to RTE_MBUF_PRIV_ALIGN.
Expected<rte_mempool*, StartError> create_packet_pool(int numa_node, unsigned mbufs,
                                                      unsigned private_bytes);

}  // namespace wirecache::port

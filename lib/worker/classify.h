// First stage: what a received frame is to us (SEMANTICS "Packets"). Packet in, verdict out.
//
// Pure but for the VLAN tag that it puts back where the driver took it out. Any worker, its own
// packets.
#pragma once

#include <cstdint>

#include "lib/stats/worker_stats.h"
#include "lib/worker/node.h"
#include "lib/worker/packet.h"
#include "lib/worker/snapshot.h"

namespace wirecache::worker {

enum class PacketKind : uint8_t {
  kClientQuery,     // UDP to an address and port that we listen on
  kUpstreamAnswer,  // UDP to one of our upstream source addresses, port in the data plane's range
  kUnreachable,     // an ICMP error about a datagram from such an address and port
  kPunt,            // the kernel's
  kUrgentPunt,      // ARP and NDP: the kernel's, before all others
  kDrop,            // counted under `drop`
};

struct Classified {
  PacketKind kind = PacketKind::kPunt;
  stats::Drop drop = stats::Drop::kCount;
};

// Fills packet.frame where the kind is one of the first three (with kUnreachable as if the server
// had answered, see net::parse_unreachable()). packet.mbuf may change (VLAN).
Classified classify(const Snapshot& snapshot, const PortRef& port, Packet& packet);

}  // namespace wirecache::worker

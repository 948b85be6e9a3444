#include "lib/worker/classify.h"

#include <rte_ether.h>

#include "lib/net/icmp_error.h"

namespace wirecache::worker {
namespace {

using net::FrameVerdict;
using stats::Drop;

Classified drop(Drop reason) {
  return {PacketKind::kDrop, reason};
}

bool is_from_our_source(const Snapshot& snapshot, const IpAddress& address, uint16_t port) {
  return port >= snapshot.first_source_port && port <= snapshot.last_source_port &&
         snapshot.is_upstream_source(address);
}

// The kernel's, unless it tells of an upstream query of ours.
Classified classify_not_udp(const Snapshot& snapshot, Bytes frame, Packet& packet) {
  if (net::is_address_resolution(frame)) return {PacketKind::kUrgentPunt, Drop::kCount};
  const bool ours =
      net::parse_unreachable(frame, packet.frame) &&
      is_from_our_source(snapshot, packet.frame.destination, packet.frame.destination_port);
  return {ours ? PacketKind::kUnreachable : PacketKind::kPunt, Drop::kCount};
}

Classified from_verdict(FrameVerdict verdict) {
  switch (verdict) {
    case FrameVerdict::kUdp:
    case FrameVerdict::kNotUdp:
      return {PacketKind::kPunt, Drop::kCount};
    case FrameVerdict::kShortFrame:
      return drop(Drop::kShortFrame);
    case FrameVerdict::kBadIpHeader:
      return drop(Drop::kBadIpHeader);
    case FrameVerdict::kBadIpChecksum:
      return drop(Drop::kBadIpChecksum);
    case FrameVerdict::kBadUdpLength:
      return drop(Drop::kBadUdpLength);
    case FrameVerdict::kBadUdpChecksum:
      return drop(Drop::kBadUdpChecksum);
    case FrameVerdict::kBadSource:
      return drop(Drop::kBadSource);
  }
  return drop(Drop::kShortFrame);
}

net::ChecksumHints hints_of(const rte_mbuf& mbuf) {
  const uint64_t flags = mbuf.ol_flags;
  return {(flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD,
          (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD};
}

}  // namespace

Classified classify(const Snapshot& snapshot, const PortRef& port, Packet& packet) {
  if ((packet.mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
    if (rte_vlan_insert(&packet.mbuf) != 0) return drop(Drop::kShortFrame);
    packet.mbuf->ol_flags &= ~RTE_MBUF_F_RX_VLAN_STRIPPED;
    packet.take(packet.mbuf);
  }
  const Bytes frame(packet.data, rte_pktmbuf_data_len(packet.mbuf));
  if (frame.size() < net::kEthernetBytes) return drop(Drop::kShortFrame);
  const MacAddress destination = MacAddress::from(packet.data);
  if (destination != port.mac && !destination.is_multicast()) return drop(Drop::kWrongMac);
  // Larger than one buffer: no DNS over UDP of ours; the kernel may know it.
  if (packet.mbuf->nb_segs != 1) return {PacketKind::kPunt, Drop::kCount};

  const FrameVerdict verdict = net::parse_frame(frame, hints_of(*packet.mbuf), packet.frame);
  if (verdict == FrameVerdict::kNotUdp) return classify_not_udp(snapshot, frame, packet);
  if (verdict != FrameVerdict::kUdp) return from_verdict(verdict);

  const net::Frame& f = packet.frame;
  const bool for_service =
      f.destination_port == snapshot.listen_port && snapshot.listens_on(f.destination);
  if (for_service) {
    // Port 0 cannot be answered; one of our own addresses as the source would make a loop.
    if (f.source_port == 0 || snapshot.listens_on(f.source)) return drop(Drop::kBadSource);
    return {PacketKind::kClientQuery, Drop::kCount};
  }
  const bool for_upstream = is_from_our_source(snapshot, f.destination, f.destination_port);
  return {for_upstream ? PacketKind::kUpstreamAnswer : PacketKind::kPunt, Drop::kCount};
}

}  // namespace wirecache::worker

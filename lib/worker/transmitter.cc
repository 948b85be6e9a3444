#include "lib/worker/transmitter.h"

#include <rte_ethdev.h>

namespace wirecache::worker {

namespace {

// The mbuf's order to the device where the UDP checksum is left to it (DPDK: L2 and L3 lengths, the
// pseudo-header's sum in the field).
void order_checksum(rte_mbuf* mbuf, net::UdpChecksum checksum, uint16_t l2_bytes, IpFamily family) {
  mbuf->ol_flags = 0;
  if (checksum != net::UdpChecksum::kDevice) return;
  const bool v6 = family == IpFamily::kV6;
  mbuf->l2_len = l2_bytes;
  mbuf->l3_len = v6 ? net::kIpv6Bytes : net::kIpv4Bytes;
  mbuf->ol_flags = RTE_MBUF_F_TX_UDP_CKSUM | (v6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4);
}

void set_length(rte_mbuf* mbuf, uint16_t bytes) {
  mbuf->data_len = bytes;
  mbuf->pkt_len = bytes;
}

}  // namespace

Transmitter::Transmitter(Node& node, unsigned worker)
    : node_(node), worker_(worker), stats_(node.stats(worker)), batches_(node.ports().size()) {}

Transmitter::~Transmitter() {
  for (Batch& batch : batches_) rte_pktmbuf_free_bulk(batch.mbufs.data(), batch.count);
}

void Transmitter::send(rte_mbuf* mbuf, uint8_t port_index, TransmitTag tag) {
  if (node_.plan().transmit[worker_][port_index] == QueuePlan::kNoQueue) {
    relay(mbuf, port_index, tag);
    return;
  }
  Batch& batch = batches_[port_index];
  batch.mbufs[batch.count] = mbuf;
  batch.tags[batch.count] = tag;
  if (++batch.count == kBatch) flush_port(port_index);
}

void Transmitter::reply(Packet& packet, uint16_t message_bytes, dns::Rcode rcode) {
  const net::UdpChecksum checksum = node_.port(packet.port_index).udp_checksum;
  set_length(packet.mbuf,
             net::make_reply_frame(packet.data, packet.frame, message_bytes, checksum));
  order_checksum(packet.mbuf, checksum, packet.frame.l3_offset, packet.frame.source.family);
  send(packet.mbuf, packet.port_index, tag_of(rcode));
}

void Transmitter::send_datagram(rte_mbuf* mbuf, net::DatagramHeaders headers,
                                uint16_t payload_bytes, uint8_t port_index, TransmitTag tag) {
  const PortRef& port = node_.port(port_index);
  headers.source_mac = port.mac;
  headers.udp_checksum = port.udp_checksum;
  set_length(mbuf, net::write_datagram(rte_pktmbuf_mtod(mbuf, uint8_t*), headers, payload_bytes));
  order_checksum(mbuf, headers.udp_checksum, headers.l2_bytes(), headers.source.family);
  send(mbuf, port_index, tag);
}

void Transmitter::relay(rte_mbuf* mbuf, uint8_t port_index, TransmitTag tag) {
  Handover& handover = handover_of(mbuf);
  handover.kind = HandoverKind::kTransmit;
  handover.port_index = port_index;
  handover.tag = tag;
  if (!node_.rings().push(worker_, node_.plan().relay[worker_][port_index], mbuf)) {
    rte_pktmbuf_free(mbuf);
    count_dropped(port_index, tag);
  } else if (port_index == node_.stream_port()) {
    count_sent(port_index,
               tag);  // a worker that relays counts itself; the stream service counts on its own
  }
}

bool Transmitter::has_room(uint8_t port_index) const {
  return node_.plan().transmit[worker_][port_index] != QueuePlan::kNoQueue ||
         node_.rings().room(worker_, node_.plan().relay[worker_][port_index]) != 0;
}

bool Transmitter::has_room_everywhere() const {
  for (size_t port = 0; port < batches_.size(); ++port) {
    if (!has_room(static_cast<uint8_t>(port))) return false;
  }
  return true;
}

void Transmitter::flush() {
  for (size_t port = 0; port < batches_.size(); ++port) {
    if (batches_[port].count != 0) flush_port(port);
  }
}

void Transmitter::flush_port(size_t port_index) {
  Batch& batch = batches_[port_index];
  const auto queue = static_cast<uint16_t>(node_.plan().transmit[worker_][port_index]);
  const uint16_t sent =
      rte_eth_tx_burst(node_.ports()[port_index].ethdev_id, queue, batch.mbufs.data(), batch.count);
  const auto index = static_cast<uint8_t>(port_index);
  for (uint16_t i = 0; i < sent; ++i) count_sent(index, batch.tags[i]);
  for (uint16_t i = sent; i < batch.count; ++i) {
    rte_pktmbuf_free(batch.mbufs[i]);
    count_dropped(index, batch.tags[i]);
  }
  batch.count = 0;
}

void Transmitter::count_sent(uint8_t port_index, TransmitTag tag) {
  stats_.ports[port_index].sent.add();
  if (tag < stats::kRcodes) {
    stats_.responses[tag].add();
  } else if (tag == kTagFromKernel) {
    stats_.kernel_packets_sent.add();
  } else {
    stats_.servers[tag - kTagUpstreamQuery].events[stats::Upstream::kQuerySent].add();
  }
}

void Transmitter::count_dropped(uint8_t port_index, TransmitTag tag) {
  stats_.ports[port_index].send_dropped.add();
  if (tag < stats::kRcodes) {
    stats_.query_drops[stats::QueryDrop::kTxFull].add();
  } else if (tag == kTagFromKernel) {
    stats_.kernel_packets_dropped.add();
  } else {
    stats_.servers[tag - kTagUpstreamQuery].events[stats::Upstream::kUnreachable].add();
  }
}

}  // namespace wirecache::worker

#include "app/bridge.h"

#include <rte_ethdev.h>

#include <array>

namespace wirecache::app {
namespace {

constexpr unsigned kBurst = 32;

}  // namespace

bool Bridge::step() {
  bool busy = false;
  std::array<rte_mbuf*, kBurst> urgent;
  for (unsigned worker = 0; worker < node_.workers(); ++worker) {
    const unsigned count = node_.rings().pop_urgent(worker, urgent.data(), kBurst);
    for (unsigned i = 0; i < count; ++i) give_to_kernel(urgent[i]);
    busy |= count != 0;
  }
  for (unsigned worker = 0; worker < node_.workers(); ++worker) busy |= to_kernel(worker);
  for (size_t port = 0; port < exception_ports_.size(); ++port) busy |= from_kernel(port);
  return busy;
}

bool Bridge::to_kernel(unsigned from_worker) {
  std::array<rte_mbuf*, kBurst> mbufs;
  const unsigned count = node_.rings().pop(from_worker, node_.main_lcore(), mbufs.data(), kBurst);
  for (unsigned i = 0; i < count; ++i) {
    // Only replies to queries of the stream service are sent by way of main.
    const bool reply = worker::handover_of(mbufs[i]).kind == worker::HandoverKind::kTransmit;
    if (reply && stream_ != nullptr) {
      stream_->reply(mbufs[i]);
    } else {
      give_to_kernel(mbufs[i]);
    }
  }
  return count != 0;
}

void Bridge::give_to_kernel(rte_mbuf* mbuf) {
  const uint8_t port = worker::handover_of(mbuf).port_index;
  mbuf->ol_flags = 0;  // what the NIC found out on reception is no order for transmission
  const uint16_t taken = exception_ports_[port].to_kernel(&mbuf, 1);
  stats_.to_kernel.add(taken);
  stats_.to_kernel_dropped.add(1u - taken);
}

bool Bridge::from_kernel(size_t port_index) {
  std::array<rte_mbuf*, kBurst> mbufs;
  const uint16_t count = exception_ports_[port_index].from_kernel(mbufs.data(), kBurst);
  for (uint16_t i = 0; i < count; ++i) mbufs[i]->ol_flags = 0;
  const uint16_t sent = transmit(port_index, mbufs.data(), count);
  stats_.from_kernel.add(sent);
  stats_.from_kernel_dropped.add(static_cast<uint64_t>(count - sent));
  for (uint16_t i = sent; i < count; ++i) rte_pktmbuf_free(mbufs[i]);
  return count != 0;
}

uint16_t Bridge::transmit(size_t port_index, rte_mbuf** mbufs, uint16_t count) {
  const worker::PortRef& port = node_.ports()[port_index];
  if (port.main_queue != worker::PortRef::kNoQueue)
    return rte_eth_tx_burst(port.ethdev_id, static_cast<uint16_t>(port.main_queue), mbufs, count);
  const unsigned worker = node_.plan().relay[0][port_index];
  for (uint16_t i = 0; i < count; ++i) {
    worker::Handover& handover = worker::handover_of(mbufs[i]);
    handover.kind = worker::HandoverKind::kTransmit;
    handover.port_index = static_cast<uint8_t>(port_index);
    handover.tag = worker::kTagFromKernel;
    if (!node_.rings().push(node_.main_lcore(), worker, mbufs[i])) return i;
  }
  return count;
}

}  // namespace wirecache::app

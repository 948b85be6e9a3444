#include "app/bridge.h"

#include <array>

namespace wirecache::app {
namespace {

constexpr unsigned kBurst = 32;

}  // namespace

bool Bridge::step() {
  bool busy = false;
  for (unsigned worker = 0; worker < node_.workers(); ++worker) busy |= to_kernel(worker);
  for (size_t port = 0; port < exception_ports_.size(); ++port) busy |= from_kernel(port);
  return busy;
}

bool Bridge::to_kernel(unsigned from_worker) {
  std::array<rte_mbuf*, kBurst> mbufs;
  const unsigned count = node_.rings().pop(from_worker, node_.main_lcore(), mbufs.data(), kBurst);
  for (unsigned i = 0; i < count; ++i) {
    const uint8_t port = worker::handover_of(mbufs[i]).port_index;
    mbufs[i]->ol_flags = 0;  // what the NIC found out on reception is no order for transmission
    const uint16_t taken = exception_ports_[port].to_kernel(&mbufs[i], 1);
    stats_.to_kernel.add(taken);
    stats_.to_kernel_dropped.add(1u - taken);
  }
  return count != 0;
}

bool Bridge::from_kernel(size_t port_index) {
  std::array<rte_mbuf*, kBurst> mbufs;
  const uint16_t count = exception_ports_[port_index].from_kernel(mbufs.data(), kBurst);
  const unsigned worker = node_.plan().relay[0][port_index];
  for (uint16_t i = 0; i < count; ++i) {
    mbufs[i]->ol_flags = 0;
    worker::Handover& handover = worker::handover_of(mbufs[i]);
    handover.kind = worker::HandoverKind::kTransmit;
    handover.port_index = static_cast<uint8_t>(port_index);
    handover.tag = worker::kTagFromKernel;
    if (node_.rings().push(node_.main_lcore(), worker, mbufs[i])) {
      stats_.from_kernel.add();
    } else {
      rte_pktmbuf_free(mbufs[i]);
      stats_.from_kernel_dropped.add();
    }
  }
  return count != 0;
}

}  // namespace wirecache::app

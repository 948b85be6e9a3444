#include "lib/worker/handover.h"

namespace wirecache::worker {
namespace {

void free_ring(rte_ring* ring) {
  if (ring == nullptr) return;
  void* mbuf = nullptr;
  while (rte_ring_sc_dequeue(ring, &mbuf) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(mbuf));
  rte_ring_free(ring);
}

}  // namespace

rte_ring* HandoverRings::make_ring(const std::string& name, unsigned slots, int numa_node) {
  return rte_ring_create(name.c_str(), slots, numa_node,
                         RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

Expected<std::unique_ptr<HandoverRings>> HandoverRings::create(const std::string& name,
                                                               unsigned lcores, int numa_node) {
  std::unique_ptr<HandoverRings> rings(new HandoverRings(lcores));
  bool complete = true;
  for (unsigned from = 0; from < lcores; ++from) {
    const std::string from_name = name + "-" + std::to_string(from) + "-";
    for (unsigned to = 0; to < lcores; ++to) {
      if (from == to) continue;
      rte_ring*& ring = rings->rings_[from * lcores + to];
      ring = make_ring(from_name + std::to_string(to), slots(lcores), numa_node);
      complete &= ring != nullptr;
    }
    if (from + 1 == lcores) continue;
    rings->urgent_[from] = make_ring(from_name + "urgent", kUrgentSlots, numa_node);
    complete &= rings->urgent_[from] != nullptr;
  }
  if (!complete)
    return fail("no memory for the rings between " + std::to_string(lcores) + " cores");
  return rings;
}

HandoverRings::~HandoverRings() {
  for (rte_ring* ring : rings_) free_ring(ring);
  for (rte_ring* ring : urgent_) free_ring(ring);
}

unsigned HandoverRings::waiting_for(unsigned to) const {
  unsigned count = 0;
  for (unsigned from = 0; from < lcores_; ++from) {
    if (from != to) count += rte_ring_count(rings_[from * lcores_ + to]);
  }
  if (to + 1 != lcores_) return count;
  for (const rte_ring* ring : urgent_) count += rte_ring_count(ring);
  return count;
}

unsigned HandoverRings::capacity_towards(unsigned to) const {
  const unsigned urgent = to + 1 == lcores_ ? (lcores_ - 1) * kUrgentSlots : 0;
  return (lcores_ - 1) * slots(lcores_) + urgent;
}

}  // namespace wirecache::worker

#include "lib/worker/handover.h"

namespace wirecache::worker {

Expected<std::unique_ptr<HandoverRings>> HandoverRings::create(const std::string& name,
                                                               unsigned lcores, int numa_node) {
  std::unique_ptr<HandoverRings> rings(new HandoverRings(lcores));
  for (unsigned from = 0; from < lcores; ++from) {
    for (unsigned to = 0; to < lcores; ++to) {
      if (from == to) continue;
      const std::string ring_name = name + "-" + std::to_string(from) + "-" + std::to_string(to);
      rte_ring* ring = rte_ring_create(ring_name.c_str(), slots(lcores), numa_node,
                                       RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
      if (ring == nullptr)
        return fail("no memory for the rings between " + std::to_string(lcores) + " cores");
      rings->rings_[from * lcores + to] = ring;
    }
  }
  return rings;
}

HandoverRings::~HandoverRings() {
  for (rte_ring* ring : rings_) {
    if (ring == nullptr) continue;
    void* mbuf = nullptr;
    while (rte_ring_sc_dequeue(ring, &mbuf) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(mbuf));
    rte_ring_free(ring);
  }
}

}  // namespace wirecache::worker

#include "lib/worker/handover.h"

#include <rte_malloc.h>

namespace wirecache::worker {
namespace {

void drain(rte_ring* ring) {
  if (ring == nullptr) return;
  void* mbuf = nullptr;
  while (rte_ring_sc_dequeue(ring, &mbuf) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(mbuf));
}

// A ring that holds exactly `slots` has room for the next power of two above.
size_t ring_bytes(unsigned slots) {
  const ssize_t bytes = rte_ring_get_memsize(rte_align32pow2(slots + 1));
  return RTE_ALIGN_CEIL(static_cast<size_t>(bytes), size_t{RTE_CACHE_LINE_SIZE});
}

rte_ring* init_ring(uint8_t* memory, const std::string& name, unsigned slots) {
  auto* ring = reinterpret_cast<rte_ring*>(memory);
  constexpr unsigned kFlags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;
  return rte_ring_init(ring, name.c_str(), slots, kFlags) == 0 ? ring : nullptr;
}

}  // namespace

Expected<std::unique_ptr<HandoverRings>> HandoverRings::create(const std::string& name,
                                                               unsigned lcores, int numa_node) {
  std::unique_ptr<HandoverRings> rings(new HandoverRings(lcores));
  const size_t pair_bytes = ring_bytes(slots(lcores));
  const size_t urgent_bytes = ring_bytes(kUrgentSlots);
  const size_t bytes = (pair_bytes * lcores + urgent_bytes) * (lcores - 1);
  rings->memory_ = static_cast<uint8_t*>(
      rte_zmalloc_socket(name.c_str(), bytes, RTE_CACHE_LINE_SIZE, numa_node));
  bool complete = rings->memory_ != nullptr;
  uint8_t* next = rings->memory_;
  const auto take = [&](const std::string& ring_name, unsigned ring_slots, size_t ring_size) {
    rte_ring* ring = complete ? init_ring(next, ring_name, ring_slots) : nullptr;
    complete &= ring != nullptr;
    next += ring_size;
    return ring;
  };
  for (unsigned from = 0; from < lcores; ++from) {
    const std::string from_name = name + "-" + std::to_string(from) + "-";
    for (unsigned to = 0; to < lcores; ++to) {
      if (from == to) continue;
      rings->rings_[from * lcores + to] =
          take(from_name + std::to_string(to), slots(lcores), pair_bytes);
    }
    if (from + 1 != lcores)
      rings->urgent_[from] = take(from_name + "urgent", kUrgentSlots, urgent_bytes);
  }
  if (!complete)
    return fail("no memory for the rings between " + std::to_string(lcores) + " cores");
  return rings;
}

HandoverRings::~HandoverRings() {
  for (rte_ring* ring : rings_) drain(ring);
  for (rte_ring* ring : urgent_) drain(ring);
  rte_free(memory_);
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

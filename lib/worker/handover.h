// What travels with an mbuf from one lcore to another, in its private area, and the rings that
// carry it.
//
// One single-producer single-consumer ring per ordered pair of lcores (workers, and main as the
// last), and a small one from each to main for what must not wait behind a flood of other punts:
// ARP and NDP, without which no upstream can be reached. Invariant: an mbuf in a ring belongs to
// the receiver; a Handover is written by the sender just before and read by the receiver just
// after. A full ring never blocks: the sender keeps the mbuf and decides.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/dns/query.h"
#include "lib/net/frame.h"
#include "lib/stats/worker_stats.h"

namespace wirecache::worker {

enum class HandoverKind : uint8_t {
  kQuery,        // a client's query that nobody has looked at: frame, arrived and port_index
  kLookup,       // an admitted query for the owner of its key: query as well
  kMiss,         // the same, not found in the cache
  kAnswer,       // an upstream's answer for the owner of its port: frame and arrived are set
  kUnreachable,  // an ICMP error about an upstream query, for the owner of the query's port
  kPunt,         // for the kernel: port_index is set
  kTransmit,     // a whole frame to send: port_index and tag are set
};

// What a frame to be sent is, for the counters: a response's rcode, a query to the upstream server
// in this place, or the kernel's own.
using TransmitTag = uint8_t;
inline constexpr TransmitTag kTagUpstreamQuery = 0xc0;  // of server 0, and so on
inline constexpr TransmitTag kTagFromKernel = 0xff;
static_assert(kTagUpstreamQuery >= stats::kRcodes);
static_assert(kTagUpstreamQuery + config::kMaxServers <= kTagFromKernel);

struct Handover {
  HandoverKind kind;
  uint8_t port_index;
  TransmitTag tag;
  TscTime arrived;
  dns::Query query;
  net::Frame frame;
};
inline constexpr unsigned kHandoverBytes = (sizeof(Handover) + 7) / 8 * 8;  // RTE_MBUF_PRIV_ALIGN

inline Handover& handover_of(rte_mbuf* mbuf) {
  return *static_cast<Handover*>(rte_mbuf_to_priv(mbuf));
}

class HandoverRings {
 public:
  // Slots of each ring: fewer where there are many rings, for every slot may hold an mbuf.
  static unsigned slots(unsigned lcores) {
    constexpr unsigned kMost = 1024;
    constexpr unsigned kLeast = 64;
    return std::clamp(std::bit_floor(8192 / lcores), kLeast, kMost);
  }

  static constexpr unsigned kUrgentSlots = 64;

  // `lcores` participants on one NUMA node, main the last; `name` is unique in the process.
  static Expected<std::unique_ptr<HandoverRings>> create(const std::string& name, unsigned lcores,
                                                         int numa_node);
  ~HandoverRings();
  HandoverRings(const HandoverRings&) = delete;
  HandoverRings& operator=(const HandoverRings&) = delete;

  // The most mbufs that all rings hold together, for sizing the pool.
  static unsigned mbufs_held(unsigned lcores) {
    return lcores * (lcores - 1) * slots(lcores) + (lcores - 1) * kUrgentSlots;
  }

  // False: full, the caller still owns the mbuf.
  [[nodiscard]] bool push(unsigned from, unsigned to, rte_mbuf* mbuf) {
    return rte_ring_sp_enqueue(ring(from, to), mbuf) == 0;
  }
  unsigned pop(unsigned from, unsigned to, rte_mbuf** out, unsigned max) {
    return rte_ring_sc_dequeue_burst(ring(from, to), reinterpret_cast<void**>(out), max, nullptr);
  }
  // The same from a worker to main, taken out before everything else.
  [[nodiscard]] bool push_urgent(unsigned from, rte_mbuf* mbuf) {
    return rte_ring_sp_enqueue(urgent_[from], mbuf) == 0;
  }
  unsigned pop_urgent(unsigned from, rte_mbuf** out, unsigned max) {
    return rte_ring_sc_dequeue_burst(urgent_[from], reinterpret_cast<void**>(out), max, nullptr);
  }
  // Sender: how many more push() would take now.
  unsigned room(unsigned from, unsigned to) const {
    return rte_ring_free_count(rings_[from * lcores_ + to]);
  }
  unsigned lcores() const { return lcores_; }
  // Any thread, for the metrics: what waits in all rings to one lcore, and how much could.
  unsigned waiting_for(unsigned to) const;
  unsigned capacity_towards(unsigned to) const;

 private:
  explicit HandoverRings(unsigned lcores)
      : lcores_(lcores), rings_(lcores * lcores), urgent_(lcores - 1) {}
  rte_ring* ring(unsigned from, unsigned to) { return rings_[from * lcores_ + to]; }

  unsigned lcores_;
  uint8_t* memory_ = nullptr;      // of all rings: 64 workers have more than DPDK has memzones
  std::vector<rte_ring*> rings_;   // nullptr from an lcore to itself
  std::vector<rte_ring*> urgent_;  // by worker, to main
};

}  // namespace wirecache::worker

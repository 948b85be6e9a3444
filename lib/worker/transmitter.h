// Last stage: collects the frames of a round per port and sends them in bursts, on the worker's own
// queue or, where it has none on that port, through a ring to a worker that has.
//
// Invariant: every frame given to send() is sent, handed over or freed, and counted as what it is.
// Never waits: what a full queue does not take is freed at once. Owner: one worker.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <vector>

#include "lib/dns/types.h"
#include "lib/worker/handover.h"
#include "lib/worker/node.h"
#include "lib/worker/packet.h"

namespace wirecache::worker {

class Transmitter {
 public:
  Transmitter(Node& node, unsigned worker);
  ~Transmitter();  // frees what was not flushed
  Transmitter(const Transmitter&) = delete;
  Transmitter& operator=(const Transmitter&) = delete;

  // Takes the mbuf, a whole frame.
  void send(rte_mbuf* mbuf, uint8_t port_index, TransmitTag tag);
  // Writes the headers of a datagram whose `payload_bytes` already stand behind them in `mbuf`, and
  // sends it. The port's MAC becomes the source.
  void send_datagram(rte_mbuf* mbuf, net::DatagramHeaders headers, uint16_t payload_bytes,
                     uint8_t port_index, TransmitTag tag);
  // Turns `packet` round into its reply, whose `message_bytes` stand where its payload was, and
  // sends it.
  void reply(Packet& packet, uint16_t message_bytes, dns::Rcode rcode);
  void flush();
  // Whether a frame sent now would not be lost on the way to the worker that sends for this one.
  // One's own queue is only known to be full when it is flushed.
  bool has_room(uint8_t port_index) const;
  bool has_room_everywhere() const;

 private:
  static constexpr uint16_t kBatch = 64;
  struct Batch {
    uint16_t count = 0;
    std::array<rte_mbuf*, kBatch> mbufs;
    std::array<TransmitTag, kBatch> tags;
  };

  void flush_port(size_t port_index);
  void relay(rte_mbuf* mbuf, uint8_t port_index, TransmitTag tag);
  void count_sent(uint8_t port_index, TransmitTag tag);
  void count_dropped(uint8_t port_index, TransmitTag tag);

  Node& node_;
  unsigned worker_;
  stats::WorkerStats& stats_;
  std::vector<Batch> batches_;  // by port
};

inline TransmitTag tag_of(dns::Rcode rcode) {
  return static_cast<TransmitTag>(rcode);
}
inline TransmitTag tag_of_query_to(uint8_t server) {
  return static_cast<TransmitTag>(kTagUpstreamQuery + server);
}

}  // namespace wirecache::worker

// DNS over UDP for what reaches the kernel anyway: the machine's own queries, over loopback or to
// its own addresses, and what the kernel put together from fragments.
//
//   kernel socket ─▶ a frame in an mbuf ─ring─▶ a worker, as any client's query
//                                                  └─▶ its reply's frame ─ring─▶ main ─▶ the socket
//
// Only the addresses of [listen] and, where it says so, 127.0.0.1 and ::1 have a socket. Invariant:
// no call blocks or keeps an mbuf; what can't be passed on at once is dropped and counted.
// Thread: main only, as main's producer of the node's rings. Node and stats outlive it.
#pragma once

#include <rte_mbuf.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/net/frame.h"
#include "lib/stats/stream_stats.h"
#include "lib/stream/endpoint.h"
#include "lib/stream/udp_sockets.h"
#include "lib/worker/node.h"

namespace wirecache::stream {

class UdpService {
 public:
  // Binds the sockets; the addresses have to be on the host by now. Error: one line, "cannot listen
  // on 192.0.2.53:53: Address already in use".
  static Expected<std::unique_ptr<UdpService>> start(worker::Node& node,
                                                     const config::ListenConfig& listen,
                                                     stats::StreamStats& stats);
  UdpService(const UdpService&) = delete;
  UdpService& operator=(const UdpService&) = delete;

  // Loopback addresses that are not served because another program has them, a line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Hands the datagrams that are there now to the workers as HandoverKind::kQuery with
  // port_index = node.stream_port(); bounded (UdpSockets). Whether there were any.
  bool poll(TscTime now);

  // Sends the reply that a worker handed back with that port_index, and frees the mbuf. `mbuf`
  // holds a whole frame: source and destination are the query's, changed over.
  void reply(rte_mbuf* mbuf);

 private:
  UdpService(worker::Node& node, stats::StreamStats& stats);

  void receive(const Endpoint& local, const Endpoint& client, Bytes message);
  rte_mbuf* make_query(const Endpoint& local, const Endpoint& client, Bytes message);
  void send(const net::Frame& frame, Bytes message);

  worker::Node& node_;
  stats::StreamStats& stats_;
  UdpSockets sockets_;
  std::vector<std::string> warnings_;
  size_t frame_room_bytes_;
  unsigned next_worker_ = 0;
  TscTime now_;
};

}  // namespace wirecache::stream

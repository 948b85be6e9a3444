// Carries packets of one NUMA node between the workers' rings and the exception ports, and the
// workers' replies to the stream service.
//
// Every step is bounded: one burst a ring and a TAP; ARP and NDP go first. Thread: main only; it is
// the last lcore among the rings.
#pragma once

#include <vector>

#include "lib/port/exception_port.h"
#include "lib/stats/worker_stats.h"
#include "lib/stream/udp_service.h"
#include "lib/worker/node.h"

namespace wirecache::app {

class Bridge {
 public:
  // One exception port per port of the node, in order.
  Bridge(worker::Node& node, std::vector<port::ExceptionPort> exception_ports,
         stats::ExceptionStats& stats)
      : node_(node), exception_ports_(std::move(exception_ports)), stats_(stats) {}

  // The service that hands queries to this node's workers; it outlives the last step().
  void set_stream(stream::UdpService* stream) { stream_ = stream; }
  // Moves what is there now; whether there was anything.
  bool step();

 private:
  bool to_kernel(unsigned from_worker);
  void give_to_kernel(rte_mbuf* mbuf);
  bool from_kernel(size_t port_index);
  // The kernel's packets to the wire: how many found room, from the first on.
  uint16_t transmit(size_t port_index, rte_mbuf** mbufs, uint16_t count);

  worker::Node& node_;
  std::vector<port::ExceptionPort> exception_ports_;
  stats::ExceptionStats& stats_;
  stream::UdpService* stream_ = nullptr;
};

}  // namespace wirecache::app

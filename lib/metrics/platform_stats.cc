#include "lib/metrics/platform_stats.h"

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <algorithm>

namespace wirecache::metrics {
namespace {

static_assert(DriverSample::kMaxQueues == RTE_ETHDEV_QUEUE_STAT_CNTRS);

// A driver that can't tell now leaves the last sample standing.
void sample_driver(uint16_t ethdev_id, DriverSample& out) {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(ethdev_id, &stats) != 0) return;
  out.received_packets.set(stats.ipackets);
  out.received_bytes.set(stats.ibytes);
  out.sent_packets.set(stats.opackets);
  out.sent_bytes.set(stats.obytes);
  out.missed_packets.set(stats.imissed);
  out.receive_errors.set(stats.ierrors);
  out.send_errors.set(stats.oerrors);
  out.no_mbuf.set(stats.rx_nombuf);
  for (size_t q = 0; q < out.queue_count; ++q) {
    out.queues[q].received_packets.set(stats.q_ipackets[q]);
    out.queues[q].sent_packets.set(stats.q_opackets[q]);
    out.queues[q].errors.set(stats.q_errors[q]);
  }
}

void sample_rings(const worker::HandoverRings& rings, unsigned to, RingSample& out) {
  out.entries.set(rings.waiting_for(to));
  out.capacity.set(rings.capacity_towards(to));
}

void sample_node(worker::Node& node, NodeSample& out) {
  out.mbufs.set(node.pool()->size);
  out.mbufs_in_use.set(rte_mempool_in_use_count(node.pool()));
  for (size_t port = 0; port < out.ports.size(); ++port)
    sample_driver(node.ports()[port].ethdev_id, out.ports[port]);
  for (unsigned to = 0; to < node.rings().lcores(); ++to)
    sample_rings(node.rings(), to, out.rings[to]);
}

}  // namespace

PlatformStats::PlatformStats(const std::vector<worker::Node*>& nodes)
    : nodes_(nodes), samples_(nodes.size()) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const std::vector<worker::PortRef>& ports = nodes_[i]->ports();
    samples_[i].ports = std::vector<DriverSample>(ports.size());
    for (size_t port = 0; port < ports.size(); ++port) {
      samples_[i].ports[port].queue_count =
          std::min<size_t>(std::max(ports[port].queues.receive, ports[port].queues.transmit),
                           DriverSample::kMaxQueues);
    }
    samples_[i].rings = std::vector<RingSample>(nodes_[i]->rings().lcores());
  }
  sample();
}

void PlatformStats::sample() {
  for (size_t i = 0; i < nodes_.size(); ++i) sample_node(*nodes_[i], samples_[i]);
}

void PlatformStats::note_routes(size_t node, const upstream::RouteTable& table) {
  for (size_t server = 0; server < table.count; ++server) {
    const upstream::ServerRoute& route = table.servers[server];
    samples_[node].routes[server].set(route.usable ? route.port_index + 1u : 0u);
  }
}

}  // namespace wirecache::metrics

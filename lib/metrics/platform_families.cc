#include "lib/metrics/platform_families.h"

namespace wirecache::metrics {
namespace {

using prometheus::MetricFamily;
using stats::Counter;
using stats::ExceptionStats;
using stats::StreamStats;

template <typename Owner>
struct CounterSeries {
  std::string_view name;
  std::string_view help;
  Counter Owner::*counter;
};

constexpr CounterSeries<DriverSample> kDriverCounters[] = {
    {"driver_received_packets_total", "Packets that the port's driver received",
     &DriverSample::received_packets},
    {"driver_received_bytes_total", "Bytes that the port's driver received",
     &DriverSample::received_bytes},
    {"driver_sent_packets_total", "Packets that the port's driver sent",
     &DriverSample::sent_packets},
    {"driver_sent_bytes_total", "Bytes that the port's driver sent", &DriverSample::sent_bytes},
    {"driver_missed_packets_total",
     "Packets that the port dropped because no receive descriptor was free",
     &DriverSample::missed_packets},
    {"driver_receive_errors_total", "Packets that the port received in error",
     &DriverSample::receive_errors},
    {"driver_send_errors_total", "Packets that the port failed to send",
     &DriverSample::send_errors},
    {"driver_no_mbuf_total", "Times that the driver found the packet pool empty",
     &DriverSample::no_mbuf},
};

constexpr CounterSeries<DriverQueueSample> kQueueCounters[] = {
    {"driver_queue_received_packets_total", "Packets received, by the port's receive queue",
     &DriverQueueSample::received_packets},
    {"driver_queue_sent_packets_total", "Packets sent, by the port's transmit queue",
     &DriverQueueSample::sent_packets},
    {"driver_queue_errors_total", "Received packets that the driver dropped, by receive queue",
     &DriverQueueSample::errors},
};

constexpr CounterSeries<NodeSample> kNodeGauges[] = {
    {"mbufs", "Packet buffers of the node's pool", &NodeSample::mbufs},
    {"mbufs_in_use", "Packet buffers in queues, rings and hands", &NodeSample::mbufs_in_use},
};

constexpr CounterSeries<RingSample> kRingGauges[] = {
    {"ring_entries", "Packets in the rings to one receiver, a worker or main",
     &RingSample::entries},
    {"ring_capacity", "Packets that fit in the rings to one receiver", &RingSample::capacity},
};

constexpr CounterSeries<ExceptionStats> kExceptionCounters[] = {
    {"exception_to_kernel_packets_total", "Punted packets that the kernel took",
     &ExceptionStats::to_kernel},
    {"exception_to_kernel_dropped_packets_total", "Punted packets that the kernel did not take",
     &ExceptionStats::to_kernel_dropped},
    {"exception_from_kernel_packets_total", "Packets that the kernel sent",
     &ExceptionStats::from_kernel},
    {"exception_from_kernel_dropped_packets_total",
     "Packets that the kernel sent and for which the ring to a worker was full",
     &ExceptionStats::from_kernel_dropped},
};

constexpr CounterSeries<StreamStats> kStreamCounters[] = {
    {"stream_datagrams_received_total", "Datagrams taken from the kernel's sockets",
     &StreamStats::received},
    {"stream_queries_total", "Of these: handed to a worker", &StreamStats::queries},
    {"stream_replies_total", "Replies to the kernel's sockets that workers handed back",
     &StreamStats::replies},
    {"stream_datagrams_sent_total", "Of these: datagrams that the kernel took", &StreamStats::sent},
};

template <typename Enum>
void add_reasons(Families& out, std::pair<std::string_view, std::string_view> name_and_help,
                 std::span<const stats::Name> reasons, const stats::CounterArray<Enum>& counters) {
  prometheus::MetricFamily& family =
      add_counters(out, name_and_help.first, help_from(name_and_help.second, reasons));
  for (size_t i = 0; i < reasons.size(); ++i)
    add_value(family, {{"reason", reasons[i].label}}, counters[static_cast<Enum>(i)]);
}

void add_drivers(Families& out, const Sources& sources) {
  const std::vector<NodeSample>& samples = *sources.platform;
  for (const auto& [name, help, counter] : kDriverCounters) {
    MetricFamily& family = add_counters(out, name, help);
    for (size_t node = 0; node < samples.size(); ++node) {
      for (size_t port = 0; port < samples[node].ports.size(); ++port)
        add_value(family, {{"port", sources.nodes[node].ports[port]}},
                  samples[node].ports[port].*counter);
    }
  }
}

void add_driver_queues(MetricFamily& family, std::string_view port, const DriverSample& driver,
                       Counter DriverQueueSample::*counter) {
  for (size_t queue = 0; queue < driver.queue_count; ++queue)
    add_value(family, {{"port", port}, {"queue", std::to_string(queue)}},
              driver.queues[queue].*counter);
}

void add_queues(Families& out, const Sources& sources) {
  const std::vector<NodeSample>& samples = *sources.platform;
  for (const auto& [name, help, counter] : kQueueCounters) {
    MetricFamily& family = add_counters(out, name, help);
    for (size_t node = 0; node < samples.size(); ++node) {
      for (size_t port = 0; port < samples[node].ports.size(); ++port)
        add_driver_queues(family, sources.nodes[node].ports[port], samples[node].ports[port],
                          counter);
    }
  }
}

void add_pools(Families& out, const Sources& sources) {
  const std::vector<NodeSample>& samples = *sources.platform;
  for (const auto& [name, help, gauge] : kNodeGauges) {
    MetricFamily& family = add_gauges(out, name, help);
    for (size_t node = 0; node < samples.size(); ++node)
      add_value(family, {{"node", sources.nodes[node].label}}, samples[node].*gauge);
  }
}

// By receiver of each node: its workers by their global numbers, then main.
std::vector<std::vector<std::string>> receivers(const Sources& sources) {
  std::vector<std::vector<std::string>> labels(sources.nodes.size());
  for (const WorkerSource& worker : sources.workers)
    labels[worker.node].push_back(std::to_string(worker.id));
  for (std::vector<std::string>& node : labels) node.emplace_back("main");
  return labels;
}

void add_rings(Families& out, const Sources& sources) {
  const std::vector<NodeSample>& samples = *sources.platform;
  const std::vector<std::vector<std::string>> labels = receivers(sources);
  for (const auto& [name, help, gauge] : kRingGauges) {
    MetricFamily& family = add_gauges(out, name, help);
    for (size_t node = 0; node < samples.size(); ++node) {
      for (size_t to = 0; to < samples[node].rings.size(); ++to)
        add_value(family, {{"node", sources.nodes[node].label}, {"receiver", labels[node][to]}},
                  samples[node].rings[to].*gauge);
    }
  }
}

void add_routes(Families& out, const Sources& sources) {
  const std::vector<NodeSample>& samples = *sources.platform;
  MetricFamily& usable =
      add_gauges(out, "upstream_usable", "1 where the next hop to the server is known to the node");
  for (size_t node = 0; node < samples.size(); ++node) {
    for (size_t server = 0; server < sources.servers.size(); ++server)
      add_value(usable, {{"node", sources.nodes[node].label}, {"server", sources.servers[server]}},
                samples[node].routes[server].value() != 0);
  }
  MetricFamily& info =
      add_gauges(out, "upstream_route_info",
                 "Always 1; the port by which the node reaches the server is in the label");
  for (size_t node = 0; node < samples.size(); ++node) {
    const std::vector<std::string>& ports = sources.nodes[node].ports;
    for (size_t server = 0; server < sources.servers.size(); ++server) {
      const uint64_t route = samples[node].routes[server].value();
      if (route == 0 || route > ports.size()) continue;
      add_value(info,
                {{"node", sources.nodes[node].label},
                 {"server", sources.servers[server]},
                 {"port", ports[route - 1]}},
                1);
    }
  }
}

}  // namespace

void add_platform_families(Families& out, const Sources& sources) {
  add_drivers(out, sources);
  add_queues(out, sources);
  add_pools(out, sources);
  add_rings(out, sources);
  add_routes(out, sources);
}

void add_limit_families(Families& out, const Sources& sources) {
  add_value(add_gauges(out, "waiting_clients_limit", "Clients that may wait, of each worker"), {},
            sources.max_waiting);
  add_value(add_gauges(out, "pending_questions_limit",
                       "Questions that may be asked upstream at a time, by each worker"),
            {}, sources.max_pending);
}

void add_exception_families(Families& out, const ExceptionStats& exception) {
  for (const auto& [name, help, counter] : kExceptionCounters)
    add_value(add_counters(out, name, help), {}, exception.*counter);
}

void add_stream_families(Families& out, const StreamStats& stream) {
  for (const auto& [name, help, counter] : kStreamCounters)
    add_value(add_counters(out, name, help), {}, stream.*counter);
  add_reasons(out, {"stream_query_drops_total", "Datagrams from the kernel's sockets dropped"},
              stats::kStreamQueryDropNames, stream.query_drops);
  add_reasons(out, {"stream_reply_drops_total", "Replies to the kernel's sockets not sent"},
              stats::kStreamReplyDropNames, stream.reply_drops);
}

}  // namespace wirecache::metrics

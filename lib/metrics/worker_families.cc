#include "lib/metrics/worker_families.h"

#include <algorithm>
#include <iterator>

#include "lib/config/config.h"

namespace wirecache::metrics {
namespace {

using prometheus::MetricFamily;
using stats::Counter;
using stats::CounterArray;
using stats::Histogram;
using stats::Name;
using stats::PortStats;
using stats::Upstream;
using stats::WorkerStats;

static_assert(stats::kMaxPorts == config::kMaxPorts);
static_assert(stats::kMaxServers == config::kMaxServers);

struct WorkerSeries {
  std::string_view name;
  std::string_view help;
  Counter WorkerStats::*counter;
};

constexpr WorkerSeries kCounters[] = {
    {"queries_handed_over_total", "Queries handed to the worker that owns their key",
     &WorkerStats::handed_to_owner},
    {"kernel_socket_queries_total",
     "Messages that came by the kernel's sockets, not from a receive queue",
     &WorkerStats::from_stream},
    {"urgent_punts_total", "Of the punted packets: ARP and neighbour discovery",
     &WorkerStats::urgent_punts},
    {"kernel_packets_sent_total", "The kernel's own packets, passed on to the wire",
     &WorkerStats::kernel_packets_sent},
    {"kernel_packets_dropped_total",
     "The kernel's own packets for which the transmit queue had no room",
     &WorkerStats::kernel_packets_dropped},
    {"polls_total", "Rounds of the burst loop: stands still only where the worker does",
     &WorkerStats::polls},
};

constexpr WorkerSeries kGauges[] = {
    {"waiting_clients", "Clients that wait for an upstream's answer", &WorkerStats::waiting},
    {"pending_questions", "Questions that are being asked upstream", &WorkerStats::pending},
    {"cache_entries", "Entries in the cache", &WorkerStats::cache_entries},
    {"cache_bytes", "Bytes of memory that the cache takes, its index included",
     &WorkerStats::cache_bytes},
};

struct PortSeries {
  std::string_view name;
  std::string_view help;
  Counter PortStats::*counter;
};

constexpr PortSeries kReceiving[] = {
    {"packets_received_total", "Packets taken from the receive queues", &PortStats::received},
    {"punted_packets_total", "Packets handed to the exception port for the kernel",
     &PortStats::punted},
};

constexpr PortSeries kSending[] = {
    {"packets_sent_total", "Packets that the transmit queues took", &PortStats::sent},
    {"send_drops_total",
     "Packets for which the transmit queue, or the ring to the worker that has it, was full",
     &PortStats::send_dropped},
};

// In place of a port: the kernel's sockets. No port may have a name with brackets.
constexpr std::string_view kKernelSockets = "(kernel)";
constexpr std::string_view kNoServer = "none";

// IANA "DNS RCODEs"; empty where unassigned.
constexpr std::string_view kRcodeNames[] = {
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",  "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
    "NXRRSET", "NOTAUTH", "NOTZONE",  "DSOTYPENI", "",        "",        "",         "",
    "BADVERS", "BADKEY",  "BADTIME",  "BADMODE",   "BADNAME", "BADALG",  "BADTRUNC", "BADCOOKIE"};
static_assert(std::size(kRcodeNames) == stats::kRcodes);
constexpr size_t kRefused = 5;
constexpr size_t kBadvers = 16;

// Outside of these nothing is told apart: each border is a series for each worker, or server.
constexpr BorderRange kClientBorders = {8, Histogram::kBuckets - 2};     // 256 ns to 17 s
constexpr BorderRange kUpstreamBorders = {14, Histogram::kBuckets - 2};  // 16 µs to 17 s

// A worker with its label.
struct LabelledWorker {
  std::string label;
  const WorkerSource& source;
  const WorkerStats& stats() const { return *source.stats; }
};
using Workers = std::vector<LabelledWorker>;

Workers labelled(const Sources& sources) {
  Workers workers;
  for (const WorkerSource& source : sources.workers)
    workers.push_back({std::to_string(source.id), source});
  return workers;
}

void add_info(Families& out, const Sources& sources, const Workers& workers) {
  MetricFamily& family =
      add_gauges(out, "worker_info", "Always 1; the worker's NUMA node and CPU are in the labels");
  for (const LabelledWorker& worker : workers) {
    const std::string cpu = std::to_string(worker.source.cpu);
    const std::string& node = sources.nodes[worker.source.node].label;
    add_value(family, {{"worker", worker.label}, {"node", node}, {"cpu", cpu}}, 1);
  }
}

void add_plain(Families& out, const Workers& workers) {
  for (const auto& [name, help, counter] : kCounters) {
    MetricFamily& family = add_counters(out, name, help);
    for (const LabelledWorker& worker : workers)
      add_value(family, {{"worker", worker.label}}, worker.stats().*counter);
  }
  for (const auto& [name, help, gauge] : kGauges) {
    MetricFamily& family = add_gauges(out, name, help);
    for (const LabelledWorker& worker : workers)
      add_value(family, {{"worker", worker.label}}, worker.stats().*gauge);
  }
}

const std::vector<std::string>& ports_of(const Sources& sources, const LabelledWorker& worker) {
  return sources.nodes[worker.source.node].ports;
}

// The last slot is the kernel's sockets.
std::string_view slot_label(const std::vector<std::string>& ports, size_t slot) {
  return slot < ports.size() ? std::string_view(ports[slot]) : kKernelSockets;
}

void add_ports(Families& out, const Sources& sources, const Workers& workers) {
  for (const auto& [name, help, counter] : kReceiving) {
    MetricFamily& family = add_counters(out, name, help);
    for (const LabelledWorker& worker : workers) {
      const std::vector<std::string>& ports = ports_of(sources, worker);
      for (size_t port = 0; port < ports.size(); ++port)
        add_value(family, {{"worker", worker.label}, {"port", ports[port]}},
                  worker.stats().ports[port].*counter);
    }
  }
  for (const auto& [name, help, counter] : kSending) {
    MetricFamily& family = add_counters(out, name, help);
    for (const LabelledWorker& worker : workers) {
      const std::vector<std::string>& ports = ports_of(sources, worker);
      for (size_t slot = 0; slot <= ports.size(); ++slot)
        add_value(family, {{"worker", worker.label}, {"port", slot_label(ports, slot)}},
                  worker.stats().ports[slot].*counter);
    }
  }
}

void add_queries(Families& out, const Sources& sources, const Workers& workers) {
  MetricFamily& family = add_counters(out, "client_queries_total",
                                      "Messages accepted as clients' queries, by port and family");
  for (const LabelledWorker& worker : workers) {
    const std::vector<std::string>& ports = ports_of(sources, worker);
    for (size_t slot = 0; slot <= ports.size(); ++slot) {
      for (size_t f = 0; f < std::size(stats::kFamilyNames); ++f)
        add_value(family,
                  {{"worker", worker.label},
                   {"port", slot_label(ports, slot)},
                   {"family", stats::kFamilyNames[f].label}},
                  worker.stats().ports[slot].queries[static_cast<stats::Family>(f)]);
    }
  }
}

void add_types(Families& out, const Workers& workers) {
  MetricFamily& family = add_counters(out, "questions_total", "Clients' queries by the type asked");
  for (const LabelledWorker& worker : workers) {
    for (size_t t = 0; t < std::size(stats::kQueryTypeNames); ++t)
      add_value(family, {{"worker", worker.label}, {"type", stats::kQueryTypeNames[t]}},
                worker.stats().query_types[static_cast<stats::QueryType>(t)]);
  }
}

// A family whose series differ by one label, which has a value for each enumerator.
template <typename Enum>
struct ByLabel {
  std::string_view name;
  std::string_view help;
  std::string_view label;
  std::span<const Name> values;
  CounterArray<Enum> WorkerStats::*counters;
};

template <typename Enum>
void add_by_label(Families& out, const Workers& workers, const ByLabel<Enum>& series) {
  MetricFamily& family = add_counters(out, series.name, help_from(series.help, series.values));
  for (const LabelledWorker& worker : workers) {
    for (size_t e = 0; e < CounterArray<Enum>::kSize; ++e)
      add_value(family, {{"worker", worker.label}, {series.label, series.values[e].label}},
                (worker.stats().*series.counters)[static_cast<Enum>(e)]);
  }
}

void add_reasons(Families& out, const Workers& workers) {
  add_by_label<stats::Outcome>(out, workers,
                               {"queries_total", "Clients' queries by what was done about them",
                                "outcome", stats::kOutcomeNames, &WorkerStats::outcomes});
  add_by_label<stats::Malformed>(
      out, workers,
      {"malformed_total", "Messages on the service port that are not looked up, by what is wrong",
       "kind", stats::kMalformedNames, &WorkerStats::malformed});
  add_by_label<stats::Drop>(out, workers,
                            {"drops_total", "Received packets that were dropped", "reason",
                             stats::kDropNames, &WorkerStats::drops});
  add_by_label<stats::QueryDrop>(out, workers,
                                 {"query_drops_total", "Accepted queries that got no response",
                                  "reason", stats::kQueryDropNames, &WorkerStats::query_drops});
}

std::string rcode_label(size_t rcode) {
  if (!kRcodeNames[rcode].empty()) return std::string(kRcodeNames[rcode]);
  return "RCODE" + std::to_string(rcode);
}

// The usual rcodes are there from the start, so that rate() sees their first event; the others
// appear with it.
void add_responses(Families& out, const Workers& workers) {
  MetricFamily& family =
      add_counters(out, "responses_total", "Responses sent to clients, by rcode");
  for (const LabelledWorker& worker : workers) {
    for (size_t rcode = 0; rcode < stats::kRcodes; ++rcode) {
      const uint64_t count = worker.stats().responses[rcode].value();
      if (count == 0 && rcode > kRefused && rcode != kBadvers) continue;
      add_value(family, {{"worker", worker.label}, {"rcode", rcode_label(rcode)}}, count);
    }
  }
}

// The events of each server; those of none follow where there were any.
void add_server_event(MetricFamily& family, const Workers& workers, const Sources& sources,
                      Upstream event) {
  for (const LabelledWorker& worker : workers) {
    for (size_t server = 0; server < sources.servers.size(); ++server)
      add_value(family, {{"worker", worker.label}, {"server", sources.servers[server]}},
                worker.stats().servers[server].events[event]);
    const uint64_t of_none = worker.stats().upstream[event].value();
    if (of_none != 0) add_value(family, {{"worker", worker.label}, {"server", kNoServer}}, of_none);
  }
}

void add_upstream(Families& out, const Sources& sources, const Workers& workers) {
  for (size_t e = 0; e < CounterArray<Upstream>::kSize; ++e) {
    const Name& name = stats::kUpstreamNames[e];
    MetricFamily& family = add_counters(out, "upstream_" + std::string(name.label) + "_total",
                                        "upstream: " + std::string(name.help));
    const auto event = static_cast<Upstream>(e);
    if (event != Upstream::kGaveUp) {
      add_server_event(family, workers, sources, event);
      continue;
    }
    for (const LabelledWorker& worker : workers)
      add_value(family, {{"worker", worker.label}}, worker.stats().upstream[event]);
  }
  MetricFamily& latency =
      add_histograms(out, "upstream_latency_seconds",
                     "Time from sending a query to a server to taking its answer, of all workers");
  std::vector<const Histogram*> histograms(workers.size());
  for (size_t server = 0; server < sources.servers.size(); ++server) {
    std::ranges::transform(workers, histograms.begin(), [&](const LabelledWorker& worker) {
      return &worker.stats().servers[server].latency;
    });
    add_histogram(latency, {{"server", sources.servers[server]}}, kUpstreamBorders, histograms);
  }
}

void add_cache(Families& out, const Workers& workers) {
  for (size_t e = 0; e < CounterArray<stats::Cache>::kSize; ++e) {
    const Name& name = stats::kCacheNames[e];
    MetricFamily& family = add_counters(out, "cache_" + std::string(name.label) + "_total",
                                        "cache: " + std::string(name.help));
    for (const LabelledWorker& worker : workers)
      add_value(family, {{"worker", worker.label}},
                worker.stats().cache[static_cast<stats::Cache>(e)]);
  }
}

void add_client_latency(MetricFamily& family, const Workers& workers,
                        Histogram WorkerStats::*histogram) {
  for (const LabelledWorker& worker : workers) {
    const Histogram* one[] = {&(worker.stats().*histogram)};
    add_histogram(family, {{"worker", worker.label}}, kClientBorders, one);
  }
}

}  // namespace

void add_worker_families(Families& out, const Sources& sources) {
  const Workers workers = labelled(sources);
  add_info(out, sources, workers);
  add_ports(out, sources, workers);
  add_queries(out, sources, workers);
  add_types(out, workers);
  add_reasons(out, workers);
  add_responses(out, workers);
  add_plain(out, workers);
  add_upstream(out, sources, workers);
  add_cache(out, workers);
  add_client_latency(add_histograms(out, "hit_latency_seconds",
                                    "Time from receiving a query to sending its cached answer"),
                     workers, &WorkerStats::hit_latency);
  add_client_latency(
      add_histograms(out, "miss_latency_seconds",
                     "Time from receiving a query to sending the answer that an upstream gave"),
      workers, &WorkerStats::miss_latency);
}

}  // namespace wirecache::metrics

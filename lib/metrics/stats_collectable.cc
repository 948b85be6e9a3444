#include "lib/metrics/stats_collectable.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace wirecache::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using stats::Counter;
using stats::CounterArray;
using stats::ExceptionStats;
using stats::Histogram;
using stats::Name;
using stats::WorkerStats;
using Workers = std::vector<const WorkerStats*>;
using Families = std::vector<MetricFamily>;

struct Series {
  std::string_view name;
  std::string_view help;
};

template <typename Owner>
struct CounterSeries {
  Series series;
  Counter Owner::*counter;
};

constexpr CounterSeries<WorkerStats> kWorkerCounters[] = {
    {{"packets_received_total", "Packets taken from the receive queues"}, &WorkerStats::received},
    {{"client_queries_total", "Packets accepted as clients' queries"},
     &WorkerStats::client_queries},
    {{"upstream_answers_taken_total", "Packets accepted as answers to waiting upstream queries"},
     &WorkerStats::upstream_answers_taken},
    {{"punted_packets_total", "Packets handed to the exception port for the kernel"},
     &WorkerStats::punted},
    {{"kernel_packets_sent_total", "The kernel's own packets, passed on to the wire"},
     &WorkerStats::kernel_packets_sent},
    {{"kernel_packets_dropped_total",
      "The kernel's own packets for which the transmit queue had no room"},
     &WorkerStats::kernel_packets_dropped},
    {{"polls_total", "Rounds of the burst loop: stands still only where the worker does"},
     &WorkerStats::polls},
};

constexpr CounterSeries<WorkerStats> kWorkerGauges[] = {
    {{"waiting_clients", "Clients that wait for an upstream's answer"}, &WorkerStats::waiting},
    {{"pending_questions", "Questions that are being asked upstream"}, &WorkerStats::pending},
    {{"cache_entries", "Entries in the cache"}, &WorkerStats::cache_entries},
    {{"cache_bytes", "Bytes of the cache's segments in use"}, &WorkerStats::cache_bytes},
};

constexpr CounterSeries<ExceptionStats> kExceptionCounters[] = {
    {{"exception_to_kernel_packets_total", "Punted packets that the kernel took"},
     &ExceptionStats::to_kernel},
    {{"exception_to_kernel_dropped_packets_total", "Punted packets that the kernel did not take"},
     &ExceptionStats::to_kernel_dropped},
    {{"exception_from_kernel_packets_total", "Packets that the kernel sent"},
     &ExceptionStats::from_kernel},
    {{"exception_from_kernel_dropped_packets_total",
      "Packets that the kernel sent and for which the ring to a worker was full"},
     &ExceptionStats::from_kernel_dropped},
};

// IANA "DNS RCODEs"; empty where unassigned.
constexpr std::string_view kRcodeNames[] = {
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",  "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
    "NXRRSET", "NOTAUTH", "NOTZONE",  "DSOTYPENI", "",        "",        "",         "",
    "BADVERS", "BADKEY",  "BADTIME",  "BADMODE",   "BADNAME", "BADALG",  "BADTRUNC", "BADCOOKIE"};
static_assert(std::size(kRcodeNames) == stats::kRcodes);
constexpr size_t kRefused = 5;
constexpr size_t kBadvers = 16;

// Below 256 ns and above 2^34 ns nothing is told apart: each border is a series for each worker.
constexpr size_t kFirstBorder = 8;
constexpr size_t kLastBorder = Histogram::kBuckets - 2;

double as_double(const Counter& counter) {
  return static_cast<double>(counter.value());
}

MetricFamily& add_family(Families& out, Series series, MetricType type) {
  MetricFamily& family = out.emplace_back();
  family.name = "wirecache_" + std::string(series.name);
  family.help = series.help;
  family.type = type;
  return family;
}

ClientMetric& add_metric(MetricFamily& family, size_t worker) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label.push_back({"worker", std::to_string(worker)});
  return metric;
}

void add_plain(Families& out, const Workers& workers) {
  for (const auto& [series, counter] : kWorkerCounters) {
    MetricFamily& family = add_family(out, series, MetricType::Counter);
    for (size_t i = 0; i < workers.size(); ++i)
      add_metric(family, i).counter.value = as_double(workers[i]->*counter);
  }
  for (const auto& [series, gauge] : kWorkerGauges) {
    MetricFamily& family = add_family(out, series, MetricType::Gauge);
    for (size_t i = 0; i < workers.size(); ++i)
      add_metric(family, i).gauge.value = as_double(workers[i]->*gauge);
  }
}

// "what; label: its meaning; ..." so that an operator finds each value explained in the scrape.
std::string help_from(std::string_view what, std::span<const Name> names) {
  std::string help(what);
  for (const Name& name : names)
    help.append("; ").append(name.label).append(": ").append(name.help);
  return help;
}

// One family whose series differ by a label, one for each enumerator.
template <typename Enum>
void add_labelled(MetricFamily& family, const Workers& workers, std::string_view label,
                  std::pair<std::span<const Name>, CounterArray<Enum> WorkerStats::*> counters) {
  for (size_t i = 0; i < workers.size(); ++i) {
    for (size_t e = 0; e < CounterArray<Enum>::kSize; ++e) {
      ClientMetric& metric = add_metric(family, i);
      metric.label.push_back({std::string(label), std::string(counters.first[e].label)});
      metric.counter.value = as_double((workers[i]->*counters.second)[static_cast<Enum>(e)]);
    }
  }
}

// One family for each enumerator: "<subject>_<label>_total".
template <typename Enum>
void add_each(Families& out, const Workers& workers, std::string_view subject,
              std::pair<std::span<const Name>, CounterArray<Enum> WorkerStats::*> counters) {
  for (size_t e = 0; e < CounterArray<Enum>::kSize; ++e) {
    const Name& name = counters.first[e];
    const std::string full = std::string(subject) + "_" + std::string(name.label) + "_total";
    const std::string help = std::string(subject) + ": " + std::string(name.help);
    MetricFamily& family = add_family(out, {full, help}, MetricType::Counter);
    for (size_t i = 0; i < workers.size(); ++i) {
      add_metric(family, i).counter.value =
          as_double((workers[i]->*counters.second)[static_cast<Enum>(e)]);
    }
  }
}

std::string rcode_label(size_t rcode) {
  if (!kRcodeNames[rcode].empty()) return std::string(kRcodeNames[rcode]);
  return "RCODE" + std::to_string(rcode);
}

// The usual rcodes are there from the start, so that rate() sees their first event; the others
// appear with it.
void add_responses(Families& out, const Workers& workers) {
  MetricFamily& family = add_family(out, {"responses_total", "Responses sent to clients, by rcode"},
                                    MetricType::Counter);
  for (size_t i = 0; i < workers.size(); ++i) {
    for (size_t rcode = 0; rcode < stats::kRcodes; ++rcode) {
      const double count = as_double(workers[i]->responses[rcode]);
      if (count == 0 && rcode > kRefused && rcode != kBadvers) continue;
      ClientMetric& metric = add_metric(family, i);
      metric.label.push_back({"rcode", rcode_label(rcode)});
      metric.counter.value = count;
    }
  }
}

ClientMetric::Histogram read_histogram(const Histogram& from) {
  ClientMetric::Histogram out;
  uint64_t cumulative = 0;
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    cumulative += from.bucket(i);
    if (i >= kFirstBorder && i <= kLastBorder)
      out.bucket.push_back({cumulative, std::ldexp(1.0, static_cast<int>(i)) / 1e9});
  }
  out.bucket.push_back({cumulative, std::numeric_limits<double>::infinity()});
  out.sample_count = cumulative;
  out.sample_sum = static_cast<double>(from.sum_ns()) / 1e9;
  return out;
}

void add_histogram(Families& out, const Workers& workers, Series series,
                   Histogram WorkerStats::*histogram) {
  MetricFamily& family = add_family(out, series, MetricType::Histogram);
  for (size_t i = 0; i < workers.size(); ++i)
    add_metric(family, i).histogram = read_histogram(workers[i]->*histogram);
}

void add_reasons(Families& out, const Workers& workers) {
  const std::string outcomes =
      help_from("Clients' queries by what was done about them", stats::kOutcomeNames);
  add_labelled<stats::Outcome>(add_family(out, {"queries_total", outcomes}, MetricType::Counter),
                               workers, "outcome", {stats::kOutcomeNames, &WorkerStats::outcomes});
  const std::string drops = help_from("Received packets that were dropped", stats::kDropNames);
  add_labelled<stats::Drop>(add_family(out, {"drops_total", drops}, MetricType::Counter), workers,
                            "reason", {stats::kDropNames, &WorkerStats::drops});
  const std::string query_drops =
      help_from("Accepted queries that got no response", stats::kQueryDropNames);
  add_labelled<stats::QueryDrop>(
      add_family(out, {"query_drops_total", query_drops}, MetricType::Counter), workers, "reason",
      {stats::kQueryDropNames, &WorkerStats::query_drops});
}

void add_exception(Families& out, const ExceptionStats& exception) {
  for (const auto& [series, counter] : kExceptionCounters)
    add_family(out, series, MetricType::Counter).metric.emplace_back().counter.value =
        as_double(exception.*counter);
}

void add_build_info(Families& out) {
  MetricFamily& family =
      add_family(out, {"build_info", "Always 1; the version is in the label"}, MetricType::Gauge);
  ClientMetric& metric = family.metric.emplace_back();
  metric.label.push_back({"version", WC_VERSION});
  metric.gauge.value = 1;
}

}  // namespace

StatsCollectable::StatsCollectable(Workers workers, const ExceptionStats* exception)
    : workers_(std::move(workers)), exception_(exception) {}

Families StatsCollectable::Collect() const {
  Families out;
  add_plain(out, workers_);
  add_reasons(out, workers_);
  add_responses(out, workers_);
  add_each<stats::Upstream>(out, workers_, "upstream",
                            {stats::kUpstreamNames, &WorkerStats::upstream});
  add_each<stats::Cache>(out, workers_, "cache", {stats::kCacheNames, &WorkerStats::cache});
  add_histogram(out, workers_,
                {"hit_latency_seconds", "Time from receiving a query to sending its cached answer"},
                &WorkerStats::hit_latency);
  add_histogram(out, workers_,
                {"miss_latency_seconds",
                 "Time from receiving a query to sending the answer that an upstream gave"},
                &WorkerStats::miss_latency);
  if (exception_ != nullptr) add_exception(out, *exception_);
  add_build_info(out);
  return out;
}

}  // namespace wirecache::metrics

#include "lib/metrics/families.h"

#include <cmath>
#include <limits>

namespace wirecache::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using stats::Histogram;

MetricFamily& add_family(Families& out, std::string_view name, std::string_view help,
                         MetricType type) {
  MetricFamily& family = out.emplace_back();
  family.name = "wirecache_" + std::string(name);
  family.help = help;
  family.type = type;
  return family;
}

ClientMetric& add_metric(MetricFamily& family, Labels labels) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label.reserve(labels.size());
  for (const Label& label : labels)
    metric.label.push_back({std::string(label.name), std::string(label.value)});
  return metric;
}

}  // namespace

MetricFamily& add_counters(Families& out, std::string_view name, std::string_view help) {
  return add_family(out, name, help, MetricType::Counter);
}

MetricFamily& add_gauges(Families& out, std::string_view name, std::string_view help) {
  return add_family(out, name, help, MetricType::Gauge);
}

MetricFamily& add_histograms(Families& out, std::string_view name, std::string_view help) {
  return add_family(out, name, help, MetricType::Histogram);
}

void add_value(MetricFamily& family, Labels labels, uint64_t value) {
  ClientMetric& metric = add_metric(family, labels);
  const auto as_double = static_cast<double>(value);
  if (family.type == MetricType::Counter) {
    metric.counter.value = as_double;
  } else {
    metric.gauge.value = as_double;
  }
}

void add_histogram(MetricFamily& family, Labels labels, BorderRange borders,
                   std::span<const Histogram* const> histograms) {
  ClientMetric::Histogram& out = add_metric(family, labels).histogram;
  uint64_t cumulative = 0;
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    for (const Histogram* histogram : histograms) cumulative += histogram->bucket(i);
    if (i >= borders.first && i <= borders.last)
      out.bucket.push_back({cumulative, std::ldexp(1.0, static_cast<int>(i)) / 1e9});
  }
  out.bucket.push_back({cumulative, std::numeric_limits<double>::infinity()});
  out.sample_count = cumulative;
  uint64_t sum_ns = 0;
  for (const Histogram* histogram : histograms) sum_ns += histogram->sum_ns();
  out.sample_sum = static_cast<double>(sum_ns) / 1e9;
}

std::string help_from(std::string_view what, std::span<const stats::Name> names) {
  std::string help(what);
  for (const stats::Name& name : names)
    help.append("; ").append(name.label).append(": ").append(name.help);
  return help;
}

}  // namespace wirecache::metrics

// Building blocks of the exposition: families, series and their labels. Used within lib/metrics.
//
// Pure; any thread.
#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/stats/counter.h"
#include "lib/stats/worker_stats.h"

namespace wirecache::metrics {

using Families = std::vector<prometheus::MetricFamily>;

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::initializer_list<Label>;

// Appends an empty family; its name gets the prefix. The reference is valid until the next.
prometheus::MetricFamily& add_counters(Families& out, std::string_view name, std::string_view help);
prometheus::MetricFamily& add_gauges(Families& out, std::string_view name, std::string_view help);
prometheus::MetricFamily& add_histograms(Families& out, std::string_view name,
                                         std::string_view help);

// Appends a series to a family of counters, or of gauges.
void add_value(prometheus::MetricFamily& family, Labels labels, uint64_t value);
inline void add_value(prometheus::MetricFamily& family, Labels labels,
                      const stats::Counter& counter) {
  add_value(family, labels, counter.value());
}

// The buckets of 2^first to 2^last nanoseconds and +Inf; what is below counts in the first. Of
// several histograms the sum.
struct BorderRange {
  size_t first;
  size_t last;
};
void add_histogram(prometheus::MetricFamily& family, Labels labels, BorderRange borders,
                   std::span<const stats::Histogram* const> histograms);

// "what; label: its meaning; ..." so that an operator finds each value explained in the scrape.
std::string help_from(std::string_view what, std::span<const stats::Name> names);

}  // namespace wirecache::metrics

// All counters as Prometheus metric families, read at the moment of the scrape.
//
// Invariant: there is no second store: each value is its owner's own counter as it stands when
// Collect() passes it. Counters of one scrape are not read in one instant, so sums may differ by
// what arrives meanwhile; at rest they add up. A histogram's count is the sum of its own buckets.
// Thread: Collect() from any thread at any time, also from several at once.
//
// Names: wirecache_ in front, base units (seconds, bytes), counters end in _total; none is just the
// sum of others. Labels: worker, node, cpu, port, queue, family, type, outcome, kind, reason,
// rcode, server, receiver, version. All values come from the configuration or from lists in the
// program; nothing that a packet holds becomes a label of its own. So the number of series is
// bounded by workers × (fixed + 6 × ports + 7 × servers): with the most that a configuration may
// have (64 workers, 16 ports, 32 servers) it is below kMaxSeries.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstddef>
#include <vector>

#include "lib/metrics/sources.h"

namespace wirecache::metrics {

// Lines of a scrape that hold a value, a histogram's buckets each.
inline constexpr size_t kMaxSeries = 36000;

class StatsCollectable : public prometheus::Collectable {
 public:
  explicit StatsCollectable(Sources sources);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const Sources sources_;
};

}  // namespace wirecache::metrics

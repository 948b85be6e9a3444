// The counters of all workers as Prometheus metric families, read at the moment of the scrape.
//
// Invariant: there is no second store: each value is the worker's own counter as it stands when
// Collect() passes it. Counters of one scrape are not read in one instant, so sums may differ by
// what arrives meanwhile; at rest they add up. A histogram's count is the sum of its own buckets.
// Thread: Collect() from any thread at any time, also from several at once. The counters belong to
// their writers and outlive this object.
//
// Names: wirecache_ in front, base units (seconds, bytes), counters end in _total. Series of a
// worker carry worker="N", its place in the list.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "lib/stats/worker_stats.h"

namespace wirecache::metrics {

class StatsCollectable : public prometheus::Collectable {
 public:
  // `exception` may be null: then its series are left out.
  StatsCollectable(std::vector<const stats::WorkerStats*> workers,
                   const stats::ExceptionStats* exception);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::vector<const stats::WorkerStats*> workers_;
  const stats::ExceptionStats* exception_;
};

}  // namespace wirecache::metrics

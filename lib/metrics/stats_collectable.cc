#include "lib/metrics/stats_collectable.h"

#include <utility>

#include "lib/metrics/families.h"
#include "lib/metrics/platform_families.h"
#include "lib/metrics/worker_families.h"

namespace wirecache::metrics {

StatsCollectable::StatsCollectable(Sources sources) : sources_(std::move(sources)) {}

Families StatsCollectable::Collect() const {
  Families out;
  add_worker_families(out, sources_);
  add_limit_families(out, sources_);
  if (sources_.platform != nullptr) add_platform_families(out, sources_);
  if (sources_.exception != nullptr) add_exception_families(out, *sources_.exception);
  if (sources_.stream != nullptr) add_stream_families(out, *sources_.stream);
  add_value(add_gauges(out, "build_info", "Always 1; the version is in the label"),
            {{"version", WC_VERSION}}, 1);
  return out;
}

}  // namespace wirecache::metrics

// The series that workers count: by worker, and within one by port, family, type, reason, server.
//
// Pure but for reading the counters; any thread.
#pragma once

#include "lib/metrics/families.h"
#include "lib/metrics/sources.h"

namespace wirecache::metrics {

void add_worker_families(Families& out, const Sources& sources);

}  // namespace wirecache::metrics

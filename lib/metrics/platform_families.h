// The series of what surrounds the workers: drivers, pools, rings, routes, the exception ports, the
// kernel's sockets.
//
// Pure but for reading the counters; any thread.
#pragma once

#include "lib/metrics/families.h"
#include "lib/metrics/sources.h"

namespace wirecache::metrics {

// Needs sources.platform, with as many nodes, ports and servers as sources names.
void add_platform_families(Families& out, const Sources& sources);
void add_limit_families(Families& out, const Sources& sources);
void add_exception_families(Families& out, const stats::ExceptionStats& exception);
void add_stream_families(Families& out, const stats::StreamStats& stream);

}  // namespace wirecache::metrics

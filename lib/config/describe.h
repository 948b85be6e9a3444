// A configuration in a few lines, for the log of a start.
//
// Pure function, any thread.
#pragma once

#include <string>

#include "lib/config/config.h"

namespace wirecache::config {

// Lines that each end with a line feed: cores, ports, listen, clients, upstream, cache, metrics.
std::string describe(const Config& config);

}  // namespace wirecache::config

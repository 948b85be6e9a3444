// [[port]] and [drivers]: what a configuration says of network devices.
//
// Called by parse_config(); what is wrong goes to the reader's Problems. No thread rules.
#pragma once

#include <vector>

#include "lib/config/config.h"
#include "lib/config/toml_reader.h"

namespace wirecache::config {

// Adds the port.
void read_port(TableReader& table, std::vector<PortConfig>* ports);

void read_drivers(TableReader& table, DriversConfig* drivers);

}  // namespace wirecache::config

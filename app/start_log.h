// What the log of a start says of one NUMA node: which worker runs on which CPU and takes packets
// from which queues, and what each port got of what was asked of its device.
//
// Pure but for reading; main, after the ports are set up.
#pragma once

#include <string>

#include "app/data_node.h"
#include "lib/config/config.h"

namespace wirecache::app {

// One line for the node, one or two for each port. `whole` is the configuration of all nodes.
std::string start_log(const config::Config& whole, const DataNode& node);

}  // namespace wirecache::app

// Settings of the exception port's TAP for those around it: how soon a neighbour is known to be
// dead or to have another MAC, that routes without carrier are not used, and that no broadcast
// frame reaches a socket that is not asked by broadcast.
//
// Thread: main only, while starting; in the network namespace of the caller.
#pragma once

#include <string>

#include "lib/base/expected.h"

namespace wirecache::control {

// For both families. A neighbour that is probed (NeighbourTable::probe()) and silent is given up
// after 750 ms: two questions to its MAC, then one to all, which finds a MAC that has changed.
// Answers with another MAC are believed at once. ARP is answered on the interface that has the
// address, and asked with its own addresses only, as NDP does it: two ports may stand on one
// network. A kernel without IPv6 is no error.
Expected<void> prepare_neighbours(const std::string& interface);

}  // namespace wirecache::control

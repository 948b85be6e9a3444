// IPv6 settings of the exception port's TAP: its link-local address is usable at once, and the
// kernel asks the network for nothing by itself.
//
// Thread: main only, while starting; in the network namespace of the caller.
#pragma once

#include <string>

#include "lib/base/expected.h"

namespace wirecache::control {

// Turns off duplicate address detection, autoconfiguration and router solicitations, and makes the
// link-local address anew. Without this the kernel resolves no IPv6 neighbour in the first two
// seconds, for its solicitations come from that address. Removes the interface's IPv6 addresses:
// call it before they are given. The interface must be up; waits until the address is there, at
// most half a second. A kernel without IPv6 is no error.
Expected<void> prepare_ipv6(const std::string& interface);

}  // namespace wirecache::control

// Writes one setting of the kernel's below /proc/sys.
//
// Thread: main only; in the network namespace of the caller.
#pragma once

#include <string>

namespace wirecache::control {

// Without a newline: Linux 6.1 takes one byte at a time of IPv6's ignore_routes_with_linkdown, and
// refuses a newline that is left over. False where there is no such setting or it does not take the
// value.
[[nodiscard]] bool write_sysctl(const std::string& path, const std::string& value);

}  // namespace wirecache::control

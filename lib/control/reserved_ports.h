// Keeps the kernel from choosing the data plane's upstream source ports for its own sockets
// (net.ipv4.ip_local_reserved_ports, which covers IPv6 too).
//
// Invariant: ports that were reserved before stay so. Thread: main only, while starting and
// stopping. When the object goes, what it added is taken back out of the list as it is then; after
// a crash the reservation stays, which is harmless. The sysctl belongs to the network namespace of
// the caller.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/expected.h"

namespace wirecache::control {

// "8080,9000-9010" with first-last added, ranges merged and in order. Text that is not a list of
// ports is an error.
Expected<std::string> merge_port_range(const std::string& list, uint16_t first, uint16_t last);

// "8080,9000-10010" without those of `others`, another such list.
Expected<std::string> without_ports(const std::string& list, const std::string& others);

class ReservedPorts {
 public:
  static Expected<ReservedPorts> reserve(uint16_t first, uint16_t last);
  ReservedPorts(ReservedPorts&& other) noexcept;
  ReservedPorts& operator=(ReservedPorts&& other) noexcept;
  ~ReservedPorts();

 private:
  ReservedPorts() = default;
  void restore() noexcept;

  std::string added_;  // what was not reserved before, as a list; empty: nothing to take back
};

}  // namespace wirecache::control

// Keeps the kernel from choosing the data plane's upstream source ports for its own sockets
// (net.ipv4.ip_local_reserved_ports, which covers IPv6 too).
//
// Invariant: ports that were reserved before stay so. Thread: main only, while starting and
// stopping. The previous value comes back when the object goes; after a crash the reservation
// stays, which is harmless. The sysctl belongs to the network namespace of the caller.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/expected.h"

namespace wirecache::control {

// "8080,9000-9010" with first-last added, ranges merged and in order. Text that is not a list of
// ports is an error.
Expected<std::string> merge_port_range(const std::string& list, uint16_t first, uint16_t last);

class ReservedPorts {
 public:
  static Expected<ReservedPorts> reserve(uint16_t first, uint16_t last);
  ReservedPorts(ReservedPorts&& other) noexcept;
  ReservedPorts& operator=(ReservedPorts&& other) noexcept;
  ~ReservedPorts();

 private:
  ReservedPorts() = default;
  void restore();

  std::string previous_;
  bool active_ = false;
};

}  // namespace wirecache::control

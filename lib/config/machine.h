// What the checks of a configuration must know of the machine, as a value that tests can make up.
//
// Read by this_machine() while starting; no thread rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wirecache::config {

struct UdpPortRange {
  uint16_t first = 0;
  uint16_t last = 0;
};

struct Machine {
  unsigned cpus = 1;  // numbered from 0, off-line ones included
  // Where the kernel takes the source ports of its own sockets from; unknown without /proc.
  std::optional<UdpPortRange> ephemeral_ports;
};

// Of the network namespace of the calling thread.
Machine this_machine();

// The text of /proc/sys/net/ipv4/ip_local_port_range: "32768\t60999\n".
std::optional<UdpPortRange> parse_local_port_range(std::string_view text);

}  // namespace wirecache::config

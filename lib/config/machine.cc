#include "lib/config/machine.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace wirecache::config {

std::optional<UdpPortRange> parse_local_port_range(std::string_view text) {
  std::istringstream stream{std::string(text)};
  UdpPortRange range;
  if (!(stream >> range.first >> range.last) || range.first > range.last) return std::nullopt;
  return range;
}

Machine this_machine() {
  Machine machine;
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus > 0) machine.cpus = static_cast<unsigned>(cpus);
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  std::string line;
  if (std::getline(file, line)) machine.ephemeral_ports = parse_local_port_range(line);
  return machine;
}

}  // namespace wirecache::config

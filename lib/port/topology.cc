#include "lib/port/topology.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "lib/port/devargs.h"

namespace wirecache::port {
namespace {

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int node_in(const std::string& path) {
  const int node = number_in(first_line(path)).value_or(config::kUnknownNode);
  return node < 0 ? config::kUnknownNode : node;
}

int pci_node(const std::string& address, const std::string& sysfs) {
  return node_in(sysfs + "/bus/pci/devices/" + full_pci_address(address) + "/numa_node");
}

}  // namespace

int device_node(const std::string& device, const std::string& sysfs) {
  const std::vector<std::string> pci_devices = pci_devices_of(device);
  if (!pci_devices.empty()) return pci_node(pci_devices.front(), sysfs);
  const std::string netdev = netdev_of(device);
  if (netdev.empty()) return config::kUnknownNode;
  // Of a device that is another's child (virtio), the parent knows.
  const std::string link = sysfs + "/class/net/" + netdev + "/device/";
  const int node = node_in(link + "numa_node");
  return node != config::kUnknownNode ? node : node_in(link + "../numa_node");
}

int cpu_node(unsigned cpu, const std::string& sysfs) {
  constexpr std::string_view kNode = "node";
  const std::string nodes = sysfs + "/devices/system/node";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(nodes, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kNode)) continue;
    const auto node = number_in(std::string_view(name).substr(kNode.size()));
    if (node && in_cpu_list(first_line(entry.path().string() + "/cpulist"), cpu)) return *node;
  }
  return config::kUnknownNode;
}

bool in_cpu_list(const std::string& list, unsigned cpu) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view range = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t dash = range.find('-');
    const auto first = number_in(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < 0) continue;
    if (static_cast<unsigned>(*first) <= cpu && cpu <= static_cast<unsigned>(*last)) return true;
  }
  return false;
}

}  // namespace wirecache::port

#include "lib/port/devargs.h"

#include <algorithm>
#include <bit>
#include <cctype>

namespace wirecache::port {
namespace {

bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isxdigit(c) != 0; });
}

void add_default(std::string& device, std::string_view key, unsigned value) {
  if (!devarg(device, key).empty()) return;
  device += "," + std::string(key) + "=" + std::to_string(value);
}

}  // namespace

bool is_pci_address(std::string_view device) {
  device = device.substr(0, device.find(','));
  // [domain:]bus:device.function
  const size_t dot = device.rfind('.');
  if (dot == std::string_view::npos || device.size() != dot + 2) return false;
  if (device[dot + 1] < '0' || device[dot + 1] > '7') return false;
  std::string_view rest = device.substr(0, dot);
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.size() != colon + 3 ||
      !is_hex(rest.substr(colon + 1)))
    return false;
  rest = rest.substr(0, colon);
  if (rest.size() == 2) return is_hex(rest);
  return rest.size() == 7 && rest[4] == ':' && is_hex(rest.substr(0, 4)) && is_hex(rest.substr(5));
}

std::string device_name(std::string_view device) {
  return std::string(device.substr(0, device.find(',')));
}

std::string device_driver(std::string_view device) {
  std::string name = device_name(device);
  if (is_pci_address(name)) return name;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name;
}

std::string full_pci_address(std::string_view address) {
  std::string full(address.substr(0, address.find(',')));
  if (full.size() == 7) full = "0000:" + full;
  std::ranges::transform(full, full.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return full;
}

std::vector<std::string> devarg_values(std::string_view device, std::string_view key) {
  std::vector<std::string> values;
  for (size_t comma = device.find(','); comma != std::string_view::npos;) {
    device.remove_prefix(comma + 1);
    comma = device.find(',');
    const std::string_view pair = device.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key)
      values.emplace_back(pair.substr(equals + 1));
  }
  return values;
}

std::string devarg(std::string_view device, std::string_view key) {
  const std::vector<std::string> values = devarg_values(device, key);
  return values.empty() ? "" : values.front();
}

std::string netdev_of(std::string_view device) {
  const std::string driver = device_driver(device);
  if (driver == "net_af_packet" || driver == "net_af_xdp") return devarg(device, "iface");
  if (driver == "net_tap") return devarg(device, "remote");
  if (driver != "net_pcap") return "";
  for (const char* key : {"iface", "rx_iface", "rx_iface_in"}) {
    std::string netdev = devarg(device, key);
    if (!netdev.empty()) return netdev;
  }
  return "";
}

std::vector<std::string> pci_devices_of(std::string_view device) {
  if (is_pci_address(device)) return {std::string(device)};
  std::vector<std::string> members = devarg_values(device, "slave");
  std::erase_if(members, [](const std::string& member) { return !is_pci_address(member); });
  return members;
}

std::string complete_devargs(const std::string& device, uint16_t queues, uint16_t descriptors) {
  std::string complete = device;
  const std::string driver = device_driver(device);
  if (driver == "net_af_packet") {
    if (queues > 1) add_default(complete, "qpairs", queues);
    // Frames of 2,048 bytes. The profile's 2,048 of them outlast a time slice of another process at
    // 500,000 packets/s.
    add_default(complete, "framecnt", descriptors);
  } else if (driver == "net_af_xdp") {
    if (queues > 1) add_default(complete, "queue_count", queues);
  } else if (driver == "net_memif") {
    add_default(complete, "rsize", static_cast<unsigned>(std::bit_width(descriptors)) - 1);
  } else if (driver == "net_vhost" || driver == "net_virtio_user") {
    add_default(complete, "queues", queues);
  }
  return complete;
}

}  // namespace wirecache::port

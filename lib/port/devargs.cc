#include "lib/port/devargs.h"

#include <algorithm>
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

std::string devarg(std::string_view device, std::string_view key) {
  for (size_t comma = device.find(','); comma != std::string_view::npos;) {
    device.remove_prefix(comma + 1);
    comma = device.find(',');
    const std::string_view pair = device.substr(0, comma);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key)
      return std::string(pair.substr(equals + 1));
  }
  return "";
}

std::string complete_devargs(const std::string& device, uint16_t queues) {
  std::string complete = device;
  const std::string driver = device_driver(device);
  if (driver == "net_af_packet") {
    if (queues > 1) add_default(complete, "qpairs", queues);
    // 2,048-byte frames: a ring that outlasts a time slice of another process at 500,000 packets/s.
    add_default(complete, "framecnt", kAfPacketFrames);
  } else if (driver == "net_af_xdp") {
    if (queues > 1) add_default(complete, "queue_count", queues);
  }
  return complete;
}

}  // namespace wirecache::port

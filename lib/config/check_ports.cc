// The part of check_config.h that is about ports and their addresses.
#include <algorithm>
#include <string_view>
#include <utility>

#include "lib/config/check_config.h"
#include "lib/config/read_file.h"
#include "lib/config/words.h"

namespace wirecache::config {
namespace {

constexpr size_t kMaxNameBytes = 15;  // of a port as of an interface (IFNAMSIZ - 1)
constexpr std::string_view kVdevStart = "net_";

std::string path_of(size_t port, const std::string& key) {
  return "port[" + std::to_string(port) + "]." + key;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_port_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-'; });
}

// What the kernel takes as the name of an interface (dev_valid_name).
bool is_interface_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c > ' ' && c <= '~' && c != '/' && c != ':'; });
}

// Without the driver's arguments.
std::string_view device_name(std::string_view device) {
  return device.substr(0, device.find(','));
}

bool matches(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(),
                    [](char c, char p) { return p == 'x' ? is_hex(c) : c == p; });
}

bool is_pci_address(std::string_view name) {
  return matches(name, "xxxx:xx:xx.x") || matches(name, "xx:xx.x");
}

bool is_vdev_name(std::string_view name) {
  return name.starts_with(kVdevStart) && name.size() > kVdevStart.size() &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

// One text for one device, however it is written.
std::string device_identity(std::string_view device) {
  std::string name(device_name(device));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return matches(name, "xx:xx.x") ? "0000:" + name : name;
}

void check_descriptors(const CheckContext& context, size_t index) {
  const PortConfig& port = context.config.ports[index];
  for (const auto& [key, count] : {std::pair{"rx_descriptors", port.rx_descriptors},
                                   std::pair{"tx_descriptors", port.tx_descriptors}}) {
    const auto wrong = count ? descriptor_problem(*count) : std::nullopt;
    if (wrong) context.problem(path_of(index, key), quoted_key(key) + " in [[port]] " + *wrong);
  }
}

void check_port_itself(const CheckContext& context, size_t index) {
  const PortConfig& port = context.config.ports[index];
  if (!is_port_name(port.name))
    return context.problem(path_of(index, "name"), "port name " + quoted(port.name) +
                                                       " must be 1 to 15 of a-z, 0-9, '_' and '-'");
  const std::string_view device = device_name(port.device);
  if (!is_vdev_name(device) && !is_pci_address(device))
    context.problem(path_of(index, "device"),
                    "device " + quoted(port.device) +
                        " is neither a PCI address like \"0000:3b:00.0\" nor a virtual device "
                        "like \"net_af_xdp0,iface=eth1\"");
  if (!is_interface_name(port.exception_interface))
    context.problem(path_of(index, "exception_interface"),
                    "exception_interface " + quoted(port.exception_interface) +
                        " must be 1 to 15 bytes without space, '/' and ':'");
  check_descriptors(context, index);
  if (port.addresses.empty())
    context.problem(path_of(index, "addresses"),
                    "port " + quoted(port.name) + " needs at least one address");
}

void check_port_against(const CheckContext& context, size_t index, size_t earlier_index) {
  const PortConfig& port = context.config.ports[index];
  const PortConfig& earlier = context.config.ports[earlier_index];
  if (port.name == earlier.name)
    return context.problem(path_of(index, "name"),
                           "port name " + quoted(port.name) + " is used twice");
  if (device_identity(port.device) == device_identity(earlier.device))
    context.problem(path_of(index, "device"),
                    "device " + quoted(device_name(port.device)) + " is used twice, by ports " +
                        quoted(earlier.name) + " and " + quoted(port.name));
  if (port.exception_interface == earlier.exception_interface)
    context.problem(path_of(index, "exception_interface"),
                    "exception_interface " + quoted(port.exception_interface) + " is used twice");
}

bool host_bits_are(const IpPrefix& prefix, uint8_t byte) {
  for (size_t i = 0; i < prefix.address.size(); ++i) {
    const size_t network_bits = std::clamp<size_t>(prefix.length, i * 8, i * 8 + 8) - i * 8;
    const auto host_mask = static_cast<uint8_t>(0xff >> network_bits);
    if (((prefix.address.bytes[i] ^ byte) & host_mask) != 0) return false;
  }
  return true;
}

bool is_in(const IpAddress& address, const char* network) {
  return IpPrefix::parse(network)->contains(address);
}

}  // namespace

bool is_our_own(const Config& config, const IpAddress& address) {
  for (const PortConfig& port : config.ports)
    for (const IpPrefix& prefix : port.addresses)
      if (prefix.address == address) return true;
  return false;
}

const IpPrefix* network_of(const Config& config, const IpAddress& address) {
  for (const PortConfig& port : config.ports)
    for (const IpPrefix& prefix : port.addresses)
      if (prefix.contains(address)) return &prefix;
  return nullptr;
}

std::optional<size_t> port_on_network_of(const Config& config, const IpAddress& address) {
  for (size_t port = 0; port < config.ports.size(); ++port)
    for (const IpPrefix& prefix : config.ports[port].addresses)
      if (prefix.contains(address)) return port;
  return std::nullopt;
}

std::optional<std::string> host_address_problem(const IpPrefix& prefix) {
  const IpAddress& address = prefix.address;
  const bool v6 = address.is_v6();
  if (address == IpAddress{{}, address.family}) return "is the unspecified address";
  if (is_in(address, v6 ? "::1/128" : "127.0.0.0/8")) return "is a loopback address";
  if (is_in(address, v6 ? "ff00::/8" : "224.0.0.0/4")) return "is a multicast address";
  if (is_in(address, "::ffff:0:0/96")) return "is an IPv4-mapped address";
  if (is_in(address, "0.0.0.0/8")) return "is an address of \"this network\" (RFC 1122)";
  if (is_in(address, "255.255.255.255/32")) return "is a broadcast address";
  // Networks of one or two addresses have neither (RFC 3021, RFC 6164).
  const unsigned bits = v6 ? 128 : 32;
  if (prefix.length + 2U > bits) return std::nullopt;
  if (host_bits_are(prefix, 0x00)) return "is the address of the network itself";
  if (!v6 && host_bits_are(prefix, 0xff)) return "is a broadcast address";
  return std::nullopt;
}

void check_ports(const CheckContext& context) {
  const auto& ports = context.config.ports;
  if (ports.empty()) return context.problem("port", "no [[port]]: at least one is needed");
  if (ports.size() > kMaxPorts)
    context.problem("port", std::to_string(ports.size()) + " [[port]] tables: at most " +
                                std::to_string(kMaxPorts) + " are possible");
  for (size_t i = 0; i < ports.size(); ++i) {
    check_port_itself(context, i);
    for (size_t j = 0; j < i; ++j) check_port_against(context, i, j);
  }
}

void check_drivers(const CheckContext& context) {
  const std::string& directory = context.config.drivers.profiles;
  if (directory.empty()) return;
  if (const auto wrong = directory_problem(directory))
    context.problem("drivers.profiles", "profiles " + quoted(directory) + " " + *wrong);
}

void check_addresses(const CheckContext& context) {
  std::vector<IpAddress> ours;
  for (size_t i = 0; i < context.config.ports.size(); ++i) {
    const PortConfig& port = context.config.ports[i];
    for (size_t j = 0; j < port.addresses.size(); ++j) {
      const IpPrefix& prefix = port.addresses[j];
      const std::string path = path_of(i, "addresses[" + std::to_string(j) + "]");
      if (const auto wrong = host_address_problem(prefix))
        context.problem(path, "port address " + prefix.to_string() + " " + *wrong);
      if (std::find(ours.begin(), ours.end(), prefix.address) != ours.end())
        context.problem(path, "port address " + prefix.address.to_string() + " is named twice");
      ours.push_back(prefix.address);
    }
  }
}

}  // namespace wirecache::config

// What a port's `device` string says: a PCI address ("0000:3b:00.0") or the devargs of a virtual
// device ("net_af_xdp0,iface=eth1").
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wirecache::port {

bool is_pci_address(std::string_view device);

// "net_af_packet0,iface=eth1" → "net_af_packet0".
std::string device_name(std::string_view device);
// The driver's name without instance number: "net_af_packet". The PCI address itself for PCI.
std::string device_driver(std::string_view device);
// With its domain and in lower case: "3B:00.0" → "0000:3b:00.0".
std::string full_pci_address(std::string_view address);
// The value of one key, or "" where it is not given; or all of its values.
std::string devarg(std::string_view device, std::string_view key);
std::vector<std::string> devarg_values(std::string_view device, std::string_view key);

// The kernel's interface below the device; "" where there is none, as for PCI.
std::string netdev_of(std::string_view device);
// The PCI devices that EAL has to probe for it: itself, or the members of a bonding device.
std::vector<std::string> pci_devices_of(std::string_view device);

// The devargs to probe with: what the configuration says, completed by what the driver must be told
// of `queues` queues (af_packet, af_xdp, vhost, virtio_user) and of `descriptors` in each of its
// rings (af_packet, memif). Keys that the configuration gives itself are left as they are.
std::string complete_devargs(const std::string& device, uint16_t queues, uint16_t descriptors);

}  // namespace wirecache::port

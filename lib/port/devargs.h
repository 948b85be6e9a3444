// What a port's `device` string says: a PCI address ("0000:3b:00.0") or the devargs of a virtual
// device
// ("net_af_xdp0,iface=eth1").
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wirecache::port {

// Frames in each RX and each TX ring of an AF_PACKET queue; the driver's own default is 512.
inline constexpr unsigned kAfPacketFrames = 2048;

bool is_pci_address(std::string_view device);

// "net_af_packet0,iface=eth1" → "net_af_packet0".
std::string device_name(std::string_view device);
// The driver's name without instance number: "net_af_packet". The PCI address itself for PCI.
std::string device_driver(std::string_view device);
// The value of one key, or "" where it is not given.
std::string devarg(std::string_view device, std::string_view key);

// The devargs to probe with: what the configuration says, completed by what the driver needs for
// `queues` queues (af_packet: qpairs and its ring's geometry; af_xdp: queue_count). Keys that the
// configuration gives itself are left as they are.
std::string complete_devargs(const std::string& device, uint16_t queues);

}  // namespace wirecache::port

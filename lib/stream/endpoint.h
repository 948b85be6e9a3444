// One end of a UDP exchange through the kernel, and how it travels in a frame of the data plane.
//
// Pure values and functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/ip_address.h"

namespace wirecache::stream {

struct Endpoint {
  IpAddress address;
  uint16_t port = 0;
  uint32_t scope_id = 0;  // the interface of a link-local IPv6 address, else 0 (RFC 4007 §6)

  // "192.0.2.1:53", "[2001:db8::1]:53"
  std::string to_string() const;
};

// Whether a datagram may go there: not port 0, a multicast, broadcast or unspecified address, or
// "this network" (RFC 1122 §3.2.1.3). Loopback is all right: the kernel knows where it comes from.
bool may_be_answered(const Endpoint& client);

// A client behind the kernel has no MAC that a worker could need. The frame of its query carries
// the scope in the place of one, and the reply's frame brings it back:
//
//   byte 0..1  0 (a unicast address)
//   byte 2..5  scope_id, big-endian
MacAddress mac_from_scope(uint32_t scope_id);
uint32_t scope_from_mac(const MacAddress& mac);

}  // namespace wirecache::stream

// Sets up kernel interfaces over rtnetlink: find, bring up, give addresses and routes, pass on the
// state of a link.
//
// Invariant: one request at a time, answered before the call returns. Blocking (some microseconds
// each), so main only. Owns its socket. Works in the network namespace that it was
// opened in.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/control/link_state.h"
#include "lib/control/netlink_socket.h"

namespace wirecache::control {

struct Gateway {
  IpAddress address;
  unsigned ifindex = 0;  // of the interface on whose network it is
};

class Netlink {
 public:
  static Expected<Netlink> open();

  Expected<unsigned> link_index(const std::string& name);
  Expected<void> set_link_up(unsigned ifindex);
  Expected<void> set_mtu(unsigned ifindex, uint32_t mtu);
  // With its connected route; without duplicate address detection for IPv6 (usable at once). An
  // address that is there already is no error.
  Expected<void> add_address(unsigned ifindex, const IpPrefix& prefix);
  // What the kernel is to think of the link of an interface without one of its own (a TAP): without
  // carrier its routes are not used, and routing daemons are told.
  Expected<void> set_carrier(unsigned ifindex, LinkState state);
  // One route, with several next hops where there are several gateways (at least one, all of the
  // network's family). It replaces our own for this network. Its metric is above that of everything
  // that sets routes by itself, so that it never takes the place of a route the machine has
  // already: for a network that is routed elsewhere, it is found by who asks for routes by this
  // interface. It goes with the interface.
  Expected<void> add_route(const IpPrefix& network, const std::vector<Gateway>& gateways);

 private:
  explicit Netlink(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

}  // namespace wirecache::control

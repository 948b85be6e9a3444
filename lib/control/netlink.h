// Sets up kernel interfaces over rtnetlink: find, bring up, give addresses.
//
// Invariant: one request at a time, answered before the call returns. Blocking, so main only, and
// only while starting or reloading. Owns its socket. Works in the network namespace that it was
// opened in.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/control/netlink_socket.h"

namespace wirecache::control {

class Netlink {
 public:
  static Expected<Netlink> open();

  Expected<unsigned> link_index(const std::string& name);
  Expected<void> set_link_up(unsigned ifindex);
  Expected<void> set_mtu(unsigned ifindex, uint32_t mtu);
  // With its connected route; without duplicate address detection for IPv6 (usable at once). An
  // address that is there already is no error.
  Expected<void> add_address(unsigned ifindex, const IpPrefix& prefix);

 private:
  explicit Netlink(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

}  // namespace wirecache::control

// Whether the links of the kernel's interfaces are up, followed over netlink.
//
// Invariant: after poll() state() says what the kernel's last event or dump said. Thread: main
// only. poll() does not block.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <map>
#include <utility>

#include "lib/base/expected.h"
#include "lib/control/link_state.h"
#include "lib/control/netlink_socket.h"

namespace wirecache::control {

class LinkMonitor {
 public:
  // Subscribes, then reads all interfaces.
  static Expected<LinkMonitor> open();

  // Takes in all events that have arrived. True if the answer of any state() changed.
  bool poll();

  // kUp: the interface is there, set up, and has carrier.
  LinkState state(unsigned ifindex) const;

  // How often the interface was set up after it had been set down, since open(), whatever its
  // carrier. Each time the kernel has forgotten its routes and IPv6 addresses. Lost events count as
  // one time.
  uint64_t times_set_up(unsigned ifindex) const;

 private:
  struct Link {
    LinkState state = LinkState::kDown;
    bool set_up = false;
    uint64_t times_set_up = 0;
  };
  using Map = std::map<unsigned, Link>;

  LinkMonitor(NetlinkSocket events, NetlinkSocket requests)
      : events_(std::move(events)), requests_(std::move(requests)) {}
  int reload();
  static bool apply(const nlmsghdr* message, Map& map);
  static bool same_states(const Map& a, const Map& b);

  NetlinkSocket events_;
  NetlinkSocket requests_;
  Map links_;
  bool reload_due_ = false;
};

}  // namespace wirecache::control

// Whether the links of the kernel's interfaces are up, followed over netlink.
//
// Invariant: after poll() state() says what the kernel's last event or dump said. Thread: main
// only. poll() does not block.
#pragma once

#include <linux/netlink.h>

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

 private:
  using Map = std::map<unsigned, LinkState>;

  LinkMonitor(NetlinkSocket events, NetlinkSocket requests)
      : events_(std::move(events)), requests_(std::move(requests)) {}
  int reload();
  static bool apply(const nlmsghdr* message, Map& map);

  NetlinkSocket events_;
  NetlinkSocket requests_;
  Map links_;
  bool reload_due_ = false;
};

}  // namespace wirecache::control

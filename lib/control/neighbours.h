// The kernel's neighbour table (ARP and NDP), followed over netlink: who has which MAC.
//
// Invariant: after poll() lookup() says what the kernel's last event or dump said. Thread: main
// only; workers get what they need in a snapshot. poll() does not block; request() asks the kernel,
// which does the ARP or NDP itself, by way of the interface that the answer will come in on.
#pragma once

#include <linux/netlink.h>

#include <map>
#include <optional>
#include <utility>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/control/netlink_socket.h"

namespace wirecache::control {

class NeighbourTable {
 public:
  // Subscribes, then reads the whole table.
  static Expected<NeighbourTable> open();

  // Has the kernel resolve the address, or confirm it where it is known but stale. Repeat every few
  // seconds while the answer is wanted. The interface must be up and have an address of that
  // family.
  Expected<void> request(unsigned ifindex, const IpAddress& address);

  // Has the kernel ask a neighbour that it knows whether it is still there, now, whenever it was
  // heard last; one that does not answer is given up after as many tries as the interface's
  // settings say (see prepare_neighbours()). A neighbour without a MAC: request(). A static one is
  // left as it is.
  Expected<void> probe(unsigned ifindex, const IpAddress& address);

  // Takes in all events that have arrived. True if the answer of any lookup() changed.
  bool poll();

  // A MAC that may be used: states REACHABLE, STALE, DELAY, PROBE, PERMANENT, NOARP.
  std::optional<MacAddress> lookup(unsigned ifindex, const IpAddress& address) const;

 private:
  using Key = std::pair<unsigned, IpAddress>;
  struct Entry {
    MacAddress mac;
    uint16_t state = 0;  // NUD_*
  };
  using Map = std::map<Key, Entry>;

  NeighbourTable(NetlinkSocket events, NetlinkSocket requests)
      : events_(std::move(events)), requests_(std::move(requests)) {}
  int reload();
  static bool apply(const nlmsghdr* message, Map& map);
  static bool same_answers(const Map& a, const Map& b);

  NetlinkSocket events_;
  NetlinkSocket requests_;
  Map usable_;
  bool reload_due_ = false;
};

}  // namespace wirecache::control

// The kernel's side of the network as the control plane follows it: routes, neighbours and links.
//
// One for the process, shared by what belongs to single NUMA nodes. Invariant: whoever decides
// again after each poll() that was true has decided on what the kernel last said. Thread: main
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lib/base/expected.h"
#include "lib/control/link_monitor.h"
#include "lib/control/neighbours.h"
#include "lib/control/route_lookup.h"

namespace wirecache::control {

class KernelNetwork {
 public:
  // In the network namespace of the caller.
  static Expected<std::unique_ptr<KernelNetwork>> open();

  // True where something may have changed. Cheap to call in every round: looks at the sockets every
  // millisecond. Does not block.
  bool poll(uint64_t now_us);
  // Differs from before where routes may have changed: after the kernel's news, and every second
  // since it does not tell of everything (such as the routes that go with an address).
  uint64_t route_generation() const { return route_generation_; }

  NeighbourTable& neighbours() { return neighbours_; }
  RouteLookup& routes() { return routes_; }
  const LinkMonitor& links() const { return links_; }

 private:
  KernelNetwork(NeighbourTable neighbours, RouteLookup routes, LinkMonitor links)
      : neighbours_(std::move(neighbours)), routes_(std::move(routes)), links_(std::move(links)) {}

  NeighbourTable neighbours_;
  RouteLookup routes_;
  LinkMonitor links_;
  uint64_t route_generation_ = 1;
  uint64_t next_look_us_ = 0;
  uint64_t next_generation_us_ = 0;
};

}  // namespace wirecache::control

// From configuration and the kernel's neighbours to the workers' snapshot.
//
// Every upstream stands on a port's own network (checked by the configuration), so its next hop is
// itself. Thread: main only.
#pragma once

#include <memory>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/config/config.h"
#include "lib/control/neighbours.h"
#include "lib/upstream/server_route.h"
#include "lib/worker/snapshot.h"

namespace wirecache::app {

// What routing needs of an open port.
struct PortSide {
  MacAddress mac;
  unsigned exception_ifindex = 0;  // where the kernel keeps the port's neighbours
};

class Routes {
 public:
  // One port side per configured port, in order.
  Routes(const config::Config& config, std::vector<PortSide> ports,
         control::NeighbourTable neighbours);

  // Asks the kernel to resolve, or confirm, every upstream's neighbour.
  void request_neighbours();
  // Takes in the kernel's news; true if the routes changed.
  bool poll();
  std::unique_ptr<const worker::Snapshot> make_snapshot() const;
  bool any_usable() const;
  const upstream::RouteTable& table() const { return table_; }

 private:
  bool refresh();

  const config::Config& config_;
  std::vector<PortSide> ports_;
  control::NeighbourTable neighbours_;
  upstream::RouteTable table_;
};

}  // namespace wirecache::app

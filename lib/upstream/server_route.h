// How each upstream server is reached, as part of the workers' snapshot.
//
// Immutable once published; made by main from configuration and neighbour events; read by all
// workers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/config/config.h"

namespace wirecache::upstream {

struct ServerRoute {
  IpAddress address;
  IpAddress source;     // our own address, one of RouteTable::sources
  MacAddress next_hop;  // of the server or the gateway to it; valid where usable
  uint16_t port = 53;
  uint8_t port_index = 0;  // which of the appliance's ports leads there
  bool usable = false;     // the next hop's MAC is known
  bool trust_ad = false;
};

struct RouteTable {
  std::array<ServerRoute, config::kMaxServers> servers;
  size_t count = 0;
  // Every address that a query may have been sent from and its answer may come to.
  std::vector<IpAddress> sources;
};

}  // namespace wirecache::upstream

// What workers need to know of configuration and surroundings, as one immutable value.
//
// Made by main, published through Node::snapshot; a worker takes the pointer at the top of a burst
// and uses that one to the burst's end. Main frees a replaced snapshot when every worker has been
// quiescent since.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/config/client_networks.h"
#include "lib/config/config.h"
#include "lib/upstream/server_route.h"

namespace wirecache::worker {

struct Snapshot {
  explicit Snapshot(const config::Config& config)
      : clients(config.clients.allow),
        refuse(config.clients.refuse),
        listen_addresses(config.listen.addresses),
        listen_port(config.listen.port),
        cache(config.cache),
        edns(config.edns),
        first_source_port(config.upstream.first_source_port),
        last_source_port(config.upstream.last_source_port) {}

  bool listens_on(const IpAddress& address) const {
    return std::ranges::find(listen_addresses, address) != listen_addresses.end();
  }
  bool is_upstream_source(const IpAddress& address) const {
    return std::ranges::find(routes.sources, address) != routes.sources.end();
  }

  config::ClientNetworks clients;
  config::RefuseAction refuse;
  std::vector<IpAddress> listen_addresses;
  uint16_t listen_port;
  config::CacheConfig cache;
  config::EdnsConfig edns;
  uint16_t first_source_port;
  uint16_t last_source_port;
  upstream::RouteTable routes;
};

}  // namespace wirecache::worker

#include "app/routes.h"

#include <cstdio>
#include <utility>

namespace wirecache::app {
namespace {

// The port and the address on it whose network holds the server; the configuration has been checked
// for it.
void find_source(const config::Config& config, upstream::ServerRoute& route) {
  for (size_t port = 0; port < config.ports.size(); ++port) {
    for (const IpPrefix& prefix : config.ports[port].addresses) {
      if (!prefix.contains(route.address)) continue;
      route.port_index = static_cast<uint8_t>(port);
      route.source = prefix.address;
      return;
    }
  }
}

}  // namespace

Routes::Routes(const config::Config& config, std::vector<PortSide> ports,
               control::NeighbourTable neighbours)
    : config_(config), ports_(std::move(ports)), neighbours_(std::move(neighbours)) {
  for (const config::UpstreamServer& server : config.upstream.servers) {
    upstream::ServerRoute& route = table_.servers[table_.count++];
    route.address = server.address;
    route.port = server.port;
    route.trust_ad = server.trust_ad;
    find_source(config, route);
    table_.sources.push_back(route.source);
  }
  refresh();
}

void Routes::request_neighbours() {
  for (size_t i = 0; i < table_.count; ++i) {
    const upstream::ServerRoute& route = table_.servers[i];
    const auto asked =
        neighbours_.request(ports_[route.port_index].exception_ifindex, route.address);
    if (!asked) {
      std::fprintf(stderr, "wirecached: neighbour of %s: %s\n", route.address.to_string().c_str(),
                   asked.error().message.c_str());
    }
  }
}

bool Routes::poll() {
  return neighbours_.poll() && refresh();
}

bool Routes::refresh() {
  bool changed = false;
  for (size_t i = 0; i < table_.count; ++i) {
    upstream::ServerRoute& route = table_.servers[i];
    const auto mac = neighbours_.lookup(ports_[route.port_index].exception_ifindex, route.address);
    // A neighbour that the kernel gave up is still tried at its last address: whether it answers is
    // seen by the queries, and the kernel's own probes may be what got lost.
    if (!mac || (route.usable && *mac == route.next_hop)) continue;
    route.usable = true;
    route.next_hop = *mac;
    changed = true;
  }
  return changed;
}

std::unique_ptr<const worker::Snapshot> Routes::make_snapshot() const {
  auto snapshot = std::make_unique<worker::Snapshot>(config_);
  snapshot->routes = table_;
  return snapshot;
}

bool Routes::any_usable() const {
  for (size_t i = 0; i < table_.count; ++i) {
    if (table_.servers[i].usable) return true;
  }
  return false;
}

}  // namespace wirecache::app

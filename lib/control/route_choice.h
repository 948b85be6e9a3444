// By which next hop and from which of our addresses a server is asked: the decision alone, from
// what kernel, links and neighbours say.
//
// Pure functions; no thread rules. Ports are numbered in their NUMA node's own order; nodes share
// nothing, so an address on another node's port is none of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/control/link_state.h"

namespace wirecache::control {

// The addresses of a node.
struct NodeAddresses {
  std::vector<std::vector<IpPrefix>> of_port;
  std::vector<IpAddress> sources;  // as configured, for all nodes: upstream.sources
};

// A next hop on a port: what is stuck to while it is alive.
struct Way {
  size_t port = 0;
  IpAddress neighbour;  // the gateway, or the server itself
  friend bool operator==(const Way&, const Way&) = default;
};

// A way and what is known of it.
struct Candidate {
  Way way;
  std::optional<IpAddress> preferred_source;  // the route's own
  std::optional<IpAddress> source;            // choose_source()
  LinkState link = LinkState::kDown;
  std::optional<MacAddress> mac;       // the kernel holds the neighbour for alive
  std::optional<MacAddress> last_mac;  // what it had when it was
};

// The address to ask from: a configured source of the family on this port, else one on another port
// of the node; where none is configured for the family, the route's own if it is ours, else the
// port's address on whose network the neighbour is, else the port's first. Nothing where there is
// no such address.
std::optional<IpAddress> choose_source(IpFamily family, const Candidate& candidate,
                                       const NodeAddresses& addresses);

// Every address that choose_source() may come to: those that answers are taken at.
std::vector<IpAddress> possible_sources(const NodeAddresses& addresses);

enum class ChoiceStatus : uint8_t {
  kAlive,
  kSilent,       // the neighbour does not answer, and there is no better one: at its last MAC
  kNoRoute,      // no candidate
  kLinkDown,     // no candidate with a link that is up
  kNoSource,     // none of those with an address to ask from
  kNoNeighbour,  // none of those whose neighbour was ever heard
};

struct Choice {
  ChoiceStatus status = ChoiceStatus::kNoRoute;
  size_t candidate = 0;  // what the status is about; meaningless with kNoRoute
};

// The current way while it is alive, else the first that is. A neighbour that the kernel has given
// up is still used at its last MAC where no other is alive: whether the server answers is seen by
// the queries, and the kernel's own probes may be what got lost.
Choice choose(std::span<const Candidate> candidates, const std::optional<Way>& current);

}  // namespace wirecache::control

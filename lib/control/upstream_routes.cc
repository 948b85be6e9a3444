#include "lib/control/upstream_routes.h"

#include <algorithm>
#include <set>

namespace wirecache::control {
namespace {

// Probes without an answer until another port is tried for a neighbour that was never heard.
constexpr unsigned kProbesUntilWider = 2;
// Probes without an answer until the operator is told of a neighbour that was never heard.
constexpr unsigned kProbesInVain = 3;

bool leads_there(const Choice& choice) {
  return choice.status == ChoiceStatus::kAlive || choice.status == ChoiceStatus::kSilent;
}

}  // namespace

UpstreamRoutes::UpstreamRoutes(const config::UpstreamConfig& upstream, std::vector<PortSide> ports,
                               KernelNetwork& network)
    : network_(network), ports_(std::move(ports)), servers_(upstream.servers.size()) {
  for (const PortSide& port : ports_) addresses_.of_port.push_back(port.addresses);
  addresses_.sources = upstream.sources;
  table_.sources = possible_sources(addresses_);
  for (const config::UpstreamServer& server : upstream.servers) {
    upstream::ServerRoute& route = table_.servers[table_.count++];
    route.address = server.address;
    route.port = server.port;
    route.trust_ad = server.trust_ad;
  }
  refresh();
}

void UpstreamRoutes::set_link(size_t port, LinkState state) {
  ports_[port].link = state;
}

bool UpstreamRoutes::refresh() {
  const bool resolve_anew = resolved_generation_ != network_.route_generation();
  resolved_generation_ = network_.route_generation();
  bool changed = false;
  for (size_t server = 0; server < servers_.size(); ++server) {
    if (resolve_anew) resolve(server);
    changed |= apply(server, decide(server));
  }
  if (resolve_anew) forget_unused_macs();
  return changed;
}

void UpstreamRoutes::resolve(size_t server) {
  servers_[server].candidates.clear();
  servers_[server].width = Width::kBestRoute;
  add_candidates(server, kAnyInterface);
}

void UpstreamRoutes::add_candidates(size_t server, unsigned interface) {
  const IpAddress& destination = table_.servers[server].address;
  const auto found = network_.routes().resolve(destination, interface);
  if (!found) return complain(resolve_problem_, found.error().message);
  Server& state = servers_[server];
  if (found->status == Resolution::Status::kRefused && interface == kAnyInterface)
    state.width = Width::kRefused;
  for (const NextHop& hop : found->next_hops) {
    const auto port = std::ranges::find(ports_, hop.ifindex, &PortSide::exception_ifindex);
    if (port == ports_.end()) continue;
    Candidate candidate;
    candidate.way = {static_cast<size_t>(port - ports_.begin()), hop.gateway.value_or(destination)};
    candidate.preferred_source = hop.preferred_source;
    candidate.source = choose_source(destination.family, candidate, addresses_);
    const bool known = std::ranges::any_of(
        state.candidates, [&](const Candidate& other) { return other.way == candidate.way; });
    if (known) continue;
    state.candidates.push_back(candidate);
    // Not to wait for the next probe().
    if (!network_.neighbours().lookup(hop.ifindex, candidate.way.neighbour))
      (void)network_.neighbours().request(hop.ifindex, candidate.way.neighbour);
  }
}

void UpstreamRoutes::look_at_neighbours(size_t server) {
  for (Candidate& candidate : servers_[server].candidates) {
    const PortSide& port = ports_[candidate.way.port];
    candidate.link = port.link;
    candidate.mac = network_.neighbours().lookup(port.exception_ifindex, candidate.way.neighbour);
    const std::pair key(port.exception_ifindex, candidate.way.neighbour);
    if (candidate.mac) last_macs_[key] = *candidate.mac;
    const auto last = last_macs_.find(key);
    if (last != last_macs_.end()) candidate.last_mac = last->second;
  }
}

Choice UpstreamRoutes::decide(size_t server) {
  Server& state = servers_[server];
  look_at_neighbours(server);
  Choice choice = choose(state.candidates, state.current);
  if (choice.status == ChoiceStatus::kAlive || state.width != Width::kBestRoute) return choice;
  // It has just been asked for the first time.
  if (choice.status == ChoiceStatus::kNoNeighbour && state.probes_in_vain < kProbesUntilWider)
    return choice;
  state.width = Width::kAllPorts;
  for (const PortSide& port : ports_) add_candidates(server, port.exception_ifindex);
  look_at_neighbours(server);
  return choose(state.candidates, state.current);
}

bool UpstreamRoutes::apply(size_t server, const Choice& choice) {
  Server& state = servers_[server];
  upstream::ServerRoute& route = table_.servers[server];
  if (choice.status != ChoiceStatus::kNoNeighbour) {
    state.probes_in_vain = 0;
    say(server, describe(server, choice));
  }
  const bool was_usable = route.usable;
  route.usable = leads_there(choice);
  if (!route.usable) return was_usable;

  const Candidate& chosen = state.candidates[choice.candidate];
  const MacAddress mac = chosen.mac ? *chosen.mac : *chosen.last_mac;
  const auto port = static_cast<uint8_t>(chosen.way.port);
  const bool same_way = was_usable && state.current == chosen.way && route.source == chosen.source;
  state.current = chosen.way;
  if (same_way && route.next_hop == mac) return false;
  if (same_way)
    log_.push_back("upstream " + route.address.to_string() + ": " +
                   chosen.way.neighbour.to_string() + " on " + ports_[port].name + " has MAC " +
                   mac.to_string() + " now");
  route.port_index = port;
  route.source = *chosen.source;
  route.next_hop = mac;
  return true;
}

void UpstreamRoutes::forget_unused_macs() {
  std::set<std::pair<unsigned, IpAddress>> used;
  for (const Server& server : servers_) {
    for (const Candidate& candidate : server.candidates)
      used.emplace(ports_[candidate.way.port].exception_ifindex, candidate.way.neighbour);
  }
  std::erase_if(last_macs_, [&](const auto& entry) { return !used.contains(entry.first); });
}

void UpstreamRoutes::probe() {
  std::set<std::pair<unsigned, IpAddress>> wanted;
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    for (const Candidate& candidate : server.candidates) {
      const PortSide& port = ports_[candidate.way.port];
      if (port.link == LinkState::kUp)
        wanted.emplace(port.exception_ifindex, candidate.way.neighbour);
    }
    const Choice choice = choose(server.candidates, server.current);
    if (choice.status == ChoiceStatus::kNoNeighbour && ++server.probes_in_vain == kProbesInVain)
      say(i, describe(i, choice));
  }
  for (const auto& [interface, address] : wanted) {
    const auto asked = network_.neighbours().probe(interface, address);
    if (!asked) complain(probe_problem_, asked.error().message);
  }
}

bool UpstreamRoutes::any_usable() const {
  return std::any_of(table_.servers.begin(), table_.servers.begin() + table_.count,
                     [](const upstream::ServerRoute& route) { return route.usable; });
}

std::vector<std::string> UpstreamRoutes::take_log() {
  return std::exchange(log_, {});
}

void UpstreamRoutes::complain(std::string& last, const std::string& problem) {
  if (last == problem) return;
  last = problem;
  log_.push_back(problem);
}

std::string UpstreamRoutes::describe(size_t server, const Choice& choice) const {
  if (choice.status == ChoiceStatus::kNoRoute) return "no route";
  const Candidate& candidate = servers_[server].candidates[choice.candidate];
  const IpAddress& destination = table_.servers[server].address;
  const std::string on = "on " + ports_[candidate.way.port].name;
  const bool direct = candidate.way.neighbour == destination;
  const std::string gateway = direct ? "" : candidate.way.neighbour.to_string() + " ";
  const std::string way = (direct ? "" : "by " + gateway) + on;
  switch (choice.status) {
    case ChoiceStatus::kAlive:
      return way + " from " + candidate.source->to_string();
    case ChoiceStatus::kSilent:
      return way + " from " + candidate.source->to_string() + ", silent: at its last MAC";
    case ChoiceStatus::kLinkDown:
      return way + ": the link is down";
    case ChoiceStatus::kNoSource:
      return way + ": no " + (destination.is_v6() ? "IPv6" : "IPv4") + " address to ask from";
    case ChoiceStatus::kNoNeighbour:
      return gateway + "does not answer " + on;
    case ChoiceStatus::kNoRoute:
      break;
  }
  return "no route";
}

void UpstreamRoutes::say(size_t server, const std::string& what) {
  Server& state = servers_[server];
  if (state.said == what) return;
  state.said = what;
  log_.push_back("upstream " + table_.servers[server].address.to_string() + ": " + what);
}

}  // namespace wirecache::control

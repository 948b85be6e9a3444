#include "lib/control/route_choice.h"

#include <algorithm>

namespace wirecache::control {
namespace {

bool holds(const std::vector<IpPrefix>& port, const IpAddress& address) {
  return std::ranges::any_of(port, [&](const IpPrefix& p) { return p.address == address; });
}

bool is_ours(const NodeAddresses& addresses, const IpAddress& address) {
  return std::ranges::any_of(addresses.of_port,
                             [&](const auto& port) { return holds(port, address); });
}

bool is_configured(const NodeAddresses& addresses, IpFamily family) {
  return std::ranges::any_of(addresses.sources,
                             [&](const IpAddress& source) { return source.family == family; });
}

std::optional<IpAddress> configured_source(IpFamily family, size_t port,
                                           const NodeAddresses& addresses) {
  std::optional<IpAddress> elsewhere;
  for (const IpAddress& source : addresses.sources) {
    if (source.family != family) continue;
    if (holds(addresses.of_port[port], source)) return source;
    if (!elsewhere && is_ours(addresses, source)) elsewhere = source;
  }
  return elsewhere;
}

// The current way among the candidates that `fits` accepts, else the first of those.
template <typename Fits>
std::optional<size_t> pick(std::span<const Candidate> candidates, const std::optional<Way>& current,
                           const Fits& fits) {
  std::optional<size_t> first;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!fits(candidates[i])) continue;
    if (current && candidates[i].way == *current) return i;
    if (!first) first = i;
  }
  return first;
}

}  // namespace

std::optional<IpAddress> choose_source(IpFamily family, const Candidate& candidate,
                                       const NodeAddresses& addresses) {
  if (is_configured(addresses, family))
    return configured_source(family, candidate.way.port, addresses);
  const auto& preferred = candidate.preferred_source;
  if (preferred && preferred->family == family && is_ours(addresses, *preferred)) return preferred;
  std::optional<IpAddress> first;
  for (const IpPrefix& prefix : addresses.of_port[candidate.way.port]) {
    if (prefix.address.family != family) continue;
    if (prefix.contains(candidate.way.neighbour)) return prefix.address;
    if (!first) first = prefix.address;
  }
  return first;
}

std::vector<IpAddress> possible_sources(const NodeAddresses& addresses) {
  std::vector<IpAddress> sources;
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    const bool configured = is_configured(addresses, family);
    for (const auto& port : addresses.of_port) {
      for (const IpPrefix& prefix : port) {
        const bool wanted = !configured || std::ranges::find(addresses.sources, prefix.address) !=
                                               addresses.sources.end();
        if (prefix.address.family == family && wanted) sources.push_back(prefix.address);
      }
    }
  }
  return sources;
}

Choice choose(std::span<const Candidate> candidates, const std::optional<Way>& current) {
  const auto up = [](const Candidate& c) { return c.link == LinkState::kUp; };
  const auto addressed = [&](const Candidate& c) { return up(c) && c.source.has_value(); };
  const auto heard = [&](const Candidate& c) { return addressed(c) && c.last_mac.has_value(); };
  const auto alive = [&](const Candidate& c) { return addressed(c) && c.mac.has_value(); };
  if (candidates.empty()) return {ChoiceStatus::kNoRoute, 0};
  if (const auto i = pick(candidates, current, alive)) return {ChoiceStatus::kAlive, *i};
  if (const auto i = pick(candidates, current, heard)) return {ChoiceStatus::kSilent, *i};
  if (const auto i = pick(candidates, current, addressed)) return {ChoiceStatus::kNoNeighbour, *i};
  if (const auto i = pick(candidates, current, up)) return {ChoiceStatus::kNoSource, *i};
  return {ChoiceStatus::kLinkDown, 0};
}

}  // namespace wirecache::control

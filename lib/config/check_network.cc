// The part of check_config.h that is about routes, upstream sources and where we listen.
#include <algorithm>

#include "lib/config/check_config.h"

namespace wirecache::config {
namespace {

std::string indexed(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

const char* family_name(const IpAddress& address) {
  return address.is_v6() ? "IPv6" : "IPv4";
}

void check_gateway(const CheckContext& context, const RouteConfig& route, size_t gateway,
                   const std::string& path) {
  const IpAddress& via = route.via[gateway];
  const auto problem = [&](const std::string& message) {
    context.problem(
        path, "route to " + route.to.to_string() + ": gateway " + via.to_string() + " " + message);
  };
  if (via.family != route.to.address.family)
    return problem(std::string("is not an ") + family_name(route.to.address) + " address");
  if (is_our_own(context.config, via)) return problem("is an address of our own");
  const IpPrefix* network = network_of(context.config, via);
  if (network == nullptr) return problem("is on no port's network");
  if (const auto wrong = host_address_problem({via, network->length})) return problem(*wrong);
  const auto here = route.via.begin() + static_cast<std::ptrdiff_t>(gateway);
  if (std::find(route.via.begin(), here, via) != here) problem("is named twice");
}

void check_destination(const CheckContext& context, size_t index) {
  const auto& routes = context.config.routes;
  const IpPrefix& to = routes[index].to;
  const auto problem = [&](const std::string& message) {
    context.problem(indexed("route", index) + ".to", "route to " + to.to_string() + message);
  };
  const IpPrefix network = network_part(to);
  if (network != to) return problem(": the network is " + network.to_string());
  for (size_t i = 0; i < index; ++i)
    if (routes[i].to == to) return problem(" is there twice");
  for (const PortConfig& port : context.config.ports)
    for (const IpPrefix& ours : port.addresses)
      if (network_part(ours) == to) return problem(": that is the network of port " + port.name);
}

void check_source(const CheckContext& context, size_t index) {
  const auto& sources = context.config.upstream.sources;
  const IpAddress& source = sources[index];
  const auto problem = [&](const std::string& message) {
    context.problem(indexed("upstream.sources", index),
                    "upstream source " + source.to_string() + message);
  };
  if (!is_our_own(context.config, source)) return problem(" is not an address of any port");
  for (const PortConfig& port : context.config.ports) {
    const auto is_there = [&](const IpAddress& address) {
      return std::ranges::any_of(port.addresses,
                                 [&](const IpPrefix& prefix) { return prefix.address == address; });
    };
    if (!is_there(source)) continue;
    for (size_t i = 0; i < index; ++i) {
      if (sources[i].family != source.family || !is_there(sources[i])) continue;
      return problem(": port " + port.name + " has another for " + family_name(source) + ", " +
                     sources[i].to_string());
    }
  }
}

}  // namespace

IpPrefix network_part(const IpPrefix& prefix) {
  IpPrefix network = prefix;
  for (size_t i = 0; i < prefix.address.size(); ++i) {
    const size_t network_bits = std::clamp<size_t>(prefix.length, i * 8, i * 8 + 8) - i * 8;
    const auto host_mask = static_cast<uint8_t>(0xff >> network_bits);
    network.address.bytes[i] = static_cast<uint8_t>(network.address.bytes[i] & ~host_mask);
  }
  return network;
}

void check_routes(const CheckContext& context) {
  for (size_t i = 0; i < context.config.routes.size(); ++i) {
    const RouteConfig& route = context.config.routes[i];
    const std::string path = indexed("route", i) + ".via";
    check_destination(context, i);
    if (route.via.empty() || route.via.size() > kMaxGateways)
      context.problem(path, "route to " + route.to.to_string() + " needs 1 to " +
                                std::to_string(kMaxGateways) + " gateways in 'via', not " +
                                std::to_string(route.via.size()));
    for (size_t j = 0; j < route.via.size(); ++j)
      check_gateway(context, route, j, indexed(path, j));
  }
}

void check_sources(const CheckContext& context) {
  for (size_t i = 0; i < context.config.upstream.sources.size(); ++i) check_source(context, i);
}

void check_listen(const CheckContext& context) {
  const auto& addresses = context.config.listen.addresses;
  if (addresses.empty())
    context.problem("upstream.sources",
                    "all addresses of the ports are in 'sources' in [upstream]: none is left to "
                    "listen on");
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::string path = "listen.addresses[" + std::to_string(i) + "]";
    const std::string name = "listen address " + addresses[i].to_string();
    if (!is_our_own(context.config, addresses[i]))
      context.problem(path, name + " is not an address of any port");
    const auto here = addresses.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(addresses.begin(), here, addresses[i]) != here)
      context.problem(path, name + " is named twice");
  }
}

}  // namespace wirecache::config

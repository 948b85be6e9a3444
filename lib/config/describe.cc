#include "lib/config/describe.h"

namespace wirecache::config {
namespace {

template <typename List, typename ToText>
std::string joined(const List& list, const ToText& to_text) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : " ") + to_text(element);
  return text;
}

std::string endpoint(const std::string& address, uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::string addresses_text(const std::vector<IpAddress>& addresses) {
  return joined(addresses, [](const IpAddress& address) { return address.to_string(); });
}

std::string cores_line(const CoresConfig& cores) {
  return "cores: main " + std::to_string(cores.main) + ", workers " +
         joined(cores.workers, [](unsigned cpu) { return std::to_string(cpu); }) +
         (cores.idle == IdlePolicy::kYield ? ", yield when idle" : ", poll when idle") +
         (cores.oversubscribe ? ", oversubscribed\n" : "\n");
}

// Only what the configuration sets itself: the rest is the driver profile's.
std::string overrides_text(const PortConfig& port) {
  std::string text;
  const auto add_number = [&](const char* name, const auto& number) {
    if (number) text += std::string(", ") + name + " " + std::to_string(*number);
  };
  const auto add_words = [&](const char* name, const auto& words) {
    if (!words) return;
    text += std::string(", ") + name + " " +
            (words->empty() ? "none" : joined(*words, [](const std::string& w) { return w; }));
  };
  if (port.spread != Spread::kAuto)
    text += port.spread == Spread::kOn ? ", spread in software" : ", not spread in software";
  add_number("NUMA node", port.numa_node);
  add_number("RX descriptors", port.rx_descriptors);
  add_number("TX descriptors", port.tx_descriptors);
  add_number("burst", port.burst);
  add_words("RSS", port.rss);
  add_words("offloads", port.offloads);
  return text;
}

std::string port_line(const PortConfig& port) {
  return "port " + port.name + ": " + port.device + ", addresses " +
         joined(port.addresses, [](const IpPrefix& prefix) { return prefix.to_string(); }) +
         ", exception interface " + port.exception_interface + ", queues " +
         (port.queues == 0 ? "as many as workers" : std::to_string(port.queues)) +
         overrides_text(port) + "\n";
}

std::string route_line(const RouteConfig& route) {
  return "route: " + route.to.to_string() + " via " + addresses_text(route.via) + "\n";
}

std::string listen_line(const ListenConfig& listen) {
  return "listen: " + addresses_text(listen.addresses) + (listen.loopback ? " and loopback" : "") +
         ", port " + std::to_string(listen.port) + "\n";
}

std::string clients_line(const ClientsConfig& clients) {
  return "clients: " +
         joined(clients.allow, [](const IpPrefix& prefix) { return prefix.to_string(); }) +
         (clients.refuse == RefuseAction::kDrop ? ", others dropped\n" : ", others refused\n");
}

std::string upstream_line(const UpstreamConfig& upstream) {
  return "upstream: " +
         joined(upstream.servers,
                [](const UpstreamServer& server) {
                  return endpoint(server.address.to_string(), server.port) +
                         (server.trust_ad ? " (AD trusted)" : "");
                }) +
         ", from " + (upstream.sources.empty() ? "" : addresses_text(upstream.sources) + " ") +
         "ports " + std::to_string(upstream.first_source_port) + "-" +
         std::to_string(upstream.last_source_port) + ", try " +
         std::to_string(upstream.try_timeout_ms) + " ms, deadline " +
         std::to_string(upstream.deadline_ms) + " ms\n";
}

std::string cache_line(const CacheConfig& cache) {
  return "cache: " + std::to_string(cache.memory_mb) + " MiB, TTL " +
         std::to_string(cache.min_ttl_sec) + " to " + std::to_string(cache.max_ttl_sec) +
         " s, negative to " + std::to_string(cache.max_negative_ttl_sec) + " s, failures " +
         std::to_string(cache.failure_ttl_sec) + " s\n";
}

}  // namespace

std::string describe(const Config& config) {
  std::string text = cores_line(config.cores);
  for (const PortConfig& port : config.ports) text += port_line(port);
  for (const RouteConfig& route : config.routes) text += route_line(route);
  text += listen_line(config.listen);
  text += clients_line(config.clients);
  text += upstream_line(config.upstream);
  text += cache_line(config.cache);
  const MetricsConfig& metrics = config.metrics;
  text +=
      "metrics: " + (metrics.address.empty() ? "off" : endpoint(metrics.address, metrics.port)) +
      "\n";
  return text;
}

}  // namespace wirecache::config

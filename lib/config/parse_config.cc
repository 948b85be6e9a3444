#include "lib/config/parse_config.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "lib/config/check_config.h"
#include "lib/config/read_file.h"
#include "lib/config/read_port.h"
#include "lib/config/toml_reader.h"

namespace wirecache::config {
namespace {

using Problem = std::optional<std::string>;  // what is wrong with a string, or nothing

constexpr int64_t kLastCpu = 1023;  // of a cpu_set_t
constexpr int64_t kMaxTtlSec = 604800;
constexpr int64_t kMaxMemoryMb = 1048576;
constexpr int64_t kMaxTableEntries = 1048576;
constexpr IntegerRange kPortRange{1, 65535};
constexpr IntegerRange kTtlRange{0, kMaxTtlSec};
constexpr IntegerRange kTimeoutRange{10, 10000};
// An IPv6 packet of 1500 bytes less its own header and UDP's.
constexpr int64_t kMaxUnfragmentedBytes = 1500 - 40 - 8;

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

Problem take_address(const std::string& text, IpAddress* target) {
  const auto address = IpAddress::parse(text);
  if (!address) return "is not an IP address";
  *target = *address;
  return std::nullopt;
}

Problem add_address(const std::string& text, std::vector<IpAddress>* target) {
  IpAddress address;
  Problem problem = take_address(text, &address);
  if (!problem) target->push_back(address);
  return problem;
}

// A bare address is a network of one host.
Problem add_network(const std::string& text, std::vector<IpPrefix>* target) {
  const auto prefix = IpPrefix::parse(text);
  if (!prefix) return "is not a network like \"10.0.0.0/8\" or \"fd00::/8\"";
  target->push_back(*prefix);
  return std::nullopt;
}

Problem take_port_range(const std::string& text, UpstreamConfig* target) {
  const std::string_view view = text;
  const size_t dash = view.find('-');
  if (dash != std::string_view::npos) {
    const auto first = parse_port(view.substr(0, dash));
    const auto last = parse_port(view.substr(dash + 1));
    if (first && last) {
      target->first_source_port = *first;
      target->last_source_port = *last;
      return std::nullopt;
    }
  }
  return "is not a range of ports like \"10000-32767\"";
}

// "127.0.0.1:9353", "[::1]:9353", or nothing at all.
Problem take_endpoint(const std::string& text, MetricsConfig* target) {
  if (text.empty()) {
    target->address.clear();
    return std::nullopt;
  }
  const std::string_view view = text;
  const size_t colon = view.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view host = view.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    const auto address = IpAddress::parse(host);
    const auto port = parse_port(view.substr(colon + 1));
    if (address && port && address->is_v6() == bracketed) {
      target->address = address->to_string();
      target->port = *port;
      return std::nullopt;
    }
  }
  return "is not an address and port like \"127.0.0.1:9353\" or \"[::1]:9353\"";
}

void read_cores(TableReader& table, CoresConfig* cores) {
  table.integer("main", {0, kLastCpu}, &cores->main);
  table.integers("workers", {0, kLastCpu}, &cores->workers);
  const TableReader::Words<IdlePolicy> policies{{"poll", IdlePolicy::kPoll},
                                                {"yield", IdlePolicy::kYield}};
  table.word("idle", policies, &cores->idle);
  table.boolean("oversubscribe", &cores->oversubscribe);
}

void read_eal(TableReader& table, EalConfig* eal) {
  table.integer("memory_mb", {64, kMaxMemoryMb}, &eal->memory_mb);
  const TableReader::Words<HugePages> words{
      {"auto", HugePages::kAuto}, {"on", HugePages::kOn}, {"off", HugePages::kOff}};
  table.word("huge_pages", words, &eal->huge_pages);
  table.strings("extra", &eal->extra);
}

void read_route(TableReader& table, std::vector<RouteConfig>* routes) {
  RouteConfig route;
  std::vector<IpPrefix> to;
  table.require("to");
  table.text("to", [&](const auto& text) { return add_network(text, &to); });
  if (!to.empty()) route.to = to.front();
  table.require("via");
  table.texts("via", [&](const auto& text) { return add_address(text, &route.via); });
  routes->push_back(std::move(route));
}

void read_listen(TableReader& table, ListenConfig* listen) {
  table.texts("addresses", [&](const auto& text) { return add_address(text, &listen->addresses); });
  table.integer("port", kPortRange, &listen->port);
  table.boolean("loopback", &listen->loopback);
}

void read_clients(TableReader& table, ClientsConfig* clients) {
  if (table.has("allow")) clients->allow.clear();
  table.texts("allow", [&](const auto& text) { return add_network(text, &clients->allow); });
  const TableReader::Words<RefuseAction> actions{{"refuse", RefuseAction::kRefuse},
                                                 {"drop", RefuseAction::kDrop}};
  table.word("refuse", actions, &clients->refuse);
}

void read_cache(TableReader& table, CacheConfig* cache) {
  table.integer("memory_mb", {4, kMaxMemoryMb}, &cache->memory_mb);
  table.integer("min_ttl", kTtlRange, &cache->min_ttl_sec);
  table.integer("max_ttl", kTtlRange, &cache->max_ttl_sec);
  table.integer("max_negative_ttl", kTtlRange, &cache->max_negative_ttl_sec);
  table.integer("failure_ttl", {1, 300}, &cache->failure_ttl_sec);
  table.boolean("rotate_addresses", &cache->rotate_addresses);
}

void read_server(TableReader& table, std::vector<UpstreamServer>* servers) {
  UpstreamServer server;
  table.require("address");
  table.text("address", [&](const auto& text) { return take_address(text, &server.address); });
  table.integer("port", kPortRange, &server.port);
  table.boolean("trust_ad", &server.trust_ad);
  servers->push_back(server);
}

void read_upstream(TableReader& table, UpstreamConfig* upstream) {
  table.texts("sources", [&](const auto& text) { return add_address(text, &upstream->sources); });
  table.text("source_ports", [&](const auto& text) { return take_port_range(text, upstream); });
  table.integer("try_timeout_ms", kTimeoutRange, &upstream->try_timeout_ms);
  table.integer("deadline_ms", kTimeoutRange, &upstream->deadline_ms);
  table.integer("max_pending", {1, kMaxTableEntries}, &upstream->max_pending);
  table.integer("max_waiting", {1, kMaxTableEntries}, &upstream->max_waiting);
  table.tables("server", [&](TableReader& server) { read_server(server, &upstream->servers); });
}

void read_edns(TableReader& table, EdnsConfig* edns) {
  table.integer("udp_size", {512, 4096}, &edns->udp_size);
  table.integer("max_reply_bytes", {512, kMaxUnfragmentedBytes}, &edns->max_reply_bytes);
}

void read_metrics(TableReader& table, MetricsConfig* metrics) {
  table.text("listen", [&](const auto& text) { return take_endpoint(text, metrics); });
}

void read_document(TableReader& root, Config* config) {
  root.table("cores", [&](TableReader& table) { read_cores(table, &config->cores); });
  root.table("eal", [&](TableReader& table) { read_eal(table, &config->eal); });
  root.tables("port", [&](TableReader& table) { read_port(table, &config->ports); });
  root.tables("route", [&](TableReader& table) { read_route(table, &config->routes); });
  root.table("drivers", [&](TableReader& table) { read_drivers(table, &config->drivers); });
  root.table("listen", [&](TableReader& table) { read_listen(table, &config->listen); });
  root.table("clients", [&](TableReader& table) { read_clients(table, &config->clients); });
  root.table("cache", [&](TableReader& table) { read_cache(table, &config->cache); });
  root.table("upstream", [&](TableReader& table) { read_upstream(table, &config->upstream); });
  root.table("edns", [&](TableReader& table) { read_edns(table, &config->edns); });
  root.table("metrics", [&](TableReader& table) { read_metrics(table, &config->metrics); });
  root.finish();
}

// Loopback (RFC 1122, 4291), private (RFC 1918, 4193) and link-local (RFC 3927, 4291).
std::vector<IpPrefix> local_networks() {
  std::vector<IpPrefix> networks;
  for (const char* network : {"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                              "169.254.0.0/16", "::1/128", "fc00::/7", "fe80::/10"})
    networks.push_back(*IpPrefix::parse(network));
  return networks;
}

// What upstreams answer to is kept for them.
void listen_everywhere(Config* config) {
  const auto& sources = config->upstream.sources;
  for (const PortConfig& port : config->ports)
    for (const IpPrefix& prefix : port.addresses)
      if (std::ranges::find(sources, prefix.address) == sources.end())
        config->listen.addresses.push_back(prefix.address);
}

// After check_drivers(): what is wrong now is wrong in one of the directory's files.
Expected<void> take_profiles(Config* config) {
  if (config->drivers.profiles.empty()) return {};
  auto profiles = DriverProfiles::with_directory(config->drivers.profiles);
  if (!profiles) return Unexpected<Error>(profiles.error());
  config->driver_profiles = std::move(*profiles);
  return {};
}

}  // namespace

Expected<Config> parse_config_for(const Machine& machine, std::string_view text,
                                  const std::string& name) {
  const auto document = parse_toml(text, name);
  if (!document) return Unexpected<Error>(document.error());
  Problems problems(name);
  Config config;
  config.clients.allow = local_networks();
  TableReader root(*document, &problems);
  read_document(root, &config);
  if (problems.any()) return Unexpected<Error>(problems.first());
  if (config.listen.addresses.empty()) listen_everywhere(&config);
  check_config({config, machine, SourceLines(*document), &problems});
  if (problems.any()) return Unexpected<Error>(problems.first());
  if (auto taken = take_profiles(&config); !taken) return Unexpected<Error>(taken.error());
  return config;
}

Expected<Config> load_config_for(const Machine& machine, const std::string& path) {
  const auto text = read_file(path);
  if (!text) return Unexpected<Error>(text.error());
  return parse_config_for(machine, *text, path);
}

Expected<Config> parse_config(std::string_view text, const std::string& name) {
  return parse_config_for(this_machine(), text, name);
}

Expected<Config> load_config(const std::string& path) {
  return load_config_for(this_machine(), path);
}

}  // namespace wirecache::config

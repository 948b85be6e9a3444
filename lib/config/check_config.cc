#include "lib/config/check_config.h"

#include <algorithm>

namespace wirecache::config {
namespace {

constexpr uint64_t kMinCacheMbPerWorker = 4;  // enough segments to tell what to keep
constexpr unsigned kMinSourcePorts = 1024;    // what a forger has to guess besides the ID
constexpr unsigned kMinSourcePortsPerWorker = 64;
constexpr unsigned kFirstSourcePort = 1024;

std::string number(uint64_t value) {
  return std::to_string(value);
}

std::string range_text(unsigned first, unsigned last) {
  return number(first) + "-" + number(last);
}

void check_cpu_exists(const CheckContext& context, unsigned cpu, const std::string& path) {
  if (cpu < context.machine.cpus) return;
  context.problem(path, "CPU " + number(cpu) +
                            " in [cores] does not exist: the machine has CPUs 0 to " +
                            number(context.machine.cpus - 1));
}

void check_source_ports(const CheckContext& context) {
  const unsigned first = context.config.upstream.first_source_port;
  const unsigned last = context.config.upstream.last_source_port;
  const std::string range = "source_ports " + range_text(first, last);
  const auto problem = [&](const std::string& message) {
    context.problem("upstream.source_ports", range + message);
  };
  if (first > last) return problem(": the first port is above the last");
  if (first < kFirstSourcePort) return problem(" must begin at 1024 or above");
  const unsigned listen = context.config.listen.port;
  if (first <= listen && listen <= last)
    return problem(" include the port " + number(listen) + " of [listen]");
  const size_t workers = context.config.cores.workers.size();
  const size_t least = std::max<size_t>(kMinSourcePorts, workers * kMinSourcePortsPerWorker);
  if (last - first + 1 < least)
    return problem(" are " + number(last - first + 1) + " ports: at least " + number(least) +
                   " are needed with " + number(workers) + (workers == 1 ? " worker" : " workers"));
  const auto& kernel = context.machine.ephemeral_ports;
  if (kernel && first <= kernel->last && kernel->first <= last)
    problem(" overlap the kernel's ephemeral ports " + range_text(kernel->first, kernel->last) +
            " (net.ipv4.ip_local_port_range)");
}

bool is_link_local(const IpAddress& address) {
  return IpPrefix::parse(address.is_v6() ? "fe80::/10" : "169.254.0.0/16")->contains(address);
}

void check_server(const CheckContext& context, size_t index) {
  const auto& servers = context.config.upstream.servers;
  const UpstreamServer& server = servers[index];
  const std::string name = "upstream " + server.address.to_string();
  const auto problem = [&](const std::string& message) {
    context.problem("upstream.server[" + number(index) + "].address", name + message);
  };
  if (is_our_own(context.config, server.address)) return problem(" is an address of our own");
  const IpPrefix* network = network_of(context.config, server.address);
  // Elsewhere the network's length is not known; any host may have the address.
  const auto whole = static_cast<uint8_t>(server.address.size() * 8);
  const uint8_t length = network != nullptr ? network->length : whole;
  if (const auto wrong = host_address_problem({server.address, length}))
    return problem(" " + *wrong);
  if (network == nullptr && is_link_local(server.address))
    return problem(" is a link-local address, but on no port's network");
  for (size_t i = 0; i < index; ++i)
    if (servers[i].address == server.address && servers[i].port == server.port)
      return problem(" port " + number(server.port) + " is named twice");
}

}  // namespace

void check_cores(const CheckContext& context) {
  const CoresConfig& cores = context.config.cores;
  if (cores.workers.empty())
    return context.problem("cores.workers", "'workers' in [cores] must name at least one CPU");
  if (cores.workers.size() > kMaxWorkers)
    return context.problem("cores.workers", "'workers' in [cores] names " +
                                                number(cores.workers.size()) + " CPUs: at most " +
                                                number(kMaxWorkers) + " are possible");
  check_cpu_exists(context, cores.main, "cores.main");
  std::vector<unsigned> taken{cores.main};
  for (size_t i = 0; i < cores.workers.size(); ++i) {
    const unsigned cpu = cores.workers[i];
    const std::string path = "cores.workers[" + number(i) + "]";
    check_cpu_exists(context, cpu, path);
    const bool twice = std::find(taken.begin(), taken.end(), cpu) != taken.end();
    if (twice && !cores.oversubscribe)
      context.problem(path, "CPU " + number(cpu) +
                                " is named twice in [cores]: main and each worker need one of "
                                "their own, unless oversubscribe = true");
    taken.push_back(cpu);
  }
}

void check_clients(const CheckContext& context) {
  if (context.config.clients.allow.empty())
    context.problem("clients.allow", "'allow' in [clients] is empty: nobody would be served");
}

void check_cache(const CheckContext& context) {
  const CacheConfig& cache = context.config.cache;
  const size_t workers = context.config.cores.workers.size();
  const uint64_t least = kMinCacheMbPerWorker * workers;
  if (cache.memory_mb < least)
    context.problem("cache.memory_mb", "'memory_mb' in [cache] must be at least " + number(least) +
                                           " with " + number(workers) + " workers, not " +
                                           number(cache.memory_mb));
  if (cache.min_ttl_sec > cache.max_ttl_sec)
    context.problem("cache.min_ttl",
                    "'min_ttl' in [cache] is above max_ttl: " + number(cache.min_ttl_sec) + " > " +
                        number(cache.max_ttl_sec));
}

void check_upstream(const CheckContext& context) {
  const UpstreamConfig& upstream = context.config.upstream;
  check_source_ports(context);
  if (upstream.deadline_ms < upstream.try_timeout_ms)
    context.problem("upstream.deadline_ms",
                    "'deadline_ms' in [upstream] is below try_timeout_ms: " +
                        number(upstream.deadline_ms) + " < " + number(upstream.try_timeout_ms));
  if (upstream.servers.empty())
    context.problem("upstream", "no [[upstream.server]]: at least one is needed");
  if (upstream.servers.size() > kMaxServers)
    context.problem("upstream.server", number(upstream.servers.size()) +
                                           " [[upstream.server]] tables: at most " +
                                           number(kMaxServers) + " are possible");
  for (size_t i = 0; i < upstream.servers.size(); ++i) check_server(context, i);
}

void check_config(const CheckContext& context) {
  check_cores(context);
  check_ports(context);
  check_drivers(context);
  check_addresses(context);
  // What follows builds on cores and addresses: it would complain about their mistakes again.
  if (context.problems->any()) return;
  check_routes(context);
  check_sources(context);
  check_listen(context);
  check_clients(context);
  check_cache(context);
  check_upstream(context);
}

}  // namespace wirecache::config

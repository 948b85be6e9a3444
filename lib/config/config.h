// The whole configuration as an immutable value, as TOML says it and defaults fill it in.
//
// Invariant: a Config that load_config() returned is consistent: ranges, names, cores and networks
// are checked. Thread: built by main before anything starts; read-only afterwards, shared by
// pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/config/driver_profile.h"

namespace wirecache::config {

enum class IdlePolicy : uint8_t { kPoll, kYield };
enum class HugePages : uint8_t { kAuto, kOn, kOff };
enum class RefuseAction : uint8_t { kRefuse, kDrop };
// Whether the worker that receives a query hands it to the owner of its key at once. kAuto: where
// the port leaves workers without packets.
enum class Spread : uint8_t { kAuto, kOn, kOff };

struct CoresConfig {
  unsigned main = 0;              // CPU of housekeeping
  std::vector<unsigned> workers;  // CPU of each worker, at least one, at most kMaxWorkers
  // kYield: a worker with nothing to do naps for some microseconds.
  IdlePolicy idle = IdlePolicy::kPoll;
  bool oversubscribe = false;  // allow a CPU to be named more than once (tests, small VMs)
};

struct EalConfig {
  unsigned memory_mb = 512;
  HugePages huge_pages = HugePages::kAuto;
  std::vector<std::string> extra;  // appended to the EAL's arguments as they are
};

struct PortConfig {
  std::string name;                 // "p0": for logs and metrics
  std::string device;               // PCI address or vdev devargs ("net_af_xdp0,iface=eth1")
  std::vector<IpPrefix> addresses;  // given to the exception port
  std::string exception_interface;  // name of the TAP, at most 15 bytes; default "wc-" + name
  unsigned queues = 0;              // 0: one a worker, as far as the driver goes
  Spread spread = Spread::kAuto;
  std::optional<unsigned> numa_node;  // default: what the kernel says of the device
  // What replaces the driver profile's values for this port; empty: the profile's.
  std::optional<uint16_t> rx_descriptors;
  std::optional<uint16_t> tx_descriptors;
  std::optional<uint16_t> burst;
  std::optional<std::vector<std::string>> rss;
  std::optional<std::vector<std::string>> offloads;
};

// Driver profiles (drivers-config/) are part of the program.
struct DriversConfig {
  // A directory whose *.toml replace those of the same name or add to them; "": none.
  std::string profiles;
};

// A route that the kernel gets through the exception ports while the program runs.
struct RouteConfig {
  IpPrefix to;
  std::vector<IpAddress> via;  // gateways on ports' networks, all used alike by the kernel
};

struct ListenConfig {
  std::vector<IpAddress> addresses;  // default: all addresses of all ports but upstream.sources
  uint16_t port = 53;
  bool loopback = true;  // answer the machine's own queries to 127.0.0.1 and ::1 as well
};

struct ClientsConfig {
  std::vector<IpPrefix> allow;  // default: loopback, private and link-local networks
  RefuseAction refuse = RefuseAction::kRefuse;
};

struct CacheConfig {
  uint64_t memory_mb = 64;  // cap of entries and index, over all workers
  uint32_t min_ttl_sec = 0;
  uint32_t max_ttl_sec = 86400;  // at most 7 days (RFC 8767 §4)
  uint32_t max_negative_ttl_sec = 3600;
  uint32_t failure_ttl_sec = 5;   // 1 s to 5 min (RFC 9520 §3.2)
  bool rotate_addresses = false;  // of an RRset, from answer to answer
};

struct UpstreamServer {
  IpAddress address;
  uint16_t port = 53;
  bool trust_ad = false;  // pass the server's AD bit on
};

struct UpstreamConfig {
  std::vector<UpstreamServer> servers;  // asked in this order
  std::vector<IpAddress> sources;       // ports' addresses to ask from; empty: as the route says
  uint16_t first_source_port = 10000;
  uint16_t last_source_port = 32767;
  uint32_t try_timeout_ms = 400;  // then the next server is asked
  uint32_t deadline_ms = 1900;    // then the clients get SERVFAIL
  uint32_t max_pending = 16384;   // questions in flight, per worker
  uint32_t max_waiting = 65536;   // clients that wait, per worker
};

struct MetricsConfig {
  std::string address = "127.0.0.1";  // IPv6 without brackets; empty: no listener
  uint16_t port = 9353;
};

struct EdnsConfig {
  uint16_t udp_size = 1232;         // what we offer to clients and upstreams, 512..4096
  uint16_t max_reply_bytes = 1232;  // no UDP answer is longer, whatever the client offers
};

struct Config {
  CoresConfig cores;
  EalConfig eal;
  std::vector<PortConfig> ports;
  DriversConfig drivers;
  DriverProfiles driver_profiles = DriverProfiles::built_in();  // with those of `drivers`
  std::vector<RouteConfig> routes;
  ListenConfig listen;
  ClientsConfig clients;
  CacheConfig cache;
  UpstreamConfig upstream;
  EdnsConfig edns;
  MetricsConfig metrics;
};

// The first port on whose network the address is.
std::optional<size_t> port_on_network_of(const Config& config, const IpAddress& address);

inline constexpr size_t kMaxWorkers = 64;
inline constexpr size_t kMaxPorts = 16;
inline constexpr size_t kMaxServers = 32;
inline constexpr size_t kMaxGateways = 16;  // of one route

// Reads and checks the file. Error::message is one line "FILE:LINE: what is wrong (nearest right
// name)".
Expected<Config> load_config(const std::string& path);
// The same from text; `name` stands for the file in errors.
Expected<Config> parse_config(std::string_view text, const std::string& name);

}  // namespace wirecache::config

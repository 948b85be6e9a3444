// The kernel's forwarding table (FIB) as the truth about where an address is: asked one address at
// a time, and followed.
//
// The kernel is asked as "ip route get fibmatch" does, so policy rules, metrics, next-hop objects
// and links without carrier are taken into account by the kernel itself; no route is kept here.
// Invariant: next hops that the kernel holds for dead are never among those returned. Thread: main
// only. resolve() blocks for the kernel's answer (some microseconds), poll() does not block.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/control/netlink_socket.h"

namespace wirecache::control {

struct NextHop {
  unsigned ifindex = 0;
  std::optional<IpAddress> gateway;  // none: the destination is on the interface's own network
  std::optional<IpAddress> preferred_source;
  friend bool operator==(const NextHop&, const NextHop&) = default;
};

struct Resolution {
  enum class Status : uint8_t {
    kFound,    // next_hops has at least one
    kNone,     // no route, or all its next hops are dead
    kRefused,  // a blackhole, unreachable or prohibit route, or no address of a single other host
  };
  Status status = Status::kNone;
  std::vector<NextHop> next_hops;
};

inline constexpr unsigned kAnyInterface = 0;

class RouteLookup {
 public:
  static Expected<RouteLookup> open();

  // The next hops of the route that matches the destination best; only those by `interface`, and
  // only among routes by it, unless it is kAnyInterface.
  Expected<Resolution> resolve(const IpAddress& destination, unsigned interface);

  // Reads what the kernel tells of routes, rules, links and addresses. True if there was anything
  // since poll() was true last (lost events count); not more often than every 50 ms, so that a full
  // table that comes in by BGP costs little.
  bool poll(uint64_t now_us);

 private:
  RouteLookup(NetlinkSocket events, NetlinkSocket requests)
      : events_(std::move(events)), requests_(std::move(requests)) {}
  // 0 or the kernel's errno.
  int ask(const IpAddress& destination, unsigned interface, unsigned flags, Resolution& out);

  NetlinkSocket events_;
  NetlinkSocket requests_;
  bool news_ = false;
  uint64_t quiet_until_us_ = 0;
};

}  // namespace wirecache::control

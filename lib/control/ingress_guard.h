// Keeps the kernel from handling packets on an interface that an AF_PACKET port reads: the port
// gets every packet, the kernel's own copy is dropped at the netdev's ingress hook (else it answers
// pings twice and sends port-unreachable for 53).
//
// An nftables netdev table with the owner flag: the kernel removes it when this object goes or the
// process ends in whatever way. Packet sockets are served before the ingress hook. Also turns IPv6
// off on the interface, so that the kernel sends nothing there by itself; restored when the object
// goes. Thread: main only. Owns the netlink socket that owns the table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/expected.h"

struct nft_ctx;

namespace wirecache::control {

// The nftables table for one interface: "wirecache_eth1", other bytes than [A-Za-z0-9_] replaced.
std::string guard_table_name(const std::string& interface);
// The commands that make it.
std::string guard_ruleset(const std::string& interface);

class IngressGuard {
 public:
  // In the network namespace of the caller.
  static Expected<IngressGuard> install(const std::string& interface);
  IngressGuard(IngressGuard&& other) noexcept { *this = std::move(other); }
  IngressGuard& operator=(IngressGuard&& other) noexcept;
  ~IngressGuard();

 private:
  struct FreeContext {
    void operator()(nft_ctx* context) const;
  };
  IngressGuard() = default;
  void remove();

  std::unique_ptr<nft_ctx, FreeContext> context_;
  std::string interface_;
  std::optional<std::string> previous_disable_ipv6_;
};

}  // namespace wirecache::control

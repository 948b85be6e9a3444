#include "lib/control/ingress_guard.h"

#include <net/if.h>
#include <nftables/libnftables.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <utility>

#include "lib/control/sysctl.h"

namespace wirecache::control {
namespace {

std::string disable_ipv6_path(const std::string& interface) {
  return "/proc/sys/net/ipv6/conf/" + interface + "/disable_ipv6";
}

// What libnftables says, on one line.
std::string first_line(const char* text) {
  std::string line = text == nullptr ? "" : text;
  line.resize(std::min(line.find('\n'), line.size()));
  return line;
}

}  // namespace

std::string guard_table_name(const std::string& interface) {
  std::string name = "wirecache_" + interface;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

std::string guard_ruleset(const std::string& interface) {
  return "table netdev " + guard_table_name(interface) +
         " { flags owner; chain in { type filter hook ingress device \"" + interface +
         "\" priority -500; policy drop; }; }";
}

void IngressGuard::FreeContext::operator()(nft_ctx* context) const {
  nft_ctx_free(context);
}

Expected<IngressGuard> IngressGuard::install(const std::string& interface) {
  // Kernels since 6.16 take a rule for an interface that may come later.
  if (if_nametoindex(interface.c_str()) == 0)
    return fail("there is no network interface " + interface);
  IngressGuard guard;
  guard.interface_ = interface;
  guard.context_.reset(nft_ctx_new(NFT_CTX_DEFAULT));
  if (guard.context_ == nullptr) return fail("nftables: no memory");
  nft_ctx_buffer_output(guard.context_.get());
  nft_ctx_buffer_error(guard.context_.get());
  if (nft_run_cmd_from_buffer(guard.context_.get(), guard_ruleset(interface).c_str()) != 0) {
    const std::string why = first_line(nft_ctx_get_error_buffer(guard.context_.get()));
    return fail("cannot keep the kernel's copies of packets away from " + interface +
                ": nftables: " + why);
  }
  // Without it the kernel would send router solicitations and MLD reports there. A kernel without
  // IPv6 has no such file.
  const std::string path = disable_ipv6_path(interface);
  std::string previous;
  if (std::ifstream file(path); std::getline(file, previous) && write_sysctl(path, "1"))
    guard.previous_disable_ipv6_ = previous;
  return guard;
}

IngressGuard& IngressGuard::operator=(IngressGuard&& other) noexcept {
  if (this == &other) return *this;
  remove();
  context_ = std::move(other.context_);
  interface_ = std::move(other.interface_);
  previous_disable_ipv6_ = std::exchange(other.previous_disable_ipv6_, std::nullopt);
  return *this;
}

IngressGuard::~IngressGuard() {
  remove();
}

void IngressGuard::remove() {
  // Closing the socket that owns the table removes it.
  context_.reset();
  if (previous_disable_ipv6_)
    (void)write_sysctl(disable_ipv6_path(interface_), *previous_disable_ipv6_);
  previous_disable_ipv6_.reset();
}

}  // namespace wirecache::control

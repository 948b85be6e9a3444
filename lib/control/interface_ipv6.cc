#include "lib/control/interface_ipv6.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "lib/control/sysctl.h"

namespace wirecache::control {
namespace {

struct Setting {
  const char* name;
  const char* value;
};

// In this order: turning IPv6 off and on makes the link-local address again, by the new rules.
constexpr std::array<Setting, 7> kSettings = {{
    {"accept_dad", "0"},
    {"dad_transmits", "0"},
    {"accept_ra", "0"},
    {"autoconf", "0"},
    {"router_solicitations", "0"},
    {"disable_ipv6", "1"},
    {"disable_ipv6", "0"},
}};

constexpr auto kPollInterval = std::chrono::milliseconds(1);
constexpr int kMaxPolls = 500;

// Whether the link-local address may be used. Lines of if_inet6: address, index, prefix length,
// scope, flags, name; all but the name in hex.
bool link_local_ready(const std::string& interface) {
  constexpr unsigned kTentative = 0x40;  // IFA_F_TENTATIVE
  constexpr unsigned kLinkScope = 0x20;  // IFA_LINK in the kernel's ipv6.h
  std::ifstream addresses("/proc/net/if_inet6");
  for (std::string line; std::getline(addresses, line);) {
    std::istringstream fields(line);
    std::string address, name;
    unsigned index = 0, length = 0, scope = 0, flags = 0;
    fields >> address >> std::hex >> index >> length >> scope >> flags >> name;
    if (name == interface && scope == kLinkScope && (flags & kTentative) == 0) return true;
  }
  return false;
}

}  // namespace

Expected<void> prepare_ipv6(const std::string& interface) {
  const std::string folder = "/proc/sys/net/ipv6/conf/" + interface + "/";
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return {};
  for (const Setting& setting : kSettings) {
    const std::string path = folder + setting.name;
    if (!write_sysctl(path, setting.value)) return fail("cannot write " + path);
  }
  // The kernel makes the address a moment later, in a work queue of its own; without carrier,
  // never.
  for (int i = 0; i < kMaxPolls && !link_local_ready(interface); ++i)
    std::this_thread::sleep_for(kPollInterval);
  return {};
}

}  // namespace wirecache::control

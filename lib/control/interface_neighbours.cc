#include "lib/control/interface_neighbours.h"

#include <array>
#include <filesystem>

#include "lib/control/sysctl.h"

namespace wirecache::control {
namespace {

struct Setting {
  const char* folder;  // below /proc/sys/net
  const char* name;
  const char* value;
};

constexpr std::array<Setting, 13> kSettings = {{
    {"ipv4/neigh", "retrans_time_ms", "250"},
    {"ipv4/neigh", "ucast_solicit", "2"},
    {"ipv4/neigh", "mcast_resolicit", "1"},
    // Else a reply with another MAC is ignored for a second after the entry's last change, and
    // probing changes it all the time.
    {"ipv4/neigh", "locktime", "0"},
    {"ipv4/conf", "ignore_routes_with_linkdown", "1"},
    {"ipv4/conf", "arp_ignore", "1"},
    {"ipv4/conf", "arp_announce", "2"},
    // A broadcast frame is not answered, whatever is in it (RFC 1122 §3.3.6).
    {"ipv4/conf", "drop_unicast_in_l2_multicast", "1"},
    {"ipv6/neigh", "retrans_time_ms", "250"},
    {"ipv6/neigh", "ucast_solicit", "2"},
    {"ipv6/neigh", "mcast_resolicit", "1"},
    {"ipv6/conf", "ignore_routes_with_linkdown", "1"},
    {"ipv6/conf", "drop_unicast_in_l2_multicast", "1"},
}};

}  // namespace

Expected<void> prepare_neighbours(const std::string& interface) {
  for (const Setting& setting : kSettings) {
    const std::string folder =
        "/proc/sys/net/" + std::string(setting.folder) + "/" + interface + "/";
    std::error_code error;
    const bool optional = std::string(setting.folder).starts_with("ipv6");
    if (optional && !std::filesystem::exists(folder, error)) continue;
    const std::string path = folder + setting.name;
    if (!write_sysctl(path, setting.value)) return fail("cannot write " + path);
  }
  return {};
}

}  // namespace wirecache::control

#include "lib/port/netdev.h"

#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace wirecache::port {

uint16_t combined_channels(const std::string& interface) {
  ifreq request{};
  if (interface.empty() || interface.size() >= sizeof request.ifr_name) return 1;
  std::copy(interface.begin(), interface.end(), request.ifr_name);
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  request.ifr_data = reinterpret_cast<char*>(&channels);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 1;
  const int result = ioctl(fd, SIOCETHTOOL, &request);
  close(fd);
  if (result < 0 || channels.max_combined == 0) return 1;
  return static_cast<uint16_t>(std::clamp(channels.combined_count, 1U, 0xffffU));
}

bool AllMulticast::enable(const std::string& interface) {
  // Protocol 0: no packet is ever queued to it.
  AllMulticast fresh;
  fresh.fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fresh.fd_ < 0) return false;
  packet_mreq membership{};
  membership.mr_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  membership.mr_type = PACKET_MR_ALLMULTI;
  if (setsockopt(fresh.fd_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) < 0)
    return false;
  *this = std::move(fresh);
  return true;
}

AllMulticast& AllMulticast::operator=(AllMulticast&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

AllMulticast::~AllMulticast() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace wirecache::port

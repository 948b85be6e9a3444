// What lies below a port that uses one of the kernel's network interfaces, in the caller's network
// namespace.
//
// Thread: main; system calls.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace wirecache::port {

// Combined RX/TX channels in use (ETHTOOL_GCHANNELS), which is as many queues as AF_XDP may have
// there; 1 where the driver has none to tell of (veth).
uint16_t combined_channels(const std::string& interface);

// Keeps an interface receiving every multicast frame (NDP) while it lives. The kernel takes the
// setting back when the process ends in whatever way. Owns a packet socket that receives nothing
// itself.
class AllMulticast {
 public:
  AllMulticast() = default;  // of no interface
  AllMulticast(AllMulticast&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  AllMulticast& operator=(AllMulticast&& other) noexcept;
  ~AllMulticast();

  // False where the kernel refuses.
  [[nodiscard]] bool enable(const std::string& interface);

 private:
  int fd_ = -1;
};

}  // namespace wirecache::port

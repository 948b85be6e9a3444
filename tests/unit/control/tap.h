// A TAP of the test's own, as an exception port has one. It ends with the object.
#pragma once

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

namespace wirecache::control {

class Tap {
 public:
  explicit Tap(const std::string& name) : fd_(open("/dev/net/tun", O_RDWR | O_CLOEXEC)) {
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    made_ = fd_ >= 0 && ioctl(fd_, TUNSETIFF, &request) == 0;
  }
  ~Tap() {
    if (fd_ >= 0) close(fd_);
  }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  bool made() const { return made_; }

 private:
  int fd_;
  bool made_ = false;
};

}  // namespace wirecache::control

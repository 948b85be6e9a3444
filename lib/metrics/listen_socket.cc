#include "lib/metrics/listen_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lib/base/bytes.h"

namespace wirecache::metrics {
namespace {

constexpr int kBacklog = 16;

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t fill(const IpAddress& address, uint16_t port, SocketAddress& out) {
  std::memset(&out, 0, sizeof out);
  if (address.is_v6()) {
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(port);
    std::memcpy(&out.v6.sin6_addr, address.bytes.data(), sizeof out.v6.sin6_addr);
    return sizeof out.v6;
  }
  out.v4.sin_family = AF_INET;
  out.v4.sin_port = htons(port);
  std::memcpy(&out.v4.sin_addr, address.bytes.data(), sizeof out.v4.sin_addr);
  return sizeof out.v4;
}

}  // namespace

Expected<int> open_listen_socket(const IpAddress& address, uint16_t port) {
  SocketAddress name;
  const socklen_t length = fill(address, port, name);
  const int fd = socket(name.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(std::strerror(errno));
  // A restart must not wait for connections of the last run to leave TIME_WAIT.
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, &name.any, length) != 0 || listen(fd, kBacklog) != 0) {
    const int error = errno;
    close(fd);
    return fail(std::strerror(error));
  }
  return fd;
}

uint16_t port_of(int listen_fd) {
  SocketAddress name;
  std::memset(&name, 0, sizeof name);
  socklen_t length = sizeof name;
  if (getsockname(listen_fd, &name.any, &length) != 0) return 0;
  return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

}  // namespace wirecache::metrics

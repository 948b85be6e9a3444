#include "tests/unit/metrics/http_get.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace wirecache::metrics {
namespace {

int connect_to(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return -1;
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
    close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return fd;
}

}  // namespace

std::string http_exchange(const std::string& host, uint16_t port, const std::string& request) {
  const int fd = connect_to(host, port);
  if (fd < 0) return "";
  std::string response;
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
      static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    ssize_t n;
    while ((n = recv(fd, buffer, sizeof buffer, 0)) > 0)
      response.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return response;
}

std::string http_get(const std::string& host, uint16_t port, const std::string& path) {
  return http_exchange(host, port,
                       "GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
}

std::string body_of(const std::string& response) {
  const size_t blank = response.find("\r\n\r\n");
  return blank == std::string::npos ? "" : response.substr(blank + 4);
}

}  // namespace wirecache::metrics

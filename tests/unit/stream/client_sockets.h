// Clients of the stream service in a private network: va (this namespace) has 10.9.0.1, fd09::1 and
// fe80::9:1; vb, in a namespace of its own, 10.9.0.2, fd09::2 and fe80::9:2.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "lib/stream/endpoint.h"
#include "tests/support/dns_builder.h"
#include "tests/unit/control/private_network.h"

namespace wirecache::stream {

using testing::Wire;

inline Endpoint endpoint(const char* address, uint16_t port, uint32_t scope_id = 0) {
  return {*IpAddress::parse(address), port, scope_id};
}

// A system's socket address, and back.
class SocketName {
 public:
  SocketName() { std::memset(&name_, 0, sizeof name_); }
  explicit SocketName(const Endpoint& e) : SocketName() {
    if (e.address.is_v6()) {
      name_.v6.sin6_family = AF_INET6;
      name_.v6.sin6_port = htons(e.port);
      name_.v6.sin6_scope_id = e.scope_id;
      std::memcpy(&name_.v6.sin6_addr, e.address.bytes.data(), 16);
      bytes_ = sizeof name_.v6;
    } else {
      name_.v4.sin_family = AF_INET;
      name_.v4.sin_port = htons(e.port);
      std::memcpy(&name_.v4.sin_addr, e.address.bytes.data(), 4);
      bytes_ = sizeof name_.v4;
    }
  }
  sockaddr* get() { return &name_.any; }
  socklen_t bytes() const { return bytes_; }
  socklen_t* room() { return &bytes_; }
  Endpoint to_endpoint() const {
    if (name_.any.sa_family == AF_INET6)
      return {IpAddress::v6(name_.v6.sin6_addr.s6_addr), ntohs(name_.v6.sin6_port),
              name_.v6.sin6_scope_id};
    uint8_t bytes[4];
    std::memcpy(bytes, &name_.v4.sin_addr, 4);
    return {IpAddress::v4(bytes), ntohs(name_.v4.sin_port), 0};
  }

 private:
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } name_;
  socklen_t bytes_ = sizeof name_;
};

// A UDP socket, connected: it hears only what comes from the address and port that it asked.
class ClientSocket {
 public:
  explicit ClientSocket(const Endpoint& server) {
    SocketName name(server);
    fd_ = socket(name.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd_, name.get(), name.bytes()), 0) << std::strerror(errno);
  }
  ~ClientSocket() { close(fd_); }
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  Endpoint own() const {
    SocketName name;
    getsockname(fd_, name.get(), name.room());
    return name.to_endpoint();
  }
  bool send(const Wire& message) const {
    return ::send(fd_, message.data(), message.size(), 0) == static_cast<ssize_t>(message.size());
  }
  // The next datagram; empty after 5 s, or where the kernel says that nobody listens.
  Wire receive() const {
    pollfd wanted{fd_, POLLIN, 0};
    Wire message(65536);
    if (::poll(&wanted, 1, 5000) != 1) return {};
    const ssize_t bytes = recv(fd_, message.data(), message.size(), 0);
    message.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
    return message;
  }

 private:
  int fd_;
};

// Another program's UDP socket.
class BoundSocket {
 public:
  explicit BoundSocket(const Endpoint& own) {
    SocketName name(own);
    fd_ = socket(name.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bound_ = bind(fd_, name.get(), name.bytes()) == 0;
  }
  ~BoundSocket() { close(fd_); }
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;
  bool bound() const { return bound_; }

 private:
  int fd_;
  bool bound_;
};

// The namespace of vb, made at the first call; -1 where it can't be.
inline int peer_namespace() {
  static const int fd = [] {
    const int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (unshare(CLONE_NEWNET) != 0) return -1;
    const int peer = open("/proc/thread-self/ns/net", O_RDONLY);
    setns(home, CLONE_NEWNET);
    const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(peer);
    const auto addresses = [](const std::string& device, const std::string& host) {
      return "ip link set " + device + " up && ip addr add 10.9.0." + host + "/24 dev " + device +
             " && ip addr add fd09::" + host + "/64 dev " + device +
             " nodad && ip addr add fe80::9:" + host + "/64 dev " + device + " nodad";
    };
    const bool ours = control::run("ip link set vb netns " + path + " && ip link set va up && " +
                                   addresses("va", "1"));
    setns(peer, CLONE_NEWNET);
    const bool theirs = control::run("ip link set lo up && " + addresses("vb", "2"));
    setns(home, CLONE_NEWNET);
    close(home);
    return ours && theirs ? peer : -1;
  }();
  return fd;
}

// Within its life this thread makes sockets in the namespace of vb.
class InPeerNamespace {
 public:
  InPeerNamespace() : home_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    EXPECT_EQ(setns(peer_namespace(), CLONE_NEWNET), 0);
  }
  ~InPeerNamespace() {
    setns(home_, CLONE_NEWNET);
    close(home_);
  }
  InPeerNamespace(const InPeerNamespace&) = delete;
  InPeerNamespace& operator=(const InPeerNamespace&) = delete;

 private:
  int home_;
};

// Why there is no such network; "" where there is one.
inline std::string enter_stream_network() {
  const std::string reason = control::enter_private_network();
  if (!reason.empty()) return reason;
  return peer_namespace() < 0 ? "no second network namespace here" : "";
}

#define WC_NEEDS_STREAM_NETWORK() \
  if (const std::string reason = enter_stream_network(); !reason.empty()) GTEST_SKIP() << reason

// poll() again and again until there is what is wanted, at most 5 s.
template <typename Poll, typename Condition>
bool poll_until(Poll poll, Condition condition) {
  for (int i = 0; i < 5000; ++i) {
    poll();
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace wirecache::stream

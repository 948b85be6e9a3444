#include "lib/control/netlink_socket.h"

#include <fcntl.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace wirecache::control {
namespace {

// The kernel fills dumps up to 32 KiB where the reader has room for it.
constexpr size_t kBufferBytes = 32 * 1024;
// Of one drain(): far more than a socket's buffer holds.
constexpr int kMaxDatagrams = 10'000;

// The kernel's verdict on our request: 0, an errno, or -1 where the message is none.
int verdict(const nlmsghdr* message) {
  if (message->nlmsg_type == NLMSG_DONE) return 0;
  if (message->nlmsg_type != NLMSG_ERROR) return -1;
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(nlmsgerr))) return EBADMSG;
  const auto* error = static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(message));
  return error->error < 0 ? -error->error : error->error;
}

}  // namespace

NetlinkSocket::NetlinkSocket(mnl_socket* socket) : socket_(socket), buffer_(kBufferBytes) {}

Expected<NetlinkSocket> NetlinkSocket::open(unsigned groups) {
  mnl_socket* raw = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
  if (raw == nullptr) return fail(std::string("netlink socket: ") + std::strerror(errno));
  NetlinkSocket socket(raw);
  if (mnl_socket_bind(raw, groups, MNL_SOCKET_AUTOPID) < 0)
    return fail(std::string("netlink socket: ") + std::strerror(errno));
  return socket;
}

int NetlinkSocket::request(nlmsghdr* message) {
  return query(message, [](const nlmsghdr*) {});
}

int NetlinkSocket::query(nlmsghdr* message, const std::function<void(const nlmsghdr*)>& each) {
  message->nlmsg_flags |= NLM_F_ACK;
  return exchange(message, each);
}

int NetlinkSocket::dump(nlmsghdr* message, const std::function<void(const nlmsghdr*)>& each) {
  message->nlmsg_flags |= NLM_F_DUMP;
  return exchange(message, each);
}

int NetlinkSocket::exchange(nlmsghdr* message, const std::function<void(const nlmsghdr*)>& each) {
  message->nlmsg_flags |= NLM_F_REQUEST;
  message->nlmsg_seq = ++sequence_;
  if (mnl_socket_sendto(socket_.get(), message, message->nlmsg_len) < 0) return errno;
  bool interrupted = false;
  for (;;) {
    const ssize_t received = mnl_socket_recvfrom(socket_.get(), buffer_.data(), buffer_.size());
    if (received < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    auto left = static_cast<int>(received);
    for (auto* m = reinterpret_cast<nlmsghdr*>(buffer_.data()); mnl_nlmsg_ok(m, left);
         m = mnl_nlmsg_next(m, &left)) {
      if (m->nlmsg_seq != sequence_) continue;
      if ((m->nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted = true;
      const int result = verdict(m);
      if (result == 0 && interrupted) return EINTR;
      if (result >= 0) return result;
      each(m);
    }
  }
}

int NetlinkSocket::drain(const std::function<void(const nlmsghdr*)>& each) {
  int lost = 0;
  for (int i = 0; i < kMaxDatagrams; ++i) {
    const ssize_t received =
        recv(mnl_socket_get_fd(socket_.get()), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (received < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return lost;
      if (errno == ENOBUFS) lost = ENOBUFS;
      if (errno == ENOBUFS || errno == EINTR) continue;
      return errno;
    }
    auto left = static_cast<int>(received);
    for (auto* m = reinterpret_cast<nlmsghdr*>(buffer_.data()); mnl_nlmsg_ok(m, left);
         m = mnl_nlmsg_next(m, &left))
      each(m);
  }
  return ENOBUFS;  // without an end: what they come to is in a dump as well
}

}  // namespace wirecache::control

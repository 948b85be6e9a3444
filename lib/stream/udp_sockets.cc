#include "lib/stream/udp_sockets.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace wirecache::stream {
namespace {

using asio::ip::udp;

bool is_link_local(const IpAddress& address) {
  return address.is_v6() && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

// The interface that has this link-local address, which bind(2) has to be told; 0 where none has.
uint32_t scope_of(const IpAddress& address) {
  ifaddrs* all = nullptr;
  if (!is_link_local(address) || getifaddrs(&all) != 0) return 0;
  uint32_t scope_id = 0;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET6) continue;
    sockaddr_in6 name;
    std::memcpy(&name, one->ifa_addr, sizeof name);
    if (std::memcmp(&name.sin6_addr, address.bytes.data(), sizeof name.sin6_addr) == 0)
      scope_id = name.sin6_scope_id;
  }
  freeifaddrs(all);
  return scope_id;
}

udp::endpoint to_asio(const Endpoint& endpoint) {
  const auto& bytes = endpoint.address.bytes;
  if (endpoint.address.is_v6())
    return {asio::ip::address_v6(bytes, endpoint.scope_id), endpoint.port};
  return {asio::ip::address_v4(load_be32(bytes.data())), endpoint.port};
}

Endpoint from_asio(const udp::endpoint& endpoint) {
  if (endpoint.address().is_v6()) {
    const asio::ip::address_v6 address = endpoint.address().to_v6();
    return {IpAddress::v6(address.to_bytes().data()), endpoint.port(),
            static_cast<uint32_t>(address.scope_id())};
  }
  return {IpAddress::v4(endpoint.address().to_v4().to_bytes().data()), endpoint.port(), 0};
}

// Don't Fragment, whatever the kernel believes of the path: forged ICMP errors must not make it
// fragment our replies, which are small enough for every path that DNS over UDP is for.
asio::error_code never_fragment(udp::socket& socket, const IpAddress& address) {
  constexpr int kV4 = IP_PMTUDISC_PROBE;
  constexpr int kV6 = IPV6_PMTUDISC_PROBE;
  const int fd = socket.native_handle();
  const int done = address.is_v6()
                       ? setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &kV6, sizeof kV6)
                       : setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &kV4, sizeof kV4);
  return done == 0 ? asio::error_code() : asio::error_code(errno, asio::system_category());
}

}  // namespace

class UdpSockets::Sockets {
 public:
  explicit Sockets(Receiver receiver) : receiver_(std::move(receiver)) {}

  asio::error_code open(const Endpoint& local) {
    const udp::endpoint name = to_asio(local);
    udp::socket socket(context_);
    asio::error_code error;
    socket.open(name.protocol(), error);
    if (!error && local.address.is_v6()) socket.set_option(asio::ip::v6_only(true), error);
    if (!error) error = never_fragment(socket, local.address);
    if (!error) socket.non_blocking(true, error);
    if (!error) socket.bind(name, error);
    if (error) return error;
    sockets_.push_back({local, std::move(socket)});
    wait_for(sockets_.size() - 1);
    return {};
  }

  // As many turns as there are sockets: one that is always readable does not keep main here.
  void poll() {
    for (size_t turn = 0; turn < sockets_.size(); ++turn) {
      if (context_.poll_one() == 0) return;
    }
  }

  SendStatus send(const Endpoint& local, const Endpoint& client, Bytes message) {
    const auto from = find(local);
    if (from == sockets_.end()) return SendStatus::kNoSocket;
    asio::error_code error;
    from->socket.send_to(asio::buffer(message.data(), message.size()), to_asio(client), 0, error);
    return error ? SendStatus::kFailed : SendStatus::kSent;
  }

  bool is_local(const Endpoint& endpoint) { return find(endpoint) != sockets_.end(); }

 private:
  struct Bound {
    Endpoint local;
    udp::socket socket;
  };

  std::vector<Bound>::iterator find(const Endpoint& endpoint) {
    return std::ranges::find_if(sockets_, [&](const Bound& bound) {
      return bound.local.address == endpoint.address && bound.local.port == endpoint.port;
    });
  }

  void wait_for(size_t place) {
    sockets_[place].socket.async_wait(udp::socket::wait_read,
                                      [this, place](const asio::error_code& error) {
                                        if (error == asio::error::operation_aborted) return;
                                        receive(place);
                                        wait_for(place);
                                      });
  }

  void receive(size_t place) {
    Bound& bound = sockets_[place];
    for (unsigned i = 0; i < kDatagramsPerSocket; ++i) {
      udp::endpoint sender;
      asio::error_code error;
      const size_t bytes = bound.socket.receive_from(asio::buffer(buffer_), sender, 0, error);
      if (error) return;  // nothing more, or nothing that could be answered
      receiver_(bound.local, from_asio(sender), Bytes(buffer_.data(), bytes));
    }
  }

  Receiver receiver_;
  std::array<uint8_t, kMaxMessageBytes + 1> buffer_;
  asio::io_context context_{1};  // one thread
  std::vector<Bound> sockets_;
};

UdpSockets::UdpSockets(Receiver receiver)
    : sockets_(std::make_unique<Sockets>(std::move(receiver))) {}

UdpSockets::~UdpSockets() = default;

Expected<void> UdpSockets::open(const IpAddress& address, uint16_t port) {
  const asio::error_code error = sockets_->open({address, port, scope_of(address)});
  if (error) return fail(error.message());
  return {};
}

void UdpSockets::poll() {
  sockets_->poll();
}

UdpSockets::SendStatus UdpSockets::send(const Endpoint& local, const Endpoint& client,
                                        Bytes message) {
  return sockets_->send(local, client, message);
}

bool UdpSockets::is_local(const Endpoint& endpoint) const {
  return sockets_->is_local(endpoint);
}

}  // namespace wirecache::stream

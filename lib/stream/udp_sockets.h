// The kernel's UDP sockets of the service: one for each address, so that a reply leaves from the
// address that was asked, and other addresses of the host stay free for other services.
//
// Invariant: nothing here blocks, and a call's work is bounded: at most kDatagramsPerSocket a
// socket. Thread: main only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "lib/base/bytes.h"
#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/stream/endpoint.h"

namespace wirecache::stream {

class UdpSockets {
 public:
  // More than any query over UDP that a resolver could want to send.
  static constexpr size_t kMaxMessageBytes = 4096;
  static constexpr unsigned kDatagramsPerSocket = 32;

  // Called for each datagram. A message longer than kMaxMessageBytes comes cut to one byte more.
  using Receiver =
      std::function<void(const Endpoint& local, const Endpoint& client, Bytes message)>;
  enum class SendStatus : uint8_t { kSent, kNoSocket, kFailed };

  explicit UdpSockets(Receiver receiver);
  ~UdpSockets();
  UdpSockets(const UdpSockets&) = delete;
  UdpSockets& operator=(const UdpSockets&) = delete;

  // Binds one more socket. Error: the system's text alone ("Address already in use").
  Expected<void> open(const IpAddress& address, uint16_t port);
  // Receives what is there now.
  void poll();
  // From the socket of `local`, never as IP fragments.
  SendStatus send(const Endpoint& local, const Endpoint& client, Bytes message);
  // Whether one of the sockets is bound there.
  bool is_local(const Endpoint& endpoint) const;

 private:
  class Sockets;  // what is Asio's

  std::unique_ptr<Sockets> sockets_;
};

}  // namespace wirecache::stream

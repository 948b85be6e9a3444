// The port's way to the kernel: a TAP that carries the port's MAC (and, set by control, its
// addresses), so that the kernel answers ARP, NDP, ping and TCP there.
//
// Invariant: every call but open is a system call or more, so workers never make one: they punt
// into a ring and main moves packets. Thread: main only. Owns the TAP: it disappears with this
// object, or with the process.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <string>

#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/port/port.h"
#include "lib/port/start_error.h"

namespace wirecache::port {

class ExceptionPort {
 public:
  // Makes the TAP config.exception_interface with port's MAC and MTU, link up.
  static Expected<ExceptionPort, StartError> open(const config::PortConfig& config,
                                                  const Port& port, rte_mempool* pool);
  ExceptionPort(ExceptionPort&& other) noexcept;
  ExceptionPort& operator=(ExceptionPort&& other) noexcept;
  ~ExceptionPort();

  // Takes ownership of all n packets; frees those that the TAP does not take. Returns how many the
  // kernel got.
  uint16_t to_kernel(rte_mbuf** packets, uint16_t n);
  // What the kernel sends; the caller owns the packets.
  uint16_t from_kernel(rte_mbuf** out, uint16_t max);

  const std::string& interface_name() const { return interface_name_; }
  uint16_t ethdev_id() const { return ethdev_id_; }

 private:
  ExceptionPort() = default;
  void close();

  static constexpr uint16_t kNoEthdev = UINT16_MAX;
  std::string interface_name_;
  uint16_t ethdev_id_ = kNoEthdev;
};

}  // namespace wirecache::port

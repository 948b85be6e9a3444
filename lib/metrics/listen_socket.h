// The listening TCP socket of the exporter, opened by ourselves so that a failure can be told
// exactly. Control plane: main only, while starting.
#pragma once

#include <cstdint>

#include "lib/base/expected.h"
#include "lib/base/ip_address.h"

namespace wirecache::metrics {

// A bound, listening, non-blocking socket; port 0 lets the kernel choose. The caller owns the
// descriptor. Error::message is the system's text alone ("Address already in use").
Expected<int> open_listen_socket(const IpAddress& address, uint16_t port);

// The port that a listening socket is bound to.
uint16_t port_of(int listen_fd);

}  // namespace wirecache::metrics

#include "lib/metrics/sources.h"

namespace wirecache::metrics {

std::string server_label(const IpAddress& address, uint16_t port) {
  const std::string host = address.to_string();
  return (address.is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace wirecache::metrics

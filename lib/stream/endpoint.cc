#include "lib/stream/endpoint.h"

#include "lib/base/bytes.h"

namespace wirecache::stream {

std::string Endpoint::to_string() const {
  const std::string host = address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  return host + ":" + std::to_string(port);
}

bool may_be_answered(const Endpoint& client) {
  if (client.port == 0) return false;
  const auto& bytes = client.address.bytes;
  if (client.address.is_v6()) return bytes[0] != 0xff && bytes != IpAddress{}.bytes;
  const bool broadcast = load_be32(bytes.data()) == 0xffffffff;
  return bytes[0] != 0 && bytes[0] >> 4 != 0xe && !broadcast;
}

MacAddress mac_from_scope(uint32_t scope_id) {
  MacAddress mac;
  store_be32(mac.bytes.data() + 2, scope_id);
  return mac;
}

uint32_t scope_from_mac(const MacAddress& mac) {
  return load_be32(mac.bytes.data() + 2);
}

}  // namespace wirecache::stream

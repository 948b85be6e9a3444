// IP addresses as they stand in rtnetlink's attributes.
//
// Pure functions over what the kernel sent; no thread rules.
#pragma once

#include <libmnl/libmnl.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "lib/base/ip_address.h"

namespace wirecache::control {

inline uint8_t netlink_family(const IpAddress& address) {
  return address.is_v6() ? AF_INET6 : AF_INET;
}

inline std::optional<IpAddress> address_of(unsigned family, const uint8_t* bytes, size_t size) {
  if (family == AF_INET && size == 4) return IpAddress::v4(bytes);
  if (family == AF_INET6 && size == 16) return IpAddress::v6(bytes);
  return std::nullopt;
}

// Nothing where there is no attribute or it is of another length than the family's.
inline std::optional<IpAddress> address_of(unsigned family, const nlattr* attribute) {
  if (attribute == nullptr) return std::nullopt;
  return address_of(family, static_cast<const uint8_t*>(mnl_attr_get_payload(attribute)),
                    mnl_attr_get_payload_len(attribute));
}

}  // namespace wirecache::control

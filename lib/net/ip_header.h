// Numbers of the IP headers that more than one file of lib/net looks at (RFC 791, RFC 8200; IANA
// "Protocol Numbers"). Constants; used within lib/net.
#pragma once

#include <cstdint>

namespace wirecache::net {

inline constexpr uint8_t kProtocolIcmp = 1;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint8_t kProtocolIcmpv6 = 58;

// Of IPv4's flags and fragment offset.
inline constexpr uint16_t kFragmentBits = 0x3fff;    // MF and the offset: a fragment
inline constexpr uint16_t kFragmentOffset = 0x1fff;  // not the first one

}  // namespace wirecache::net

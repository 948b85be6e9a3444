// The Internet checksum (RFC 1071) over headers and UDP with its pseudo-header (RFC 768, RFC 8200
// §8.1). Pure functions; any thread.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/base/ip_address.h"

namespace wirecache::net {

// One's complement sum of `bytes` added to `sum`, not yet folded; an odd last byte counts as the
// high byte of a word.
uint64_t checksum_add(Bytes bytes, uint64_t sum);
// Folds to 16 bits and complements: the value for the header field, as a host-order number of the
// big-endian word.
uint16_t checksum_finish(uint64_t sum);

// The UDP checksum over pseudo-header, header and payload. `udp` starts at the UDP header and ends
// with the payload; its checksum field counts as it stands (0 to make one; the received one to
// check one, the result then being 0).
uint16_t udp_checksum(Bytes udp, const IpAddress& source, const IpAddress& destination);
// What a device that completes the checksum wants in its field: the folded sum of the pseudo-header
// alone, not complemented.
uint16_t udp_pseudo_header_sum(uint16_t udp_bytes, const IpAddress& source,
                               const IpAddress& destination);
// The same check for ICMPv6 (RFC 4443 §2.3): 0 where `message` carries the right checksum.
uint16_t icmpv6_checksum(Bytes message, const IpAddress& source, const IpAddress& destination);

}  // namespace wirecache::net

#include "lib/net/checksum.h"

#include <bit>

#include "lib/net/ip_header.h"
namespace wirecache::net {
namespace {

// One's complement addition: the carry out of the top comes back in at the bottom (RFC 1071 §2).
uint64_t add_with_carry(uint64_t sum, uint64_t word) {
  sum += word;
  return sum + (sum < word ? 1 : 0);
}

template <typename Word>
uint64_t load(const uint8_t* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// All 16 bytes whatever the family: behind an IPv4 address they are zero.
uint64_t address_sum(const IpAddress& address) {
  const uint8_t* p = address.bytes.data();
  return add_with_carry(load<uint64_t>(p), load<uint64_t>(p + 8));
}

// Upper-layer length and protocol are the same words in both families' pseudo-headers.
uint64_t pseudo_header_sum(size_t bytes, uint8_t protocol, const IpAddress& source,
                           const IpAddress& destination) {
  const auto length = static_cast<uint16_t>(bytes);
  const uint64_t words = uint64_t{__builtin_bswap16(length)} + __builtin_bswap16(protocol);
  return add_with_carry(address_sum(source), add_with_carry(address_sum(destination), words));
}

}  // namespace

// The sum is kept in the byte order of memory and swapped once at the end: the one's complement sum
// does not depend on byte order, nor on the width of the words that are added (RFC 1071 §2).
uint64_t checksum_add(Bytes bytes, uint64_t sum) {
  const uint8_t* p = bytes.data();
  size_t left = bytes.size();
  uint64_t other = 0;  // a second chain of carries, so that two additions run side by side
  for (; left >= 16; p += 16, left -= 16) {
    sum = add_with_carry(sum, load<uint64_t>(p));
    other = add_with_carry(other, load<uint64_t>(p + 8));
  }
  sum = add_with_carry(sum, other);
  if ((left & 8) != 0) {
    sum = add_with_carry(sum, load<uint64_t>(p));
    p += 8;
  }
  uint64_t tail = 0;
  if ((left & 4) != 0) {
    tail += load<uint32_t>(p);
    p += 4;
  }
  if ((left & 2) != 0) {
    tail += load<uint16_t>(p);
    p += 2;
  }
  if ((left & 1) != 0) tail += *p;
  return add_with_carry(sum, tail);
}

uint16_t checksum_finish(uint64_t sum) {
  // The upper half of x + rotate(x) is the sum of both halves with the carry brought round.
  const auto sum32 = static_cast<uint32_t>((sum + std::rotl(sum, 32)) >> 32);
  const auto sum16 = static_cast<uint16_t>((sum32 + std::rotl(sum32, 16)) >> 16);
  return __builtin_bswap16(static_cast<uint16_t>(~sum16));
}

uint16_t udp_checksum(Bytes udp, const IpAddress& source, const IpAddress& destination) {
  // Apart from the datagram's sum, so that the processor can work on both at once.
  const uint64_t pseudo_header = pseudo_header_sum(udp.size(), kProtocolUdp, source, destination);
  return checksum_finish(add_with_carry(checksum_add(udp, 0), pseudo_header));
}

uint16_t udp_pseudo_header_sum(uint16_t udp_bytes, const IpAddress& source,
                               const IpAddress& destination) {
  const uint16_t complement =
      checksum_finish(pseudo_header_sum(udp_bytes, kProtocolUdp, source, destination));
  return static_cast<uint16_t>(~complement);
}

uint16_t icmpv6_checksum(Bytes message, const IpAddress& source, const IpAddress& destination) {
  return checksum_finish(checksum_add(
      message, pseudo_header_sum(message.size(), kProtocolIcmpv6, source, destination)));
}

}  // namespace wirecache::net

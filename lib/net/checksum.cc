#include "lib/net/checksum.h"

namespace wirecache::net {
namespace {

constexpr uint8_t kProtocolUdp = 17;

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
  sum = (sum >> 32) + (sum & 0xffffffff);
  sum = (sum >> 32) + (sum & 0xffffffff);
  sum = (sum >> 16) + (sum & 0xffff);
  sum = (sum >> 16) + (sum & 0xffff);
  return __builtin_bswap16(static_cast<uint16_t>(~sum));
}

uint16_t udp_checksum(Bytes udp, const IpAddress& source, const IpAddress& destination) {
  // Upper-layer length and protocol of the pseudo-header: the same words in both families.
  const auto length = static_cast<uint16_t>(udp.size());
  uint64_t sum = uint64_t{__builtin_bswap16(length)} + __builtin_bswap16(kProtocolUdp);
  sum = checksum_add(Bytes(source.bytes.data(), source.size()), sum);
  sum = checksum_add(Bytes(destination.bytes.data(), destination.size()), sum);
  return checksum_finish(checksum_add(udp, sum));
}

}  // namespace wirecache::net

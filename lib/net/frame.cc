#include "lib/net/frame.h"

#include <bit>

#include "lib/net/checksum.h"
#include "lib/net/ip_header.h"

namespace wirecache::net {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint16_t kEtherTypeArp = 0x0806;
constexpr uint8_t kFirstNdpType = 133;  // router solicitation (RFC 4861 §4)
constexpr uint8_t kLastNdpType = 137;   // redirect
constexpr uint8_t kHopLimit = 64;
constexpr uint16_t kDontFragment = 0x4000;

// The steps of parse_frame() return kUdp to go on, and any other verdict to end with it.

FrameVerdict parse_ethernet(Bytes frame, Frame& out, uint16_t& ether_type) {
  if (frame.size() < kEthernetBytes) return FrameVerdict::kShortFrame;
  const uint8_t* p = frame.data();
  out.destination_mac = MacAddress::from(p);
  out.source_mac = MacAddress::from(p + 6);
  if (out.destination_mac.is_multicast()) return FrameVerdict::kNotUdp;
  ether_type = load_be16(p + 12);
  out.vlan_tags = 0;
  out.vlan_tci = 0;
  out.l3_offset = kEthernetBytes;
  if (ether_type == kEtherTypeVlan) {
    if (frame.size() < kEthernetBytes + kVlanBytes) return FrameVerdict::kShortFrame;
    out.vlan_tags = 1;
    out.vlan_tci = load_be16(p + 14);
    ether_type = load_be16(p + 16);
    out.l3_offset += kVlanBytes;
  }
  return FrameVerdict::kUdp;
}

// IpAddress::v4() as one store of 16 bytes: zeros with 4 bytes written over them would stall
// whoever loads the whole address soon after.
IpAddress load_v4(const uint8_t* p) {
  using Words = uint32_t __attribute__((vector_size(16)));
  uint32_t address;
  std::memcpy(&address, p, sizeof address);
  return {std::bit_cast<std::array<uint8_t, 16>>(Words{address, 0, 0, 0}), IpFamily::kV4};
}

bool is_multicast_or_broadcast_v4(uint32_t address) {
  return (address >> 28) == 0xe || address == 0xffffffff;
}

FrameVerdict parse_ipv4(Bytes frame, ChecksumHints hints, Frame& out, size_t& ip_end) {
  const Bytes packet = frame.subspan(out.l3_offset);
  if (packet.size() < kIpv4Bytes) return FrameVerdict::kShortFrame;
  const uint8_t* p = packet.data();
  const size_t header_bytes = size_t{p[0] & 0xfu} * 4;
  if ((p[0] >> 4) != 4 || header_bytes < kIpv4Bytes) return FrameVerdict::kBadIpHeader;
  if (packet.size() < header_bytes) return FrameVerdict::kShortFrame;
  const size_t total_bytes = load_be16(p + 2);
  if (total_bytes < header_bytes || total_bytes > packet.size()) return FrameVerdict::kBadIpHeader;
  if (!hints.ip_verified && checksum_finish(checksum_add(packet.first(header_bytes), 0)) != 0)
    return FrameVerdict::kBadIpChecksum;
  if (is_multicast_or_broadcast_v4(load_be32(p + 16))) return FrameVerdict::kNotUdp;
  const bool fragment = (load_be16(p + 6) & kFragmentBits) != 0;
  if (p[9] != kProtocolUdp || fragment) return FrameVerdict::kNotUdp;
  out.source = load_v4(p + 12);
  out.destination = load_v4(p + 16);
  out.l4_offset = static_cast<uint16_t>(out.l3_offset + header_bytes);
  ip_end = out.l3_offset + total_bytes;
  return FrameVerdict::kUdp;
}

FrameVerdict parse_ipv6(Bytes frame, Frame& out, size_t& ip_end) {
  const Bytes packet = frame.subspan(out.l3_offset);
  if (packet.size() < kIpv6Bytes) return FrameVerdict::kShortFrame;
  const uint8_t* p = packet.data();
  if ((p[0] >> 4) != 6) return FrameVerdict::kBadIpHeader;
  const size_t total_bytes = size_t{kIpv6Bytes} + load_be16(p + 4);
  if (total_bytes > packet.size()) return FrameVerdict::kBadIpHeader;
  if (p[24] == 0xff || p[6] != kProtocolUdp) return FrameVerdict::kNotUdp;
  out.source = IpAddress::v6(p + 8);
  out.destination = IpAddress::v6(p + 24);
  out.l4_offset = static_cast<uint16_t>(out.l3_offset + kIpv6Bytes);
  ip_end = out.l3_offset + total_bytes;
  return FrameVerdict::kUdp;
}

// UDP may end before the IP payload does: what follows its length is not part of the datagram.
FrameVerdict parse_udp(Bytes frame, size_t ip_end, ChecksumHints hints, Frame& out) {
  const size_t ip_payload_bytes = ip_end - out.l4_offset;
  if (ip_payload_bytes < kUdpBytes) return FrameVerdict::kBadUdpLength;
  const uint8_t* p = frame.data() + out.l4_offset;
  const uint16_t udp_bytes = load_be16(p + 4);
  if (udp_bytes < kUdpBytes || udp_bytes > ip_payload_bytes) return FrameVerdict::kBadUdpLength;
  out.source_port = load_be16(p);
  out.destination_port = load_be16(p + 2);
  out.payload_offset = out.l4_offset + kUdpBytes;
  out.payload_bytes = udp_bytes - kUdpBytes;
  if (load_be16(p + 6) == 0) return out.v6() ? FrameVerdict::kBadUdpChecksum : FrameVerdict::kUdp;
  if (!hints.l4_verified && udp_checksum(Bytes(p, udp_bytes), out.source, out.destination) != 0)
    return FrameVerdict::kBadUdpChecksum;
  return FrameVerdict::kUdp;
}

// Loopback, unspecified, "this network" (RFC 1122 §3.2.1.3), multicast, limited broadcast.
bool no_reply_may_go_to_v4(uint32_t address) {
  const uint32_t network = address >> 24;
  return network == 0 || network == 127 || is_multicast_or_broadcast_v4(address);
}

// Unspecified, loopback, multicast (RFC 4291 §2.5.2, §2.5.3, §2.7).
bool no_reply_may_go_to_v6(const uint8_t* address) {
  uint64_t high;
  std::memcpy(&high, address, sizeof high);
  const bool low_is_0_or_1 = load_be32(address + 8) == 0 && load_be32(address + 12) <= 1;
  return address[0] == 0xff || (high == 0 && low_is_0_or_1);
}

bool is_bad_source(const Frame& frame) {
  if (frame.source_mac.is_multicast()) return true;
  const uint8_t* source = frame.source.bytes.data();
  return frame.v6() ? no_reply_may_go_to_v6(source) : no_reply_may_go_to_v4(load_be32(source));
}

// A number as the word that the checksum functions read from memory.
uint64_t wire_word(uint16_t v) {
  return __builtin_bswap16(v);
}

uint8_t* write_ethernet(uint8_t* p, const DatagramHeaders& headers) {
  std::memcpy(p, headers.destination_mac.bytes.data(), 6);
  std::memcpy(p + 6, headers.source_mac.bytes.data(), 6);
  p += 12;
  if (headers.tagged) {
    store_be16(p, kEtherTypeVlan);
    store_be16(p + 2, headers.vlan_tci);
    p += kVlanBytes;
  }
  store_be16(p, headers.source.is_v6() ? kEtherTypeIpv6 : kEtherTypeIpv4);
  return p + 2;
}

// The header checksum comes from the values, not from the bytes just written: reading back in wider
// words than were written would stall on the store buffer.
uint8_t* write_ipv4(uint8_t* p, const DatagramHeaders& headers, uint16_t udp_bytes) {
  constexpr uint16_t kVersionIhlTos = 0x4500;
  constexpr uint16_t kTtlProtocol = kHopLimit << 8 | kProtocolUdp;
  const auto total_bytes = static_cast<uint16_t>(kIpv4Bytes + udp_bytes);
  uint32_t source;
  uint32_t destination;
  std::memcpy(&source, headers.source.bytes.data(), sizeof source);
  std::memcpy(&destination, headers.destination.bytes.data(), sizeof destination);
  const uint64_t sum = wire_word(kVersionIhlTos) + wire_word(total_bytes) +
                       wire_word(kDontFragment) + wire_word(kTtlProtocol) + source + destination;
  store_be16(p, kVersionIhlTos);
  store_be16(p + 2, total_bytes);
  store_be16(p + 4, 0);
  store_be16(p + 6, kDontFragment);
  store_be16(p + 8, kTtlProtocol);
  store_be16(p + 10, checksum_finish(sum));
  std::memcpy(p + 12, &source, sizeof source);
  std::memcpy(p + 16, &destination, sizeof destination);
  return p + kIpv4Bytes;
}

uint8_t* write_ipv6(uint8_t* p, const DatagramHeaders& headers, uint16_t udp_bytes) {
  constexpr uint32_t kVersionClassFlow = 0x60000000;
  store_be32(p, kVersionClassFlow);
  store_be16(p + 4, udp_bytes);
  p[6] = kProtocolUdp;
  p[7] = kHopLimit;
  std::memcpy(p + 8, headers.source.bytes.data(), 16);
  std::memcpy(p + 24, headers.destination.bytes.data(), 16);
  return p + kIpv6Bytes;
}

// Written as one word, for the same reason as above: the checksum reads it back as one.
void write_udp(uint8_t* p, const DatagramHeaders& headers, uint16_t udp_bytes) {
  const uint64_t header = wire_word(headers.source_port) |
                          wire_word(headers.destination_port) << 16 | wire_word(udp_bytes) << 32;
  std::memcpy(p, &header, sizeof header);
  if (headers.udp_checksum == UdpChecksum::kDevice) {
    store_be16(p + 6, udp_pseudo_header_sum(udp_bytes, headers.source, headers.destination));
    return;
  }
  const uint16_t sum = udp_checksum(Bytes(p, udp_bytes), headers.source, headers.destination);
  store_be16(p + 6, sum == 0 ? 0xffff : sum);
}

}  // namespace

FrameVerdict parse_frame(Bytes frame, ChecksumHints hints, Frame& out) {
  uint16_t ether_type = 0;
  size_t ip_end = 0;
  FrameVerdict verdict = parse_ethernet(frame, out, ether_type);
  if (verdict != FrameVerdict::kUdp) return verdict;
  if (ether_type == kEtherTypeIpv4) {
    verdict = parse_ipv4(frame, hints, out, ip_end);
  } else if (ether_type == kEtherTypeIpv6) {
    verdict = parse_ipv6(frame, out, ip_end);
  } else {
    return FrameVerdict::kNotUdp;
  }
  if (verdict != FrameVerdict::kUdp) return verdict;
  verdict = parse_udp(frame, ip_end, hints, out);
  if (verdict != FrameVerdict::kUdp) return verdict;
  return is_bad_source(out) ? FrameVerdict::kBadSource : FrameVerdict::kUdp;
}

bool is_address_resolution(Bytes frame) {
  size_t l3_offset = kEthernetBytes;
  uint16_t ether_type = load_be16(frame.data() + 12);
  if (ether_type == kEtherTypeVlan && frame.size() >= kEthernetBytes + kVlanBytes) {
    ether_type = load_be16(frame.data() + 16);
    l3_offset += kVlanBytes;
  }
  if (ether_type == kEtherTypeArp) return true;
  if (ether_type != kEtherTypeIpv6 || frame.size() <= l3_offset + kIpv6Bytes) return false;
  const uint8_t type = frame[l3_offset + kIpv6Bytes];
  return frame[l3_offset + 6] == kProtocolIcmpv6 && type >= kFirstNdpType && type <= kLastNdpType;
}

uint16_t make_reply_frame(uint8_t* frame_bytes, const Frame& query, uint16_t payload_bytes,
                          UdpChecksum udp_checksum) {
  const DatagramHeaders headers{
      .source_mac = query.destination_mac,
      .destination_mac = query.source_mac,
      .source = query.destination,
      .destination = query.source,
      .source_port = query.destination_port,
      .destination_port = query.source_port,
      .vlan_tci = query.vlan_tci,
      .tagged = query.vlan_tags != 0,
      .udp_checksum = udp_checksum,
  };
  const uint16_t payload_offset = headers.bytes();
  if (payload_offset != query.payload_offset)
    std::memmove(frame_bytes + payload_offset, frame_bytes + query.payload_offset, payload_bytes);
  return write_datagram(frame_bytes, headers, payload_bytes);
}

uint16_t write_datagram(uint8_t* frame_bytes, const DatagramHeaders& headers,
                        uint16_t payload_bytes) {
  const auto udp_bytes = static_cast<uint16_t>(kUdpBytes + payload_bytes);
  uint8_t* p = write_ethernet(frame_bytes, headers);
  p = headers.source.is_v6() ? write_ipv6(p, headers, udp_bytes)
                             : write_ipv4(p, headers, udp_bytes);
  write_udp(p, headers, udp_bytes);
  const auto frame_end = static_cast<uint16_t>(headers.bytes() + payload_bytes);
  if (frame_end >= kMinFrameBytes) return frame_end;
  std::memset(frame_bytes + frame_end, 0, kMinFrameBytes - frame_end);
  return kMinFrameBytes;
}

}  // namespace wirecache::net

#include "lib/net/icmp_error.h"

#include "lib/net/checksum.h"
#include "lib/net/ip_header.h"

namespace wirecache::net {
namespace {

constexpr uint8_t kUnreachableV4 = 3;
constexpr uint8_t kFragmentationNeeded = 4;
constexpr uint8_t kUnreachableV6 = 1;
constexpr size_t kIcmpBytes = 8;

// The quoted packet within `frame`, or nothing.
Bytes quoted_v4(Bytes frame) {
  const Bytes packet = frame.subspan(kEthernetBytes);
  if (packet.size() < kIpv4Bytes || (packet[0] >> 4) != 4) return {};
  const size_t header_bytes = size_t{packet[0] & 0xfu} * 4;
  const size_t total_bytes = load_be16(packet.data() + 2);
  if (header_bytes < kIpv4Bytes || total_bytes > packet.size()) return {};
  if (total_bytes < header_bytes + kIcmpBytes) return {};
  if (packet[9] != kProtocolIcmp || (load_be16(packet.data() + 6) & kFragmentBits) != 0) return {};
  const Bytes icmp = packet.subspan(header_bytes, total_bytes - header_bytes);
  if (icmp[0] != kUnreachableV4 || icmp[1] == kFragmentationNeeded) return {};
  if (checksum_finish(checksum_add(packet.first(header_bytes), 0)) != 0) return {};
  if (checksum_finish(checksum_add(icmp, 0)) != 0) return {};
  return icmp.subspan(kIcmpBytes);
}

Bytes quoted_v6(Bytes frame) {
  const Bytes packet = frame.subspan(kEthernetBytes);
  if (packet.size() < kIpv6Bytes + kIcmpBytes || (packet[0] >> 4) != 6) return {};
  const size_t payload_bytes = load_be16(packet.data() + 4);
  if (payload_bytes < kIcmpBytes || kIpv6Bytes + payload_bytes > packet.size()) return {};
  const Bytes icmp = packet.subspan(kIpv6Bytes, payload_bytes);
  if (packet[6] != kProtocolIcmpv6 || icmp[0] != kUnreachableV6) return {};
  const IpAddress source = IpAddress::v6(packet.data() + 8);
  const IpAddress destination = IpAddress::v6(packet.data() + 24);
  if (icmpv6_checksum(icmp, source, destination) != 0) return {};
  return icmp.subspan(kIcmpBytes);
}

// Where the quoted packet's UDP header starts, 0 where it quotes none; its addresses go to `out`.
// Its lengths and checksums are not looked at: routers change what they quote, and cut it.
size_t udp_in_quoted_v4(Bytes quoted, Frame& out) {
  if (quoted.size() < kIpv4Bytes || (quoted[0] >> 4) != 4) return 0;
  const size_t header_bytes = size_t{quoted[0] & 0xfu} * 4;
  const bool first_fragment = (load_be16(quoted.data() + 6) & kFragmentOffset) == 0;
  if (header_bytes < kIpv4Bytes || quoted[9] != kProtocolUdp || !first_fragment) return 0;
  out.destination = IpAddress::v4(quoted.data() + 12);
  out.source = IpAddress::v4(quoted.data() + 16);
  return header_bytes;
}

size_t udp_in_quoted_v6(Bytes quoted, Frame& out) {
  if (quoted.size() < kIpv6Bytes || (quoted[0] >> 4) != 6 || quoted[6] != kProtocolUdp) return 0;
  out.destination = IpAddress::v6(quoted.data() + 8);
  out.source = IpAddress::v6(quoted.data() + 24);
  return kIpv6Bytes;
}

}  // namespace

bool parse_unreachable(Bytes frame, Frame& out) {
  if (frame.size() < kEthernetBytes) return false;
  const uint16_t ether_type = load_be16(frame.data() + 12);
  Bytes quoted;
  size_t udp = 0;
  if (ether_type == kEtherTypeIpv4) {
    quoted = quoted_v4(frame);
    udp = udp_in_quoted_v4(quoted, out);
  } else if (ether_type == kEtherTypeIpv6) {
    quoted = quoted_v6(frame);
    udp = udp_in_quoted_v6(quoted, out);
  }
  if (udp == 0 || quoted.size() < udp + kUdpBytes) return false;
  const uint8_t* header = quoted.data() + udp;
  out.destination_mac = MacAddress::from(frame.data());
  out.source_mac = MacAddress::from(frame.data() + 6);
  out.vlan_tags = 0;
  out.destination_port = load_be16(header);
  out.source_port = load_be16(header + 2);
  out.payload_offset = static_cast<uint16_t>(header + kUdpBytes - frame.data());
  out.payload_bytes = static_cast<uint16_t>(quoted.size() - udp - kUdpBytes);
  return true;
}

}  // namespace wirecache::net

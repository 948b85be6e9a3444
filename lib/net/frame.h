// One Ethernet frame with UDP in it: parsed, judged, and turned round in place (SEMANTICS
// "Packets").
//
// Lengths come from the IP and UDP headers, never from the frame (short frames are padded by the
// network). Pure functions over byte spans: no DPDK, any thread, nothing kept.
// Offsets count from the frame's first byte.
//
//   | Ethernet 14 | 802.1Q 4 × vlan_tags | IPv4 20..60 or IPv6 40 | UDP 8 | payload | padding |
//                                          ^ l3_offset              ^ l4_offset ^ payload_offset
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/base/ip_address.h"

namespace wirecache::net {

inline constexpr uint16_t kEthernetBytes = 14;
inline constexpr uint16_t kVlanBytes = 4;
inline constexpr uint16_t kMinFrameBytes = 60;  // without FCS
inline constexpr uint16_t kIpv4Bytes = 20;
inline constexpr uint16_t kIpv6Bytes = 40;
inline constexpr uint16_t kUdpBytes = 8;
inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeIpv6 = 0x86dd;
inline constexpr uint16_t kEtherTypeVlan = 0x8100;
inline constexpr uint16_t kEtherTypeQinq = 0x88a8;

// kUdp: a whole, well-formed UDP datagram, described in Frame. kNotUdp: anything that is the
// kernel's to judge (ARP, ICMP, TCP, fragments, extension headers, multicast and broadcast, other
// EtherTypes, more than one VLAN tag). The rest are drops, one counter each.
enum class FrameVerdict : uint8_t {
  kUdp,
  kNotUdp,
  kShortFrame,   // cut before the header that it announces ends
  kBadIpHeader,  // version, IHL, total length
  kBadIpChecksum,
  kBadUdpLength,    // below 8, or beyond the IP payload
  kBadUdpChecksum,  // wrong; or 0 over IPv6 (RFC 8200 §8.1)
  kBadSource,  // source address multicast, broadcast, loopback or unspecified; source MAC multicast
};

// What the NIC has checked already.
struct ChecksumHints {
  bool ip_verified = false;
  bool l4_verified = false;
};

struct Frame {
  MacAddress destination_mac;
  MacAddress source_mac;
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t vlan_tags = 0;  // 0 or 1
  uint16_t vlan_tci = 0;   // host order, with one tag
  uint16_t l3_offset = 0;
  uint16_t l4_offset = 0;
  uint16_t payload_offset = 0;
  uint16_t payload_bytes = 0;
  bool v6() const { return source.is_v6(); }
};

// Judges one frame. `out` is whole with kUdp and with kBadSource, which is judged last; with any
// other verdict only its MACs count, and those only where the frame has at least 14 bytes.
// Multicast and broadcast destinations are judged before sources (ARP probes and DHCP come from
// unspecified addresses), headers before what they carry: a packet of whatever protocol with a
// broken IP header is a drop. Source port 0 is the caller's to judge.
FrameVerdict parse_frame(Bytes frame, ChecksumHints hints, Frame& out);

// Who makes a sent datagram's UDP checksum. The IPv4 header's is always made here.
enum class UdpChecksum : uint8_t {
  kSoftware,
  // The field gets the pseudo-header's sum, as devices want it that complete it (DPDK: for an mbuf
  // with RTE_MBUF_F_TX_UDP_CKSUM, the IP version's flag, l2_len and l3_len).
  kDevice,
};

// Whether a frame of at least 14 bytes is ARP or neighbour discovery (RFC 826, RFC 4861): what the
// kernel needs to know who is where. At most one VLAN tag is looked behind.
bool is_address_resolution(Bytes frame);

// Turns a parsed query frame into the frame of its reply, in place: MACs, addresses and ports
// change places, VLAN kept, IPv4 options dropped (the payload then moves down: see the return
// value), TTL/hop limit 64, DF set and ID 0 (RFC 6864 §4.1), traffic class 0, lengths and checksums
// set for a payload of `payload_bytes` that already stands at frame.payload_offset. A frame under
// 60 bytes is padded with zeros; `frame_bytes` has room for 60. Returns the length of the frame to
// send.
uint16_t make_reply_frame(uint8_t* frame_bytes, const Frame& query, uint16_t payload_bytes,
                          UdpChecksum udp_checksum = UdpChecksum::kSoftware);

// Everything that the headers of a datagram of our own need.
struct DatagramHeaders {
  MacAddress source_mac;
  MacAddress destination_mac;
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t vlan_tci = 0;
  bool tagged = false;
  UdpChecksum udp_checksum = UdpChecksum::kSoftware;

  uint16_t l2_bytes() const { return kEthernetBytes + (tagged ? kVlanBytes : 0); }
  uint16_t l3_bytes() const { return source.is_v6() ? kIpv6Bytes : kIpv4Bytes; }
  uint16_t bytes() const { return l2_bytes() + l3_bytes() + kUdpBytes; }
};

// Writes headers.bytes() header bytes at `frame_bytes` for the payload that already stands behind
// them, checksums included (a UDP checksum of 0 goes out as 0xffff, RFC 768, RFC 8200 §8.1), pads
// to 60 bytes. Returns the length of the frame.
uint16_t write_datagram(uint8_t* frame_bytes, const DatagramHeaders& headers,
                        uint16_t payload_bytes);

}  // namespace wirecache::net

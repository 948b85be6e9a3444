#!/usr/bin/python3
"""Writes frame_fixtures.inc: packets in, verdict, reply frames out, all built by scapy.

Run it by hand after a change (it writes the file beside itself); the result is checked
in, so that the tests need no scapy. The verdicts are stated here, case by case, from SEMANTICS
"Packets" and the RFC named beside them; every byte, offset and checksum is scapy's.
"""
import pathlib
import struct

from scapy.all import (ARP, BOOTP, DHCP, ICMP, TCP, UDP, Dot1AD, Dot1Q, Ether, ICMPv6ND_NS, IP,
                       IPOption_NOP, IPOption_RR, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                       IPv6ExtHdrHopByHop, Raw)

ETHERNET_BYTES, VLAN_BYTES, UDP_BYTES = 14, 4, 8

CLIENT_MAC = "02:00:00:00:00:11"
SERVER_MAC = "02:00:00:00:00:22"
CLIENT4, SERVER4 = "192.0.2.17", "198.51.100.53"
CLIENT6, SERVER6 = "2001:db8:1::17", "2001:db8:2::53"
QUERY = bytes.fromhex("12340100000100000000000003777777076578616d706c6503636f6d0000010001")
ANSWER = bytes.fromhex("12348180000100010000000003777777076578616d706c6503636f6d0000010001"
                       "c00c000100010000012c0004c0000201")
PORTS = dict(sport=40001, dport=53)
ETHER = dict(src=CLIENT_MAC, dst=SERVER_MAC)

rows = []


def literal(data):
    text = bytes(data).hex()
    return "\n    ".join(f'"{text[i:i + 88]}"' for i in range(0, len(text), 88)) or '""'


def add(name, verdict, frame, hints="kUnverified"):
    """A frame that is not a datagram for us."""
    rows.append(f"FRAME({name}, {verdict}, {hints},\n    {literal(bytes(frame))})")


def accept(name, frame, payload=QUERY, reply=None, ip_end=None, **how):
    """A datagram: `frame` in, `reply` (a scapy packet) out for the payload in its Raw layer."""
    raw = bytes(frame)
    tags = 1 if frame.haslayer(Dot1Q) else 0
    l3 = ETHERNET_BYTES + tags * VLAN_BYTES
    payload_offset = raw.index(payload, l3)
    end = ip_end if ip_end is not None else payload_offset + len(payload)
    tci = struct.unpack("!H", raw[14:16])[0] if tags else 0
    out = bytes(reply)
    answer = bytes(reply[UDP].payload)  # where the two differ in length, old bytes must not stay
    out += bytes(max(0, 60 - len(out)))
    hints = how.get("hints", "kUnverified")
    rows.append(f"DATAGRAM({name}, {hints}, {tags}, {tci}, {l3}, {payload_offset - UDP_BYTES}, "
                f"{payload_offset}, {len(payload)}, {end},\n    {literal(raw)},\n"
                f"    {literal(answer)},\n    {literal(out)})")


def ether(**fields):
    return Ether(**{**ETHER, **fields})


def ip4(**fields):
    return IP(**{"src": CLIENT4, "dst": SERVER4, "id": 0x7a31, **fields})


def ip6(**fields):
    return IPv6(**{"src": CLIENT6, "dst": SERVER6, "hlim": 61, **fields})


def reply_ether(*tags):
    packet = Ether(src=SERVER_MAC, dst=CLIENT_MAC)
    for tag in tags:
        packet = packet / tag
    return packet


def reply4(*tags, payload=ANSWER, sport=53, dport=40001):
    # ID 0 and DF: an atomic datagram, RFC 6864 section 4.1.
    return (reply_ether(*tags) / IP(src=SERVER4, dst=CLIENT4, id=0, flags="DF", ttl=64) /
            UDP(sport=sport, dport=dport) / Raw(payload))


def reply6(*tags, payload=ANSWER):
    return (reply_ether(*tags) / IPv6(src=SERVER6, dst=CLIENT6, fl=0, tc=0, hlim=64) /
            UDP(sport=53, dport=40001) / Raw(payload))


def padded(packet, length, filler=b"\xa5"):
    raw = bytes(packet)
    return raw + filler * (length - len(raw))


def query4(ip=None, udp=None, payload=QUERY, link=None):
    return (link or ether()) / (ip or ip4()) / (udp or UDP(**PORTS)) / Raw(payload)


def query6(ip=None, udp=None, payload=QUERY, link=None):
    return (link or ether()) / (ip or ip6()) / (udp or UDP(**PORTS)) / Raw(payload)


class Padded:
    """A packet with bytes behind its end, as a switch or a driver pads it."""

    def __init__(self, packet, length):
        self.packet, self.raw = packet, padded(packet, length)

    def __bytes__(self):
        return self.raw

    def haslayer(self, layer):
        return self.packet.haslayer(layer)

    def __getitem__(self, layer):
        return self.packet[layer]


def zero_checksum_payload(build):
    """A payload for which the one's complement sum comes out as 0, sent as 0xffff (RFC 768)."""
    for value in range(0x10000):
        payload = b"\x00" * 12 + struct.pack("!H", value)
        packet = build(payload)
        if struct.unpack("!H", bytes(packet[UDP])[6:8])[0] == 0xffff:
            return payload
    raise AssertionError("no such payload")


def accepted_ipv4():
    accept("ipv4", query4(), reply=reply4())
    accept("ipv4_no_udp_checksum", query4(udp=UDP(**PORTS, chksum=0)), reply=reply4())  # RFC 768
    accept("ipv4_options", query4(ip4(options=[IPOption_RR(routers=["0.0.0.0"] * 3)])),
           reply=reply4())
    accept("ipv4_longest_header", query4(ip4(options=[IPOption_NOP()] * 40)), reply=reply4())
    accept("ipv4_tos_df_ttl1", query4(ip4(tos=0xb9, flags="DF", ttl=1)), reply=reply4())
    # RFC 791 reserves the bit; a receiver does not judge by it.
    accept("ipv4_reserved_flag", query4(ip4(flags="evil")), reply=reply4())
    short = b"\x12\x34\x01\x00" + b"\x00" * 8
    accept("ipv4_padded_by_network", Padded(query4(payload=short), 60), payload=short,
           reply=reply4(payload=short))
    accept("ipv4_long_padding", Padded(query4(), 300), reply=reply4())
    accept("ipv4_reply_longer", query4(), reply=reply4(payload=ANSWER + b"x" * 1101))
    accept("ipv4_one_byte", Padded(query4(payload=b"\xfe"), 60), payload=b"\xfe",
           reply=reply4(payload=b"\xfe"))
    accept("ipv4_reply_shorter", query4(payload=b"\xaa" * 400), payload=b"\xaa" * 400,
           reply=reply4(payload=short))
    # RFC 768 gives UDP a length of its own: it may end before the IP payload does.
    tail = query4(ip4(len=20 + 8 + len(QUERY) + 7), UDP(**PORTS, len=8 + len(QUERY)),
                  QUERY + b"\x99" * 7)
    good = query4(ip4(), UDP(**PORTS), QUERY)
    tail[UDP].chksum = struct.unpack("!H", bytes(good[UDP])[6:8])[0]
    accept("ipv4_udp_shorter_than_ip", tail, reply=reply4(),
           ip_end=14 + 20 + 8 + len(QUERY) + 7)
    bad = query4(udp=UDP(**PORTS, chksum=0x1111))
    accept("ipv4_udp_checksum_by_nic", bad, reply=reply4(), hints="kL4Verified")
    accept("ipv4_header_checksum_by_nic", query4(ip4(chksum=0x1111)), reply=reply4(),
           hints="kIpVerified")
    sum_zero = zero_checksum_payload(lambda p: query4(payload=p))
    accept("ipv4_checksum_ffff", query4(payload=sum_zero), payload=sum_zero, reply=reply4())
    out_zero = zero_checksum_payload(lambda p: reply4(payload=p))
    accept("ipv4_reply_checksum_ffff", query4(), reply=reply4(payload=out_zero))
    accept("ipv4_source_port_0", query4(udp=UDP(sport=0, dport=53)), reply=reply4(dport=0))


def accepted_others():
    accept("ipv6", query6(), reply=reply6())
    accept("ipv6_class_and_flow", query6(ip6(tc=0xb8, fl=0x12345)), reply=reply6())
    accept("ipv6_padded", Padded(query6(), 200), reply=reply6())
    out_zero = zero_checksum_payload(lambda p: reply6(payload=p))
    accept("ipv6_reply_checksum_ffff", query6(), reply=reply6(payload=out_zero))
    bad = query6(udp=UDP(**PORTS, chksum=0x1111))
    accept("ipv6_udp_checksum_by_nic", bad, reply=reply6(), hints="kL4Verified")
    for name, tag in (("vlan", Dot1Q(vlan=100, prio=5)),
                      ("vlan_priority_tag", Dot1Q(vlan=0, prio=3)),
                      ("vlan_dei", Dot1Q(vlan=4094, id=1))):
        accept(f"ipv4_{name}", query4(link=ether() / tag), reply=reply4(tag))
    tag = Dot1Q(vlan=42)
    accept("ipv6_vlan", query6(link=ether() / tag), reply=reply6(tag))
    accept("ipv4_vlan_options", query4(ip4(options=[IPOption_RR(routers=["0.0.0.0"] * 3)]),
                                       link=ether() / tag), reply=reply4(tag))
    short = b"\x12\x34\x01\x00" + b"\x00" * 8
    accept("ipv4_vlan_short", Padded(query4(payload=short, link=ether() / tag), 60), payload=short,
           reply=reply4(tag, payload=short[:2]))


def not_udp():
    broadcast = ether(dst="ff:ff:ff:ff:ff:ff")
    add("arp_request", "kNotUdp", padded(
        broadcast / ARP(op=1, hwsrc=CLIENT_MAC, psrc=CLIENT4, pdst=SERVER4), 60))
    add("arp_probe", "kNotUdp", padded(
        broadcast / ARP(op=1, hwsrc=CLIENT_MAC, psrc="0.0.0.0", pdst=SERVER4), 60))
    add("arp_reply", "kNotUdp", ether() / ARP(op=2, psrc=CLIENT4, pdst=SERVER4))
    add("dhcp_discover", "kNotUdp",
        broadcast / ip4(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67) /
        BOOTP(chaddr=bytes(6)) / DHCP(options=[("message-type", "discover"), "end"]))
    add("dhcp_discover_to_our_mac", "kNotUdp",
        ether() / ip4(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67) / Raw(b"x"))
    add("query_in_broadcast_frame", "kNotUdp", query4(link=broadcast))
    add("query_in_multicast_frame", "kNotUdp", query6(link=ether(dst="33:33:00:00:00:53")))
    add("mdns_v4_to_our_mac", "kNotUdp", query4(ip4(dst="224.0.0.251")))
    add("multicast_v6_to_our_mac", "kNotUdp", query6(ip6(dst="ff02::fb")))
    add("ping_v4", "kNotUdp", ether() / ip4() / ICMP() / Raw(b"ping"))
    add("tcp_v4", "kNotUdp", ether() / ip4() / TCP(**PORTS))
    add("tcp_v4_from_loopback", "kNotUdp", ether() / ip4(src="127.0.0.1") / TCP(**PORTS))
    add("tcp_v6", "kNotUdp", ether() / ip6() / TCP(**PORTS))
    add("neighbour_solicitation", "kNotUdp",
        ether(dst="33:33:ff:00:00:53") / ip6(dst="ff02::1:ff00:53", hlim=255) /
        ICMPv6ND_NS(tgt=SERVER6))
    add("duplicate_address_detection", "kNotUdp",
        ether() / ip6(src="::", dst="ff02::1:ff00:53", hlim=255) / ICMPv6ND_NS(tgt=SERVER6))
    add("fragment_v4_first", "kNotUdp", query4(ip4(flags="MF")))
    add("fragment_v4_later", "kNotUdp", query4(ip4(frag=185)))
    add("fragment_v4_last_offset_bit", "kNotUdp", query4(ip4(frag=0x1000)))
    add("fragment_v6", "kNotUdp",
        ether() / ip6() / IPv6ExtHdrFragment(m=1, id=7) / UDP(**PORTS) / Raw(QUERY))
    add("hop_by_hop_v6", "kNotUdp",
        ether() / ip6() / IPv6ExtHdrHopByHop() / UDP(**PORTS) / Raw(QUERY))
    add("destination_options_v6", "kNotUdp",
        ether() / ip6() / IPv6ExtHdrDestOpt() / UDP(**PORTS) / Raw(QUERY))
    add("two_vlan_tags", "kNotUdp", query4(link=ether() / Dot1Q(vlan=1) / Dot1Q(vlan=2)))
    add("service_tag", "kNotUdp", query4(link=ether() / Dot1AD(vlan=1)))
    add("service_tag_and_vlan", "kNotUdp", query4(link=ether() / Dot1AD(vlan=1) / Dot1Q(vlan=2)))
    add("lldp", "kNotUdp", ether(dst="01:80:c2:00:00:0e", type=0x88cc) / Raw(b"\x00" * 46))
    add("llc_length_field", "kNotUdp", ether(type=0x002e) / Raw(b"\x42" * 46))


def bad_headers():
    add("empty", "kShortFrame", b"")
    add("thirteen_bytes", "kShortFrame", bytes(query4())[:13])
    add("ethernet_only_v4", "kShortFrame", bytes(query4())[:14])
    add("cut_in_vlan_tag", "kShortFrame", bytes(query4(link=ether() / Dot1Q(vlan=1)))[:17])
    add("cut_in_ipv4_header", "kShortFrame", bytes(query4())[:33])
    add("cut_in_ipv4_options", "kShortFrame",
        bytes(query4(ip4(options=[IPOption_NOP()] * 40)))[:14 + 59])
    add("cut_in_ipv6_header", "kShortFrame", bytes(query6())[:53])
    add("ipv4_version_6", "kBadIpHeader", query4(ip4(version=6)))
    add("ipv4_ihl_4", "kBadIpHeader", query4(ip4(ihl=4)))
    add("ipv4_total_below_header", "kBadIpHeader", query4(ip4(len=19)))
    add("ipv4_total_beyond_frame", "kBadIpHeader", query4(ip4(len=20 + 8 + len(QUERY) + 1)))
    add("ipv4_total_0", "kBadIpHeader", query4(ip4(len=0)))
    add("ipv6_version_4", "kBadIpHeader", query6(ip6(version=4)))
    add("ipv6_length_beyond_frame", "kBadIpHeader", query6(ip6(plen=8 + len(QUERY) + 1)))
    add("ipv4_header_checksum", "kBadIpChecksum", query4(ip4(chksum=0x1111)))
    add("ipv4_header_checksum_tcp", "kBadIpChecksum",
        ether() / ip4(chksum=0x1111) / TCP(**PORTS))
    add("ipv4_header_checksum_l4_hint", "kBadIpChecksum", query4(ip4(chksum=0x1111)),
        "kL4Verified")


def bad_udp():
    for hints in ("kUnverified", "kL4Verified"):
        suffix = "" if hints == "kUnverified" else "_hinted"
        add("udp_length_7" + suffix, "kBadUdpLength", query4(udp=UDP(**PORTS, len=7)), hints)
        add("udp_length_0_v6" + suffix, "kBadUdpLength", query6(udp=UDP(**PORTS, len=0)), hints)
        add("udp_length_beyond_ip" + suffix, "kBadUdpLength",
            query4(udp=UDP(**PORTS, len=8 + len(QUERY) + 1)), hints)
        # RFC 8200 section 8.1: no UDP over IPv6 without a checksum.
        add("udp_no_checksum_v6" + suffix, "kBadUdpChecksum",
            query6(udp=UDP(**PORTS, chksum=0)), hints)
    add("udp_length_in_padding_only", "kBadUdpLength",
        padded(query4(udp=UDP(**PORTS, len=8 + len(QUERY) + 1)), 120))
    add("ip_payload_of_7", "kBadUdpLength", padded(query4(ip4(len=27)), 60))
    add("ip_payload_of_0_v6", "kBadUdpLength", query6(ip6(plen=0)))
    add("udp_checksum_v4", "kBadUdpChecksum", query4(udp=UDP(**PORTS, chksum=0x1111)))
    add("udp_checksum_v6", "kBadUdpChecksum", query6(udp=UDP(**PORTS, chksum=0x1111)))
    add("udp_checksum_ip_hint", "kBadUdpChecksum", query4(udp=UDP(**PORTS, chksum=0x1111)),
        "kIpVerified")
    # RFC 1071: swapped words leave the sum as it was, so flip one bit of the last, odd, byte.
    flipped = bytearray(bytes(query4()))
    flipped[-1] ^= 1
    add("udp_checksum_last_byte", "kBadUdpChecksum", flipped)


def bad_sources():
    for name, source in (("unspecified", "0.0.0.0"), ("this_network", "0.1.2.3"),
                         ("loopback", "127.0.0.53"), ("multicast", "224.0.0.1"),
                         ("multicast_top", "239.255.255.255"), ("broadcast", "255.255.255.255")):
        add(f"source_{name}_v4", "kBadSource", query4(ip4(src=source)))
    for name, source in (("unspecified", "::"), ("loopback", "::1"), ("multicast", "ff02::1")):
        add(f"source_{name}_v6", "kBadSource", query6(ip6(src=source)))
    add("source_mac_multicast", "kBadSource", query4(link=ether(src="03:00:00:00:00:11")))
    # Neighbours of those ranges. Of class E only 255.255.255.255 gets no reply.
    for name, source in (("1_0_0_0", "1.0.0.0"), ("126", "126.255.255.255"), ("128", "128.0.0.0"),
                         ("223", "223.255.255.255"), ("class_e", "240.0.0.1")):
        reply = reply4()
        reply[IP].dst = source
        accept(f"source_{name}_is_good", query4(ip4(src=source)), reply=reply)
    for name, source in (("2", "::2"), ("link_local", "fe80::17"), ("high", "1::1"),
                         ("middle", "::1:0:0:1")):
        reply = reply6()
        reply[IPv6].dst = source
        accept(f"source_v6_{name}_is_good", query6(ip6(src=source)), reply=reply)


def main():
    for part in (accepted_ipv4, accepted_others, not_udp, bad_headers, bad_udp, bad_sources):
        part()
    target = pathlib.Path(__file__).with_name("frame_fixtures.inc")
    target.write_text(
        "// Made by make_fixtures.py with scapy; change that, not this.\n"
        "// FRAME(name, verdict, hints, frame)\n"
        "// DATAGRAM(name, hints, vlan_tags, vlan_tci, l3_offset, l4_offset, payload_offset,\n"
        "//          payload_bytes, ip_end, frame, reply_payload, reply_frame)\n" +
        "\n".join(rows) + "\n")
    print(f"{len(rows)} fixtures in {target.name}")


if __name__ == "__main__":
    main()

"""The verdict that SEMANTICS "Packets" gives on a frame.

Written from that section and the RFCs that it names (768, 791, 1122, 4291, 8200, IEEE
802.1Q), not from the program. `judge` returns all verdicts that are right, more than one where a
packet has several faults of one layer and nothing says which is to be told. A layer is judged only
where the one below it is sound. Metrics' labels name the verdicts: see verdict.py.

Another kind of packet for the kernel or for us is one more line in `_judge_ipv4`, `_judge_ipv6` or
`_judge_ethernet`.
"""

import struct

from hostile.dns_oracle import judge_message
from hostile.icmp_oracle import PROTOCOL_ICMP, PROTOCOL_ICMPV6, is_about_our_query
from hostile.verdict import PUNT, drop
from hostile.wire import ETHER_IPV4, ETHER_IPV6, ETHER_VLAN, PROTOCOL_UDP, sum_words

ETHERNET_BYTES, VLAN_BYTES, IPV4_BYTES, IPV6_BYTES, UDP_BYTES = 14, 4, 20, 40, 8
MORE_FRAGMENTS, OFFSET_BITS = 0x2000, 0x1FFF
DNS_HEADER_BYTES = 12


def judge(frame, setting):
    """All right verdicts; None where SEMANTICS leaves the packet to a setting."""
    return _judge_ethernet(frame, setting)


def _faults(*reasons):
    return [drop(reason) for reason in dict.fromkeys(reasons)]


def _judge_ethernet(frame, setting):
    if len(frame) < ETHERNET_BYTES:
        return _faults("short_frame")
    if frame[0] & 1:  # broadcast and multicast: the kernel's (ARP, NDP, ...), never answered
        return [PUNT]
    if frame[:6] != setting.port_mac:
        return _faults("wrong_mac")
    ether_type, l3 = struct.unpack_from("!H", frame, 12)[0], ETHERNET_BYTES
    if ether_type == ETHER_VLAN:
        if len(frame) < ETHERNET_BYTES + VLAN_BYTES:
            return _faults("short_frame")
        ether_type, l3 = struct.unpack_from("!H", frame, 16)[0], ETHERNET_BYTES + VLAN_BYTES
    if ether_type == ETHER_IPV4:
        return _judge_ipv4(frame, frame[l3:], setting)
    if ether_type == ETHER_IPV6:
        return _judge_ipv6(frame, frame[l3:], setting)
    return [PUNT]  # other protocols, and more than one tag


def _ipv4_faults(packet):
    """Of the header: version, IHL, total length (RFC 791 §3.1), checksum (RFC 1122 §3.2.1.2)."""
    faults = []
    header_bytes = 4 * (packet[0] & 15) if packet else IPV4_BYTES
    if packet and (packet[0] >> 4 != 4 or header_bytes < IPV4_BYTES):
        faults.append("bad_ip_header")
    if len(packet) < max(IPV4_BYTES, header_bytes):
        return faults + ["short_frame"]
    total = struct.unpack_from("!H", packet, 2)[0]
    if not header_bytes <= total <= len(packet):
        faults.append("bad_ip_header")
    if header_bytes >= IPV4_BYTES and sum_words(packet[:header_bytes]) != 0xFFFF:
        faults.append("bad_ip_checksum")
    return faults


def _judge_ipv4(frame, packet, setting):
    faults = _ipv4_faults(packet)
    if faults:
        return _faults(*faults)
    total, _, fragment, _, protocol = struct.unpack_from("!HHHBB", packet, 2)
    source, destination = packet[12:16], packet[16:20]
    if is_group_v4(destination) or fragment & (MORE_FRAGMENTS | OFFSET_BITS):
        return [PUNT]
    payload = packet[4 * (packet[0] & 15):total]
    if protocol != PROTOCOL_UDP:
        return _judge_icmp(frame, payload if protocol == PROTOCOL_ICMP else b"",
                           (source, destination), setting)
    return Segment(frame, payload, source, destination).judge(setting)


def _judge_ipv6(frame, packet, setting):
    faults = []
    if packet and packet[0] >> 4 != 6:
        faults.append("bad_ip_header")
    if len(packet) < IPV6_BYTES:
        return _faults(*faults, "short_frame")
    length, next_header = struct.unpack_from("!HB", packet, 4)
    if IPV6_BYTES + length > len(packet):
        faults.append("bad_ip_header")
    if faults:
        return _faults(*faults)
    source, destination = packet[8:24], packet[24:40]
    if destination[0] == 0xFF:
        return [PUNT]
    segment = packet[IPV6_BYTES:IPV6_BYTES + length]
    if next_header != PROTOCOL_UDP:
        return _judge_icmp(frame, segment if next_header == PROTOCOL_ICMPV6 else b"",
                           (source, destination), setting)
    return Segment(frame, segment, source, destination).judge(setting)


def _judge_icmp(frame, message, addresses, setting):
    """The kernel's, but what tells of an upstream query: nobody waits for one here."""
    untagged = struct.unpack_from("!H", frame, 12)[0] in (ETHER_IPV4, ETHER_IPV6)
    if untagged and is_about_our_query(message, *addresses, setting):
        return _faults("upstream_unmatched")
    return [PUNT]


def is_group_v4(address):
    return address[0] >> 4 == 0xE or address == b"\xff\xff\xff\xff"


def is_invalid_source(address):
    """Addresses that no packet may come from.

    IPv4: "this" network, loopback, multicast, broadcast (RFC 1122 §3.2.1.3). IPv6: unspecified,
    loopback, multicast (RFC 4291 §2.5.2, §2.5.3, §2.7).
    """
    if len(address) == 4:
        return address[0] in (0, 127) or is_group_v4(address)
    return address[0] == 0xFF or int.from_bytes(address, "big") <= 1


class Segment:
    """What an IP packet for UDP carries."""

    def __init__(self, frame, segment, source, destination):
        self.source_mac = frame[6:12]
        self.bytes = segment
        self.source = source
        self.destination = destination
        self.source_port = self.destination_port = None
        if len(segment) >= UDP_BYTES:
            self.source_port, self.destination_port = struct.unpack_from("!HH", segment)

    def judge(self, setting):
        for_service = (self.destination in setting.listen
                       and self.destination_port == setting.listen_port)
        for_upstream = (self.destination in setting.upstream_sources
                        and self.destination_port is not None
                        and setting.first_source_port <= self.destination_port
                        <= setting.last_source_port)
        faults = list(self._udp_faults())
        if is_invalid_source(self.source) or self.source_mac[0] & 1:
            faults.append("bad_source")
        # "Dropped silently: an answer could loop".
        unanswerable = self.source_port == 0 or self.source in setting.listen
        if for_service:
            if unanswerable:
                faults.append("bad_source")
            return _faults(*faults) if faults else self._judge_message(setting)
        if for_upstream:  # nobody waits for it
            if unanswerable or not faults:
                faults.append("upstream_unmatched")
            if unanswerable:
                faults.append("bad_source")
            return _faults(*faults)
        # For other ports and addresses: the kernel's, which finds the same faults.
        return _faults(*faults) + ([PUNT] if self._may_be_the_kernels(setting) else [])

    def _may_be_the_kernels(self, setting):
        return self.destination_port is not None or self.destination not in setting.listen

    def _udp_faults(self):
        """Length (RFC 768) and checksum (RFC 768; RFC 8200 §8.1: never 0 over IPv6)."""
        if len(self.bytes) < UDP_BYTES:
            yield "bad_udp_length"
            return
        length, checksum = struct.unpack_from("!HH", self.bytes, 4)
        length_right = UDP_BYTES <= length <= len(self.bytes)
        if not length_right:
            yield "bad_udp_length"
        if checksum == 0:
            if len(self.destination) == 16:
                yield "bad_udp_checksum"
        elif length_right:
            pseudo = self.source + self.destination + struct.pack("!II", length, PROTOCOL_UDP)
            if sum_words(pseudo + self.bytes[:length]) != 0xFFFF:
                yield "bad_udp_checksum"

    def _judge_message(self, setting):
        length = struct.unpack_from("!H", self.bytes, 4)[0]
        return judge_message(self.bytes[UDP_BYTES:length], self.source, setting)

"""Frames and DNS messages byte by byte: right ones, and ones that lie where a field is given.

Layouts: Ethernet and 802.1Q (IEEE 802.3, 802.1Q), IPv4 (RFC 791), IPv6 (RFC 8200), UDP (RFC 768),
DNS (RFC 1035 §4.1), EDNS (RFC 6891 §6.1.2). tests/integration/test_hostile.py holds the right ones
against scapy.
"""

import struct
from dataclasses import dataclass, replace
from typing import Optional

from hostile.setting import Setting

ETHER_IPV4, ETHER_IPV6, ETHER_VLAN, ETHER_QINQ = 0x0800, 0x86DD, 0x8100, 0x88A8
PROTOCOL_UDP = 17
MINIMUM_FRAME = 60
TYPE_A, TYPE_OPT = 1, 41
RD = 0x0100


def sum_words(data):
    """The one's complement sum of 16-bit words (RFC 1071), an odd last byte as a high one.

    65536 is 1 modulo 65535, so the sum is the number itself modulo 65535; what is not zero and
    comes out as zero is 0xffff, the other zero.
    """
    if len(data) & 1:
        data += b"\0"
    number = int.from_bytes(data, "big")
    return number % 0xFFFF or (0xFFFF if number else 0)


def checksum(data):
    return 0xFFFF - sum_words(data)


def udp_checksum(source, destination, segment):
    """Of a segment whose checksum field is 0; never 0 itself (RFC 768)."""
    pseudo = source + destination + struct.pack("!II", len(segment), PROTOCOL_UDP)
    return checksum(pseudo + segment) or 0xFFFF


def padded(frame, size=MINIMUM_FRAME):
    return frame + bytes(max(0, size - len(frame)))


@dataclass(frozen=True)
class Datagram:
    """UDP from a client. What is None is filled in right; a tag is (TPID, TCI)."""

    setting: Setting
    message: bytes = b""
    v6: bool = False
    tags: tuple = ()
    destination_mac: Optional[bytes] = None
    source_mac: Optional[bytes] = None
    ether_type: Optional[int] = None
    source: Optional[bytes] = None
    destination: Optional[bytes] = None
    traffic_class: int = 0
    flow: int = 0  # IPv6 flow label; IPv4 identification
    fragment: int = 0x4000  # IPv4 flags and offset: DF
    ttl: int = 64
    protocol: int = PROTOCOL_UDP
    options: bytes = b""  # of IPv4; extension headers of IPv6
    ihl: Optional[int] = None
    ip_length: Optional[int] = None
    ip_checksum: Optional[int] = None
    source_port: int = 40000
    destination_port: int = 53
    udp_length: Optional[int] = None
    udp_checksum: Optional[int] = None
    padding: bytes = b""

    def but(self, **changes):
        return replace(self, **changes)

    @property
    def l3(self):
        return 14 + 4 * len(self.tags)

    @property
    def l4(self):
        return self.l3 + (40 if self.v6 else 20) + len(self.options)

    @property
    def payload(self):
        return self.l4 + 8

    def frame(self):
        source = self.source or self.setting.client(self.v6)
        destination = self.destination or self.setting.server(self.v6)
        segment = self._segment(source, destination)
        packet = (self._ipv6 if self.v6 else self._ipv4)(source, destination, segment)
        return self._ethernet() + packet + self.padding

    def _ethernet(self):
        ether_type = self.ether_type
        if ether_type is None:
            ether_type = ETHER_IPV6 if self.v6 else ETHER_IPV4
        return ((self.destination_mac or self.setting.port_mac)
                + (self.source_mac or self.setting.client_mac)
                + b"".join(struct.pack("!HH", *tag) for tag in self.tags)
                + struct.pack("!H", ether_type))

    def _segment(self, source, destination):
        length = 8 + len(self.message) if self.udp_length is None else self.udp_length
        ports = struct.pack("!HHH", self.source_port, self.destination_port, length)
        right = self.udp_checksum
        if right is None:
            right = udp_checksum(source, destination, ports + b"\0\0" + self.message)
        return ports + struct.pack("!H", right) + self.message

    def _ipv4(self, source, destination, segment):
        header_bytes = 20 + len(self.options)
        ihl = header_bytes // 4 if self.ihl is None else self.ihl
        length = header_bytes + len(segment) if self.ip_length is None else self.ip_length
        head = struct.pack("!BBHHHBB", 0x40 | ihl, self.traffic_class, length, self.flow & 0xFFFF,
                           self.fragment, self.ttl, self.protocol)
        tail = source + destination + self.options
        right = self.ip_checksum
        if right is None:  # over the header that IHL claims
            claimed = (head + b"\0\0" + tail + segment)[:max(ihl, 5) * 4]
            right = checksum(claimed)
        return head + struct.pack("!H", right) + tail + segment

    def _ipv6(self, source, destination, segment):
        length = (len(self.options) + len(segment) if self.ip_length is None
                  else self.ip_length)
        word = 6 << 28 | self.traffic_class << 20 | self.flow
        head = struct.pack("!IHBB", word, length, self.protocol, self.ttl)
        return head + source + destination + self.options + segment


def _word(frame, at):
    return frame[at] << 8 | frame[at + 1]


def _ip_offset(frame):
    """(EtherType, offset of what it carries), one VLAN tag passed over; None where cut."""
    if len(frame) < 14:
        return None
    ether_type = _word(frame, 12)
    if ether_type != ETHER_VLAN:
        return ether_type, 14
    return (_word(frame, 16), 18) if len(frame) >= 18 else None


def sealed(frame):
    """The frame with its checksums put right, as far as its own headers lead to them."""
    place = _ip_offset(frame)
    if place is None:
        return frame
    ether_type, l3 = place
    data = bytearray(frame)
    if ether_type == ETHER_IPV4 and len(data) >= l3 + 20:
        l4 = l3 + 4 * (data[l3] & 15)
        if l3 + 20 <= l4 <= len(data):
            data[l3 + 10:l3 + 12] = b"\0\0"
            data[l3 + 10:l3 + 12] = struct.pack("!H", checksum(bytes(data[l3:l4])))
        addresses = data[l3 + 12:l3 + 20]
    elif ether_type == ETHER_IPV6 and len(data) >= l3 + 40:
        l4 = l3 + 40
        addresses = data[l3 + 8:l3 + 40]
    else:
        return frame
    if len(data) < l4 + 8:
        return bytes(data)
    end = l4 + _word(data, l4 + 4)
    if l4 + 8 <= end <= len(data):
        data[l4 + 6:l4 + 8] = b"\0\0"
        right = udp_checksum(bytes(addresses), b"", bytes(data[l4:end]))
        data[l4 + 6:l4 + 8] = struct.pack("!H", right)
    return bytes(data)


def name(text):
    """The wire form of a name; "" is the root."""
    labels = text.split(".") if text else []
    return b"".join(bytes((len(label),)) + label.encode() for label in labels) + b"\0"


def header(query_id=0x4321, flags=RD, counts=(1, 0, 0, 0)):
    return struct.pack("!6H", query_id, flags, *counts)


def question(qname=name("www.example.com"), qtype=TYPE_A, qclass=1):
    return qname + struct.pack("!HH", qtype, qclass)


def record(rtype, rdata=b"", owner=b"\0", rclass=1, ttl=0, length=None):
    """A record of any section; `length` lies about the data's."""
    return owner + struct.pack("!HHIH", rtype, rclass, ttl,
                               len(rdata) if length is None else length) + rdata


def opt(size=1232, version=0, flags=0, rdata=b"", **fields):
    return record(TYPE_OPT, rdata, rclass=size, ttl=version << 16 | flags, **fields)


def option(code, data=b"", length=None):
    return struct.pack("!HH", code, len(data) if length is None else length) + data


def query(asked=None, flags=RD, additional=(opt(),)):
    """A whole query; without EDNS where `additional` is empty."""
    return (header(flags=flags, counts=(1, 0, 0, len(additional)))
            + (question() if asked is None else asked) + b"".join(additional))

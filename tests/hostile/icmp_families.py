"""Families of ICMP errors: genuine ones about nobody's query, and every way to get one wrong."""

import itertools
import struct

from hostile import wire
from hostile.families import family, ip_name, messages
from hostile.icmp_oracle import PROTOCOL_ICMP, PROTOCOL_ICMPV6
from hostile.setting import packed
from hostile.wire import Datagram

ETHERNET_BYTES = 14


def quoted_query(setting, v6, **fields):
    """The IP packet of a query from the data plane to an upstream."""
    upstream = packed("fd00::2") if v6 else packed("10.0.0.2")
    fields = {"source": setting.server(v6), "destination": upstream, "source_port": 12345,
              "destination_port": 53, **fields}
    return Datagram(setting, messages()["A"], v6=v6, **fields).frame()[ETHERNET_BYTES:]


def icmp_frame(setting, v6, quoted, kind=None, code=3, lie=0, **fields):
    """From a router; the checksum is right but for `lie`."""
    source = packed("fd00::fe") if v6 else packed("10.0.0.254")
    destination = setting.server(v6)
    if kind is None:
        kind = 1 if v6 else 3
    message = struct.pack("!BBHI", kind, code, 0, 0) + quoted
    pseudo = b""
    if v6:
        pseudo = source + destination + struct.pack("!II", len(message), PROTOCOL_ICMPV6)
    right = wire.checksum(pseudo + message) ^ lie
    message = message[:2] + struct.pack("!H", right) + message[4:]
    shell = Datagram(setting, b"", v6=v6, source=source, destination=destination,
                     protocol=PROTOCOL_ICMPV6 if v6 else PROTOCOL_ICMP, **fields)
    head = shell.frame()[:shell.l4]
    length_at = shell.l3 + (4 if v6 else 2)
    length = len(message) + (0 if v6 else shell.l4 - shell.l3)
    head = head[:length_at] + struct.pack("!H", length) + head[length_at + 2:]
    if not v6:
        at = shell.l3 + 10
        head = head[:at] + b"\0\0" + head[at + 2:]
        head = head[:at] + struct.pack("!H", wire.checksum(head[shell.l3:])) + head[at + 2:]
    return wire.padded(head + message)


@family
def icmp_errors(setting, rng):
    """All types and codes about a query of ours, of the kernel's, and of somebody else's."""
    del rng
    senders = {"ours": {}, "the kernel's": {"source_port": 40000},
               "below our ports": {"source_port": 9999}, "above": {"source_port": 32768},
               "first": {"source_port": 10000}, "last": {"source_port": 32767},
               "no UDP": {"protocol": 6}}
    for v6 in (False, True):
        stranger = {"source": packed("fd00::77") if v6 else packed("10.0.0.77")}
        for (who, fields), kind in itertools.product(
                (senders | {"a stranger's": stranger}).items(), range(0, 20)):
            for code in range(0, 16):
                quoted = quoted_query(setting, v6, **fields)
                yield (f"{ip_name(v6)} type {kind} code {code} about {who}",
                       icmp_frame(setting, v6, quoted, kind=kind, code=code))


@family
def icmp_cuts(setting, rng):
    """Quotes cut at every length, wrong checksums, tags, options, fragments, any bit flipped."""
    del rng
    for v6 in (False, True):
        quoted = quoted_query(setting, v6)
        for length in range(len(quoted)):
            yield f"{ip_name(v6)} {length} bytes quoted", icmp_frame(setting, v6, quoted[:length])
        for bit in range(16):
            yield f"{ip_name(v6)} checksum bit {bit}", icmp_frame(setting, v6, quoted,
                                                                 lie=1 << bit)
        for bit in range(8 * len(quoted)):
            flipped = bytearray(quoted)
            flipped[bit // 8] ^= 0x80 >> bit % 8
            yield f"{ip_name(v6)} quoted bit {bit}", icmp_frame(setting, v6, bytes(flipped))
        yield f"{ip_name(v6)} tagged", icmp_frame(setting, v6, quoted, tags=((0x8100, 5),))
        yield f"{ip_name(v6)} QinQ", icmp_frame(setting, v6, quoted,
                                               tags=((0x88A8, 7), (0x8100, 5)))
    quoted = quoted_query(setting, False)
    for options in range(4, 44, 4):
        yield f"v4 {options} bytes of options", icmp_frame(setting, False, quoted,
                                                          options=bytes([1] * options))
        inner = quoted_query(setting, False, options=bytes([1] * options))
        yield f"v4 {options} bytes of quoted options", icmp_frame(setting, False, inner)
    for fragment in (0x2000, 1, 0x1FFF, 0x3FFF):
        yield f"v4 fragment {fragment:#x}", icmp_frame(setting, False, quoted, fragment=fragment)
        inner = quoted_query(setting, False, fragment=fragment)
        yield f"v4 quoted fragment {fragment:#x}", icmp_frame(setting, False, inner)

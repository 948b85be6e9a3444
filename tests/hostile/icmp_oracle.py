"""Whether an ICMP error is about an upstream query of the data plane's.

"Destination unreachable" ends a query at once (RFC 792 type 3, RFC 4443 §3.1 type 1), but for
"fragmentation needed", which says something else. It is ours where it quotes a UDP datagram from
one of the upstream source addresses and ports, at least to the end of the UDP header (RFC 792:
64 bits of the data). Queries leave untagged, so nothing behind a tag is about them.
"""

import struct

from hostile.wire import PROTOCOL_UDP, sum_words

PROTOCOL_ICMP, PROTOCOL_ICMPV6 = 1, 58
UNREACHABLE_V4, UNREACHABLE_V6, FRAGMENTATION_NEEDED = 3, 1, 4
HEADER_BYTES, UDP_BYTES = 8, 8
OFFSET_BITS = 0x1FFF


def is_about_our_query(message, source, destination, setting):
    """`message` is what an IP packet with ICMP of the addresses' own version carries."""
    v6 = len(source) == 16
    if len(message) < HEADER_BYTES:
        return False
    pseudo = b""
    if v6:
        pseudo = source + destination + struct.pack("!II", len(message), PROTOCOL_ICMPV6)
    if sum_words(pseudo + message) != 0xFFFF:
        return False
    kind, code = message[0], message[1]
    if v6 and kind != UNREACHABLE_V6:
        return False
    if not v6 and (kind != UNREACHABLE_V4 or code == FRAGMENTATION_NEEDED):
        return False
    sender, segment = (_quoted_v6 if v6 else _quoted_v4)(message[HEADER_BYTES:])
    if sender not in setting.upstream_sources or len(segment) < UDP_BYTES:
        return False
    port = struct.unpack_from("!H", segment)[0]
    return setting.first_source_port <= port <= setting.last_source_port


def _quoted_v4(packet):
    """(who sent the quoted packet, its UDP header and what follows)."""
    if len(packet) < 20 or packet[0] >> 4 != 4 or packet[9] != PROTOCOL_UDP:
        return None, b""
    header_bytes = 4 * (packet[0] & 15)
    if header_bytes < 20 or struct.unpack_from("!H", packet, 6)[0] & OFFSET_BITS:
        return None, b""
    return packet[12:16], packet[header_bytes:]


def _quoted_v6(packet):
    if len(packet) < 40 or packet[0] >> 4 != 6 or packet[6] != PROTOCOL_UDP:
        return None, b""
    return packet[8:24], packet[40:]

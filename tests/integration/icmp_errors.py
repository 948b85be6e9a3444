"""ICMP "destination unreachable" about an upstream query, true or forged, and forged answers."""

from dataclasses import dataclass, replace

from scapy.all import ICMP, IP, UDP, Ether, ICMPv6DestUnreach, IPv6, Raw, raw


@dataclass(frozen=True)
class UpstreamQuery:
    """A query as an error quotes it: whoever is right about all of it has seen it."""

    source: str
    source_port: int
    server: str
    server_port: int
    query_id: int


def _ip(source, destination, **fields):
    return (IPv6(src=source, dst=destination) if ":" in source
            else IP(src=source, dst=destination, **fields))


def unreachable(link, query, **how):
    """A frame to the appliance. How: reporter, type, code, quoted_bytes, checksum.

    The default is what the server's own kernel says where nobody listens: port unreachable.
    """
    quoted = raw(_ip(query.source, query.server)
                 / UDP(sport=query.source_port, dport=query.server_port)
                 / Raw(query.query_id.to_bytes(2, "big") + b"\1\x20\0\1\0\0\0\0\0\1"))
    v6 = ":" in query.server
    fields = {"type": how.get("type", 1 if v6 else 3), "code": how.get("code", 4 if v6 else 3)}
    checksum = how.get("checksum")
    if checksum is not None:
        fields["cksum" if v6 else "chksum"] = checksum
    error = ICMPv6DestUnreach(**fields) if v6 else ICMP(**fields)
    return (Ether(src=link.outer_mac, dst=link.inner_mac)
            / _ip(how.get("reporter", query.server), query.source)
            / error / Raw(quoted[:how.get("quoted_bytes")]))


def wrong_guesses(query):
    """What somebody says who is wrong about one thing."""
    other = "fd53::3" if ":" in query.server else "10.53.0.3"
    for change in ({"query_id": query.query_id ^ 1}, {"source_port": query.source_port ^ 1},
                   {"source_port": query.source_port ^ 2}, {"server": other},
                   {"server_port": 5353}):
        yield replace(query, **change)


def answer_frame(link, query, payload, **udp):
    """A datagram from the server to where the query came from; `udp`: fields to get wrong."""
    return (Ether(src=link.outer_mac, dst=link.inner_mac) / _ip(query.server, query.source)
            / UDP(sport=query.server_port, dport=query.source_port, **udp) / Raw(payload))

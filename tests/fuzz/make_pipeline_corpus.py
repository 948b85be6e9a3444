#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_pipeline: scripts of packets as fuzz_pipeline.cc describes them.

Messages are made by dnspython, frames by scapy; the same bytes come out on every run.
"""
import itertools
import pathlib
import struct
import sys

import dns.flags
import dns.message
import dns.rrset
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether

OUT = pathlib.Path(__file__).parent / "corpus" / "pipeline"
FRAME, CLIENT, ANSWER, TIME = 0, 1, 2, 3
RIGHT, QUEUE1, V6, TAGGED = 0x10, 0x20, 0x40, 0x80


def step(operation, data):
    return struct.pack("!BH", operation, len(data)) + data


def query(name, rdtype="A", **options):
    message = dns.message.make_query(name, rdtype, **options)
    message.id = 0x1234
    return message


def records(name, rdtype, *rdata, ttl=300, rcode=0, authority=None, flags=dns.flags.RA):
    """The sections behind the header, under a header whose counts are right."""
    response = dns.message.make_response(query(name, rdtype))
    response.flags |= flags
    response.set_rcode(rcode)
    if rdata:
        response.answer.append(dns.rrset.from_text(name + ".", ttl, "IN", rdtype, *rdata))
    for text in authority or []:
        owner, rr_type, data = text.split(" ", 2)
        response.authority.append(dns.rrset.from_text(owner, ttl, "IN", rr_type, data))
    wire = response.to_wire()
    question = query(name, rdtype).question[0]
    end = 12 + len(question.name.to_wire()) + 4
    return wire[:12] + wire[end:]


def answer(*args, **options):
    return step(ANSWER | RIGHT, records("www.example.com", *args, **options))


def conversations():
    a = query("www.example.com").to_wire()
    edns = query("www.example.com", use_edns=0, payload=1232).to_wire()
    secure = query("www.example.com", want_dnssec=True).to_wire()
    soa = ["example.com. SOA ns.example.com. host.example.com. 1 7200 3600 1209600 60"]
    ask = step(CLIENT, a)
    good = answer("A", "192.0.2.1", "192.0.2.2")
    texts = ['"' + "x" * 200 + str(i) + '"' for i in range(5)]
    yield "miss_hit", ask + good + step(CLIENT | QUEUE1, edns)
    yield "coalesce", ask + step(CLIENT | V6, edns) + step(CLIENT | TAGGED, a) + good
    yield "do", ask + step(CLIENT, secure) + good + good
    yield "nxdomain", ask + answer("A", rcode=3, authority=soa) + ask
    yield "nodata", step(CLIENT, edns) + answer("A", authority=soa)
    yield "servfail", ask + answer("A", rcode=2) + good
    yield "formerr", step(CLIENT, edns) + answer("A", rcode=1) + good
    yield "truncated", ask + answer("A", flags=dns.flags.RA | dns.flags.TC)
    yield "silence", ask + step(TIME, b"\x14") * 6
    yield "expiry", ask + good + step(TIME, b"\xff") + ask
    yield "forged", ask + step(ANSWER, b"\x12\x34\x81\x80" + a[4:])
    yield "big", ask + answer("TXT", *texts) + step(CLIENT, edns)
    yield "types", b"".join(step(CLIENT, query("www.example.com", rdtype).to_wire())
                            for rdtype in ("ANY", "AXFR", "SOA", "HTTPS"))
    yield "chaos", step(CLIENT, query("version.bind", "TXT", rdclass="CH").to_wire())


def frames():
    ours, theirs = "02:00:00:00:01:00", "02:00:00:00:00:09"
    ether = Ether(dst=ours, src=theirs)
    four = IP(src="10.0.0.9", dst="10.0.0.1")
    udp = UDP(sport=4000, dport=53) / query("www.example.com").to_wire()
    all_frames = {
        "arp": Ether(dst="ff:ff:ff:ff:ff:ff", src=theirs) / ARP(pdst="10.0.0.1"),
        "icmp": ether / four / ICMP(),
        "tcp": ether / four / TCP(dport=53),
        "udp4": ether / four / udp,
        "udp6": ether / IPv6(src="fd00::9", dst="fd00::1") / udp,
        "vlan": ether / Dot1Q(vlan=7) / four / udp,
        "fragment": ether / IP(src="10.0.0.9", dst="10.0.0.1", flags="MF") / udp,
    }
    for name, frame in all_frames.items():
        yield "frame_" + name, step(FRAME | RIGHT, bytes(frame))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for name, data in itertools.chain(conversations(), frames()):
        (OUT / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())

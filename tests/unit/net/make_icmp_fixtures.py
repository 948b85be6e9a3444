#!/usr/bin/python3
"""Writes icmp_fixtures.inc: ICMP errors about a UDP datagram, built by scapy.

Run it by hand after a change (it writes the file beside itself). What is accepted is stated here
from RFC 792 (type 3), RFC 4443 §3.1 (type 1), RFC 1812 §4.3.2.3 (what is quoted).
"""
import pathlib

from scapy.all import (ICMP, TCP, UDP, Dot1Q, Ether, ICMPv6DestUnreach, ICMPv6PacketTooBig, IP,
                       IPOption_NOP, IPv6, IPv6ExtHdrFragment, Raw)

ROUTER_MAC, OUR_MAC = "02:00:00:00:00:11", "02:00:00:00:00:22"
US4, SERVER4, ROUTER4 = "192.0.2.53", "198.51.100.2", "203.0.113.1"
US6, SERVER6, ROUTER6 = "2001:db8:2::53", "2001:db8:1::2", "2001:db8:3::1"
QUERY = bytes.fromhex("abcd0100000100000000000003777777076578616d706c6503636f6d0000010001")
UDP_PORTS = dict(sport=12345, dport=53)

rows = []


def add(name, accepted, frame, payload=QUERY):
    text = bytes(frame).hex()
    lines = "\n    ".join(f'"{text[i:i + 88]}"' for i in range(0, len(text), 88))
    rows.append(f"ICMP({name}, {accepted}, {len(payload)},\n    {lines})")


def ether():
    return Ether(src=ROUTER_MAC, dst=OUR_MAC)


def query4(layer=None, **ip):
    return IP(src=US4, dst=SERVER4, **ip) / (layer or UDP(**UDP_PORTS) / Raw(QUERY))


def query6():
    return IPv6(src=US6, dst=SERVER6) / UDP(**UDP_PORTS) / Raw(QUERY)


def error4(quoted, kind=3, code=3, **ip):
    return ether() / IP(src=ROUTER4, dst=US4, **ip) / ICMP(type=kind, code=code) / Raw(quoted)


def error6(quoted, layer=None):
    return (ether() / IPv6(src=ROUTER6, dst=US6) / (layer or ICMPv6DestUnreach(code=4)) /
            Raw(quoted))


def main():
    whole4, whole6 = bytes(query4()), bytes(query6())
    for code in (0, 1, 2, 3, 9, 10, 13):
        add(f"V4Code{code}", "kAccepted", error4(whole4, code=code))
    add("V4FragmentationNeeded", "kOther", error4(whole4, code=4))
    add("V4TimeExceeded", "kOther", error4(whole4, kind=11, code=0))
    add("V4EchoReply", "kOther", error4(whole4, kind=0, code=0))
    add("V4MinimumQuote", "kAccepted", error4(whole4[:28]), payload=b"")
    add("V4QuoteWithoutPorts", "kOther", error4(whole4[:27]))
    add("V4QuotedOptions", "kAccepted", error4(bytes(query4(options=[IPOption_NOP()] * 4))))
    add("V4OwnOptions", "kAccepted", error4(whole4, options=[IPOption_NOP()] * 4))
    add("V4QuotedTcp", "kOther", error4(bytes(query4(TCP(sport=12345, dport=53)))))
    add("V4QuotedLaterFragment", "kOther", error4(bytes(query4(frag=2))))
    add("V4QuotedFirstFragment", "kAccepted", error4(bytes(query4(flags="MF"))))
    add("V4Fragment", "kOther", error4(whole4, flags="MF"))
    bad = bytearray(bytes(error4(whole4)))
    bad[36] ^= 1
    add("V4BadIcmpChecksum", "kOther", bytes(bad))
    bad = bytearray(bytes(error4(whole4)))
    bad[24] ^= 1
    add("V4BadIpChecksum", "kOther", bytes(bad))
    add("V4Cut", "kOther", bytes(error4(whole4))[:-1])
    add("V4Padded", "kAccepted", bytes(error4(whole4)) + bytes(8))
    tagged = ether() / Dot1Q(vlan=7) / IP(src=ROUTER4, dst=US4) / ICMP(type=3, code=3) / Raw(whole4)
    add("V4Tagged", "kOther", tagged)
    for code in (0, 1, 3, 4, 5, 6):
        add(f"V6Code{code}", "kAccepted", error6(whole6, ICMPv6DestUnreach(code=code)))
    add("V6PacketTooBig", "kOther", error6(whole6, ICMPv6PacketTooBig(mtu=1280)))
    add("V6MinimumQuote", "kAccepted", error6(whole6[:48]), payload=b"")
    add("V6QuoteWithoutPorts", "kOther", error6(whole6[:47]))
    add("V6QuotedFragmentHeader", "kOther",
        error6(bytes(IPv6(src=US6, dst=SERVER6) / IPv6ExtHdrFragment() / UDP(**UDP_PORTS))))
    bad = bytearray(bytes(error6(whole6)))
    bad[-1] ^= 1
    add("V6BadIcmpChecksum", "kOther", bytes(bad))
    path = pathlib.Path(__file__).with_name("icmp_fixtures.inc")
    path.write_text("// Written by make_icmp_fixtures.py; do not edit.\n" + "\n".join(rows) + "\n",
                    encoding="ascii")


if __name__ == "__main__":
    main()

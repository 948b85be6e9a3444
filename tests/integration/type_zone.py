"""A signed zone with every record type, and what to ask of it."""

import os
import sys

import dns.dnssec
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdataset
import dns.rdatatype
from cryptography.hazmat.primitives.asymmetric import ec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import every_type  # noqa: E402

ORIGIN = "types.example"
_ORIGIN_NAME = dns.name.from_text(ORIGIN)
_IN = dns.rdataclass.IN
_TTL = 1800
_LIFETIME_SEC = 28 * 86400
_NSEC, _RRSIG = dns.rdatatype.NSEC, dns.rdatatype.RRSIG
# At the apex, or made by the signing.
_NOT_OF_THEIR_OWN = {"NS", "SOA", "DNSKEY", "RRSIG", "NSEC", "NSEC3"}
# Types whose names DNSSEC lowers (RFC 4034 §6.2, RFC 6840 §5.1): those that dnspython reads, and
# those that hold nothing but names and are mere bytes to it.
_LOWERED = {2, 5, 6, 12, 15, 17, 18, 21, 26, 33, 35, 36, 39}
UNREAD_NAMES = {3, 4, 7, 8, 9, 14}
# NSD lowers names in data where it must not; ldns takes an NSAP-PTR for a character-string.
_OTHER_SAMPLES = {23: (b"\0",), 45: "10 3 2 gw.example.com. AQNRU3mG7TVTO2BkR47usntb102uFJtu",
                  64: '1 svc.example.com. alpn="h2,h3" port="8443" ipv4hint="192.0.2.1"',
                  65: '1 svc.example.net. alpn="h2"', 107: "10 l64-subnet1.example.com."}
_UNREAD_BY_LDNS = {40}  # SINK, where another record follows
_REST = (
    ("@", "SOA", "ns1 hostmaster 2024 7200 3600 1209600 900"),
    ("@", "NS", "ns1"), ("@", "NS", "NS2.Example.net."),
    ("ns1", "A", "192.0.2.53"), ("ns1", "AAAA", "2001:db8::53"),
    ("mail", "A", "192.0.2.25"), ("big", "AAAA", "2001:db8::80"),
    ("alias-target", "A", "192.0.2.80"), ("www.new", "A", "192.0.2.81"),
)
_MORE_QUESTIONS = (
    "@ SOA", "@ NS", "@ DNSKEY", "t1 NSEC", "t1 RRSIG", "t5 A", "t5 AAAA", "www.t39 A",
    "nowhere A", "nowhere.t1 TXT", "t1 MX", "t28 TYPE65280",
)


def _own_types():
    return {number: name for number, name in every_type.types().items()
            if name not in _NOT_OF_THEIR_OWN and number not in _UNREAD_BY_LDNS}


def _from_text(number, text):
    return dns.rdata.from_text(_IN, number, text, _ORIGIN_NAME, False)


def _unsigned():
    """Name -> type -> data of the records."""
    nodes = {}
    for owner, rtype, text in _REST:
        node = nodes.setdefault(dns.name.from_text(owner, _ORIGIN_NAME), {})
        number = dns.rdatatype.from_text(rtype)
        node.setdefault(int(number), []).append(_from_text(number, text).to_wire())
    samples = every_type.samples(_ORIGIN_NAME)
    for number, other in _OTHER_SAMPLES.items():
        is_text = isinstance(other, str)
        samples[number] = (_from_text(number, other).to_wire(),) if is_text else other
    for number in _own_types():
        nodes[dns.name.from_text(f"t{number}", _ORIGIN_NAME)] = {number: samples[number]}
    return nodes


def _add_chain(nodes):
    """An NSEC at each name (RFC 4034 §4); dnspython orders names as DNSSEC does."""
    names = sorted(nodes)
    for i, name in enumerate(names):
        types = " ".join(f"TYPE{t}" for t in sorted((*nodes[name], _NSEC, _RRSIG)))
        following = names[(i + 1) % len(names)]
        nodes[name][int(_NSEC)] = [_from_text(_NSEC, f"{following} {types}").to_wire()]


def _rdata(number, data):
    """As it is signed."""
    if number in _LOWERED:
        return dns.rdata.from_wire(_IN, number, data, 0, len(data))
    return dns.rdata.GenericRdata(_IN, number, data.lower() if number in UNREAD_NAMES else data)


def text():
    """The zone's text: `tN` has the records of type N, all written as RFC 3597 §5 does."""
    key = ec.generate_private_key(ec.SECP256R1())
    dnskey = dns.dnssec.make_dnskey(key.public_key(), "ECDSAP256SHA256")
    nodes = _unsigned()
    nodes[_ORIGIN_NAME][int(dns.rdatatype.DNSKEY)] = [dnskey.to_wire()]
    _add_chain(nodes)
    lines = []
    for name in sorted(nodes):
        for number, datas in nodes[name].items():
            rdataset = dns.rdataset.from_rdata_list(_TTL, [_rdata(number, d) for d in datas])
            signature = dns.dnssec.sign((name, rdataset), key, _ORIGIN_NAME, dnskey,
                                        lifetime=_LIFETIME_SEC)
            for rtype, data in (*((number, d) for d in datas), (int(_RRSIG), signature.to_wire())):
                lines.append(f"{name} {_TTL} IN TYPE{rtype} \\# {len(data)} {data.hex()}\n")
    # The SOA has to come first.
    soa = f" TYPE{int(dns.rdatatype.SOA)} "
    lines.sort(key=lambda line: soa not in line)
    return "".join(lines)


def questions():
    """(name, type) of every type of the registry that a zone can hold, and of what is not there."""
    asked = [(f"t{number}.{ORIGIN}", f"TYPE{number}") for number in _own_types()]
    for question in _MORE_QUESTIONS:
        owner, rtype = question.split()
        asked.append((ORIGIN if owner == "@" else f"{owner}.{ORIGIN}", rtype))
    return tuple(asked)

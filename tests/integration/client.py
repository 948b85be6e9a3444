"""A DNS client for the tests: dnspython builds and parses, ldns gives a second opinion."""

import itertools
import socket
import time
from dataclasses import dataclass

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

import ldns_check
from lab import Setup

DNSSEC_TYPES = (dns.rdatatype.RRSIG, dns.rdatatype.NSEC, dns.rdatatype.NSEC3)
DEFAULT_TIMEOUT_SEC = 3.0
CLIENT_HOST = 3

# Every way to run it that the whole suite must pass in: 1, 2 and 4 workers; several queues by
# AF_PACKET, several ports by AF_XDP, which has one queue a port on a veth.
ALL_SETUPS = (
    Setup("af_xdp", workers=1), Setup("af_packet", workers=1),
    Setup("af_xdp", workers=2, ports=2), Setup("af_packet", workers=2),
    Setup("af_xdp", workers=4, ports=4), Setup("af_packet", workers=4),
)
_serial = itertools.count(int(time.time()) % 100000 * 1000)


def on(*setups):
    """Runs the test on each of these setups."""
    return pytest.mark.parametrize("wirecache", setups, ids=str, indirect=True)


def fresh_name(parent="wild.demo.example"):
    """A name that nobody has asked for yet; the default parent has a wildcard with A and TXT."""
    return f"n{next(_serial)}.{parent}"


@dataclass
class Reply:
    """An answer as it came, and as dnspython reads it."""

    wire: bytes
    message: dns.message.Message
    seconds: float

    @property
    def rcode(self):
        return dns.rcode.to_text(self.message.rcode())

    def flag(self, name):
        return bool(self.message.flags & getattr(dns.flags, name))

    @property
    def has_opt(self):
        return self.message.edns >= 0

    def types(self, section="answer"):
        return {dns.rdatatype.to_text(r.rdtype) for r in getattr(self.message, section)}

    def ttls(self, section="answer"):
        return [r.ttl for r in getattr(self.message, section)]

    def addresses(self):
        return sorted(r.to_text() for rrset in self.message.answer for r in rrset
                      if rrset.rdtype in (dns.rdatatype.A, dns.rdatatype.AAAA))


def canonical(rrsets, keep=lambda rrset: True):
    """RRsets as a set: owner, class, type and data in DNSSEC's canonical form (RFC 4034 §6.2).

    Which lowers the case of names only where DNSSEC does: all other bytes have to be the same.
    """
    result = set()
    for rrset in rrsets:
        if keep(rrset):
            for record in rrset:
                result.add((rrset.name.canonicalize().to_text(), rrset.rdclass, rrset.rdtype,
                            record.to_digestable()))
    return result


def make_query(name, rtype="A", **options):
    """A dnspython query. Options: do, edns (False: no OPT), payload, rd, cd, ad, rdclass."""
    use_edns = 0 if options.get("edns", True) else -1
    query = dns.message.make_query(
        name, rtype, options.get("rdclass", "IN"), use_edns=use_edns,
        want_dnssec=options.get("do", False) if use_edns == 0 else False,
        payload=options.get("payload", 1232))
    query.flags = 0
    for option, default, bit in (("rd", True, dns.flags.RD), ("cd", False, dns.flags.CD),
                                 ("ad", False, dns.flags.AD)):
        if options.get(option, default):
            query.flags |= bit
    return query


def parse(wire):
    """dnspython's reading; fails the test if ldns or dnspython does not accept the message."""
    complaint = ldns_check.complaint(wire)
    assert complaint is None, f"ldns: {complaint}: {wire.hex()}"
    return dns.message.from_wire(wire)


class Client:
    """Asks one server over either family; the appliance unless another address is given."""

    def __init__(self, lab, server=None):
        self.lab = lab
        self.server = server

    def socket(self, v6=False, link=0, source_port=0):
        """A UDP socket of the client, connected to the server."""
        link = self.lab.network.links[link]
        host = link.v6(CLIENT_HOST) if v6 else link.v4(CLIENT_HOST)
        server = self.server or (link.v6(1) if v6 else link.v4(1))
        with self.lab.network.net.inside():
            s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET,
                              socket.SOCK_DGRAM)
        s.bind((host, source_port))
        s.connect((server, 53))
        return s

    def send(self, wire, timeout=DEFAULT_TIMEOUT_SEC, **where):
        """The first answer's bytes, or None after the time."""
        with self.socket(**where) as s:
            s.settimeout(timeout)
            s.send(wire)
            try:
                return s.recv(65535)
            except socket.timeout:
                return None

    def exchange(self, query, timeout=DEFAULT_TIMEOUT_SEC, **where):
        """Sends a dnspython query or bytes; the checked Reply."""
        wire = query if isinstance(query, bytes) else query.to_wire()
        started = time.monotonic()
        answer = self.send(wire, timeout, **where)
        seconds = time.monotonic() - started
        assert answer is not None, f"no answer within {timeout} s"
        assert answer[:2] == wire[:2], "the ID is not the query's"
        assert answer[2] & 0x80, "QR is not set"
        return Reply(answer, parse(answer), seconds)

    def __call__(self, name, rtype="A", v6=False, link=0, timeout=DEFAULT_TIMEOUT_SEC, **options):
        return self.exchange(make_query(name, rtype, **options), timeout, v6=v6, link=link)

"""Questions as the misbehaving upstream reads them, and the messages that it answers with."""

import hashlib
import struct

DEFAULT_TTL = 300
TYPE_A, TYPE_NS, TYPE_CNAME, TYPE_SOA, TYPE_TXT, TYPE_AAAA, TYPE_OPT = 1, 2, 5, 6, 16, 28, 41
CLASS_IN, CLASS_CH = 1, 3
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = 0, 1, 2, 3, 4, 5
FLAG_TC = 0x0200
QUESTION_NAME = b"\xc0\x0c"
SOA_RDATA = b"\x02ns\xc0\x0c\x04host\xc0\x0c" + struct.pack("!5I", 1, 3600, 600, 86400, 60)
# RFC 8914 §2: option 15, length, INFO-CODE 17 (Filtered), EXTRA-TEXT.
EXTENDED_ERROR = struct.pack("!3H", 15, 2 + 7, 17) + b"by list"
WRONG_ADDRESS = bytes((6, 6, 6, 6))


def address_of(name):
    """The address that a name has here: any test can work it out as well."""
    return bytes((198, 18)) + hashlib.sha256(name.encode()).digest()[:2]


def wire_name(name):
    """`name` as labels with their lengths, uncompressed."""
    return b"".join(bytes((len(label),)) + label.encode("latin-1")
                    for label in name.split(".")) + b"\0"


class Query:
    """A question as it came, with its name in lower case for look-ups."""

    def __init__(self, wire, client):
        self.wire = wire
        self.client = client
        self.id = struct.unpack_from("!H", wire)[0]
        self.has_opt = struct.unpack_from("!H", wire, 10)[0] > 0
        self.options = b""  # of the answer's OPT
        labels = []
        at = 12
        while wire[at]:
            labels.append(wire[at + 1:at + 1 + wire[at]])
            at += 1 + wire[at]
        self.question = wire[12:at + 5]
        self.rtype = struct.unpack_from("!H", wire, at + 1)[0]
        self.name = b".".join(labels).decode("latin-1").lower()
        words = self.name.split(".")
        self.behaviour, _, self.argument = (words[1] if len(words) > 1 else "").partition("-")


def record(rtype, rdata, owner=QUESTION_NAME, ttl=DEFAULT_TTL):
    return owner + struct.pack("!HHIH", rtype, CLASS_IN, ttl, len(rdata)) + rdata


def opt(query):
    """The OPT record of an answer: a query without one gets none."""
    if not query.has_opt:
        return b""
    return struct.pack("!BHHIH", 0, TYPE_OPT, 1232, 0, len(query.options)) + query.options


def message(query, answer=(), authority=(), additional=(), **header):
    """A response of these records and OPT. Header: flags, rcode, query_id, question, counts."""
    last = opt(query)
    counts = header.get("counts") or (1, len(answer), len(authority),
                                      len(additional) + bool(last))
    head = struct.pack("!6H", header.get("query_id", query.id),
                       header.get("flags", 0x8180) | header.get("rcode", NOERROR), *counts)
    question = header.get("question", query.question)
    return head + question + b"".join((*answer, *authority, *additional)) + last


def reply(query, rcode=NOERROR, address=None, ttl=DEFAULT_TTL, **header):
    """A response with an address, or without one a negative one."""
    answer = authority = ()
    if address is not None:
        answer = (record(TYPE_A, address, ttl=ttl),)
    elif rcode in (NOERROR, NXDOMAIN) and not header.get("flags", 0) & FLAG_TC:
        authority = (record(TYPE_SOA, SOA_RDATA, ttl=60),)
    return message(query, answer, authority, rcode=rcode, **header)


def good_reply(query, ttl=DEFAULT_TTL):
    address = address_of(query.name) if query.rtype == TYPE_A else None
    return reply(query, address=address, ttl=ttl)


def wrong_reply(query, **header):
    """What nobody may ever be told."""
    return reply(query, address=WRONG_ADDRESS, **header)

"""Families of DNS messages in sound datagrams: SEMANTICS "Queries"."""

import itertools

from hostile.families import CLASS_ANY, TAGS, family, ip_name, tsig
from hostile.wire import (RD, Datagram, header, name, opt, option, query, question, record)

TYPE_SOA, TYPE_MX, TYPE_TXT, TYPE_SIG, TYPE_OPT, TYPE_IXFR = 6, 15, 16, 24, 41, 251
EXAMPLE = name("www.example.com")
LONG_LABEL = b"\x3f" + b"a" * 63
# 255 bytes with the root's (RFC 1035 §2.3.4), and one more.
LONGEST_NAME = LONG_LABEL * 3 + b"\x3d" + b"b" * 61 + b"\0"
TOO_LONG_NAME = LONG_LABEL * 3 + b"\x3e" + b"b" * 62 + b"\0"


class Carrier:
    """Puts messages into datagrams, each time another family and tagging."""

    def __init__(self, setting):
        self._datagrams = itertools.cycle([
            (f"{ip_name(v6)} {tagging}", Datagram(setting, v6=v6, tags=tags))
            for v6, (tagging, tags) in itertools.product((False, True), TAGS.items())])

    def __call__(self, what, message):
        how, datagram = next(self._datagrams)
        return f"{how}: {what}", datagram.but(message=message).frame()

    def with_and_without_opt(self, what, asked, flags=RD):
        yield self(what, query(asked, flags, ()))
        yield self(what + ", EDNS", query(asked, flags))


@family
def header_flags(setting, rng):
    """All opcodes with all other bits; many words of flags; every combination of counts."""
    carry = Carrier(setting)
    words = [opcode << 11 | bits for opcode in range(16)
             for bits in (0, RD, 0x80, 0x0130, 0x0200, 0x0400, 0x87FF, 0x000F, 0x8000, 0x8180)]
    words += [rng.randrange(65536) & rng.choice((0xFFFF, 0x87FF, 0x07FF)) for _ in range(2500)]
    for flags in words:
        yield from carry.with_and_without_opt(f"flags {flags:#06x}", question(), flags)


@family
def counts(setting, rng):
    """Counts that the message does and does not bear out."""
    del rng
    carry = Carrier(setting)
    bodies = {"no record": b"", "OPT": opt(), "a record": record(1, b"\x01\x02\x03\x04"),
              "SOA": soa(), "two records": record(1, bytes(4)) + opt()}
    for numbers in itertools.product((0, 1, 2, 65535), repeat=4):
        for what, body in bodies.items():
            message = header(counts=numbers) + question() + body
            yield carry(f"counts {numbers}, {what}", message)
    for number in range(3, 40):
        yield carry(f"{number} questions", header(counts=(number, 0, 0, 0)) + question() * number)
    yield carry("no question", header(counts=(0, 0, 0, 0)))
    yield carry("no question, EDNS", header(counts=(0, 0, 0, 1)) + opt())


def soa(owner=EXAMPLE):
    rdata = name("ns.example.com") + name("host.example.com") + bytes(20)
    return record(TYPE_SOA, rdata, owner=owner)


@family
def names(setting, rng):
    """Labels of all lengths and bytes, names at the limits, and pointers to everywhere."""
    carry = Carrier(setting)
    for length in range(256):  # 64 and above are no label lengths (RFC 1035 §2.3.4, §4.1.4)
        label = bytes((length,)) + b"x" * length
        yield from carry.with_and_without_opt(f"label of {length}", question(label + EXAMPLE))
        short = bytes((length,)) + b"x" * min(length, 3)
        yield carry(f"label byte {length}, cut", header() + short)
    for byte in range(256):
        yield from carry.with_and_without_opt(f"byte {byte}",
                                              question(b"\x03a" + bytes((byte,)) + b"z" + EXAMPLE))
    for what, qname in (("longest", LONGEST_NAME), ("too long", TOO_LONG_NAME),
                        ("126 labels", b"\x01a" * 126 + b"\0"), ("127", b"\x01a" * 127 + b"\0"),
                        ("128 labels", b"\x01a" * 128 + b"\0"), ("root", b"\0"),
                        ("far too long", LONG_LABEL * 12 + b"\0"), ("endless", LONG_LABEL * 16)):
        for qtype in (1, 2, 28, 255):
            yield from carry.with_and_without_opt(f"{what} name", question(qname, qtype))
    for target in (*range(64), 255, 1000, 0x3FFF):
        pointer = (0xC000 | target).to_bytes(2, "big")
        yield from carry.with_and_without_opt(f"pointer to {target}", question(pointer))
        yield from carry.with_and_without_opt(f"label and pointer to {target}",
                                              question(b"\x03www" + pointer))
    for _ in range(600):
        labels = b"".join(bytes((n,)) + rng.randbytes(n)
                          for n in (rng.randint(1, 63) for _ in range(rng.randint(1, 9))))
        yield from carry.with_and_without_opt("random labels", question(labels + b"\0"))


@family
def types_and_classes(setting, rng):
    """Meta types, ANY, unknown ones; classes IN, CH, HS, NONE, ANY and none at all."""
    carry = Carrier(setting)
    types = [*range(300), 0x0FFF, 0x8000, 0xFEFF, 0xFF00, 0xFFFE, 0xFFFF,
             *(rng.randrange(65536) for _ in range(150))]
    for qtype in types:
        asked = question(qtype=qtype)
        yield from carry.with_and_without_opt(f"type {qtype}", asked)
        yield from carry.with_and_without_opt(f"type {qtype}, RD=0", asked, flags=0)
    classes = (0, 2, 3, 4, 5, 253, 254, 255, 256, 0x8001, 0xFFFF)
    for qclass, qtype in itertools.product(classes, (0, 1, 6, 16, 41, 250, 251, 252, 254, 255)):
        for qname in ("www.example.com", "version.bind", "id.server", "hostname.bind"):
            asked = question(name(qname), qtype, qclass)
            yield from carry.with_and_without_opt(f"{qname} class {qclass} type {qtype}", asked)


def opt_variants(rng):
    """(what, additional records)"""
    for version in range(256):
        yield f"EDNS version {version}", (opt(version=version),)
    for size in (0, 1, 511, 512, 513, 1232, 4096, 65535):
        for flags in (0, 0x8000, 0x7FFF, 0xFFFF, 1):
            yield f"size {size} flags {flags:#06x}", (opt(size=size, flags=flags),)
    for code in (0, 3, 8, 9, 10, 11, 12, 15, 16, 65001, 65535):
        for length in (0, 1, 2, 8, 16, 40, 200):
            yield f"option {code} of {length}", (opt(rdata=option(code, rng.randbytes(length))),)
            lie = option(code, rng.randbytes(length), length + rng.choice((-1, 1, 300)) & 0xFFFF)
            yield f"option {code} of not {length}", (opt(rdata=lie),)
    for n in range(1, 4):
        yield f"options cut at {n}", (opt(rdata=option(3) + b"\0\x03\0"[:n]),)
    yield "200 options", (opt(rdata=option(65001) * 200),)
    for length in (1, 3, 4, 100, 0xFFFF):
        yield f"data length {length}", (opt(length=length),)
    for n in (2, 3, 7):
        yield f"{n} OPT", (opt(),) * n
    yield "OPT with DO and one without", (opt(flags=0x8000), opt())
    yield "OPT with version 1 and one without", (opt(version=1), opt())
    for owner in (b"\x01a\0", EXAMPLE, b"\xc0\x0c", b"\xc0\xff", b"\x40"):
        yield f"owner {owner.hex()}", (opt(owner=owner),)


@family
def edns(setting, rng):
    """Versions, sizes, flags, options; one OPT too many; in the wrong place; of another owner."""
    carry = Carrier(setting)
    for what, additional in opt_variants(rng):
        for qtype, flags in ((1, RD), (1, 0), (255, RD), (252, RD)):
            yield carry(f"{what}, type {qtype}", query(question(qtype=qtype), flags, additional))
        message = query(None, 0x0110, (record(TYPE_TXT, b"\x01x"), *additional))
        yield carry(f"{what}, behind another record", message)
    for place, numbers in (("answer", (1, 1, 0, 0)), ("authority", (1, 0, 1, 0))):
        yield carry(f"OPT as {place}", header(counts=numbers) + question() + opt())


def additional_records(rng):
    """(what, additional records): compressed owners, lies about lengths, signatures."""
    for target in (*range(50), 0x3FFF):
        owner = (0xC000 | target).to_bytes(2, "big")
        yield f"owner points to {target}", (record(1, bytes(4), owner=owner),)
        yield f"label, then to {target}", (record(1, bytes(4), owner=b"\x01x" + owner), opt())
    for length in (0, 1, 2, 9, 10, 11, 100, 0xFFFF):
        yield f"data length {length}", (record(TYPE_MX, b"\0\x0a\xc0\x0c", length=length),)
        yield f"data length {length}, OPT", (record(TYPE_TXT, bytes(10), length=length), opt())
    yield "owner too long", (record(1, bytes(4), owner=TOO_LONG_NAME),)
    yield "longest owner", (record(1, bytes(4), owner=LONGEST_NAME),)
    yield "40 records", (record(1, bytes(4), owner=b"\xc0\x0c"),) * 40
    yield "TSIG", (tsig(),)
    yield "TSIG of a key", (opt(), tsig(name("key.example")))
    yield "TSIG with a compressed owner", (opt(), tsig(b"\xc0\x0c"))
    yield "TSIG before OPT", (tsig(), opt())
    yield "two TSIG", (tsig(), tsig())
    yield "TSIG of class IN", (tsig(rclass=1),)
    sig0 = record(TYPE_SIG, bytes(18) + b"\0" + rng.randbytes(64), rclass=CLASS_ANY)
    yield "SIG(0)", (opt(), sig0)
    yield "SIG that covers A", (record(TYPE_SIG, b"\0\x01" + bytes(17)), opt())


@family
def additional(setting, rng):
    """Records in the additional section: passed over where sound, FORMERR where not."""
    carry = Carrier(setting)
    for what, records in additional_records(rng):
        for qtype, qclass in ((1, 1), (255, 1), (250, 1), (16, 3), (1, 2)):
            message = query(question(qtype=qtype, qclass=qclass), RD, records)
            yield carry(f"{what}, type {qtype} class {qclass}", message)


@family
def authority(setting, rng):
    """IXFR with its SOA (RFC 1995 §3), and what else may not stand there."""
    del rng
    carry = Carrier(setting)
    bodies = {"none": (0, b""), "SOA": (1, soa()), "compressed SOA": (1, soa(b"\xc0\x0c")),
              "two SOA": (2, soa() * 2), "A": (1, record(1, bytes(4))), "OPT": (1, opt())}
    for qtype in (1, 6, TYPE_IXFR, 252, 255):
        for what, (number, body) in bodies.items():
            for more, tail in ((0, b""), (1, opt())):
                message = header(counts=(1, 0, number, more)) + question(qtype=qtype)
                yield carry(f"type {qtype}, authority: {what}", message + body + tail)


@family
def trailing(setting, rng):
    """Garbage behind the last record: FORMERR."""
    carry = Carrier(setting)
    for length in (*range(1, 65), 100, 500, 1200):
        for what, message in (("query", query(additional=())), ("EDNS", query()),
                              ("ANY", query(question(qtype=255)))):
            yield carry(f"{length} random bytes behind {what}", message + rng.randbytes(length))
            yield carry(f"{length} zeros behind {what}", message + bytes(length))

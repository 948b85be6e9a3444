"""What a family is, the packets that all of them start from, and the families of whole frames.

A family is a generator function (setting, rng) -> (what, frame), registered with @family. It draws
from the given random generator alone, which belongs to it: the same packets every time, whatever
the other families do.
"""

from hostile import wire
from hostile.setting import packed
from hostile.wire import Datagram, header, name, opt, query, question, record

TYPE_ANY, TYPE_AXFR, TYPE_TXT, TYPE_AAAA = 255, 252, 16, 28
CLASS_CH, CLASS_ANY = 3, 255
TYPE_TSIG = 250
DO = 0x8000
TAGS = {"untagged": (), "vlan": ((0x8100, 5),), "priority": ((0x8100, 0xA000),)}
STACKS = {"88a8": ((0x88A8, 7),), "88a8+8100": ((0x88A8, 7), (0x8100, 5)),
          "8100+8100": ((0x8100, 7), (0x8100, 5))}


def family(function):
    function.is_family = True
    return function


def ip_name(v6):
    return "v6" if v6 else "v4"


def tsig(owner=b"\0", rclass=CLASS_ANY):
    """RFC 8945 §4.2; who checks the MAC is not here."""
    rdata = name("hmac-sha256") + bytes(6) + b"\x01\x2c\0\x04" + b"\xab" * 4 + bytes(6)
    return record(TYPE_TSIG, rdata, owner=owner, rclass=rclass)


def messages():
    """DNS messages by what they are: the queries of SEMANTICS' table, each well formed."""
    text = name("version.bind")
    return {
        "A": query(),
        "A without EDNS": query(additional=()),
        "A in mixed case": query(question(name("wWw.eXaMpLe.CoM"))),
        "AAAA with DO": query(question(qtype=TYPE_AAAA), additional=(opt(flags=DO),)),
        "A with CD and AD": query(flags=0x0130),
        "RD=0": query(flags=0),
        "the root": query(question(b"\0", 2)),
        "ANY": query(question(qtype=TYPE_ANY)),
        "ANY without EDNS": query(question(qtype=TYPE_ANY), additional=()),
        "AXFR": query(question(qtype=TYPE_AXFR)),
        "version.bind CH TXT": query(question(text, TYPE_TXT, CLASS_CH)),
        "NOTIFY": query(question(qtype=6), flags=0x2400),
        "UPDATE": header(flags=0x2800) + question(qtype=6),
        "EDNS 1": query(additional=(opt(version=1),)),
        "TSIG": query(additional=(opt(), tsig())),
        "response": query(flags=0x8180),
    }


def baselines(setting):
    """(what, Datagram): IPv4 and IPv6, all taggings, with EDNS and without."""
    for v6 in (False, True):
        for tagging, tags in (TAGS | STACKS).items():
            for kind in ("A", "A without EDNS"):
                datagram = Datagram(setting, messages()[kind], v6=v6, tags=tags)
                yield f"{ip_name(v6)} {tagging} {kind}", datagram


def all_baselines(setting):
    """The same, and each kind of message once, over one family or the other."""
    yield from baselines(setting)
    for i, (kind, message) in enumerate(messages().items()):
        yield f"{ip_name(i % 2)} {kind}", Datagram(setting, message, v6=bool(i % 2))
    for v6, stranger in ((False, "192.0.2.7"), (True, "2001:db8::7")):
        datagram = Datagram(setting, query(), v6=v6, source=packed(stranger))
        yield f"{ip_name(v6)} client of another network", datagram


@family
def valid(setting, rng):
    """Right in every layer; each padded with bytes that are not part of it as well."""
    for what, datagram in all_baselines(setting):
        frame = datagram.frame()
        yield what, frame
        yield what + ", padded", wire.padded(frame)
        for more in (1, 2, 7, 18, 46):
            yield f"{what}, {more} bytes of padding", frame + rng.randbytes(more)


@family
def cut(setting, rng):
    """Cut at every length: as it is, padded, and with lengths and checksums that fit again."""
    del rng
    for what, datagram in all_baselines(setting):
        frame = datagram.frame()
        for length in range(len(frame)):
            short = frame[:length]
            yield f"{what}, cut to {length}", short
            yield f"{what}, cut to {length} and padded", wire.padded(short)
        for length in range(len(datagram.message)):
            short = datagram.but(message=datagram.message[:length])
            yield f"{what}, message cut to {length}", short.frame()
            yield f"{what}, message cut to {length}, padded", wire.padded(short.frame())
            udp_lies = short.but(udp_length=8 + len(datagram.message))
            yield f"{what}, message cut to {length}, UDP length as before", udp_lies.frame()


@family
def bit_flips(setting, rng):
    """Each bit of the frame, with checksums as they were and put right again."""
    del rng
    for what, datagram in all_baselines(setting):
        frame = wire.padded(datagram.frame())
        number = int.from_bytes(frame, "big")
        bits = 8 * len(frame)
        for bit in range(bits):
            flipped = (number ^ 1 << bits - 1 - bit).to_bytes(len(frame), "big")
            yield f"{what}, bit {bit}", flipped
            yield f"{what}, bit {bit}, checksums right", wire.sealed(flipped)


@family
def mutated(setting, rng):
    """Bytes changed anywhere, or in the message alone; runs overwritten, cut out, doubled."""
    for what, datagram in all_baselines(setting):
        frame = datagram.frame()
        for i in range(260):
            changed = mutate(frame, rng)
            yield f"{what}, mutation {i}", changed
            yield f"{what}, mutation {i}, checksums right", wire.sealed(changed)
        for i in range(200):
            message = mutate(datagram.message, rng)
            yield f"{what}, message mutation {i}", datagram.but(message=message).frame()


def mutate(data, rng):
    data = bytearray(data)
    kind = rng.randrange(8)
    start = rng.randrange(len(data)) if data else 0
    end = min(len(data), start + rng.randint(1, 12))
    if kind == 0:
        del data[start:end]
    elif kind == 1:
        data[start:start] = data[start:end]
    elif kind == 2:
        data[start:end] = rng.randbytes(end - start)
    elif kind == 3:
        data[start:end] = bytes((rng.choice((0, 0xFF, 0xC0, 0x3F)),)) * (end - start)
    else:
        for _ in range(rng.randint(1, 8) if data else 0):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)

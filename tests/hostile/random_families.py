"""Families of random bytes, and of real messages where they are at hand."""

import json
import os

from hostile import wire
from hostile.dns_families import Carrier
from hostile.families import family, mutate
from hostile.wire import Datagram, header, question

# Test data from elsewhere, which is no part of the project: see README.md.
_HERE = os.path.dirname(os.path.abspath(__file__))
REAL_FILES = ("dns-payloads.jsonl", "deckard-badraw.jsonl")
MAX_MESSAGE = 1400


@family
def random_frames(setting, rng):
    """Of random bytes: wholly; to our MAC; with a sound EtherType; with a tag."""
    starts = (b"", setting.port_mac)
    types = (b"\x08\0", b"\x86\xdd", b"\x81\0", b"\x81\0\0\x05\x08\0", b"\x81\0\0\x05\x86\xdd")
    for _ in range(1500):
        for start in starts:
            yield "random", start + rng.randbytes(rng.randrange(0, 300))
        for ether_type in types:
            start = setting.port_mac + setting.client_mac + ether_type
            yield f"random behind {ether_type.hex()}", start + rng.randbytes(rng.randrange(0, 200))
        version = rng.choice((b"\x08\0\x45", b"\x86\xdd\x60"))
        start = setting.port_mac + setting.client_mac + version
        yield "random behind an IP version", start + rng.randbytes(rng.randrange(0, 200))


@family
def random_segments(setting, rng):
    """Random bytes in sound IP packets for UDP."""
    for _ in range(3000):
        v6 = rng.random() < 0.5
        datagram = Datagram(setting, rng.randbytes(rng.randrange(0, 200)), v6=v6)
        yield "sound UDP with another checksum", datagram.but(
            udp_checksum=rng.randrange(65536)).frame()
        frame = datagram.frame()
        head = frame[:datagram.l4]
        yield "random UDP header", wire.sealed(head + rng.randbytes(len(frame) - datagram.l4))


@family
def random_messages(setting, rng):
    """Random bytes in sound datagrams: wholly, behind a sound header, behind a sound question."""
    carry = Carrier(setting)
    for _ in range(6000):
        tail = rng.randbytes(rng.randrange(0, 120))
        yield carry("random message", tail)
        yield carry("random, QR and opcode 0", tail[:2] + b"\x01" + tail[3:])
        numbers = (1, *(rng.choice((0, 0, 0, 1, 2)) for _ in range(3)))
        yield carry("random behind a header", header(counts=numbers) + tail)
        yield carry("random behind a question", header(counts=numbers) + question() + tail)


def real_messages():
    """(where from, message) out of $WIRECACHE_SHARED_DATA, else of ../shared/data beside the tree.

    Nothing where there is no such data.
    """
    data = os.environ.get("WIRECACHE_SHARED_DATA") or os.path.join(
        _HERE, "..", "..", "..", "shared", "data")
    for file in REAL_FILES:
        path = os.path.join(data, "packets", file)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                yield f"{file}:{number}", bytes.fromhex(json.loads(line)["hex"])[:MAX_MESSAGE]


@family
def real(setting, rng):
    """Real messages and junk as they came, as queries, and mutated."""
    carry = Carrier(setting)
    for where, message in real_messages():
        yield carry(where, message)
        as_query = message[:2] + bytes((message[2] & 0x01,)) + message[3:] if message[2:] else b""
        yield carry(where + " as a query", as_query)
        for i in range(3):
            yield carry(f"{where} mutated {i}", mutate(as_query or message, rng))

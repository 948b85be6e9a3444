"""Families of what stands below DNS: Ethernet, VLAN, IPv4, IPv6, UDP."""

import itertools
import struct

from hostile import wire
from hostile.families import TAGS, family, ip_name, messages
from hostile.setting import mac, packed
from hostile.wire import Datagram

A = "A without EDNS"
SOME_TAGS = {key: TAGS[key] for key in ("untagged", "vlan")}
BIG_NUMBERS = (255, 256, 1024, 1499, 1500, 1501, 9000, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF)
GROUP_MACS = ("ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:fb", "33:33:00:00:00:01", "01:80:c2:00:00:0e",
              "03:00:00:00:00:00")
STRANGER_MACS = ("00:00:00:00:00:00", "02:00:00:00:00:99", "52:54:00:12:34:56")


def plain(setting, kinds=(A,), tags=SOME_TAGS):
    """(what, Datagram) over both families and taggings."""
    for v6, (tagging, tag), kind in itertools.product((False, True), tags.items(), kinds):
        yield f"{ip_name(v6)} {tagging}", Datagram(setting, messages()[kind], v6=v6, tags=tag)


@family
def ether_types(setting, rng):
    """Other protocols, 802.3 lengths, and IPv4 and IPv6 under each other's number."""
    numbers = [0x0806, 0x8035, 0x88CC, 0x8847, 0x8863, 0x8864, 0x9100, 0x9200, 0x86DD, 0x0800,
               *range(0, 1536, 37), *(rng.randrange(65536) for _ in range(150))]
    for what, datagram in plain(setting):
        for number in numbers:
            yield f"{what}, EtherType {number:#06x}", datagram.but(ether_type=number).frame()


@family
def vlan_tags(setting, rng):
    """Every priority, DEI and many networks; stacks of up to four tags."""
    tcis = [*range(0, 0x10000, 0x1000), 1, 0xFFF, 0xFFFF,
            *(rng.randrange(65536) for _ in range(100))]
    for v6 in (False, True):
        datagram = Datagram(setting, messages()["A"], v6=v6)
        for tci in tcis:
            yield f"{ip_name(v6)} TCI {tci:#06x}", datagram.but(tags=((0x8100, tci),)).frame()
        for depth in (1, 2, 3, 4):
            for tpids in itertools.product((0x8100, 0x88A8, 0x9100), repeat=depth):
                tags = tuple((tpid, rng.randrange(65536)) for tpid in tpids)
                yield f"{ip_name(v6)} tags {tags}", datagram.but(tags=tags).frame()


@family
def stations(setting, rng):
    """Wrong MAC, broadcast and multicast at either end, with what they may carry."""
    del rng
    for what, datagram in plain(setting):
        for text in GROUP_MACS + STRANGER_MACS:
            yield f"{what} to {text}", datagram.but(destination_mac=mac(text)).frame()
            yield f"{what} from {text}", datagram.but(source_mac=mac(text)).frame()
            both = datagram.but(source_mac=mac(text), destination_mac=mac(text))
            yield f"{what} from and to {text}", both.frame()
        own = datagram.but(source_mac=setting.port_mac)
        yield f"{what} from our own MAC", own.frame()


def v4_addresses(setting):
    sources = ("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "224.0.0.1",
               "239.255.255.255", "255.255.255.255", "240.0.0.1", "192.0.2.1", "169.254.1.1",
               "9.255.255.255", "11.0.0.0", "10.255.255.255", "10.0.0.0")
    destinations = ("10.99.0.77", "224.0.0.251", "239.1.2.3", "255.255.255.255", "10.255.255.255",
                    "127.0.0.1", "0.0.0.0", "192.0.2.1")
    return ([setting.client_v4, setting.listen[0], *map(packed, sources)],
            [setting.listen[0], *map(packed, destinations)])


def v6_addresses(setting):
    sources = ("::", "::1", "::2", "ff02::1", "ff0e::1", "fe80::1", "::ffff:10.0.0.9",
               "::10.0.0.9", "2001:db8::1", "fc00::1", "fdff:ffff::1", "fe00::")
    destinations = ("fd99::77", "ff02::1", "ff02::fb", "ff02::1:ff00:1", "::1", "::", "fe80::1",
                    "::ffff:10.0.0.1")
    return ([setting.client_v6, setting.listen[1], *map(packed, sources)],
            [setting.listen[1], *map(packed, destinations)])


@family
def addresses(setting, rng):
    """All pairs of special sources and destinations, to each kind of MAC."""
    del rng
    macs = (setting.port_mac, *map(mac, ("02:00:00:00:00:99", "ff:ff:ff:ff:ff:ff",
                                         "01:00:5e:00:00:01")))
    for what, datagram in plain(setting):
        pairs = (v6_addresses if datagram.v6 else v4_addresses)(setting)
        for source, destination, station in itertools.product(*pairs, macs):
            frame = datagram.but(source=source, destination=destination, destination_mac=station)
            yield f"{what} {source.hex()} to {destination.hex()}", frame.frame()


@family
def ports(setting, rng):
    """Source port 0, other destination ports, and the range that upstream answers come to."""
    del rng
    first, last = setting.first_source_port, setting.last_source_port
    sources = (0, 1, 52, 53, 54, 1024, first, 40000, 0xFFFF)
    destinations = (0, 1, 22, 52, 53, 54, 123, 5353, first - 1, first, first + 1, 20000, last - 1,
                    last, last + 1, 0xFFFF)
    for what, datagram in plain(setting, ("A", "response", "TSIG")):
        own = setting.server(datagram.v6)
        other = packed("fd99::77" if datagram.v6 else "10.99.0.77")
        clients = (setting.client(datagram.v6), own)
        for source, sport, dport in itertools.product(clients, sources, destinations):
            frame = datagram.but(source=source, source_port=sport, destination_port=dport)
            yield f"{what} port {sport} to {dport}", frame.frame()
            yield f"{what} port {sport} to {dport} elsewhere", frame.but(destination=other).frame()


def option_fillings(size, rng):
    """Contents for `size` bytes of IPv4 options (RFC 791 §3.1), right ones and lies."""
    yield "NOP", b"\x01" * size
    yield "end of list", bytes(size)
    yield "random", rng.randbytes(size)
    for number, kind in ((7, "record route"), (68, "timestamp"), (131, "loose source route"),
                         (137, "strict source route"), (148, "router alert"), (130, "security")):
        if size >= 4:
            yield kind, bytes((number, size, 4)) + bytes(size - 3)
            yield kind + " with length 0", bytes((number, 0)) + bytes(size - 2)
            yield kind + " too long", bytes((number, 255, 4)) + bytes(size - 3)


@family
def ipv4_options(setting, rng):
    """All lengths: they are skipped, and the answer goes back without them."""
    for (tagging, tags), kind in itertools.product(TAGS.items(), ("A", A, "ANY", "AXFR")):
        for size in range(0, 41, 4):
            for filling, options in option_fillings(size, rng):
                datagram = Datagram(setting, messages()[kind], tags=tags, options=options)
                frame = datagram.frame()
                yield f"{tagging} {kind} {size} bytes of options: {filling}", frame


@family
def ihl_lies(setting, rng):
    """Each header length against each real one, the header checksum right for what it claims."""
    for tagging, tags in SOME_TAGS.items():
        for size, ihl in itertools.product(range(0, 41, 4), range(16)):
            datagram = Datagram(setting, messages()["A"], tags=tags, options=rng.randbytes(size),
                                ihl=ihl)
            what = f"{tagging} IHL {ihl} with {size} bytes of options"
            yield what, datagram.frame()
            yield what + ", stale checksum", datagram.but(ip_checksum=0x1234).frame()
            yield what + ", all checksums right", wire.sealed(datagram.frame())


@family
def ip_length_lies(setting, rng):
    """Total and payload lengths from 0 to beyond the frame, with and without padding behind it."""
    for what, datagram in plain(setting):
        whole = len(datagram.frame()) - datagram.l3 + 48
        for length in (*range(whole), *BIG_NUMBERS):
            for padding in (0, 1, 60):
                lie = datagram.but(ip_length=length, padding=rng.randbytes(padding))
                yield f"{what} IP length {length}, padding {padding}", lie.frame()
            unsummed = datagram.but(ip_length=length, udp_checksum=0)
            yield f"{what} IP length {length}, no UDP checksum", unsummed.frame()


@family
def udp_length_lies(setting, rng):
    """UDP lengths from 0 (a jumbogram's, RFC 2675) to beyond the packet."""
    for what, datagram in plain(setting):
        whole = len(datagram.message) + 8 + 40
        for length in (*range(whole), *BIG_NUMBERS):
            lie = datagram.but(udp_length=length)
            yield f"{what} UDP length {length}", lie.frame()
            yield f"{what} UDP length {length}, checksum right", wire.sealed(lie.frame())
            yield f"{what} UDP length {length}, no checksum", lie.but(udp_checksum=0).frame()
            padded = lie.frame() + rng.randbytes(40)  # bytes behind the IP packet are not its
            yield f"{what} UDP length {length}, padded", padded


@family
def ip_fields(setting, rng):
    """Fields that change nothing: traffic class, identification, flow label, TTL (RFC 1122
    §3.2.1.7: also 0), DF and the reserved bit."""
    for what, datagram in plain(setting):
        for _ in range(60):
            frame = datagram.but(traffic_class=rng.randrange(256), ttl=rng.randrange(256),
                                 flow=rng.randrange(1 << 20)).frame()
            yield f"{what} other fields", frame
        for ttl in (0, 1, 2, 255):
            yield f"{what} TTL {ttl}", datagram.but(ttl=ttl).frame()
        for fragment in (0x0000, 0x4000, 0x8000, 0xC000):
            yield f"{what} flags {fragment:#06x}", datagram.but(fragment=fragment).frame()


@family
def protocols(setting, rng):
    """Every protocol number and next header, the headers before it sound or not."""
    del rng
    for what, datagram in plain(setting):
        for number in range(256):
            frame = datagram.but(protocol=number)
            yield f"{what} protocol {number}", frame.frame()
            if not datagram.v6:
                yield f"{what} protocol {number}, wrong IP checksum", frame.but(
                    ip_checksum=0xBAD).frame()


@family
def fragments(setting, rng):
    """All flags with offsets of every size: all for the kernel but offset 0 without MF."""
    offsets = sorted({0, *(1 << n for n in range(13)), *((1 << n) - 1 for n in range(1, 14)),
                      *(rng.randrange(0x2000) for _ in range(20))})
    for (tagging, tags), protocol in itertools.product(SOME_TAGS.items(), (17, 6, 1)):
        datagram = Datagram(setting, messages()[A], tags=tags, protocol=protocol)
        for flags, offset in itertools.product(range(8), offsets):
            frame = datagram.but(fragment=flags << 13 | offset).frame()
            yield f"{tagging} protocol {protocol} flags {flags} offset {offset}", frame


HOP_BY_HOP, ROUTING, FRAGMENT, ESP, AUTHENTICATION, NO_NEXT, DESTINATION = 0, 43, 44, 50, 51, 59, 60
EXTENSIONS = (HOP_BY_HOP, ROUTING, FRAGMENT, ESP, AUTHENTICATION, NO_NEXT, DESTINATION, 135, 139,
              140, 253)


def extension(kind, next_header, rng):
    """One extension header (RFC 8200 §4.2 to §4.6); AH counts in other units (RFC 4302 §2.2)."""
    if kind == FRAGMENT:
        return struct.pack("!BBHI", next_header, 0, rng.choice((0, 1, 8, 9, 0xFFF9)),
                           rng.randrange(1 << 32))
    units = rng.choice((0, 0, 1, 2, 255)) if rng.random() < 0.2 else 0
    body = b"\x01\x04\0\0\0\0" if rng.random() < 0.7 else rng.randbytes(6)
    return struct.pack("!BB", next_header, units) + body


@family
def ipv6_extensions(setting, rng):
    """Chains of extension headers, short, long, wrong and endless: all for the kernel."""
    chains = [(kind,) for kind in EXTENSIONS]
    chains += itertools.product(EXTENSIONS, repeat=2)
    chains += [(HOP_BY_HOP, DESTINATION, ROUTING, FRAGMENT, AUTHENTICATION, DESTINATION)] * 3
    chains += [tuple(rng.choices(EXTENSIONS, k=rng.randint(3, 12))) for _ in range(400)]
    chains += [(DESTINATION,) * n for n in (20, 60, 100, 170)]
    for (tagging, tags), last in itertools.product(SOME_TAGS.items(), (17, NO_NEXT)):
        for chain in chains:
            headers = b"".join(extension(kind, following, rng)
                               for kind, following in zip(chain, (*chain[1:], last)))
            datagram = Datagram(setting, messages()[A], v6=True, tags=tags, protocol=chain[0],
                                options=headers)
            what = f"{tagging} chain {chain[:12]} then {last}"
            yield what, datagram.frame()
            if len(chain) <= 2:
                yield what + ", length 0", datagram.but(ip_length=0).frame()
                yield what + ", cut", datagram.frame()[:-rng.randint(1, 60)]


@family
def checksums(setting, rng):
    """UDP checksums absent, wrong, swapped, of the other zero; IPv4 header checksums alike."""
    for what, datagram in plain(setting, ("A", A, "ANY")):
        right = struct.unpack_from("!H", datagram.frame(), datagram.l4 + 6)[0]
        wrong = [0, 0xFFFF, right, right ^ 1, right ^ 0x8000, right ^ 0xFFFF,
                 (right & 0xFF) << 8 | right >> 8, *(rng.randrange(65536) for _ in range(60))]
        for value in wrong:
            yield f"{what} UDP checksum {value:#06x}", datagram.but(udp_checksum=value).frame()
        # With this ID the sum comes out as zero and 0xffff has to be sent.
        message = struct.pack("!H", (0x4321 + right) % 0xFFFF) + datagram.message[2:]
        yield f"{what} UDP checksum zero", datagram.but(message=message).frame()
        yield f"{what} odd length", datagram.but(message=datagram.message + b"\x5a").frame()
        if not datagram.v6:
            yield from header_checksums(what, datagram, rng)


def header_checksums(what, datagram, rng):
    right = struct.unpack_from("!H", datagram.frame(), datagram.l3 + 10)[0]
    for value in [0, 0xFFFF, right ^ 1, right ^ 0x8000, right ^ 0xFFFF,
                  *(rng.randrange(65536) for _ in range(60))]:
        yield f"{what} IP checksum {value:#06x}", datagram.but(ip_checksum=value).frame()
    # Identifications with which the sum of the rest is zero: both zeros verify (RFC 1624 §3).
    zero = datagram.but(flow=(right + datagram.flow) % 0xFFFF)
    for value in (0, 0xFFFF):
        yield f"{what} IP checksum the zero {value:#06x}", zero.but(ip_checksum=value).frame()


@family
def big(setting, rng):
    """Up to the largest frame: the query with junk behind it, within the datagram or outside."""
    for what, datagram in plain(setting, tags=TAGS):
        room = 1514 - len(datagram.frame())
        for size in (1, 100, 512, 1000, room - 1, room, room + 4, 1900):
            junk = rng.randbytes(size)
            yield f"{what}, {size} bytes behind the frame", datagram.frame() + junk
            longer = datagram.but(message=datagram.message + junk)
            yield f"{what}, {size} bytes behind the query", longer.frame()

"""SEMANTICS "Packets", frame by frame: VLAN tags, padding, checksums, and what is not for us."""

import struct

import dns.message
import pytest
from client import DEFAULT_TIMEOUT_SEC, make_query, on
from frames import Wire, recomputed
from lab import Setup
from scapy.all import IP, UDP, Dot1Q, Ether, IPOption, IPv6, IPv6ExtHdrFragment, Raw, raw

SETUPS = (Setup("af_xdp", workers=1), Setup("af_packet", workers=2))
CLIENT_MAC = "02:aa:aa:aa:aa:aa"
CLIENT_PORT = 33333
CLIENT_V4, CLIENT_V6 = "10.53.0.200", "fd53::200"
SILENCE_SEC = 0.4
MINIMUM_FRAME_BYTES = 60


@pytest.fixture
def wire(lab, ask):
    """A raw view of the link; the answers to NAME are in the cache."""
    ask("www.demo.example")
    the_wire = Wire(lab.network.net, lab.link.outer)
    yield the_wire
    the_wire.close()


@pytest.fixture(params=(False, True), ids=("IPv4", "IPv6"))
def v6(request):
    return request.param


def dns_query(name="www.demo.example", rtype="A", **options):
    query = make_query(name, rtype, **options)
    query.id = 0x4321
    return query.to_wire()


def ethernet(lab, **fields):
    return Ether(**{"src": CLIENT_MAC, "dst": lab.link.inner_mac, **fields})


def ip(lab, v6, **fields):
    if v6:
        return IPv6(**{"src": CLIENT_V6, "dst": lab.link.v6(1), **fields})
    return IP(**{"src": CLIENT_V4, "dst": lab.link.v4(1), **fields})


def udp(**fields):
    return UDP(**{"sport": CLIENT_PORT, "dport": 53, **fields})


def check_answer(lab, data, v6):
    """Addresses, ports, lengths and checksums of an answer frame; its DNS message."""
    assert data is not None, "no answer"
    assert len(data) >= MINIMUM_FRAME_BYTES
    packet = Ether(data)
    assert packet.dst == CLIENT_MAC and packet.src == lab.link.inner_mac
    inner = packet[IPv6] if v6 else packet[IP]
    assert (inner.src, inner.dst) == ((lab.link.v6(1), CLIENT_V6) if v6
                                      else (lab.link.v4(1), CLIENT_V4))
    assert (packet[UDP].sport, packet[UDP].dport) == (53, CLIENT_PORT)
    assert raw(packet) == recomputed(data), "lengths or checksums are not right"
    length = inner.plen + 40 if v6 else inner.len
    at = len(data) - len(raw(inner))
    assert not any(data[at + length:]), "the padding is not zero"
    assert packet[UDP].len == (inner.plen if v6 else inner.len - 20)
    message = dns.message.from_wire(data[at + (48 if v6 else 28):at + length])
    assert message.id == 0x4321
    return packet, message


def addresses(message):
    return [r.to_text() for rrset in message.answer for r in rrset]


@on(*SETUPS)
def test_answer_goes_back_the_way_it_came(lab, wire, v6):
    frame = ethernet(lab) / ip(lab, v6) / udp() / Raw(dns_query())
    packet, message = check_answer(lab, wire.answer_to(frame, CLIENT_MAC), v6)
    assert Dot1Q not in packet and addresses(message) == ["192.0.2.80"]


@on(*SETUPS)
@pytest.mark.parametrize("vid,priority", ((7, 0), (4094, 5)))
def test_tagged_query_gets_a_tagged_answer(lab, wire, v6, vid, priority):
    frame = (ethernet(lab) / Dot1Q(vlan=vid, prio=priority) / ip(lab, v6) / udp()
             / Raw(dns_query()))
    packet, message = check_answer(lab, wire.answer_to(frame, CLIENT_MAC), v6)
    assert packet[Dot1Q].vlan == vid and addresses(message) == ["192.0.2.80"]


@on(*SETUPS)
def test_tagged_miss_gets_a_tagged_answer(lab, wire, v6):
    """The waiter keeps the tag while the upstream, untagged, is asked."""
    name = f"tagged-{'v6' if v6 else 'v4'}-{lab.current_setup.driver}.wild.demo.example"
    frame = ethernet(lab) / Dot1Q(vlan=9) / ip(lab, v6) / udp() / Raw(dns_query(name))
    packet, message = check_answer(
        lab, wire.answer_to(frame, CLIENT_MAC, DEFAULT_TIMEOUT_SEC), v6)
    assert packet[Dot1Q].vlan == 9 and addresses(message) == ["192.0.2.99"]


@on(*SETUPS)
def test_lengths_come_from_the_headers(lab, wire, v6):
    """What the network padded is not part of the message, whatever bytes it holds."""
    frame = raw(ethernet(lab) / ip(lab, v6) / udp() / Raw(dns_query(edns=False)))
    _, message = check_answer(lab, wire.answer_to(frame + b"\xee" * 30, CLIENT_MAC), v6)
    assert addresses(message) == ["192.0.2.80"]


@on(*SETUPS)
def test_short_answer_is_padded_with_zeros(lab, wire, v6):
    """A shorter answer than its query leaves no byte of it behind."""
    query = make_query("short.demo.example", "A", rd=False)
    query.id = 0x4321
    junk = raw(ethernet(lab) / ip(lab, v6) / udp() / Raw(query.to_wire() + b"\xdd" * 300))
    _, message = check_answer(lab, wire.answer_to(junk, CLIENT_MAC), v6)
    assert message.rcode() == 1 and not message.answer  # FORMERR
    tiny = struct.pack("!6H", 0x4321, 0, 1, 0, 0, 0) + b"\0\0\x02\0\1"
    frame = raw(ethernet(lab) / ip(lab, v6) / udp() / Raw(tiny)) + b"\xcc" * 40
    _, message = check_answer(lab, wire.answer_to(frame, CLIENT_MAC), v6)
    assert message.rcode() == 5  # REFUSED: RD=0 and not in the cache


@on(*SETUPS)
def test_ipv4_options_are_skipped(lab, wire):
    frame = (ethernet(lab) / ip(lab, False, options=[IPOption(b"\x01\x01\x01\x00")]) / udp()
             / Raw(dns_query()))
    _, message = check_answer(lab, wire.answer_to(frame, CLIENT_MAC), False)
    assert addresses(message) == ["192.0.2.80"]


@on(*SETUPS)
def test_ipv4_without_udp_checksum_is_answered(lab, wire):
    """RFC 768: zero says that there is none."""
    frame = ethernet(lab) / ip(lab, False) / udp(chksum=0) / Raw(dns_query())
    check_answer(lab, wire.answer_to(frame, CLIENT_MAC), False)


@on(*SETUPS)
def test_checksum_zero_is_sent_as_ffff(lab, wire, v6):
    """RFC 768, RFC 8200 §8.1: with the ID that makes the sum come out as zero."""

    def ask_with_id(query_id):
        query = struct.pack("!H", query_id) + dns_query()[2:]
        frame = ethernet(lab) / ip(lab, v6) / udp() / Raw(query)
        answer = wire.answer_to(frame, CLIENT_MAC)
        assert answer is not None, "no answer"
        return Ether(answer)[UDP].chksum

    for _ in range(4):  # a TTL that sinks in between changes the sum
        checksum = ask_with_id(ask_with_id(0))
        assert checksum != 0
        if checksum == 0xFFFF:
            return
    pytest.fail("never met the checksum")


DROPS = {  # what: (IPv6, frame, counter)
    "IPv6 without UDP checksum": (
        True, lambda lab: ip(lab, True) / udp(chksum=0), "bad_udp_checksum"),
    "wrong UDP checksum over IPv4": (
        False, lambda lab: ip(lab, False) / udp(chksum=0x1234), "bad_udp_checksum"),
    "wrong UDP checksum over IPv6": (
        True, lambda lab: ip(lab, True) / udp(chksum=0x1234), "bad_udp_checksum"),
    "wrong IPv4 header checksum": (
        False, lambda lab: ip(lab, False, chksum=0x1234) / udp(), "bad_ip_checksum"),
    "UDP longer than IP": (
        False, lambda lab: ip(lab, False) / udp(len=400, chksum=0), "bad_udp_length"),
    "UDP shorter than its header": (
        False, lambda lab: ip(lab, False) / udp(len=7, chksum=0), "bad_udp_length"),
    "IPv4 longer than the frame": (
        False, lambda lab: ip(lab, False, len=900) / udp(chksum=0), None),
    "IPv6 longer than the frame": (
        True, lambda lab: ip(lab, True, plen=900) / udp(chksum=0x1234), None),
    "source port 0": (False, lambda lab: ip(lab, False) / udp(sport=0), "bad_source"),
    "source is a broadcast": (
        False, lambda lab: ip(lab, False, src="255.255.255.255") / udp(), "bad_source"),
    "source is a multicast": (True, lambda lab: ip(lab, True, src="ff02::1") / udp(), "bad_source"),
    "source is unspecified": (
        False, lambda lab: ip(lab, False, src="0.0.0.0") / udp(), "bad_source"),
}


@on(*SETUPS)
@pytest.mark.parametrize("what", DROPS)
def test_dropped_and_counted(lab, wire, wirecache, what):
    _, build, reason = DROPS[what]
    before = wirecache.metrics()
    frame = ethernet(lab) / build(lab) / Raw(dns_query())
    assert wire.answer_to(frame, CLIENT_MAC, SILENCE_SEC) is None
    after = wirecache.metrics()
    assert after.total("drops_total") == before.total("drops_total") + 1
    if reason:
        assert after.total("drops_total", reason=reason) == before.total(
            "drops_total", reason=reason) + 1


NOT_FOR_US = {
    "another MAC": lambda lab, v6: ethernet(lab, dst="02:00:00:00:00:99") / ip(lab, v6),
    "another address": lambda lab, v6: ethernet(lab) / ip(
        lab, v6, dst=lab.link.v6(77) if v6 else lab.link.v4(77)),
    "multicast MAC": lambda lab, v6: ethernet(lab, dst="01:00:5e:00:00:fb") / ip(lab, v6),
    "broadcast MAC": lambda lab, v6: ethernet(lab, dst="ff:ff:ff:ff:ff:ff") / ip(lab, v6),
    "multicast address": lambda lab, v6: ethernet(lab, dst="01:00:5e:00:00:01") / ip(
        lab, v6, dst="ff02::1" if v6 else "224.0.0.1"),
}


@on(*SETUPS)
@pytest.mark.parametrize("what", NOT_FOR_US)
def test_not_for_us(lab, wire, v6, what):
    frame = NOT_FOR_US[what](lab, v6) / udp() / Raw(dns_query())
    assert wire.answer_to(frame, CLIENT_MAC, SILENCE_SEC) is None


@on(*SETUPS)
def test_fragments_go_to_the_kernel(lab, wire, wirecache, v6):
    before = wirecache.metrics().total("punted_packets_total")
    if v6:
        frame = ethernet(lab) / ip(lab, v6) / IPv6ExtHdrFragment(m=1, id=7) / udp(chksum=1)
    else:
        frame = ethernet(lab) / ip(lab, v6, flags="MF") / udp()
    assert wire.answer_to(frame / Raw(dns_query()), CLIENT_MAC, SILENCE_SEC) is None
    if lab.current_setup.driver == "af_packet" and not v6:
        return  # DPDK's fan-out has the kernel reassemble IPv4: a lone fragment never reaches us
    assert wirecache.metrics_at_rest().total("punted_packets_total") > before


@on(*SETUPS)
def test_another_port_goes_to_the_kernel(lab, wire, v6):
    """Which says that nobody listens there: an ICMP error, as from any host."""
    # The kernel has to know the way back to a client that never spoke.
    lab.network.app.ip("neigh", "replace", CLIENT_V6 if v6 else CLIENT_V4, "lladdr", CLIENT_MAC,
                       "dev", "wc0")
    frame = ethernet(lab) / ip(lab, v6) / udp(dport=54321) / Raw(b"hello")
    answer = wire.answer_to(frame, CLIENT_MAC)
    assert answer is not None
    assert Ether(answer)[IPv6 if v6 else IP].payload.name.startswith("ICMP")

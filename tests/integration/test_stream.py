"""Queries that reach the kernel: the machine's own, and what it puts together from fragments.

The kernel's sockets of the stream service answer them; never an ICMP port unreachable instead.
"""

import errno
import re
import socket
import subprocess

import pytest
from client import fresh_name, on
from frames import Wire
from lab import Setup
from scapy.all import ICMP, IP, UDP, Ether, ICMPv6DestUnreach, IPv6ExtHdrFragment, Raw, raw
from test_frames import (CLIENT_MAC, CLIENT_PORT, CLIENT_V4, CLIENT_V6, addresses, check_answer,
                         dns_query, ethernet, ip, udp)

WITH_LOOPBACK = (("clients", "allow", ("10.0.0.0/8", "fd00::/8", "127.0.0.0/8", "::1/128")),)
SETUPS = (Setup("af_xdp", workers=1, overrides=WITH_LOOPBACK),
          Setup("af_packet", workers=2, overrides=WITH_LOOPBACK))
UDP_PROTOCOL, IPV6_FRAGMENT = 17, 44
LOAD_QPS, LOAD_SEC = 2000, 2
# The socket's queue may overflow while a busy machine keeps the main core off its CPU.
MAX_LOSS = 0.02


def own_servers(lab):
    """Where the machine's own programs may ask."""
    return lab.link.v4(1), lab.link.v6(1), "127.0.0.1", "::1"


def inside(lab, *command, timeout=30):
    """Output of a command on the appliance's side."""
    with lab.network.app.inside():
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=timeout, check=False).stdout


def dig(lab, server, name, rtype="A", *options):
    """(status, sorted data of the answer section) as dig sees it; it checks ID and source."""
    text = inside(lab, "dig", "@" + server, name, rtype, "+tries=1", "+time=4", "+noall",
                  "+comments", "+answer", *options)
    status = re.search(r"status: (\w+)", text)
    records = [line.split(None, 4)[4] for line in text.splitlines()
               if line and not line.startswith(";")]
    return status.group(1) if status else text, sorted(records)


def grown(before, after, name, **labels):
    return after.total(name, **labels) - before.total(name, **labels)


@on(*SETUPS)
def test_the_machines_own_queries(lab, wirecache, upstream):
    """A miss, then a hit, at each of its addresses; the cache is the one that everybody shares."""
    for server in own_servers(lab):
        for rtype in ("A", "TXT"):
            name = fresh_name()
            right = upstream(name, rtype).message.answer
            said = ("NOERROR", sorted(r.to_text() for rrset in right for r in rrset))
            assert said[1], "no right answer to compare with"
            for outcome in ("miss", "hit"):
                before = wirecache.metrics()
                assert dig(lab, server, name, rtype) == said, server
                after = wirecache.metrics()
                assert grown(before, after, "queries_total", outcome=outcome) == 1, server


@on(*SETUPS)
def test_a_name_fetched_by_others_is_a_hit_here(lab, ask, wirecache):
    name = fresh_name()
    assert ask(name).addresses() == ["192.0.2.99"]
    before = wirecache.metrics()
    for server in own_servers(lab):
        assert dig(lab, server, name) == ("NOERROR", ["192.0.2.99"])
    after = wirecache.metrics()
    assert grown(before, after, "queries_total", outcome="hit") == 4
    assert grown(before, after, "upstream_queries_total") == 0


@on(*SETUPS)
def test_other_answers_by_the_same_way(lab, wirecache):
    """NXDOMAIN, REFUSED for zone transfers' types, FORMERR: whatever a worker says."""
    del wirecache
    for server in own_servers(lab):
        assert dig(lab, server, "nothing.demo.example")[0] == "NXDOMAIN"
        assert dig(lab, server, fresh_name(), "A", "+norecurse")[0] == "REFUSED"
        with lab.network.app.inside():
            s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET,
                              socket.SOCK_DGRAM)
        with s:
            s.settimeout(4)
            s.connect((server, 53))
            s.send(b"\x12\x34\x01\0" + bytes(8))  # no question
            assert s.recv(512)[:4] == b"\x12\x34\x81\x81"


@on(Setup("af_xdp", workers=1))
def test_loopback_is_a_client_like_others(lab, wirecache):
    """Where [clients] does not allow it, it is refused."""
    del wirecache
    assert dig(lab, "127.0.0.1", "www.demo.example")[0] == "REFUSED"
    assert dig(lab, lab.link.v4(1), "www.demo.example") == ("NOERROR", ["192.0.2.80"])


@on(*SETUPS)
def test_counters(lab, wirecache):
    before = wirecache.metrics_at_rest()
    for server in own_servers(lab):
        assert dig(lab, server, fresh_name())[0] == "NOERROR"
    after = wirecache.metrics_at_rest()
    for name in ("stream_datagrams_received_total", "stream_queries_total",
                 "stream_replies_total", "stream_datagrams_sent_total", "client_queries_total",
                 "responses_total"):
        assert grown(before, after, name) == 4, name
    assert grown(before, after, "stream_query_drops_total") == 0
    assert grown(before, after, "stream_reply_drops_total") == 0


@on(*SETUPS)
def test_load_over_loopback(lab, wirecache):
    path = lab.directory + "/own-load"
    with open(path, "w", encoding="ascii") as f:
        for name in ("www", "four", "mail1", "ns1"):
            f.write(f"{name}.demo.example A\n")
    before = wirecache.metrics_at_rest()
    text = inside(lab, "dnsperf", "-s", "127.0.0.1", "-d", path, "-Q", str(LOAD_QPS), "-l",
                  str(LOAD_SEC))
    sent = int(re.search(r"Queries sent: +(\d+)", text).group(1))
    answered = int(re.search(r"Response codes: +NOERROR (\d+) \(100\.00%\)", text).group(1))
    assert sent > LOAD_QPS * LOAD_SEC / 4 and answered >= sent * (1 - MAX_LOSS), text
    after = wirecache.metrics_at_rest()
    assert grown(before, after, "stream_datagrams_sent_total") >= answered
    assert (grown(before, after, "stream_datagrams_received_total")
            == grown(before, after, "stream_queries_total")
            + grown(before, after, "stream_query_drops_total"))


# --- other programs on port 53

@on(*SETUPS)
def test_other_addresses_stay_free(lab, wirecache):
    """Another service has room on port 53 of every address that is not listened on."""
    del wirecache
    lab.network.app.ip("addr", "replace", lab.link.v4(77) + "/24", "dev", "wc0")
    try:
        for address in ("127.0.0.53", lab.link.v4(77)):
            with lab.network.app.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind((address, 53))
        for address in (lab.link.v4(1), "127.0.0.1"):
            with lab.network.app.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                with pytest.raises(OSError) as taken:
                    s.bind((address, 53))
                assert taken.value.errno == errno.EADDRINUSE
    finally:
        lab.network.app.ip("addr", "del", lab.link.v4(77) + "/24", "dev", "wc0")


def test_a_taken_loopback_address_is_left_alone(lab):
    """Where the host's own resolver has 127.0.0.1, the program says so and serves the others."""
    lab.stop_current()
    with lab.network.app.inside():
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with other:
        other.bind(("127.0.0.1", 53))
        running = lab.start(SETUPS[0])
        assert "not listening on 127.0.0.1:53: Address already in use" in running.log()
        for server in (lab.link.v4(1), lab.link.v6(1), "::1"):
            assert dig(lab, server, "www.demo.example") == ("NOERROR", ["192.0.2.80"])
        lab.stop_current()


# --- fragments

@pytest.fixture
def wire(lab, ask):
    """A raw view of the link; www.demo.example is in the cache, and the kernel knows the way back
    to a client that never spoke."""
    ask("www.demo.example")
    for address in (CLIENT_V4, CLIENT_V6):
        lab.network.app.ip("neigh", "replace", address, "lladdr", CLIENT_MAC, "dev", "wc0")
    the_wire = Wire(lab.network.net, lab.link.outer)
    yield the_wire
    the_wire.close()


@pytest.fixture(params=(False, True), ids=("IPv4", "IPv6"))
def v6(request):
    return request.param


def fragments(lab, v6, message, number):
    """The datagram in three pieces, the UDP header and the start of the message in the first."""
    whole = raw(ip(lab, v6) / udp() / Raw(message))
    datagram = whole[40:] if v6 else whole[20:]  # with the checksum of the whole
    for start, end in ((0, 16), (16, 32), (32, None)):
        last = end is None
        if v6:
            header = ip(lab, v6, nh=IPV6_FRAGMENT) / IPv6ExtHdrFragment(
                nh=UDP_PROTOCOL, offset=start // 8, m=0 if last else 1, id=number)
        else:
            header = ip(lab, v6, proto=UDP_PROTOCOL, id=number, frag=start // 8,
                        flags=0 if last else "MF")
        yield ethernet(lab) / header / Raw(datagram[start:end])


def is_port_unreachable(data):
    packet = Ether(data)
    if IP in packet and ICMP in packet:
        return (packet[ICMP].type, packet[ICMP].code) == (3, 3)
    return ICMPv6DestUnreach in packet and packet[ICMPv6DestUnreach].code == 4


@on(*SETUPS)
@pytest.mark.parametrize("order", ((0, 1, 2), (2, 0, 1)), ids=str)
def test_a_query_in_fragments_is_answered(lab, wire, v6, order):
    for number, name in enumerate(("www.demo.example", fresh_name())):
        parts = list(fragments(lab, v6, dns_query(name), 0x100 + number))
        for place in order[:2]:
            wire.send(parts[place])
        answer = wire.answer_to(parts[order[2]], CLIENT_MAC, 4.0)
        _, message = check_answer(lab, answer, v6)
        assert addresses(message) == ["192.0.2.80" if number == 0 else "192.0.2.99"]


def unreachables_sent(lab):
    """ICMP destination unreachable that the appliance's kernel sent, to anybody at all."""
    with lab.network.app.inside():
        with open("/proc/thread-self/net/snmp6", encoding="ascii") as f:
            sent = sum(int(line.split()[1]) for line in f
                       if line.startswith("Icmp6OutDestUnreachs"))
        with open("/proc/thread-self/net/snmp", encoding="ascii") as f:
            names, values = [line.split() for line in f if line.startswith("Icmp:")]
    return sent + int(values[names.index("OutDestUnreachs")])


@on(*SETUPS)
def test_never_a_port_unreachable(lab, ask, wire):
    """By whatever way a datagram for port 53 comes: over the port, in fragments, from inside."""
    before = unreachables_sent(lab)
    for v6 in (False, True):
        for message in (dns_query(), dns_query(fresh_name()), b"short", bytes(600)):
            wire.send(ethernet(lab) / ip(lab, v6) / udp() / Raw(message))
            for part in fragments(lab, v6, message.ljust(40, b"\0"), 0x200 + len(message)):
                wire.send(part)
        assert ask("www.demo.example", v6=v6).rcode == "NOERROR"
    for server in own_servers(lab):
        assert dig(lab, server, "www.demo.example")[0] == "NOERROR"
    arrived = list(wire.frames(1))
    to_client = [Ether(data) for data in arrived if Ether(data).dst == CLIENT_MAC]
    assert any(UDP in packet and packet[UDP].dport == CLIENT_PORT for packet in to_client)
    assert not [data for data in arrived if is_port_unreachable(data)]
    assert unreachables_sent(lab) == before


@on(*SETUPS)
def test_that_the_watch_sees_a_port_unreachable(lab, wire):
    """The check above would notice: a port that nobody has gets one."""
    before = unreachables_sent(lab)
    wire.send(ethernet(lab) / ip(lab, False) / udp(dport=54321) / Raw(b"hello"))
    assert any(is_port_unreachable(data) for data in wire.frames(2))
    assert unreachables_sent(lab) == before + 1

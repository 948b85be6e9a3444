"""What the scrape says against what was sent, counted here; promtool as the judge of its form."""

import socket
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass

import dns.message
import dns.rdatatype
import dns.tsigkeyring
import pytest
from client import CLIENT_HOST, fresh_name, make_query, on
from frames import Wire
from lab import Setup, appliance, processes
from scapy.all import ARP, Ether

ONE = Setup("af_xdp", workers=1, upstream="fake")
SEVERAL = Setup("af_packet", workers=4, upstream="fake")
TWO_PORTS = Setup("af_xdp", workers=2, ports=2, upstream="fake")
SETUPS = (ONE, SEVERAL, TWO_PORTS)
ONLY_V6_ALLOWED = Setup("af_xdp", workers=1, upstream="fake",
                        overrides=(("clients", "allow", ("fd00::/8",)),
                                   ("clients", "refuse", "drop")))
MAX_WAITING, MAX_PENDING = 65536, 16384  # the defaults of the configuration
SETTLE_SEC = 15


@dataclass(frozen=True)
class DeadServer(Setup):
    """Asks a host first that has nothing on port 53, so that its kernel says so by ICMP."""

    def __str__(self):
        return super().__str__() + "-dead-server"

    def config(self, lab):
        config = super().config(lab)
        config["upstream"]["server"].insert(0, {"address": lab.link.v4(CLIENT_HOST)})
        return config


def fake(behaviour="plain"):
    return fresh_name(behaviour + ".fake.example")


class Growth:
    """What the counters gained since this was made, at rest at both ends."""

    def __init__(self, wirecache):
        self._wirecache = wirecache
        self._before = wirecache.metrics_at_rest()
        self.after = None

    def measure(self):
        self.after = self._wirecache.metrics_at_rest()
        return self

    def __call__(self, name, **labels):
        return self.after.total(name, **labels) - self._before.total(name, **labels)

    def by(self, label, name):
        """{value of the label: growth}, those that did not grow left out."""
        values = {s.labels[label] for s in self.after.each(name)}
        grown = {value: self(name, **{label: value}) for value in values}
        return {value: count for value, count in grown.items() if count}


@pytest.fixture
def grown(wirecache):
    return Growth(wirecache)


def server_label(address):
    return f"[{address}]:53" if ":" in address else f"{address}:53"


def ports(lab):
    return [f"p{link.index}" for link in lab.network.links[:lab.current_setup.ports]]


TYPES = {"A": "A", "AAAA": "AAAA", "CNAME": "CNAME", "DNSKEY": "DNSKEY", "DS": "DS",
         "HTTPS": "HTTPS", "MX": "MX", "NS": "NS", "PTR": "PTR", "SOA": "SOA", "SRV": "SRV",
         "SVCB": "SVCB", "TXT": "TXT", "ANY": "ANY", "CAA": "other", "NAPTR": "other",
         "TYPE65280": "other"}
ANY_QUERIES = list(TYPES).index("ANY") + 1


@on(*SETUPS)
def test_queries_by_port_family_and_type(lab, ask, grown):
    """Each type another number of times, each family, through each port."""
    families, types, by_port = Counter(), Counter(), Counter()
    for times, (rtype, label) in enumerate(TYPES.items(), 1):
        for i in range(times):
            link = i % lab.current_setup.ports
            ask(fake(), rtype, v6=i % 3 == 0, link=link)
            families["ipv6" if i % 3 == 0 else "ipv4"] += 1
            types[label] += 1
            by_port[f"p{lab.network.links[link].index}"] += 1
    grown.measure()
    assert grown.by("family", "client_queries_total") == families
    assert grown.by("port", "client_queries_total") == by_port
    assert grown.by("type", "questions_total") == types
    assert grown("queries_total", outcome="local") == ANY_QUERIES
    assert grown("responses_total") == types.total()


def message(query_id, flags=0x0100, qdcount=1, question=b"\x01x\x00\x00\x01\x00\x01"):
    return struct.pack("!6H", query_id, flags, qdcount, 0, 0, 0) + question


def signed_query():
    query = dns.message.make_query("x.fake.example", "A")
    query.use_tsig(dns.tsigkeyring.from_text({"key.": "c2VjcmV0c2VjcmV0"}))
    return query.to_wire()


def badvers_query():
    opt = struct.pack("!BHHBBHH", 0, dns.rdatatype.OPT, 1232, 0, 1, 0, 0)  # RFC 6891 §6.1.3
    wire = bytearray(message(5) + opt)
    wire[11] = 1
    return bytes(wire)


# kind: (message, rcode of the answer; None where there must be none)
MALFORMED = {
    "short": (message(1)[:11], None),
    "response": (message(2, flags=0x8180), None),
    "formerr": (message(3, qdcount=0, question=b""), 1),
    "notimp": (message(4, flags=0x2100), 4),
    "badvers": (badvers_query(), 0),  # the upper bits of BADVERS are in the OPT
    "class": (message(6, question=b"\x01x\x00\x00\x01\x00\x04"), 5),
    "chaos": (message(7, question=b"\x01x\x00\x00\x10\x00\x03"), 5),
    "meta_type": (message(8, question=b"\x01x\x00\x00\xfc\x00\x01"), 5),
    "signed": (signed_query(), 5),
}


@on(*SETUPS)
def test_malformed_by_kind(ask, grown):
    """Every kind another number of times; those that are answered are queries, the others drops."""
    sent = {}
    for times, (kind, (wire, rcode)) in enumerate(MALFORMED.items(), 1):
        sent[kind] = times
        for i in range(times):
            answer = ask.send(wire, timeout=3.0 if rcode is not None else 0.05, v6=i % 2 == 1)
            assert (answer is None) == (rcode is None), kind
            assert answer is None or answer[3] & 15 == rcode, kind
    grown.measure()
    assert grown.by("kind", "malformed_total") == sent
    answered_malformed = sent["formerr"] + sent["notimp"] + sent["badvers"]
    refused = sent["class"] + sent["chaos"] + sent["meta_type"] + sent["signed"]
    assert grown("queries_total", outcome="malformed") == answered_malformed
    assert grown("queries_total", outcome="refused") == refused
    assert grown("drops_total", reason="short_message") == sent["short"]
    assert grown("drops_total", reason="unwanted_response") == sent["response"]
    assert grown("client_queries_total") == answered_malformed + refused


@on(ONLY_V6_ALLOWED)
def test_clients_that_are_not_allowed(ask, grown):
    for _ in range(5):
        assert ask.send(make_query(fake()).to_wire(), timeout=0.05) is None
    for _ in range(3):
        ask(fake(), v6=True)
    grown.measure()
    assert grown("drops_total", reason="client_not_allowed") == 5
    assert grown.by("family", "client_queries_total") == {"ipv6": 3}


@on(*SETUPS)
def test_upstream_by_server(lab, ask, grown):
    """The first server is asked first, the second after the first's failure or silence."""
    first, second = (server_label(a) for a in lab.fake.servers)
    for _ in range(6):
        ask(fake())
    for _ in range(2):
        ask(fake("tc"))
    ask(fake("silentonce"))
    ask(fake("servfail"))
    grown.measure()
    assert grown.by("server", "upstream_queries_total") == {first: 10, second: 2}
    assert grown.by("server", "upstream_answers_taken_total") == {first: 9, second: 2}
    assert grown.by("server", "upstream_timeouts_total") == {first: 1}
    assert grown.by("server", "upstream_truncated_total") == {first: 2}
    assert grown.by("server", "upstream_failures_total") == {first: 1, second: 1}
    assert grown.by("server", "upstream_latency_seconds_count") == {first: 9, second: 2}
    assert grown("upstream_gave_up_total") == 1


@on(*SETUPS)
def test_timeouts_by_server(lab, ask, grown):
    """As many queries and timeouts as the servers were asked."""
    name = fake("silent")
    assert ask(name).rcode == "SERVFAIL"
    grown.measure()
    asked = lab.fake.asked(name)
    queries = grown.by("server", "upstream_queries_total")
    assert set(queries) == {server_label(a) for a in lab.fake.servers}
    assert sum(queries.values()) == asked
    assert grown.by("server", "upstream_timeouts_total") == queries
    assert grown("upstream_answers_taken_total") == 0
    assert grown("upstream_gave_up_total") == 1


@on(*SETUPS)
def test_upstream_latency_is_in_seconds(ask, grown):
    ask(fake("delay-100"))
    grown.measure()
    count = "upstream_latency_seconds_bucket"
    assert grown(count, le="+Inf") == 1
    assert grown(count, le="0.067108864") == 0, "less than the server took"


@on(DeadServer("af_xdp", workers=1, upstream="fake"))
def test_icmp_errors_by_server(lab, ask, grown):
    """Each query to the dead server is ended by its ICMP error, not by the try's time."""
    dead = server_label(lab.link.v4(CLIENT_HOST))
    for _ in range(3):
        assert ask(fake()).rcode == "NOERROR"
    grown.measure()
    errors = grown("upstream_icmp_unreachable_total", server=dead)
    assert 1 <= errors <= 3
    assert grown("upstream_queries_total", server=dead) == errors
    assert grown("upstream_timeouts_total") == 0
    check_accounting(grown.after)


@on(*SETUPS)
def test_queries_handed_to_their_owner(lab, ask, grown):
    """A miss belongs to the worker that owns the name's key; alone, a worker owns all."""
    for i in range(40):
        ask(fake(), link=i % lab.current_setup.ports)
    grown.measure()
    handed = grown("queries_handed_over_total")
    if lab.current_setup.workers == 1:
        assert handed == 0
    else:
        assert 0 < handed <= 40


@on(*SETUPS)
def test_queries_by_the_kernels_sockets(lab, grown):
    """The machine's own queries."""
    with lab.network.app.inside(), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        for _ in range(4):
            s.sendto(make_query(fake()).to_wire(), (lab.link.v6(1), 53))
            assert s.recv(4096)[3] & 15 == 0
    grown.measure()
    assert grown("kernel_socket_queries_total") == 4
    assert grown("client_queries_total", port="(kernel)", family="ipv6") == 4
    assert grown("packets_sent_total", port="(kernel)") == 4
    check_accounting(grown.after)


@on(*SETUPS)
def test_urgent_punts(lab, grown):
    """ARP goes to the kernel ahead of the rest; neighbours ask now and then by themselves."""
    wire = Wire(lab.network.net, lab.link.outer)
    for _ in range(8):
        wire.send(Ether(src=lab.link.outer_mac, dst="ff:ff:ff:ff:ff:ff") / ARP(
            hwsrc=lab.link.outer_mac, psrc=lab.link.v4(CLIENT_HOST), pdst=lab.link.v4(1)))
    wire.close()
    grown.measure()
    urgent = grown("urgent_punts_total")
    assert urgent >= 8
    assert grown("punted_packets_total", port=ports(lab)[0]) >= 8
    assert grown("punted_packets_total") >= urgent


def check_accounting(metrics):
    """The equations of lib/stats/worker_stats.h, at rest."""
    total = metrics.total
    queries = total("client_queries_total")
    assert total("packets_received_total") + total("kernel_socket_queries_total") == (
        queries + total("upstream_answers_taken_total") + total("upstream_icmp_unreachable_total")
        + total("drops_total") + total("punted_packets_total"))
    assert total("waiting_clients") == 0
    assert queries == total("responses_total") + total("query_drops_total")
    assert queries == total("queries_total")
    assert queries == total("questions_total")
    assert total("packets_sent_total") == (
        total("responses_total") + total("upstream_queries_total")
        + total("kernel_packets_sent_total"))
    assert total("queries_total", outcome="malformed") == sum(
        total("malformed_total", kind=kind) for kind in ("formerr", "notimp", "badvers"))


@on(*SETUPS)
def test_accounting_at_rest(lab, ask, wirecache):
    for i in range(20):
        link = i % lab.current_setup.ports
        name = fake()
        ask(name, v6=i % 2 == 0, link=link)
        ask(name, link=link)
        ask(fake(), rd=False, link=link)
        ask.send(message(i, qdcount=0, question=b""), link=link)
    check_accounting(wirecache.metrics_at_rest())


@on(*SETUPS)
def test_packets_sent_by_port(lab, ask, grown):
    for i in range(12):
        ask(fake(), link=i % lab.current_setup.ports)
    grown.measure()
    sent = grown.by("port", "packets_sent_total")
    assert set(sent) == set(ports(lab))
    # The answers, and all questions on the first port, where the servers are.
    for port in ports(lab)[1:]:
        assert sent[port] >= 12 // lab.current_setup.ports
    assert sent["p0"] >= 12 // lab.current_setup.ports + 12
    assert grown("send_drops_total") == 0


def drivers_agree(lab, earlier, later):
    """Whether the drivers' sample in `later` was taken since `earlier` and fits the workers' own
    counters, which go up with the kernel's probes of its neighbours all the time."""
    return all(
        earlier.total(f"packets_{way}_total", port=port)
        <= later.total(f"driver_{way}_packets_total", port=port)
        <= later.total(f"packets_{way}_total", port=port)
        for way in ("received", "sent") for port in ports(lab))


@on(*SETUPS)
def test_driver_counters(lab, ask, wirecache):
    """By port and queue; sampled about once a second, so they follow the workers' own."""
    for i in range(20):
        ask(fake(), link=i % lab.current_setup.ports)
    earlier = wirecache.metrics()
    assert processes.wait_until(
        lambda: drivers_agree(lab, earlier, wirecache.metrics()), SETTLE_SEC)
    metrics = wirecache.metrics()
    for port in ports(lab):
        for way in ("received", "sent"):
            queues = metrics.each(f"driver_queue_{way}_packets_total", port=port)
            assert [q.labels["queue"] for q in queues] == [
                str(q) for q in range(lab.current_setup.workers // lab.current_setup.ports)]
            assert sum(q.value for q in queues) == metrics.total(
                f"driver_{way}_packets_total", port=port)
        assert metrics.total("driver_received_bytes_total", port=port) >= 60 * 10
        assert metrics.total("driver_no_mbuf_total", port=port) == 0


@on(*SETUPS)
def test_gauges_of_the_platform(lab, wirecache):
    metrics = wirecache.metrics()
    workers = lab.current_setup.workers
    assert 0 < metrics.total("mbufs_in_use", node="0") < metrics.total("mbufs", node="0")
    assert {s.labels["receiver"] for s in metrics.each("ring_entries", node="0")} == {
        "main", *(str(w) for w in range(workers))}
    assert all(0 <= entries.value < capacity.value for entries, capacity in zip(
        metrics.each("ring_entries"), metrics.each("ring_capacity")))
    assert metrics.total("waiting_clients_limit") == MAX_WAITING
    assert metrics.total("pending_questions_limit") == MAX_PENDING
    for address in lab.fake.servers:
        server = server_label(address)
        assert processes.wait_until(lambda s=server: wirecache.metrics().total(
            "upstream_usable", node="0", server=s) == 1, SETTLE_SEC)
        assert [s.labels["port"] for s in wirecache.metrics().each(
            "upstream_route_info", node="0", server=server)] == ["p0"]


@on(*SETUPS)
def test_where_workers_run(lab, wirecache):
    _, cpus = appliance.worker_cpus(lab.current_setup.workers)
    found = {s.labels["worker"]: (s.labels["node"], s.labels["cpu"], s.value)
             for s in wirecache.metrics().each("worker_info")}
    assert found == {str(i): ("0", str(cpu), 1) for i, cpu in enumerate(cpus)}


@on(*SETUPS)
def test_promtool_has_nothing_to_say(ask, wirecache):
    """After a mixture of all that is counted, so that rare series are there as well."""
    for rtype in TYPES:
        ask(fake(), rtype, v6=rtype == "AAAA")
    for wire, rcode in MALFORMED.values():
        ask.send(wire, timeout=3.0 if rcode is not None else 0.05)
    for behaviour in ("tc", "servfail", "silentonce", "wrongid", "garbage"):
        ask(fake(behaviour))
    status, text = wirecache.http("/metrics")
    assert status == 200
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

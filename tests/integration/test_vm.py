"""Real PCI drivers: wirecached in a virtual machine with two NUMA nodes and a card on each.

See tests/vm: huge pages, vfio-pci behind an IOMMU, two workers on each node. Clients and the
upstream stand outside. An emulated CPU is slow: what is asserted is counts and places, never rates.
"""

import contextlib
import itertools
import os
import platform
import re
import socket
import subprocess
import sys
import time

import dns.message
import pytest
from client import Client, canonical, fresh_name, make_query, parse
from lab import HERE, processes
from scapy.all import IP, UDP, Ether

sys.path.insert(0, os.path.join(HERE, "..", "vm"))

# pylint: disable=wrong-import-position
import machine  # noqa: E402
from machine import WORKERS_OF_NODE  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not os.path.exists(machine.QEMU), reason=f"there is no {machine.QEMU}"),
    pytest.mark.skipif(platform.machine() != "x86_64",
                       reason="the guest runs the program as it is built here: x86-64 only"),
]
SPREADING, ONE_QUEUE = machine.VIRTIO, machine.E1000E
PAGES_PER_NODE = 128
ANSWER_TIMEOUT_SEC = 10
COUNTERS_TIMEOUT_SEC = 5
FLOWS = 128
BURST = 32
ETH_P_ALL, SO_RCVBUFFORCE = 3, 33
LABEL_TAIL = 6
_serial = itertools.count(int(time.time()))


@pytest.fixture(scope="module")
def vm(alone, request):
    """The running machine with this kind of card, its network known to both sides."""
    del alone
    lab = machine.Lab(request.param, {"demo.example": os.path.join(HERE, "zones", "demo.zone")})
    try:
        for link in lab.network.links:
            for address in (link.v4(1), link.v6(1)):
                assert processes.wait_until(lambda a=address: ping(lab, a, 1)[0] == 1, 60), address
        yield lab
        assert lab.machine.stop_wirecached() == 0, lab.machine.console()
    finally:
        lab.close()


def with_cards(*nics):
    """Runs the test with each of these kinds of card."""
    return pytest.mark.parametrize("vm", nics, ids=str, indirect=True, scope="module")


def ping(vm, address, count):
    done = subprocess.run(["ip", "netns", "exec", vm.network.net.name, "ping", "-c", str(count),
                           "-i", "0.1", "-W", "2", address], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    return int(re.search(r"(\d+) received", done.stdout).group(1)), done.stdout


def ask(vm, name, rtype="A", **where):
    return Client(vm).exchange(make_query(name, rtype), ANSWER_TIMEOUT_SEC, **where)


def ask_all(vm, names, **where):
    """Asks for each name from a source port of its own; all have to be answered by NOERROR."""
    client = Client(vm)
    for start in range(0, len(names), BURST):
        sockets = [client.socket(**where) for _ in names[start:start + BURST]]
        for name, s in zip(names[start:], sockets):
            s.send(make_query(name).to_wire())
        for name, s in zip(names[start:], sockets):
            with s:
                s.settimeout(ANSWER_TIMEOUT_SEC)
                reply = parse(s.recv(65535))
                assert reply.rcode() == 0 and reply.answer, name


class Growth:
    """What the counters have grown by since this was made, by worker."""

    def __init__(self, vm):
        self._vm = vm
        self._before = vm.machine.metrics()
        self._after = self._before

    def of(self, name, **labels):
        before = self._before.by_worker(name, **labels)
        return {int(worker): count - before.get(worker, 0)
                for worker, count in self._after.by_worker(name, **labels).items()}

    def total(self, name, **labels):
        return sum(self.of(name, **labels).values())

    def wait_for_queries(self, count):
        """Returns when so many queries are accounted for: a worker counts after it has sent."""
        def enough():
            self._after = self._vm.machine.metrics()
            return self.total("queries_total") >= count
        processes.wait_until(enough, COUNTERS_TIMEOUT_SEC, 0.2)
        return self

    def outcomes(self):
        """(hits, misses, all queries)"""
        return (self.total("queries_total", outcome="hit"),
                self.total("queries_total", outcome="miss"), self.total("queries_total"))


def active(by_worker, at_least):
    """The workers that count so many."""
    return {worker for worker, count in by_worker.items() if count >= at_least}


class UpstreamWatch:
    """Sees the questions that the appliance asks NSD, on both links."""

    def __init__(self, vm):
        self._links = vm.network.links
        self._sockets = []
        with vm.network.net.inside():
            for link in self._links:
                s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
                self._sockets.append(s)
                s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
                s.bind((link.outer, ETH_P_ALL))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for s in self._sockets:
            s.close()

    def asked(self, name):
        """How often the name was asked for since the last call, by link."""
        return [sum(self._question(frame, link) == name.lower() for frame in self._queued(s))
                for s, link in zip(self._sockets, self._links)]

    @staticmethod
    def _queued(s):
        """All that has been seen so far: a query is seen before its answer is sent."""
        with contextlib.suppress(BlockingIOError):
            while True:
                yield s.recv(65535, socket.MSG_DONTWAIT)

    @staticmethod
    def _question(frame, link):
        packet = Ether(frame)
        if IP not in packet or UDP not in packet or packet[IP].dst != link.v4(2):
            return None
        question = dns.message.from_wire(bytes(packet[UDP].payload)).question[0]
        return question.name.to_text(omit_final_dot=True).lower()


@with_cards(SPREADING, ONE_QUEUE)
def test_cards_and_huge_pages_are_where_they_should_be(vm):
    """Each node's card is vfio-pci's, and the program has taken huge pages of both nodes."""
    shell = vm.machine.shell
    for node, card in enumerate(machine.PCI_ADDRESSES):
        device = f"/sys/bus/pci/devices/{card}"
        assert shell.run(f"basename $(readlink {device}/driver)").strip() == "vfio-pci"
        assert int(shell.run(f"cat {device}/numa_node")) == node
        pages = f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB"
        assert int(shell.run(f"cat {pages}/nr_hugepages")) == PAGES_PER_NODE
        assert int(shell.run(f"cat {pages}/free_hugepages")) < PAGES_PER_NODE


@with_cards(SPREADING, ONE_QUEUE)
def test_log_says_what_runs_where(vm):
    """A receive queue for each worker of the node, or one where the card fills no more."""
    queues = len(WORKERS_OF_NODE[0]) if vm.machine.nic == SPREADING else 1
    for node in range(machine.NODES):
        line = re.search(rf"^port p{node}: driver {vm.machine.nic.driver}\b.*",
                         vm.machine.console(), re.M)
        assert line and f"NUMA node {node}, queues {queues} RX" in line.group(0), line


@with_cards(SPREADING, ONE_QUEUE)
def test_kernel_answers_on_both_ports(vm):
    """The exception port: ping over IPv4 and IPv6. TCP is what the metrics come by."""
    for link in vm.network.links:
        for address in (link.v4(1), link.v6(1)):
            received, text = ping(vm, address, 5)
            assert received == 5 and "DUP" not in text, text


@with_cards(SPREADING, ONE_QUEUE)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
@pytest.mark.parametrize("link", (0, 1), ids=("port0", "port1"))
def test_answers_are_the_upstreams(vm, link, v6):
    upstream = Client(vm, vm.nsd.address)
    for name, rtype in (("www.demo.example", "A"), ("www.demo.example", "AAAA"),
                        ("txt.demo.example", "TXT"), ("alias.demo.example", "A"),
                        ("nowhere.demo.example", "A"), ("big.demo.example", "TXT")):
        right = upstream(name, rtype)
        for _ in range(2):
            reply = ask(vm, name, rtype, v6=v6, link=link)
            assert reply.rcode == right.rcode
            assert canonical(reply.message.answer) == canonical(right.message.answer)


@with_cards(SPREADING, ONE_QUEUE)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
@pytest.mark.parametrize("link", (0, 1), ids=("port0", "port1"))
def test_first_is_a_miss_and_second_a_hit(vm, link, v6):
    names = [fresh_name() for _ in range(8)]
    growth = Growth(vm)
    for name in names:
        assert ask(vm, name, v6=v6, link=link).addresses() == ["192.0.2.99"]
    assert growth.wait_for_queries(8).outcomes() == (0, 8, 8)
    for name in names:
        assert ask(vm, name, v6=v6, link=link).addresses() == ["192.0.2.99"]
    assert growth.wait_for_queries(16).outcomes() == (8, 8, 16)
    assert growth.total("drops_total") == 0


@with_cards(SPREADING)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
@pytest.mark.parametrize("link", (0, 1), ids=("port0", "port1"))
def test_card_spreads_over_both_queues(vm, link, v6):
    """RSS by the ports of UDP: two queues, so two workers, each with about half of the flows."""
    growth = Growth(vm)
    ask_all(vm, ["www.demo.example"] * FLOWS, link=link, v6=v6)
    received = growth.wait_for_queries(FLOWS).of("client_queries_total")
    assert sum(received.values()) == FLOWS
    assert len(active(received, FLOWS // 4)) == 2 and len(active(received, 1)) == 2, received


@with_cards(SPREADING)
@pytest.mark.parametrize("link", (0, 1), ids=("port0", "port1"))
def test_ports_queues_belong_to_workers_of_its_node(vm, link):
    growth = Growth(vm)
    ask_all(vm, ["www.demo.example"] * FLOWS, link=link)
    received = growth.wait_for_queries(FLOWS).of("client_queries_total")
    assert active(received, 1) == set(WORKERS_OF_NODE[link]), received


@with_cards(SPREADING, ONE_QUEUE)
@pytest.mark.parametrize("link", (0, 1), ids=("port0", "port1"))
def test_node_keeps_one_copy(vm, link):
    """Whichever queue a name is asked through, it is fetched once and kept once."""
    name = fresh_name()
    with UpstreamWatch(vm) as watch:
        growth = Growth(vm)
        ask(vm, name, link=link)
        ask_all(vm, [name] * FLOWS, link=link)
        growth.wait_for_queries(FLOWS + 1)
        assert sum(watch.asked(name)) == 1
    assert growth.outcomes() == (FLOWS, 1, FLOWS + 1)
    assert growth.total("cache_entries") == 1


@with_cards(SPREADING, ONE_QUEUE)
def test_nodes_share_nothing(vm):
    """What one node has, the other asks for by its own port and keeps in its own part."""
    name = fresh_name()
    with UpstreamWatch(vm) as watch:
        for link, workers in enumerate(WORKERS_OF_NODE):
            growth = Growth(vm)
            ask(vm, name, link=link)
            ask(vm, name, link=link)
            assert growth.wait_for_queries(2).outcomes() == (1, 1, 2)
            assert watch.asked(name) == [int(link == 0), int(link == 1)]
            entries = growth.of("cache_entries")
            assert sum(entries.values()) == 1 and active(entries, 1) <= set(workers), entries
            for counter in ("client_queries_total", "queries_total",
                            "upstream_answers_taken_total"):
                assert active(growth.of(counter), 1) <= set(workers), counter


@with_cards(ONE_QUEUE)
@pytest.mark.parametrize("link", (0, 1), ids=("port0", "port1"))
def test_software_spreads_what_one_queue_receives(vm, link):
    """One worker of the node receives everything; both answer, each for the keys it owns."""
    names = [fresh_name() for _ in range(FLOWS)]
    workers = set(WORKERS_OF_NODE[link])
    growth = Growth(vm)
    ask_all(vm, names, link=link)
    ask_all(vm, names, link=link)
    growth.wait_for_queries(2 * FLOWS)
    assert growth.outcomes() == (FLOWS, FLOWS, 2 * FLOWS)
    received = growth.of("client_queries_total")
    assert len(active(received, 1)) == 1 and active(received, 1) <= workers, received
    for outcome in ("miss", "hit"):
        by_worker = growth.of("queries_total", outcome=outcome)
        assert active(by_worker, FLOWS // 4) == workers == active(by_worker, 1), by_worker


def places(vm, run):
    """Where the questions whose name begins with `run` are in the guest's memory, by node.

    ([for each link how many frames], {what follows `run`, found outside frames}) for each node. A
    frame is told by the MACs before it: 55 bytes of Ethernet, IPv4, UDP and DNS headers, and the
    length of the label, come before the name.
    """
    header_bytes = 55
    macs = [{bytes.fromhex(mac.replace(":", "")) for mac in (link.inner_mac, link.outer_mac)}
            for link in vm.network.links]
    for memory in vm.machine.memories:
        frames, others = [0, 0], set()
        for place in memory.around(run.encode(), header_bytes, LABEL_TAIL):
            ends = {place[:6], place[6:12]}
            if ends in macs:
                frames[macs.index(ends)] += 1
            else:
                others.add(place[-LABEL_TAIL:].decode("ascii", "replace"))
        yield frames, others


@with_cards(SPREADING, ONE_QUEUE)
def test_memory_is_on_the_ports_node(vm):
    """Packets, cached answers, pending questions and buffers are in the memory of the port's node.

    And no name that was asked through a port is anywhere in the memory of the other node.
    """
    run = str(next(_serial))
    asked = [{f"p{link}{i:0{LABEL_TAIL - 2}}" for i in range(256)} for link in (0, 1)]
    for link, tails in enumerate(asked):
        ask_all(vm, [f"{run}{tail}.wild.demo.example" for tail in tails], link=link)
    for node, (frames, others) in enumerate(places(vm, run)):
        assert frames[node] > 0 and frames[1 - node] == 0, (node, frames)
        # A name that stands across two pages is torn: these are anywhere in the machine's memory.
        torn = asked[node] - others
        assert len(torn) <= len(asked[node]) // 16, f"{len(torn)} answers are elsewhere"
        assert not asked[1 - node] & others, f"{len(asked[1 - node] & others)} are on node {node}"

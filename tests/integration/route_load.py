"""10,000 queries a second while something happens, with every answer to a fresh name kept."""

import contextlib
import functools
import os
import re
import select
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass

import dns.exception
import dns.message
import dns.rcode
import dns.rdatatype

from client import fresh_name, make_query
from fake_messages import address_of
from lab import processes

QUERIES_PER_SECOND = 10000
FRESH_PER_SECOND = 300
# By dnsperf, one for each of these: the first listening address of either family.
HITS_PER_SECOND = (QUERIES_PER_SECOND - FRESH_PER_SECOND) // 2
HOT_NAMES = 50
# Of one dnsperf: no queue on the way overflows while a busy machine keeps the worker off its CPU.
MAX_OUTSTANDING = 200
MAX_LOSS = 0.001
MAX_FRESH_LOST = 0.005
# Of the offered load, what a busy machine must come to for the test to mean anything.
MIN_OFFERED = 0.2
LAST_ANSWER_SEC = 3
# A fresh name asked that late means that other programs had the CPUs.
SLOW_SEC = 0.1
SETTLED_ANSWERS = 50


@dataclass
class Asked:
    """One question; times are monotonic."""

    name: str
    sent: float
    answered: float = 0.0
    wire: bytes = b""

    @functools.cached_property
    def verdict(self):
        """"right", "lost", a code such as "SERVFAIL", or what is wrong."""
        if not self.wire:
            return "lost"
        try:
            message = dns.message.from_wire(self.wire)
        except dns.exception.DNSException as error:
            return f"wrong: {error!r}"
        if [q.name.to_text() for q in message.question] != [self.name + "."]:
            return f"wrong: answers {message.question}"
        if message.rcode() != dns.rcode.NOERROR:
            return dns.rcode.to_text(message.rcode())
        found = [r.address for rrset in message.answer for r in rrset]
        right = [socket.inet_ntoa(address_of(self.name))]
        return "right" if found == right else f"wrong: {found}, not {right}"


class FreshNames(threading.Thread):
    """Asks names that nobody has asked, at an even pace, the servers in turn."""

    def __init__(self, namespace, servers):
        super().__init__(daemon=True)
        with namespace.inside():
            self._sockets = [connected(server) for server in servers]
        for s in self._sockets:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            s.setblocking(False)
        self._stop_asked = threading.Event()
        self._open = {}
        self.asked = []
        self.unasked = []  # answers to nothing that waits for one
        self.latest_sec = 0.0  # how far behind its pace it ever was

    def run(self):
        due = time.monotonic()
        while not self._stop_asked.is_set():
            self._receive_until(due)
            due += 1 / FRESH_PER_SECOND
            self._ask(due)
        end = time.monotonic() + LAST_ANSWER_SEC
        while self._open and time.monotonic() < end:
            self._receive_until(time.monotonic() + 0.05)

    def _ask(self, due):
        query = make_query(fresh_name("plain.fake.example"), edns=False)
        query.id = len(self.asked) % 65536
        asked = Asked(query.question[0].name.to_text(omit_final_dot=True), time.monotonic())
        self.latest_sec = max(self.latest_sec, asked.sent - due)
        which = len(self.asked) % len(self._sockets)
        self.asked.append(asked)
        self._open[query.id] = asked
        with contextlib.suppress(OSError):  # an ICMP error about an earlier one
            self._sockets[which].send(query.to_wire())

    def _receive_until(self, end):
        while True:
            left = end - time.monotonic()
            ready, _, _ = select.select(self._sockets, [], [], max(0.0, left))
            for s in ready:
                with contextlib.suppress(OSError):
                    while True:
                        self._take(s.recv(4096))
            if left <= 0:
                return

    def _take(self, wire):
        asked = self._open.pop(int.from_bytes(wire[:2], "big"), None)
        if asked is None:
            self.unasked.append(wire)
            return
        asked.answered = time.monotonic()
        asked.wire = wire

    def finish(self):
        self._stop_asked.set()
        self.join(LAST_ANSWER_SEC + 10)
        for s in self._sockets:
            s.close()


def connected(server):
    """A UDP socket to the server, made where the caller is."""
    s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((server, 53))
    return s


class Hits:
    """dnsperf with names that are in the cache."""

    def __init__(self, namespace, server, path):
        self.started = time.monotonic()
        with namespace.inside():
            self._process = subprocess.Popen(
                ["dnsperf", "-s", server, "-d", path, "-Q", str(HITS_PER_SECOND), "-l", "60",
                 "-q", str(MAX_OUTSTANDING)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, preexec_fn=processes.die_with_parent)

    def finish(self):
        """Its statistics."""
        try:
            seconds = time.monotonic() - self.started
            self._process.send_signal(signal.SIGINT)
            report = self._process.communicate(timeout=30)[0]
        finally:
            processes.stop(self._process)
        return HitsReport(report[report.find("Statistics:"):], seconds)


@dataclass
class HitsReport:
    text: str
    seconds: float

    def _number(self, what):
        found = re.search(what + r" +(\d+)", self.text)
        return int(found.group(1)) if found else 0

    def check(self):
        """Hardly anything lost, and nothing but NOERROR; how many were answered."""
        answered = self._number("Queries completed:")
        assert answered > HITS_PER_SECOND * self.seconds * MIN_OFFERED, self.text
        assert self._number("Queries lost:") <= answered * MAX_LOSS, self.text
        assert self._number("Response codes: +NOERROR") == answered, self.text
        return answered


class Load:
    """All of it, from one namespace to the appliance at each of `servers`, until finish()."""

    def __init__(self, namespace, servers, directory):
        self._namespace = namespace
        self._servers = servers
        path = os.path.join(directory, "hot")
        names = [fresh_name("plain.fake.example") for _ in range(HOT_NAMES)]
        with open(path, "w", encoding="ascii") as f:
            f.writelines(f"{name} A\n" for name in names)
        self._warm_up(names)
        self._fresh = FreshNames(namespace, servers)
        self._hits = [Hits(namespace, server, path) for server in servers]
        self._fresh.start()

    def _warm_up(self, names):
        with self._namespace.inside(), connected(self._servers[0]) as s:
            s.settimeout(3)
            for name in names:
                s.send(make_query(name).to_wire())
                asked = Asked(name, 0, 0, s.recv(4096))
                assert asked.verdict == "right", asked

    def recovery_sec(self, event):
        """From the event to the first answer of so many names in a row, asked after it, that were
        all answered right; None if that has not come."""
        row = []
        for asked in list(self._fresh.asked):
            if asked.sent < event:
                continue
            row = [*row, asked] if asked.wire and asked.verdict == "right" else []
            if len(row) == SETTLED_ANSWERS:
                return row[0].answered - event
        return None

    def machine_was_slow(self):
        return self._fresh.latest_sec > SLOW_SEC

    def abandon(self):
        """Ends it without a verdict, after something else has failed."""
        for hits in self._hits:
            hits.finish()
        self._fresh.finish()

    def finish(self):
        """Fails on anything wrong. A line about the load."""
        reports = [hits.finish() for hits in self._hits]
        self._fresh.finish()
        fresh = [asked.verdict for asked in self._fresh.asked]
        wrong = [v for v in fresh if v not in ("right", "lost", "SERVFAIL")]
        assert not wrong, wrong[:5]
        assert not self._fresh.unasked, self._fresh.unasked[:5]
        lost, failed = fresh.count("lost"), fresh.count("SERVFAIL")
        assert lost <= len(fresh) * MAX_FRESH_LOST, (lost, len(fresh))
        rate = (sum(r.check() for r in reports) + len(fresh) - lost) / reports[0].seconds
        return (f"{rate:.0f} queries a second answered, {len(fresh)} fresh names: {failed} "
                f"SERVFAIL, {lost} lost, at most {self._fresh.latest_sec:.2f} s late")

"""An upstream server that misbehaves on request: it does as the name says, and counts.

Names are `ANYTHING.BEHAVIOUR.fake.example`; BEHAVIOUR is one of BEHAVIOURS below or in
fake_faults.py, some with an argument (`delay-200`, `ttl-1`). A questions get one address, all other
types NODATA. Run as a program inside the clients' namespace; one JSON command a line on stdin, one
JSON answer on stdout. Servers are numbered from 0:
  {"do": "silent"} and {"do": "answer"}  switch all answers off and on
  {"do": "nothing"}                      all names exist and have nothing, which nobody keeps
  {"do": "counts", "name": NAME}         how often the name was asked, everything in sum, and all
                                         that each server was asked
  {"do": "last", "name": NAME}           the last query for the name: server, port, ID
  {"do": "behave", "as": BEHAVIOUR, "servers": [0]}
                                         what they do whatever the name says; "": as it says again
  {"do": "close", "servers": [0]} and {"do": "open", "servers": [0]}
                                         nobody listens there, so that the kernel answers by ICMP
  {"do": "seen"}                         queries by client and by address since the last time
An address may be ADDRESS%INTERFACE: queries that come in there are answered by the same interface.
"""

import contextlib
import heapq
import json
import select
import socket
import sys
import time

import fake_faults
from fake_messages import (EXTENDED_ERROR, FLAG_TC, FORMERR, NXDOMAIN, REFUSED, SERVFAIL, Query,
                           good_reply, message, reply)


class FakeUpstream:
    """Answers on `addresses`; `strangers`, one of each family, are addresses that nobody asks."""

    def __init__(self, addresses, strangers):
        self.addresses = addresses
        self.sockets = [self._bind(a, 53) for a in addresses]
        self.forced = [None] * len(addresses)  # (behaviour, argument) of each server
        self.by_server = [0] * len(addresses)
        self.last = {}   # name -> (server, client's port, ID)
        self.known = {}  # (socket, name) -> since when the socket recurses for it
        self.strangers = self._by_family(strangers, 53)
        self.wrong_ports = self._by_family(addresses, 5353)
        self.silent = False
        self.nothing = False
        self.total = 0
        self.by_name = {}
        self.seen = {"clients": {}, "sockets": {}}
        self.later = []  # heap of (when, serial, socket, wire, client)
        self.serial = 0

    @staticmethod
    def _bind(address, port):
        address, _, interface = address.partition("%")
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        if interface:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        s.bind((address, port))
        s.setblocking(False)
        return s

    @classmethod
    def _by_family(cls, addresses, port):
        sockets = [cls._bind(a, port) for a in addresses]
        return {s.family: s for s in sockets}

    def run(self):
        while True:
            wait = max(0.0, self.later[0][0] - time.monotonic()) if self.later else None
            listening = [s for s in self.sockets if s is not None]
            ready, _, _ = select.select([*listening, sys.stdin], [], [], wait)
            self.send_due()
            for s in ready:
                if s is not sys.stdin:
                    self.take(s)
            # Last, since it may close sockets.
            if sys.stdin in ready:
                line = sys.stdin.readline()
                if not line:
                    return
                self.command(json.loads(line))

    def command(self, command):
        result = {}
        if command["do"] in ("silent", "answer", "nothing"):
            self.silent = command["do"] == "silent"
            self.nothing = command["do"] == "nothing"
        elif command["do"] == "counts":
            result = {"total": self.total, "name": self.by_name.get(command.get("name"), 0),
                      "servers": self.by_server}
        elif command["do"] == "last":
            result = {"last": self.last.get(command["name"])}
        elif command["do"] == "seen":
            result, self.seen = self.seen, {"clients": {}, "sockets": {}}
        else:
            self.change(**command)
        print(json.dumps(result), flush=True)

    def change(self, do, servers, **how):
        for server in servers:
            if do == "behave":
                behaviour, _, argument = how["as"].partition("-")
                self.forced[server] = (behaviour, argument) if behaviour else None
            elif do == "close" and self.sockets[server] is not None:
                self.sockets[server].close()
                self.sockets[server] = None
            elif do == "open" and self.sockets[server] is None:
                self.sockets[server] = self._bind(self.addresses[server], 53)

    def take(self, s):
        server = self.sockets.index(s)
        for _ in range(64):
            try:
                wire, client = s.recvfrom(4096)
            except BlockingIOError:
                return
            query = Query(wire, client)
            self.total += 1
            self.by_name[query.name] = self.by_name.get(query.name, 0) + 1
            self.by_server[server] += 1
            self.last[query.name] = (server, client[1], query.id)
            if self.forced[server] is not None:
                query.behaviour, query.argument = self.forced[server]
            for table, key in (("clients", client[0]), ("sockets", self.addresses[server])):
                self.seen[table][key] = self.seen[table].get(key, 0) + 1
            if not self.silent:
                self.act(s, query)

    def send_due(self):
        now = time.monotonic()
        while self.later and self.later[0][0] <= now:
            _, _, s, wire, client = heapq.heappop(self.later)
            self.send(s, wire, client)

    @staticmethod
    def send(s, wire, client):
        """Whatever becomes of it: the socket may be closed by now, or its address gone."""
        with contextlib.suppress(OSError):
            s.sendto(wire, client)

    def known_for_sec(self, s, query):
        """How long ago this was called first for the socket and the name."""
        now = time.monotonic()
        return now - self.known.setdefault((s, query.name), now)

    def send_later(self, s, query, wire, delay_sec):
        self.serial += 1
        heapq.heappush(self.later, (time.monotonic() + delay_sec, self.serial, s, wire,
                                    query.client))

    def act(self, s, query):
        behaviour = BEHAVIOURS.get(query.behaviour, FakeUpstream.plain)
        if self.nothing:
            behaviour = FakeUpstream.have_nothing
        behaviour(self, s, query)

    # Behaviours, in the order of BEHAVIOURS.

    def plain(self, s, query):
        self.send(s, good_reply(query), query.client)

    def have_nothing(self, s, query):
        """NODATA without SOA (RFC 2308 §5)."""
        self.send(s, message(query), query.client)

    def be_silent(self, s, query):
        """Never answers."""

    def silent_once(self, s, query):
        if self.by_name[query.name] > 1:
            self.plain(s, query)

    def delayed(self, s, query):
        self.send_later(s, query, good_reply(query), int(query.argument) / 1000)

    def short_lived(self, s, query):
        self.send(s, good_reply(query, ttl=int(query.argument)), query.client)

    def failing(self, s, query):
        self.send(s, reply(query, SERVFAIL), query.client)

    def refusing(self, s, query):
        self.send(s, reply(query, REFUSED), query.client)

    def no_name(self, s, query):
        self.send(s, reply(query, NXDOMAIN), query.client)

    def with_error(self, s, query):
        query.options = EXTENDED_ERROR
        self.plain(s, query)

    def truncating(self, s, query):
        self.send(s, reply(query, flags=0x8180 | FLAG_TC), query.client)

    def no_edns(self, s, query):
        if query.has_opt:
            query.has_opt = False  # nor does it send any
            self.send(s, message(query, rcode=FORMERR), query.client)
        else:
            self.plain(s, query)


BEHAVIOURS = {
    **fake_faults.BEHAVIOURS,
    "plain": FakeUpstream.plain, "silent": FakeUpstream.be_silent,
    "silentonce": FakeUpstream.silent_once, "delay": FakeUpstream.delayed,
    "ttl": FakeUpstream.short_lived, "servfail": FakeUpstream.failing,
    "refused": FakeUpstream.refusing, "nxdomain": FakeUpstream.no_name,
    "ede": FakeUpstream.with_error, "tc": FakeUpstream.truncating, "noedns": FakeUpstream.no_edns,
}


if __name__ == "__main__":
    FakeUpstream(sys.argv[3:], sys.argv[1:3]).run()

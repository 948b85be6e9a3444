"""An upstream server that misbehaves on request: it does as the name says, and counts.

Names are `ANYTHING.BEHAVIOUR.fake.example`; BEHAVIOUR is one of BEHAVIOURS below, some with an
argument (`delay-200`, `ttl-1`). A questions get one address, all other types NODATA. Run as a
program inside the clients' namespace; one JSON command a line on stdin, one JSON answer on stdout:
  {"do": "silent"} and {"do": "answer"}  switch all answers off and on
  {"do": "nothing"}                      all names exist and have nothing, which nobody keeps
  {"do": "counts", "name": NAME}         how often the name was asked, and everything in sum
"""

import hashlib
import heapq
import json
import select
import socket
import struct
import sys
import time

DEFAULT_TTL = 300
TYPE_A, TYPE_SOA, TYPE_OPT = 1, 6, 41
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, REFUSED = 0, 1, 2, 3, 5
SOA_RDATA = b"\x02ns\xc0\x0c\x04host\xc0\x0c" + struct.pack("!5I", 1, 3600, 600, 86400, 60)
WRONG_ADDRESS = bytes((6, 6, 6, 6))
RIGHT_ANSWER_DELAY_SEC = 0.03


def address_of(name):
    """The address that a name has here: any test can work it out as well."""
    return bytes((192, 0, 2)) + hashlib.sha256(name.encode()).digest()[:1]


class Query:
    """A question as it came, with its name in lower case for look-ups."""

    def __init__(self, wire, client):
        self.wire = wire
        self.client = client
        self.id = struct.unpack_from("!H", wire)[0]
        self.has_opt = struct.unpack_from("!H", wire, 10)[0] > 0
        labels = []
        at = 12
        while wire[at]:
            labels.append(wire[at + 1:at + 1 + wire[at]])
            at += 1 + wire[at]
        self.question = wire[12:at + 5]
        self.rtype = struct.unpack_from("!H", wire, at + 1)[0]
        self.name = b".".join(labels).decode("latin-1").lower()
        words = self.name.split(".")
        self.behaviour, _, self.argument = (words[1] if len(words) > 1 else "").partition("-")


def reply(query, rcode=NOERROR, address=None, ttl=DEFAULT_TTL, flags=0x8180, query_id=None,
          question=None):
    """A response; without an address a negative one."""
    answer = authority = b""
    if address is not None:
        answer = struct.pack("!HHHIH", 0xC00C, TYPE_A, 1, ttl, 4) + address
    elif rcode in (NOERROR, NXDOMAIN) and not flags & 0x0200:
        authority = struct.pack("!HHHIH", 0xC00C, TYPE_SOA, 1, 60, len(SOA_RDATA)) + SOA_RDATA
    opt = struct.pack("!BHHIH", 0, TYPE_OPT, 1232, 0, 0) if query.has_opt else b""
    header = struct.pack("!6H", query.id if query_id is None else query_id, flags | rcode, 1,
                         bool(answer), bool(authority), bool(opt))
    return header + (question or query.question) + answer + authority + opt


def good_reply(query, ttl=DEFAULT_TTL):
    address = address_of(query.name) if query.rtype == TYPE_A else None
    return reply(query, address=address, ttl=ttl)


class FakeUpstream:
    """Answers on `addresses`; `stranger` is an address nobody asks, for answers from elsewhere."""

    def __init__(self, addresses, stranger):
        self.sockets = [self._bind(a, 53) for a in addresses]
        self.stranger = self._bind(stranger, 53)
        self.wrong_port = self._bind(addresses[0], 5353)
        self.silent = False
        self.nothing = False
        self.total = 0
        self.by_name = {}
        self.later = []  # heap of (when, serial, socket, wire, client)
        self.serial = 0

    @staticmethod
    def _bind(address, port):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        s.bind((address, port))
        s.setblocking(False)
        return s

    def run(self):
        while True:
            wait = max(0.0, self.later[0][0] - time.monotonic()) if self.later else None
            ready, _, _ = select.select([*self.sockets, sys.stdin], [], [], wait)
            self.send_due()
            for s in ready:
                if s is sys.stdin:
                    line = sys.stdin.readline()
                    if not line:
                        return
                    self.command(json.loads(line))
                else:
                    self.take(s)

    def command(self, command):
        result = {}
        if command["do"] in ("silent", "answer", "nothing"):
            self.silent = command["do"] == "silent"
            self.nothing = command["do"] == "nothing"
        elif command["do"] == "counts":
            result = {"total": self.total, "name": self.by_name.get(command.get("name"), 0)}
        print(json.dumps(result), flush=True)

    def take(self, s):
        for _ in range(64):
            try:
                wire, client = s.recvfrom(4096)
            except BlockingIOError:
                return
            query = Query(wire, client)
            self.total += 1
            self.by_name[query.name] = self.by_name.get(query.name, 0) + 1
            if not self.silent:
                self.act(s, query)

    def send_due(self):
        now = time.monotonic()
        while self.later and self.later[0][0] <= now:
            _, _, s, wire, client = heapq.heappop(self.later)
            s.sendto(wire, client)

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
        s.sendto(good_reply(query), query.client)

    def have_nothing(self, s, query):
        """NODATA without SOA (RFC 2308 §5)."""
        header = struct.pack("!6H", query.id, 0x8180, 1, 0, 0, 0)
        s.sendto(header + query.question, query.client)

    def be_silent(self, s, query):
        """Never answers."""

    def silent_once(self, s, query):
        if self.by_name[query.name] > 1:
            self.plain(s, query)

    def delayed(self, s, query):
        self.send_later(s, query, good_reply(query), int(query.argument) / 1000)

    def short_lived(self, s, query):
        s.sendto(good_reply(query, ttl=int(query.argument)), query.client)

    def failing(self, s, query):
        s.sendto(reply(query, SERVFAIL), query.client)

    def refusing(self, s, query):
        s.sendto(reply(query, REFUSED), query.client)

    def no_name(self, s, query):
        s.sendto(reply(query, NXDOMAIN), query.client)

    def truncating(self, s, query):
        s.sendto(reply(query, flags=0x8380), query.client)

    def no_edns(self, s, query):
        if query.has_opt:
            bare = struct.pack("!6H", query.id, 0x8180 | FORMERR, 1, 0, 0, 0) + query.question
            s.sendto(bare, query.client)
        else:
            self.plain(s, query)

    def _wrong_then_right(self, s, query, wrong, wrong_socket=None):
        (wrong_socket or s).sendto(wrong, query.client)
        self.send_later(s, query, good_reply(query), RIGHT_ANSWER_DELAY_SEC)

    def wrong_id(self, s, query):
        self._wrong_then_right(
            s, query, reply(query, address=WRONG_ADDRESS, query_id=query.id ^ 0x5555))

    def wrong_name(self, s, query):
        question = b"\x05wrong" + query.question[1 + query.question[0]:]
        self._wrong_then_right(s, query, reply(query, address=WRONG_ADDRESS, question=question))

    def wrong_type(self, s, query):
        question = query.question[:-4] + struct.pack("!HH", 28, 1)
        self._wrong_then_right(s, query, reply(query, address=WRONG_ADDRESS, question=question))

    def not_response(self, s, query):
        self._wrong_then_right(s, query, reply(query, address=WRONG_ADDRESS, flags=0x0100))

    def wrong_source(self, s, query):
        self._wrong_then_right(s, query, reply(query, address=WRONG_ADDRESS), self.stranger)

    def wrong_source_port(self, s, query):
        self._wrong_then_right(s, query, reply(query, address=WRONG_ADDRESS), self.wrong_port)

    def garbage(self, s, query):
        s.sendto(query.wire[:2] + b"\x81\x80\x00\x01\x00\x07" + b"\xff" * 40, query.client)
        self.send_later(s, query, good_reply(query), RIGHT_ANSWER_DELAY_SEC)

    def twice(self, s, query):
        self.plain(s, query)
        self.plain(s, query)


BEHAVIOURS = {
    "plain": FakeUpstream.plain, "silent": FakeUpstream.be_silent,
    "silentonce": FakeUpstream.silent_once, "delay": FakeUpstream.delayed,
    "ttl": FakeUpstream.short_lived, "servfail": FakeUpstream.failing,
    "refused": FakeUpstream.refusing, "nxdomain": FakeUpstream.no_name,
    "tc": FakeUpstream.truncating, "noedns": FakeUpstream.no_edns,
    "wrongid": FakeUpstream.wrong_id, "wrongname": FakeUpstream.wrong_name,
    "wrongtype": FakeUpstream.wrong_type, "notresponse": FakeUpstream.not_response,
    "wrongsource": FakeUpstream.wrong_source, "wrongport": FakeUpstream.wrong_source_port,
    "garbage": FakeUpstream.garbage, "twice": FakeUpstream.twice,
}


if __name__ == "__main__":
    FakeUpstream(sys.argv[2:], sys.argv[1]).run()

"""Many questions to the appliance at the same time, each answer judged; and a load of hits."""

import contextlib
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass

import dns.rcode
import dns.rdatatype
from client import Client, fresh_name, make_query, parse
from fake_messages import address_of

_SO_RCVBUFFORCE, _SO_TIMESTAMPNS = 33, 35
_TIMESPEC = struct.Struct("=qq")
# Longer than the program takes for anything, on a busy machine.
TIMEOUT_SEC = 5.0
RIGHT, NO_DATA, TRUNCATED = "RIGHT", "NO_DATA", "TRUNCATED"


@dataclass(frozen=True)
class Answer:
    """What came for a name: RIGHT, NO_DATA, TRUNCATED or the rcode; None where nothing came."""

    name: str
    kind: str
    seconds: float


def right_address(name):
    return ".".join(str(b) for b in address_of(name))


def judge(name, query, answer):
    """The kind of an answer; fails where it says anything that is not so."""
    message = parse(answer)
    assert answer[:2] == query[:2] and answer[2] & 0x80, "not the answer to this query"
    question_end = query.index(b"\0", 12) + 5
    assert answer[12:question_end] == query[12:question_end], "the question is not the client's"
    rcode = dns.rcode.to_text(message.rcode())
    records = [(rrset.name.to_text().lower(), dns.rdatatype.to_text(rrset.rdtype), r.to_text())
               for rrset in message.answer for r in rrset]
    addresses = [r for r in records if r[1] in ("A", "AAAA")]
    if addresses:
        assert records == [(name.lower() + ".", "A", right_address(name.lower()))], records
        assert rcode == "NOERROR" and not answer[2] & 2
        return RIGHT
    if answer[2] & 2:
        return TRUNCATED
    return NO_DATA if rcode == "NOERROR" else rcode


class Questions:
    """Sent one by one over IPv4 and IPv6 in turn, a socket for each; answers taken as they come.

    The kernel says when: it makes no difference how late a busy machine lets us read them.
    """

    def __init__(self, lab):
        self._client = Client(lab)
        self._open = {}  # socket -> [name, query's bytes, time.time() when sent, answered]
        self._unanswered = 0
        self.answers = []

    @property
    def names(self):
        return [name for name, *_ in self._open.values()]

    def send(self, name):
        s = self._client.socket(v6=len(self._open) % 2 == 1)
        s.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        wire = make_query(name).to_wire()
        self._open[s] = [name, wire, time.time(), False]
        self._unanswered += 1
        s.send(wire)

    def take(self, seconds):
        """Takes answers for so long, or until there is one to every question."""
        end = time.monotonic() + seconds
        while self._unanswered and (left := end - time.monotonic()) > 0:
            self._take_ready(left)

    def _take_ready(self, seconds):
        for s in select.select(list(self._open), [], [], seconds)[0]:
            name, wire, sent, answered = self._open[s]
            assert not answered, f"{name} was answered twice"
            self._open[s][3] = True
            self._unanswered -= 1
            answer, controls, _, _ = s.recvmsg(65535, 64)
            arrived, nanoseconds = _TIMESPEC.unpack(controls[0][2][:_TIMESPEC.size])
            self.answers.append(Answer(name, judge(name, wire, answer),
                                       arrived + nanoseconds / 1e9 - sent))

    def stream(self, seconds, per_second=50):
        """New names at a steady rate."""
        end = time.monotonic() + seconds
        due = time.monotonic()
        while due < end:
            self.send(fresh_name("plain.fake.example"))
            due += 1 / per_second
            while (left := due - time.monotonic()) > 0:
                self._take_ready(left)

    def close(self, timeout=TIMEOUT_SEC):
        """All answers; waits for those that are still to come, and for none to come twice."""
        self.take(timeout)
        self._take_ready(0)
        for s, (name, _, _, answered) in self._open.items():
            if not answered:
                self.answers.append(Answer(name, None, timeout))
            s.close()
        self._open.clear()
        return self.answers


def ask_all(lab, names, timeout=TIMEOUT_SEC):
    """Answers to all the names, asked at the same time."""
    questions = Questions(lab)
    for name in names:
        questions.send(name)
    return questions.close(timeout)


class HitLoad(threading.Thread):
    """Asks for names that are in the cache, at a steady rate; every answer is compared."""

    DRAIN_SEC = 1.0

    def __init__(self, lab, names, per_second=1000):
        super().__init__(daemon=True)
        self._sockets = [Client(lab).socket(v6=v6) for v6 in (False, True)]
        for s in self._sockets:
            s.setblocking(False)
            s.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 8 << 20)
        self._queries = [(make_query(name).to_wire()[2:], address_of(name)) for name in names]
        self._interval_sec = 1 / per_second
        self._stop_asked = threading.Event()
        self._expected = {}  # ID -> bytes that the answer has in its places
        self.asked = self.right = 0
        self.wrong = []

    def run(self):
        due = time.monotonic()
        while not self._stop_asked.is_set():
            self._send()
            self._receive()
            due += self._interval_sec
            # What a busy machine made late is not made up for by a burst.
            due = max(due, time.monotonic() - 10 * self._interval_sec)
            time.sleep(max(0.0, due - time.monotonic()))
        end = time.monotonic() + self.DRAIN_SEC
        while self._expected and time.monotonic() < end:
            select.select(self._sockets, [], [], 0.05)
            self._receive()

    def _send(self):
        query, address = self._queries[self.asked % len(self._queries)]
        number = self.asked % 65536
        question_end = query.index(b"\0", 10) + 5
        self._expected[number] = (query[10:question_end], address)
        # A full queue to the appliance is a loss like any other.
        with contextlib.suppress(BlockingIOError):
            self._sockets[self.asked % 2].send(struct.pack("!H", number) + query)
        self.asked += 1

    def _receive(self):
        for s in self._sockets:
            with contextlib.suppress(BlockingIOError):
                while True:
                    answer = s.recv(4096)
                    if self._is_right(answer):
                        self.right += 1
                    else:
                        self.wrong.append(answer)

    def _is_right(self, answer):
        """NOERROR, the question, and one record: A, IN, of the question's name, its address."""
        question, address = self._expected.pop(struct.unpack_from("!H", answer)[0], (None, None))
        if question is None:
            return False
        at = 12 + len(question)
        header = struct.unpack_from("!HHH", answer, 2)
        return (header == (0x8180, 1, 1) and answer[12:at] == question
                and answer[at:at + 6] == b"\xc0\x0c\0\x01\0\x01"
                and answer[at + 10:at + 16] == b"\0\x04" + address)

    def finish(self):
        self._stop_asked.set()
        self.join(self.DRAIN_SEC + 5)
        for s in self._sockets:
            s.close()

    @property
    def lost(self):
        return self.asked - self.right - len(self.wrong)

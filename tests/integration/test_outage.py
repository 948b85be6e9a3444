"""The upstream is silent for ten seconds while misses come as fast as they can."""

import os
import re
import subprocess
import threading
import time

from client import Client, fresh_name, make_query, on
from fake_messages import address_of
from lab import Setup

SETUPS = (Setup("af_xdp", workers=1, upstream="fake"),
          Setup("af_packet", workers=2, upstream="fake"))
SILENCE_SEC = 10
DEADLINE_SEC = 1.9
MISSES_PER_SECOND = 10000
# What a veth may lose while a busy machine keeps the worker off its CPU.
MAX_LOSS = 0.005
PROBE_INTERVAL_SEC = 0.01


class HitProbe(threading.Thread):
    """Asks for a name that is in the cache, over and over; counts what did not come back."""

    def __init__(self, lab, name):
        super().__init__(daemon=True)
        self._socket = Client(lab).socket()
        self._query = make_query(name)
        self._address = address_of(name)
        self._stop_asked = threading.Event()
        self.asked = 0
        self.lost = 0
        self.slowest_sec = 0.0

    def run(self):
        self._socket.settimeout(1)
        while not self._stop_asked.is_set():
            self._query.id = self.asked % 65536
            wire = self._query.to_wire()
            started = time.monotonic()
            self._socket.send(wire)
            self.asked += 1
            try:
                answer = self._socket.recv(4096)
                good = answer[:2] == wire[:2] and self._address in answer
            except OSError:
                good = False
            self.lost += not good
            self.slowest_sec = max(self.slowest_sec, time.monotonic() - started)
            time.sleep(PROBE_INTERVAL_SEC)

    def finish(self):
        self._stop_asked.set()
        self.join(5)
        self._socket.close()


def random_names(lab):
    path = os.path.join(lab.directory, "misses")
    with open(path, "w", encoding="ascii") as f:
        run = fresh_name("x").split(".")[0]
        f.writelines(f"{run}-{i}.plain.fake.example A\n"
                     for i in range(MISSES_PER_SECOND * (SILENCE_SEC + 1)))
    return path


def flood(lab):
    """dnsperf with names that nobody has asked; its output."""
    link = lab.link
    return subprocess.Popen(
        ["ip", "netns", "exec", lab.network.net.name, "dnsperf", "-s", link.v4(1), "-a",
         link.v4(3), "-d", random_names(lab), "-n", "1", "-l", str(SILENCE_SEC), "-c", "4",
         "-q", "60000", "-Q", str(MISSES_PER_SECOND), "-t", "4"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@on(*SETUPS)
def test_upstream_silent_for_ten_seconds(lab, ask, wirecache):
    hot = fresh_name("plain.fake.example")
    assert ask(hot).rcode == "NOERROR"
    before = wirecache.metrics()
    probe = HitProbe(lab, hot)
    load = flood(lab)
    lab.fake.silent()
    try:
        probe.start()
        waits = []
        end = time.monotonic() + SILENCE_SEC - 2
        while time.monotonic() < end:
            reply = ask(fresh_name("plain.fake.example"), timeout=DEADLINE_SEC + 2)
            assert reply.rcode == "SERVFAIL"
            waits.append(reply.seconds)
        output, _ = load.communicate(timeout=60)
    finally:
        lab.fake.answer()
        probe.finish()
        load.kill()
        load.wait()
    # Hits go on unchanged.
    assert probe.asked > SILENCE_SEC * 20, probe.asked
    assert probe.lost <= probe.asked * MAX_LOSS, (probe.asked, probe.lost)
    # Who waits gets SERVFAIL by the deadline (or at once, where no waiter is free).
    assert max(waits) < DEADLINE_SEC + 0.5, waits
    codes = dict(re.findall(r"([A-Z]+) (\d+) \(", output))
    assert int(codes.get("SERVFAIL", 0)) > MISSES_PER_SECOND, output
    # No pool runs dry.
    after = wirecache.metrics_at_rest()
    assert after.total("waiting_clients") == 0
    for reason in ("no_mbuf", "tx_full"):
        assert after.total("query_drops_total", reason=reason) == before.total(
            "query_drops_total", reason=reason), reason
    # It recovers by itself: new names at once, those that failed when the failure is forgotten.
    name = fresh_name("plain.fake.example")
    assert ask(name).rcode == "NOERROR"


@on(*SETUPS)
def test_a_failed_name_recovers(lab, ask):
    """The failure is remembered 5 s at first (RFC 9520 §3.2), not longer."""
    name = fresh_name("plain.fake.example")
    lab.fake.silent()
    try:
        assert ask(name).rcode == "SERVFAIL"
    finally:
        lab.fake.answer()
    time.sleep(6)
    assert ask(name).rcode == "NOERROR"

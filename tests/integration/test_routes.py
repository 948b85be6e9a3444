"""Routes and neighbours are followed while running: the rack of rack.py under 10,000 queries a
second, most of them hits, with gateways that die, change and move. Nothing is ever answered wrong,
hits go on, and misses are answered again within two seconds.
"""

import os
import re
import subprocess
import tempfile
import time

import appliance
import client
import pytest
from lab import processes
from rack import FAMILIES, GATEWAYS, LISTEN, SOURCES, UPSTREAM_NETWORKS, Rack
from route_load import Load, connected
from accounting import check_sums

RECOVERY_SEC = 2.0
# Before an event, and after it at least and at most.
BEFORE_SEC = 0.5
AFTER_SEC = 1.0
GIVE_UP_SEC = 3.0
ATTEMPTS = 3
TAP = "wc0"
WORKERS = 2


@pytest.fixture(scope="module")
def rack(alone):
    del alone
    the_rack = Rack(os.getpid())
    try:
        yield the_rack
    finally:
        the_rack.close()


class Running:
    """Wirecached in the rack, and what the tests ask of it."""

    def __init__(self, rack, directory, driver, family):
        self.rack = rack
        self.family = family
        self.directory = directory
        self.wirecached = appliance.Wirecached(rack, directory,
                                               rack.config(driver, WORKERS, family))
        if not self.wirecached.wait_ready():
            log = self.wirecached.log()
            raise RuntimeError(f"not ready, exit {self.wirecached.stop()}: {log}")

    def ip(self, *args):
        """`ip -4` or `ip -6` in the appliance's namespace."""
        return self.rack.app.ip("-6" if self.family == "v6" else "-4", *args)

    def ask(self, server, name=None, timeout=5):
        """A fresh name, or this one; the checked reply, None without an answer."""
        query = client.make_query(name or client.fresh_name("plain.fake.example"))
        with self.rack.client.inside(), connected(server) as s:
            s.settimeout(timeout)
            s.send(query.to_wire())
            try:
                return client.parse(s.recv(4096))
            except OSError:
                return None

    def gateways(self):
        """Those that upstreams are asked by, as the log says."""
        in_use = {}
        for line in processes.tail(self.wirecached.log_path, 1000).splitlines():
            found = re.match(r"upstream (\S+): by (\S+) on p0 from", line)
            if found:
                in_use[found.group(1)] = found.group(2)
        return {name for name in GATEWAYS
                if self.rack.gateway_address(name, 0, self.family) in in_use.values()}

    def agree_on(self, gateway):
        """Has all upstreams asked by this gateway: the others are silent for a while."""
        others = [name for name in GATEWAYS if name != gateway]
        if self.gateways() == {gateway}:
            return
        for name in others:
            self.rack.silence(name)
        assert processes.wait_until(lambda: self.gateways() == {gateway}, 10), self.gateways()
        for name in others:
            self.rack.revive(name)
            assert processes.wait_until(lambda name=name: self.knows(name), 10)

    def knows(self, gateway):
        """Whether the kernel holds the gateway on segment 0 for alive."""
        address = self.rack.gateway_address(gateway, 0, self.family)
        entry = self.ip("neigh", "show", address, "dev", TAP)
        return "lladdr" in entry and "FAILED" not in entry

    def ping(self, segment, count=3):
        """How many came back, over the family of the test."""
        link = self.rack.links[segment]
        address = link.v6(1) if self.family == "v6" else link.v4(1)
        done = subprocess.run(
            ["ip", "netns", "exec", self.rack.client.name, "ping", "-c", str(count), "-i", "0.1",
             "-W", "1", address], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            check=False)
        return int(re.search(r"(\d+) received", done.stdout).group(1))

    def under_load(self, scenario):
        """Calls scenario(event) under load, and again if it took too long on a busy machine.

        event(WHAT, ACTION) does something to the network and waits until misses are answered.
        """
        for _ in range(ATTEMPTS):
            load = Load(self.rack.client, [LISTEN[family][0] for family in FAMILIES],
                        self.directory)
            slow = []

            def event(what, action, load=load, slow=slow):
                time.sleep(BEFORE_SEC)
                action()
                done = time.monotonic()
                time.sleep(AFTER_SEC)
                processes.wait_until(lambda: load.recovery_sec(done) is not None, GIVE_UP_SEC)
                took = load.recovery_sec(done)
                print(f"  {self.family}, {what}: " + (f"{took:.3f} s" if took else "never"))
                if took is None or took > RECOVERY_SEC:
                    slow.append((what, took))

            try:
                scenario(event)
            except BaseException:
                load.abandon()
                raise
            print("  " + load.finish())
            if not slow:
                return
            assert load.machine_was_slow(), slow
        raise AssertionError(slow)


@pytest.fixture(scope="module")
def running(rack, request):
    driver, family = request.param
    with tempfile.TemporaryDirectory(prefix="wirecache-routes-") as directory:
        the_running = Running(rack, directory, driver, family)
        yield the_running
        ended = the_running.wirecached.ended()
        code = the_running.wirecached.stop()
        log = the_running.wirecached.log()
    assert not ended and code == 0, log


# One list for all tests: pytest starts the appliance once for each.
SETUPS = [("af_xdp", "v4"), ("af_xdp", "v6"), ("af_packet", "v4"), ("af_packet", "v6")]
everywhere = pytest.mark.parametrize("running", SETUPS, ids="-".join, indirect=True)
on_af_xdp = pytest.mark.parametrize("running", SETUPS[:2], ids="-".join, indirect=True)


@everywhere
def test_asks_from_its_sources_and_answers_at_its_listening_addresses(rack, running):
    """By the configuration's routes, although the host has a default route of its own."""
    rack.seen()
    for servers in LISTEN.values():
        for server in servers:  # by either port
            assert running.ask(server).rcode() == 0
    sources, _ = rack.seen()
    assert sources == {SOURCES[running.family][0]: 4}
    assert running.ask(SOURCES["v6"][0], timeout=0.5) is None
    routes = running.ip("route", "show", "default")
    assert routes.startswith("default via " + ("fd25::2" if running.family == "v6" else "10.250."))
    assert "metric 2048" in routes


@everywhere
def test_gateway_falls_silent(rack, running):
    """And comes back, upon which the other one does."""
    running.agree_on("a")
    rack.seen()

    def scenario(event):
        for name, other in (("a", "b"), ("b", "a")):
            event(f"gateway {name} silent", lambda name=name: rack.silence(name))
            assert processes.wait_until(lambda other=other: running.gateways() == {other}, 5)
            rack.revive(name)
            assert processes.wait_until(lambda name=name: running.knows(name), 10)

    try:
        running.under_load(scenario)
    finally:
        for name in GATEWAYS:
            rack.revive(name)
    sources, ways = rack.seen()
    assert set(ways) == set(GATEWAYS)
    assert set(sources) == {SOURCES[running.family][0]}


@on_af_xdp
def test_gateway_gets_another_mac(rack, running):
    name = "b"
    running.agree_on(name)

    def scenario(event):
        event("another MAC, announced",
              lambda: rack.set_gateway_mac(name, "02:00:00:00:00:b1", "1"))
        event("another MAC, not announced",
              lambda: rack.set_gateway_mac(name, "02:00:00:00:00:b2", "0"))

    try:
        running.under_load(scenario)
    finally:
        rack.set_gateway_mac(name, rack.gateway_mac(name, 0), "1")


@on_af_xdp
def test_route_moves_to_the_other_port(rack, running):
    network = UPSTREAM_NETWORKS[running.family]
    gateway = rack.gateway_address("a", 1, running.family)
    sources = SOURCES[running.family]

    def scenario(event):
        rack.seen()
        event("route to the other port",
              lambda: running.ip("route", "replace", network, "via", gateway, "dev", "wc1"))
        assert set(rack.seen()[0]) == set(sources)
        event("route back", lambda: running.ip("route", "del", network, "via", gateway))
        rack.seen()
        assert running.ask(LISTEN["v4"][0]).rcode() == 0
        assert set(rack.seen()[0]) == {sources[0]}

    running.under_load(scenario)


@on_af_xdp
def test_link_goes_down_and_comes_back(rack, running):
    def shows_carrier():
        return "NO-CARRIER" not in rack.app.ip("link", "show", TAP)

    def scenario(event):
        event("link down", lambda: rack.set_cable(0, "down"))
        assert not shows_carrier()
        assert running.ping(0, count=1) == 0 and running.ping(1) > 0
        event("link up", lambda: rack.set_cable(0, "up"))
        assert shows_carrier() and running.ping(0) > 0

    assert shows_carrier() and running.ping(0) > 0
    rack.seen()
    try:
        running.under_load(scenario)
    finally:
        rack.set_cable(0, "up")
    assert set(rack.seen()[0]) == set(SOURCES[running.family])


@on_af_xdp
def test_exception_port_is_set_down_and_up(rack, running):
    """By whoever administers the host: what the kernel forgets by that is given again."""
    def known():
        """Addresses and routes, but those that the kernel makes and removes by itself."""
        lines = running.ip("-o", "addr", "show", TAP) + running.ip("route", "show")
        return sorted(line.split("valid_lft")[0] for line in lines.splitlines()
                      if "fe80:" not in line)

    before = known()
    rack.app.ip("link", "set", TAP, "down")
    assert known() != before
    rack.app.ip("link", "set", TAP, "up")
    assert processes.wait_until(lambda: known() == before, 10), (before, known())
    assert running.ping(0) > 0

    def asks_by_the_first_port():
        rack.seen()
        running.ask(LISTEN["v4"][0])
        return set(rack.seen()[0]) == {SOURCES[running.family][0]}

    assert processes.wait_until(asks_by_the_first_port, 10)


@everywhere
def test_counters_add_up_at_rest(rack, running):
    del rack
    check_sums(running.wirecached.metrics_at_rest())

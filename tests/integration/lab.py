"""The laboratory of the integration tests: namespaces, upstreams, and one appliance at a time."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "lib"))

# pylint: disable=wrong-import-position
import appliance  # noqa: E402
import knot  # noqa: E402
import netns  # noqa: E402
import nsd  # noqa: E402
import processes  # noqa: E402
import type_zone  # noqa: E402

SIGNED_ZONES = ("signed.example", "signed3.example")


@dataclass(frozen=True)
class Setup:
    """One way to run wirecached. `overrides`: ((section, key, value), ...) of the configuration."""

    driver: str = "af_xdp"
    workers: int = 1
    ports: int = 1
    upstream: str = "nsd"
    overrides: tuple = ()

    def __str__(self):
        ports = f"-{self.ports}ports" if self.ports > 1 else ""
        upstream = "" if self.upstream == "nsd" else f"-{self.upstream}"
        more = "".join(f"-{key}={value}" for _, key, value in self.overrides)
        return f"{self.driver}-{self.workers}w{ports}{upstream}" + re.sub(r"[^\w=.-]", "", more)

    def config(self, lab):
        config = appliance.default_config(lab.network.links[:self.ports], self.driver,
                                          self.workers)
        if self.upstream == "fake":
            config["upstream"]["server"] = [{"address": a} for a in lab.fake.servers]
        if self.upstream == "knot":
            config["upstream"]["server"] = [{"address": lab.knot().address}]
        for section, key, value in self.overrides:
            config.setdefault(section, {})[key] = list(value) if isinstance(value, tuple) else value
        return config


class FakeUpstream:
    """The other end of fake_upstream.py, with the servers' addresses in the order of asking.

    `strangers`: an IPv4 and an IPv6 address that nobody asks.
    """

    def __init__(self, namespace, strangers, servers):
        self.servers = servers
        with namespace.inside():
            self._process = subprocess.Popen(
                ["/usr/bin/python3", "-B", os.path.join(HERE, "fake_upstream.py"), *strangers,
                 *servers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                start_new_session=True, preexec_fn=processes.die_with_parent)
        self.answer()

    def _command(self, **command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def silent(self):
        self._command(do="silent")

    def answer(self):
        self._command(do="answer")

    def nothing(self):
        self._command(do="nothing")

    def asked(self, name):
        return self._command(do="counts", name=name.rstrip(".").lower())["name"]

    def asked_in_all(self):
        return self._command(do="counts")["total"]

    def asked_of(self, server):
        """How many queries the server got, by its place in `servers`."""
        return self._command(do="counts")["servers"][server]

    def last_query(self, name):
        """(server, source port, ID) of the last query for the name; None: nobody asked."""
        return self._command(do="last", name=name.rstrip(".").lower())["last"]

    def behave(self, behaviour, servers=(0, 1)):
        """These servers treat all names so, until well()."""
        self._command(**{"do": "behave", "as": behaviour, "servers": servers})

    def shut(self, servers=(0, 1)):
        """Nobody listens there: the kernel says so by ICMP."""
        self._command(do="close", servers=servers)

    def open(self, servers=(0, 1)):
        self._command(do="open", servers=servers)

    def well(self):
        """Ends every fault."""
        self.open()
        self.behave("")
        self.answer()

    def seen(self):
        """Queries by client and by address of ours since the last call."""
        return self._command(do="seen")

    def close(self):
        with contextlib.suppress(OSError):  # it may have ended
            self._process.stdin.close()
        processes.stop(self._process)
        self._process.stdout.close()


def sign_zone(directory, name, nsec3):
    """Makes a key, fills the template in and signs it; the path of the signed zone."""
    key = subprocess.run(["ldns-keygen", "-a", "ECDSAP256SHA256", name], cwd=directory,
                         capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(HERE, "zones", "signed.zone.in"), encoding="ascii") as f:
        text = f.read().replace("@ORIGIN@", name + ".")
    path = os.path.join(directory, name + ".zone")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    options = ["-n", "-t", "5", "-s", "abcd"] if nsec3 else []
    netns.run("ldns-signzone", *options, "-o", name, "-f", path + ".signed", path,
              os.path.join(directory, key))
    return path + ".signed"


class Lab:
    """Everything that lives as long as the test session."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="wirecache-tests-")
        # NSD and the unprivileged start read below it.
        os.chmod(self.directory, 0o755)
        self.network = None
        self.nsd = None
        self.fake = None
        self._knot = None
        self.current = None  # the running Wirecached
        self.current_setup = None
        try:
            self.network = netns.Network(os.getpid(), links=netns.MAX_LINKS)
            zones = {"demo.example": os.path.join(HERE, "zones", "demo.zone")}
            for name in SIGNED_ZONES:
                zones[name] = sign_zone(self.directory, name, nsec3=name == "signed3.example")
            types = type_zone.ORIGIN
            zones[types] = os.path.join(self.directory, types + ".zone")
            with open(zones[types], "w", encoding="ascii") as f:
                f.write(type_zone.text())
            self._type_zone = {types: zones[types]}
            self.nsd = nsd.Nsd(self.network, self.directory, zones)
            self.fake = FakeUpstream(self.network.net, [self.link.v4(5), self.link.v6(5)],
                                     [self.link.v4(4), self.link.v6(4)])
        except BaseException:
            self.close()
            raise

    @property
    def link(self):
        return self.network.links[0]

    def knot(self):
        """Knot with the zone of all types; started when it is first asked for."""
        if self._knot is None:
            self._knot = knot.Knot(self.network, self.directory, self._type_zone)
        return self._knot

    def require(self, setup):
        """The appliance with this setup, started anew unless it is the one that runs."""
        if self.current is not None and setup == self.current_setup and not self.current.ended():
            return self.current
        self.stop_current()
        return self.start(setup)

    def start(self, setup):
        self.current = appliance.Wirecached(self.network, self.directory, setup.config(self))
        self.current_setup = setup
        if not self.current.wait_ready():
            log = self.current.log()
            code = self.current.stop()
            self.current = None
            raise RuntimeError(f"wirecached ({setup}) did not become ready, exit {code}: {log}")
        return self.current

    def stop_current(self):
        """SIGTERM; the exit code, None if nothing ran."""
        if self.current is None:
            return None
        code = self.current.stop()
        self.current = None
        return code

    def close(self):
        self.stop_current()
        for part in (self.fake, self._knot, self.nsd, self.network):
            if part is not None:
                part.close()
        subprocess.run(["rm", "-rf", self.directory], check=False)

"""Network namespaces for the demo and the tests: a client side and an appliance side.

Two namespaces, `wc-ID-net` (clients and upstream servers) and `wc-ID-app` (wirecached), joined by
up to four veth pairs. Pair i has the networks 10.N.0.0/24 and fdN::/64 (N = 53 + i, the digits
taken as hexadecimal in IPv6):
  .1 the appliance (its addresses are on the exception port: the inner veth end has none),
  .2 the upstream NSD, .3 the client, .4 and .5 for upstreams that misbehave.
Everything is removed by close(); the names are unique to the run.
"""

import contextlib
import ctypes
import os
import subprocess
from dataclasses import dataclass

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_FIRST_NETWORK = 53
MAX_LINKS = 4
OFFLOADS = ("tx", "rx", "txvlan", "rxvlan", "gro", "gso", "tso")


def run(*command):
    """Runs a command that has to work; its output is shown only when it does not."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@dataclass(frozen=True)
class Link:
    """One veth pair: names, MACs and addresses on it."""

    index: int

    @property
    def outer(self):
        return "v" + "aceg"[self.index]

    @property
    def inner(self):
        return "v" + "bdfh"[self.index]

    @property
    def outer_mac(self):
        return f"02:00:00:00:{self.index:02x}:02"

    @property
    def inner_mac(self):
        return f"02:00:00:00:{self.index:02x}:01"

    def v4(self, host):
        return f"10.{_FIRST_NETWORK + self.index}.0.{host}"

    def v6(self, host):
        return f"fd{_FIRST_NETWORK + self.index}::{host}"


class Namespace:
    """A named network namespace that this process can step into."""

    def __init__(self, name):
        self.name = name
        run("ip", "netns", "add", name)
        self._fd = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)

    @contextlib.contextmanager
    def inside(self):
        """Sockets, threads and processes made within the `with` belong to this namespace."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        _setns(self._fd)
        try:
            yield self
        finally:
            _setns(home)
            os.close(home)

    def ip(self, *args):
        return run("ip", "-n", self.name, *args)

    def write_sysctl(self, path, value):
        with self.inside(), open(f"/proc/sys/net/{path}", "w", encoding="ascii") as f:
            f.write(value)

    def close(self):
        os.close(self._fd)
        run("ip", "netns", "del", self.name)


def _setns(fd):
    if _LIBC.setns(fd, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns: " + os.strerror(ctypes.get_errno()))


class Network:
    """Both namespaces and the links between them."""

    def __init__(self, run_id, links=1):
        self._namespaces = []
        self.links = [Link(i) for i in range(links)]
        try:
            self.net = self._add_namespace(f"wc-{run_id}-net")
            self.app = self._add_namespace(f"wc-{run_id}-app")
            for link in self.links:
                self._add_link(link)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Removes the namespaces; whoever started processes in them has ended those before."""
        while self._namespaces:
            with contextlib.suppress(RuntimeError):
                self._namespaces.pop().close()

    def detach(self):
        """Leaves the namespaces in place (`run-demo --keep`)."""
        self._namespaces.clear()

    def _add_namespace(self, name):
        namespace = Namespace(name)
        self._namespaces.append(namespace)
        namespace.ip("link", "set", "lo", "up")
        return namespace

    def _add_link(self, link):
        self.net.ip("link", "add", link.outer, "address", link.outer_mac, "type", "veth",
                    "peer", "name", link.inner, "address", link.inner_mac, "netns", self.app.name)
        for namespace, device in ((self.net, link.outer), (self.app, link.inner)):
            namespace.write_sysctl(f"ipv6/conf/{device}/accept_ra", "0")
            switch_offloads_off(namespace, device)
        self.app.write_sysctl(f"ipv6/conf/{link.inner}/disable_ipv6", "1")
        for host in (2, 3, 4, 5):
            self.net.ip("addr", "add", link.v4(host) + "/24", "dev", link.outer)
            self.net.ip("addr", "add", link.v6(host) + "/64", "dev", link.outer, "nodad")
        self.app.ip("link", "set", "dev", link.inner, "up")
        self.net.ip("link", "set", "dev", link.outer, "up")


def switch_offloads_off(namespace, device):
    """Frames cross the veth as they would a wire: complete checksums, tags inside, no big segments.

    One switch at a time, since a kernel may know some of them only.
    """
    for offload in OFFLOADS:
        with contextlib.suppress(RuntimeError):
            run("ip", "netns", "exec", namespace.name, "ethtool", "-K", device, offload, "off")

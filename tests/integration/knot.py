"""Knot DNS as an upstream: a second opinion on what an answer holds and how long it is."""

import contextlib
import os

import processes

_CONFIG = """server:
    rundir: "{directory}"
    listen: {address}@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    udp-max-payload: 4096
database:
    storage: "{directory}"
log:
  - target: stderr
    any: info
template:
  - id: default
    storage: "{directory}"
    zonefile-sync: -1
    zonefile-load: whole
    journal-content: none
    semantic-checks: off
zone:
"""
_ZONE = """  - domain: "{name}"
    file: "{path}"
"""
_HOST = 6  # beside those of netns.py


class Knot:
    """One Knot in the namespace of the clients, at an address of its own. `zones`: names, files."""

    def __init__(self, network, directory, zones):
        link = network.links[0]
        self._network = network
        self._device = link.outer
        self.address = link.v4(_HOST)
        self.process = None
        network.net.ip("addr", "add", self.address + "/24", "dev", self._device)
        self._log_path = os.path.join(directory, "knot.log")
        config_path = os.path.join(directory, "knot.conf")
        with open(config_path, "w", encoding="ascii") as f:
            f.write(_CONFIG.format(directory=directory, address=self.address))
            for name, path in zones.items():
                f.write(_ZONE.format(name=name, path=path))
        self.process = processes.start(["knotd", "-c", config_path], self._log_path, network.net)
        if not processes.wait_until(lambda: self._ended() or self._is_ready(len(zones)), 10):
            self.close()
            raise RuntimeError("Knot loads no zones: " + processes.tail(self._log_path))
        if self._ended():
            raise RuntimeError("Knot did not start: " + processes.tail(self._log_path))

    def _ended(self):
        return self.process.poll() is not None

    def _is_ready(self, zones):
        return processes.tail(self._log_path, 1000).count("loaded, serial") == zones

    def close(self):
        if self.process is not None:
            processes.stop(self.process)
        with contextlib.suppress(RuntimeError):
            self._network.net.ip("addr", "del", self.address + "/24", "dev", self._device)

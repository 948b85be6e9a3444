"""NSD as the upstream server of the demo and the tests."""

import os
import socket
import struct

import processes

_CONFIG = """server:
  {addresses}
  server-count: 1
  username: ""
  chroot: ""
  zonesdir: "{directory}"
  zonelistfile: "{directory}/zone.list"
  xfrdfile: "{directory}/xfrd.state"
  xfrdir: "{directory}"
  pidfile: "{directory}/nsd.pid"
  database: ""
  minimal-responses: no
  refuse-any: no
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
  ipv4-edns-size: 4096
  ipv6-edns-size: 4096
remote-control:
  control-enable: no
"""
_ZONE = """zone:
  name: "{name}"
  zonefile: "{path}"
"""


class Nsd:
    """One NSD in the namespace of the clients, on each link. `zones`: names and files."""

    def __init__(self, network, directory, zones, outlive_parent=False):
        link = network.links[0]
        self.address = link.v4(2)
        self.address6 = link.v6(2)
        self.log_path = os.path.join(directory, "nsd.log")
        config_path = os.path.join(directory, "nsd.conf")
        addresses = "\n  ".join(f"ip-address: {a}@53" for each in network.links
                                for a in (each.v4(2), each.v6(2)))
        with open(config_path, "w", encoding="ascii") as f:
            f.write(_CONFIG.format(addresses=addresses, directory=directory))
            for name, path in zones.items():
                f.write(_ZONE.format(name=name, path=os.path.abspath(path)))
        self.process = processes.start(["nsd", "-d", "-c", config_path], self.log_path,
                                       network.net, outlive_parent)
        zone = next(iter(zones))
        if not processes.wait_until(lambda: self._ended() or self._answers(network, zone), 10):
            self.close()
            raise RuntimeError("NSD does not answer: " + processes.tail(self.log_path))
        if self._ended():
            raise RuntimeError("NSD did not start: " + processes.tail(self.log_path))

    def _ended(self):
        return self.process.poll() is not None

    def _answers(self, network, zone):
        """Whether NSD says NOERROR to the zone's SOA."""
        name = b"".join(bytes([len(x)]) + x.encode() for x in zone.rstrip(".").split("."))
        query = struct.pack("!6H", 1, 0, 1, 0, 0, 0) + name + b"\0" + struct.pack("!2H", 6, 1)
        with network.net.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(0.3)
            try:
                s.sendto(query, (self.address, 53))
                answer = s.recv(4096)
            except OSError:
                return False
        return len(answer) > 12 and answer[3] & 15 == 0 and answer[7] > 0

    def close(self):
        processes.stop(self.process)

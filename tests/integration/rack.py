"""A small data centre for the routing tests: two ports, two gateways, two upstream networks.

    up0 198.18.0.53 fd18::53     up1 198.18.1.53 fd18:0:1::53      upstream servers
      | |                          | |                             one cable to each gateway
     gwa gwb                      gwa gwb                          routers
      | |                          | |
    segment 0 (bridge br0)       segment 1 (bridge br1)            10.53.0.0/24 and 10.54.0.0/24
      |      |                     |      |
     p0    client                 p1    client                     fd53::/64 and fd54::/64

Segments are bridges in a namespace of their own, so that a gateway can fall silent while every
link stays up. Hosts on them: .1 the appliance, .2 gateway A, .3 gateway B, .10 the client. The
appliance listens on addresses on no segment's network, and asks from addresses of their own.
Besides, its host has a default route of its own by a management interface.
An upstream answers by the gateway that the query came through.
"""

import appliance
from lab import FakeUpstream, netns

GATEWAYS = {"a": 2, "b": 3}  # and their hosts on the segments
CLIENT_HOST = 10
FAMILIES = ("v4", "v6")
LISTEN = {"v4": ["203.0.113.53", "203.0.113.54"], "v6": ["fd99::53", "fd99::54"]}
SOURCES = {"v4": ["198.51.100.1", "198.51.100.2"], "v6": ["fd53::7", "fd54::7"]}  # by port
UPSTREAM_NETWORKS = {"v4": "198.18.0.0/15", "v6": "fd18::/32"}


def upstream_address(family, network):
    return f"fd18:0:{network}::53" if family == "v6" else f"198.18.{network}.53"


class Rack:
    """The namespaces, their wiring and the two upstreams. Has what Wirecached needs of a network:
    `app` and `links`."""

    def __init__(self, run_id):
        self.links = [netns.Link(0), netns.Link(1)]
        self.upstreams = []
        self._namespaces = []
        self._run_id = run_id
        try:
            self.app, self.switch, self.client = map(self._add, ("app", "switch", "client"))
            self.gateways = {name: self._add("gw" + name) for name in GATEWAYS}
            networks = [self._add(f"up{i}") for i in (0, 1)]
            for link in self.links:
                self._add_segment(link)
            for i, namespace in enumerate(networks):
                self._add_upstream(namespace, i)
            self._add_own_default_route()
        except BaseException:
            self.close()
            raise

    def close(self):
        for fake in self.upstreams:
            fake.close()
        while self._namespaces:
            self._namespaces.pop().close()

    # --- building

    def _add(self, name):
        namespace = netns.Namespace(f"wr-{self._run_id}-{name}")
        self._namespaces.append(namespace)
        namespace.ip("link", "set", "lo", "up")
        for what in ("default", "all"):
            namespace.write_sysctl(f"ipv4/conf/{what}/rp_filter", "0")
            namespace.write_sysctl(f"ipv6/conf/{what}/accept_ra", "0")
        if name.startswith("gw"):
            namespace.write_sysctl("ipv4/ip_forward", "1")
            namespace.write_sysctl("ipv6/conf/all/forwarding", "1")
        return namespace

    def _add_segment(self, link):
        bridge = f"br{link.index}"
        self.switch.ip("link", "add", bridge, "type", "bridge", "mcast_snooping", "0")
        self.switch.ip("link", "set", bridge, "up")
        self._plug_in(bridge, link.outer, self.app, link.inner, link.inner_mac)
        self.app.write_sysctl(f"ipv6/conf/{link.inner}/disable_ipv6", "1")
        for name, gateway in self.gateways.items():
            self._plug_in(bridge, f"{name}{link.index}", gateway, f"s{link.index}",
                          self.gateway_mac(name, link.index))
            _give(gateway, f"s{link.index}", link, GATEWAYS[name])
            gateway.ip("route", "add", SOURCES["v4"][link.index], "via", link.v4(1))
        self._plug_in(bridge, f"c{link.index}", self.client, f"c{link.index}",
                      f"02:00:00:00:{link.index:02x}:10")
        _give(self.client, f"c{link.index}", link, CLIENT_HOST)
        # The second listening address is asked by the first port, the first by the second.
        self.client.ip("route", "add", LISTEN["v4"][1 - link.index], "via", link.v4(1))
        self.client.ip("route", "add", LISTEN["v6"][1 - link.index], "via", link.v6(1))

    def _plug_in(self, bridge, bridge_port, namespace, device, mac):
        self.switch.ip("link", "add", bridge_port, "type", "veth", "peer", "name", device,
                       "address", mac, "netns", namespace.name)
        netns.switch_offloads_off(namespace, device)
        self.switch.ip("link", "set", bridge_port, "master", bridge, "up")
        namespace.ip("link", "set", device, "up")

    def _add_upstream(self, namespace, network):
        for family in FAMILIES:
            namespace.ip("addr", "add", upstream_address(family, network), "dev", "lo")
        sockets = []
        for name, gateway in self.gateways.items():
            uplink, cable = f"u{network}", f"g{name}"
            gateway.ip("link", "add", uplink, "type", "veth", "peer", "name", cable, "netns",
                       namespace.name)
            gateway.ip("link", "set", uplink, "up")
            namespace.ip("link", "set", cable, "up")
            for family in FAMILIES:
                near, far, length = _cable_addresses(family, GATEWAYS[name], network)
                _add_address(gateway, near + length, uplink)
                _add_address(namespace, far + length, cable)
                upstream = upstream_address(family, network)
                gateway.ip("route", "add", upstream, "via", far)
                namespace.ip("route", "add", "default", "via", near, "metric",
                             str(GATEWAYS[name]))
                sockets.append(f"{upstream}%{cable}")
        self.upstreams.append(FakeUpstream(namespace, ("127.0.0.1", "::1"), sockets))

    def _add_own_default_route(self):
        self.app.ip("link", "add", "mgmt0", "type", "veth", "peer", "name", "mgmt0", "netns",
                    self.switch.name)
        self.switch.ip("link", "set", "mgmt0", "up")
        self.app.ip("link", "set", "mgmt0", "up")
        _add_address(self.app, "10.250.0.1/24", "mgmt0")
        _add_address(self.app, "fd25::1/64", "mgmt0")
        self.app.ip("route", "add", "default", "via", "10.250.0.2")
        self.app.ip("route", "add", "default", "via", "fd25::2")

    # --- what is where

    @staticmethod
    def gateway_mac(name, segment):
        return f"02:00:00:00:{segment:02x}:a{GATEWAYS[name]}"

    def gateway_address(self, name, segment, family):
        link = self.links[segment]
        return link.v6(GATEWAYS[name]) if family == "v6" else link.v4(GATEWAYS[name])

    def config(self, driver, workers, family):
        """Upstreams of one family alone, so that the other cannot stand in for it. The route by
        port 1 is the wider one: used when port 0's is gone."""
        config = appliance.default_config(self.links, driver, workers)
        for i, port in enumerate(config["port"]):
            port["addresses"] += [SOURCES["v4"][i] + "/32", SOURCES["v6"][i] + "/64"]
        config["port"][0]["addresses"] += [a + "/32" for a in LISTEN["v4"]]
        config["port"][0]["addresses"] += [a + "/128" for a in LISTEN["v6"]]
        config["listen"] = {"addresses": LISTEN["v4"] + LISTEN["v6"]}
        config["upstream"]["sources"] = SOURCES["v4"] + SOURCES["v6"]
        config["upstream"]["server"] = [{"address": upstream_address(family, i)} for i in (0, 1)]
        config["route"] = []
        for fam, default in (("v4", "0.0.0.0/0"), ("v6", "::/0")):
            for segment, to in enumerate((UPSTREAM_NETWORKS[fam], default)):
                config["route"].append({"to": to, "via": [
                    self.gateway_address(name, segment, fam) for name in GATEWAYS]})
        return config

    # --- events

    def silence(self, gateway):
        """Takes the gateway off the segments, the first one last; nobody's link goes down."""
        for link in reversed(self.links):
            self.switch.ip("link", "set", f"{gateway}{link.index}", "nomaster")

    def revive(self, gateway):
        for link in self.links:
            self.switch.ip("link", "set", f"{gateway}{link.index}", "master", f"br{link.index}")

    def set_gateway_mac(self, gateway, mac, announce):
        """On segment 0. `announce`: "0" or "1", whether by gratuitous ARP and NDP."""
        namespace = self.gateways[gateway]
        namespace.write_sysctl("ipv4/conf/s0/arp_notify", announce)
        namespace.write_sysctl("ipv6/conf/s0/ndisc_notify", announce)
        namespace.ip("link", "set", "s0", "address", mac)

    def set_cable(self, port, state):
        """The switch's end of the port's cable, "up" or "down"."""
        self.switch.ip("link", "set", self.links[port].outer, state)

    def seen(self):
        """(sources, ways) of the upstream queries since the last call; a way is a gateway."""
        sources, ways = {}, {}
        for fake in self.upstreams:
            seen = fake.seen()
            for address, count in seen["clients"].items():
                sources[address] = sources.get(address, 0) + count
            for place, count in seen["sockets"].items():
                way = place.rpartition("%g")[2]
                ways[way] = ways.get(way, 0) + count
        return sources, ways


def _cable_addresses(family, host, network):
    """(gateway's end, upstream's end, prefix length) of the cable between them."""
    net = f"fd16:{host}:{network}::" if family == "v6" else f"172.16.{host}{network}."
    return net + "1", net + "2", "/64" if family == "v6" else "/24"


def _add_address(namespace, address, device):
    dad = ("nodad",) if ":" in address else ()
    namespace.ip("addr", "add", address, "dev", device, *dad)


def _give(namespace, device, link, host):
    _add_address(namespace, link.v4(host) + "/24", device)
    _add_address(namespace, link.v6(host) + "/64", device)

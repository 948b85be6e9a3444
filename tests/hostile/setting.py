"""What the packets are made for and judged by: the addresses and ports of one appliance."""

import ipaddress
from dataclasses import dataclass, field

IPV4_BYTES, IPV6_BYTES = 4, 16


def packed(address):
    """The bytes of an address given as text."""
    return ipaddress.ip_address(address).packed


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


@dataclass(frozen=True)
class Setting:
    """One port, its cache empty, no question pending. Addresses and MACs are bytes."""

    port_mac: bytes
    listen: tuple  # one IPv4 and one IPv6 address
    upstream_sources: tuple
    client_v4: bytes
    client_v6: bytes
    client_mac: bytes = mac("02:aa:aa:aa:aa:aa")
    allowed: tuple = ("10.0.0.0/8", "fd00::/8")
    listen_port: int = 53
    first_source_port: int = 10000
    last_source_port: int = 32767
    udp_size: int = 1232
    any_ttl: int = 3600  # of the HINFO record that answers ANY; RFC 8482 leaves it open
    _networks: tuple = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        networks = (ipaddress.ip_network(n) for n in self.allowed)
        object.__setattr__(self, "_networks", tuple(
            (len(n.network_address.packed), int(n.network_address), int(n.netmask))
            for n in networks))

    def allows(self, client):
        value = int.from_bytes(client, "big")
        return any(len(client) == size and value & mask == network
                   for size, network, mask in self._networks)

    def server(self, v6):
        return self.listen[1 if v6 else 0]

    def client(self, v6):
        return self.client_v6 if v6 else self.client_v4


# The in-process node of tests/support/rig.h.
RIG = Setting(
    port_mac=mac("02:00:00:00:01:00"),
    listen=(packed("10.0.0.1"), packed("fd00::1")),
    upstream_sources=(packed("10.0.0.1"), packed("fd00::1")),
    client_v4=packed("10.0.0.9"),
    client_v6=packed("fd00::9"),
)

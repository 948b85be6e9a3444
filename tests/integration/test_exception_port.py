"""Ping, ping6 and TCP to the appliance's addresses, by the kernel, while queries pass."""

import contextlib
import re
import socket
import subprocess
import threading

import pytest
from client import ALL_SETUPS, on
from frames import Wire
from lab import Setup, netns
from scapy.all import ICMP, IP, Dot1AD, Dot1Q, Ether, IPv6, raw
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest

QUERIES_PER_SECOND = 100000
LOAD_SEC = 4
ECHO_PORT = 7777
# On AF_PACKET the kernel takes the outer tag out of the frame and the driver puts it back as one of
# 802.1Q.
QINQ = (Setup("af_xdp", workers=1), Setup("af_xdp", workers=2, ports=2))
LOADED = (Setup("af_xdp", workers=1), Setup("af_packet", workers=2))


@pytest.fixture
def tcp_echo(lab, wirecache):
    """A TCP service in the appliance's namespace, as its SSH or BGP would be."""
    del wirecache
    with lab.network.app.inside():
        listener = socket.create_server(("::", ECHO_PORT), family=socket.AF_INET6,
                                        dualstack_ipv6=True)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    while data := connection.recv(65536):
                        connection.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    yield
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def ping(lab, address, count=10):
    done = subprocess.run(["ip", "netns", "exec", lab.network.net.name, "ping", "-c", str(count),
                           "-i", "0.1", "-W", "1", address], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    return int(re.search(r"(\d+) received", done.stdout).group(1)), done.stdout


def echo_over_tcp(lab, address, size=100000):
    """Whether a TCP connection brings back what was sent: several segments each way."""
    data = bytes(range(256)) * (size // 256)
    with lab.network.net.inside():
        connection = socket.create_connection((address, ECHO_PORT), timeout=10)
    with connection:
        threading.Thread(target=connection.sendall, args=(data,), daemon=True).start()
        received = b""
        while len(received) < len(data):
            part = connection.recv(65536)
            if not part:
                break
            received += part
    return received == data


@contextlib.contextmanager
def load(lab):
    """kxdpgun asks for cached names while the body runs; ends with its output in a list."""
    output = []
    ping(lab, lab.link.v4(1), count=1)  # kxdpgun takes the next hop's MAC from the kernel
    with subprocess.Popen(
            ["ip", "netns", "exec", lab.network.net.name, "kxdpgun", "-t", str(LOAD_SEC), "-Q",
             str(QUERIES_PER_SECOND), "-I", lab.link.outer, "-l", lab.link.v4(3), "-i",
             lab.directory + "/hot", lab.link.v4(1)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True) as process:
        try:
            yield output
            output.append(process.communicate(timeout=30)[0])
        finally:
            if process.poll() is None:
                process.kill()
            with contextlib.suppress(RuntimeError):
                netns.run("ip", "-n", lab.network.net.name, "link", "set", "dev", lab.link.outer,
                          "xdp", "off")


@on(*ALL_SETUPS)
def test_kernel_answers_on_every_port(lab, wirecache, tcp_echo):
    """Nothing comes twice: on AF_PACKET the kernel sees each packet as well."""
    del wirecache, tcp_echo
    for link in lab.network.links[:lab.current_setup.ports]:
        for address in (link.v4(1), link.v6(1)):
            received, text = ping(lab, address)
            assert received == 10 and "DUP" not in text, text
            assert echo_over_tcp(lab, address)


@on(*LOADED)
def test_kernel_answers_under_load(lab, ask, wirecache, tcp_echo):
    del tcp_echo
    with open(lab.directory + "/hot", "w", encoding="ascii") as f:
        for name in ("www", "four", "mail1", "ns1"):
            assert ask(f"{name}.demo.example").rcode == "NOERROR"
            f.write(f"{name}.demo.example A\n")
    hits = wirecache.metrics().total("queries_total", outcome="hit")
    with load(lab) as output:
        for address in (lab.link.v4(1), lab.link.v6(1)):
            received, text = ping(lab, address)
            assert received >= 9 and "DUP" not in text, text
            assert echo_over_tcp(lab, address)
    sent = int(re.search(r"total queries: +(\d+)", output[0]).group(1))
    answered = int(re.search(r"total replies: +(\d+)", output[0]).group(1))
    assert sent > QUERIES_PER_SECOND * LOAD_SEC * 0.5, output[0]
    assert wirecache.metrics_at_rest().total("queries_total", outcome="hit") >= hits + answered


@on(*ALL_SETUPS)
def test_no_icmp_errors_for_dns(lab, ask):
    """The kernel, which has the address but nobody on port 53, must not have its say."""
    def unreachables():
        found = 0
        with lab.network.net.inside():
            with open("/proc/thread-self/net/snmp6", encoding="ascii") as f:
                found += sum(int(line.split()[1]) for line in f
                             if line.startswith("Icmp6InDestUnreachs"))
            with open("/proc/thread-self/net/snmp", encoding="ascii") as f:
                names, values = [line.split() for line in f if line.startswith("Icmp:")]
        return found + int(values[names.index("InDestUnreachs")])

    before = unreachables()
    for v6 in (False, True):
        for _ in range(20):
            ask("www.demo.example", v6=v6)
    assert unreachables() == before


def qinq_pings(link, v6):
    """The client's ping with 802.1ad tag 100 and 802.1Q tag 5, and the answer to it."""
    tags = Dot1AD(vlan=100) / Dot1Q(vlan=5)
    there = Ether(src=link.outer_mac, dst=link.inner_mac) / tags
    back = Ether(src=link.inner_mac, dst=link.outer_mac) / tags
    data = b"q" * 48
    if v6:
        there /= IPv6(src=link.v6(3), dst=link.v6(1)) / ICMPv6EchoRequest(id=7, data=data)
        back /= IPv6(src=link.v6(1), dst=link.v6(3)) / ICMPv6EchoReply(id=7, data=data)
    else:
        there /= IP(src=link.v4(3), dst=link.v4(1)) / ICMP(type="echo-request", id=7) / data
        back /= IP(src=link.v4(1), dst=link.v4(3)) / ICMP(type="echo-reply", id=7) / data
    return raw(there), raw(back)


@on(*QINQ)
@pytest.mark.parametrize("v6", (False, True), ids=("v4", "v6"))
def test_qinq_passes_through(lab, wirecache, v6):
    """Byte for byte, both ways. Whoever stands on the exception port takes the kernel's part, which
    may have no VLAN interfaces."""
    before = wirecache.metrics()
    for link in lab.network.links[:lab.current_setup.ports]:
        outside = Wire(lab.network.net, link.outer)
        inside = Wire(lab.network.app, f"wc{link.index}")
        with contextlib.closing(outside), contextlib.closing(inside):
            question, answer = qinq_pings(link, v6)
            outside.send(question)
            assert question in inside.frames(3)
            inside.send(answer)
            assert answer in outside.frames(3)
    after = wirecache.metrics()
    for name in ("exception_to_kernel_packets_total", "exception_from_kernel_packets_total"):
        assert after.total(name) - before.total(name) >= lab.current_setup.ports

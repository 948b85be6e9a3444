"""What else runs on the host goes on working while Wirecache has the port and answers a load.

tcpdump, an NTP server, an SSH server and a resolver of the kernel's sockets that uses the same
upstream, all in the appliance's namespace and on its addresses.
"""

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import time

import dns.query
import pytest
from client import canonical, fresh_name, make_query, on
from lab import Setup, processes

SETUPS = (Setup("af_xdp", workers=1), Setup("af_packet", workers=2))
LOAD_QPS = 1000
# A veth's queue may overflow while a busy machine keeps the worker off its CPU.
MAX_LOSS = 0.02
RESOLVER_PORT, NTP_PORT, SSH_PORT = 5300, 123, 22
NTP_STRATUM = 8
HOT_NAMES = ("www", "four", "mail1", "ns1")
TCPDUMP = ("tcpdump", "-n", "-l", "-p", "--immediate-mode", "-Z", "root")


@pytest.fixture(autouse=True)
def load(lab, ask, wirecache):
    """dnsperf asks Wirecache all the while; hardly any of its queries may be lost."""
    path = os.path.join(lab.directory, "load")
    with open(path, "w", encoding="ascii") as f:
        for name in HOT_NAMES:
            assert ask(f"{name}.demo.example").rcode == "NOERROR"
            f.write(f"{name}.demo.example A\n")

    def hits():
        return wirecache.metrics().total("queries_total", outcome="hit")

    before = hits()
    with lab.network.net.inside():
        process = subprocess.Popen(
            ["dnsperf", "-s", lab.link.v4(1), "-d", path, "-Q", str(LOAD_QPS), "-l", "60"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, preexec_fn=processes.die_with_parent)
    try:
        started = time.monotonic()
        assert processes.wait_until(lambda: hits() > before, 10), "dnsperf does not ask"
        yield
        seconds = time.monotonic() - started
        assert process.poll() is None, process.stdout.read()
        process.send_signal(signal.SIGINT)  # it prints its statistics
        report = process.communicate(timeout=30)[0]
    finally:
        processes.stop(process)
    sent = int(re.search(r"Queries sent: +(\d+)", report).group(1))
    answered = re.search(r"Response codes: +NOERROR (\d+) \(100\.00%\)", report)
    assert sent > LOAD_QPS * seconds / 4, report
    assert answered and int(answered.group(1)) >= sent * (1 - MAX_LOSS), report


@contextlib.contextmanager
def service(lab, name, command, is_up):
    """A program on the appliance's side, from when `is_up()` says so."""
    log = os.path.join(lab.directory, name + ".log")
    process = processes.start(command, log, lab.network.app)
    try:
        processes.wait_until(lambda: process.poll() is not None or is_up(log), 20)
        assert process.poll() is None, f"{name} ended: {processes.tail(log)}"
        assert is_up(log), f"{name} is not up: {processes.tail(log)}"
        yield log
    finally:
        processes.stop(process)


def says(text):
    """Whether a log holds the text."""
    return lambda log: text in processes.tail(log, 1000)


def addresses(lab):
    """Of the appliance, both families."""
    return lab.link.v4(1), lab.link.v6(1)


def write(lab, name, text):
    path = os.path.join(lab.directory, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def outside(lab, *command, timeout=60):
    """Output of a client's command."""
    with lab.network.net.inside():
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=timeout, check=False)


def ask_udp(namespace, query, server, port):
    with namespace.inside():
        return dns.query.udp(query, server, timeout=5, port=port)


# --- tcpdump

SEEN_BY_TCPDUMP = {
    "ARP": r"ARP, Request who-has 10\.53\.0\.1 ",
    "ARP answer": r"ARP, Reply 10\.53\.0\.1 is-at 02:00:00:00:00:01",
    "NDP": r"neighbor solicitation, who has fd53::1",
    "ping": r"IP 10\.53\.0\.2 > 10\.53\.0\.1: ICMP echo request",
    "ping answer": r"IP 10\.53\.0\.1 > 10\.53\.0\.2: ICMP echo reply",
    "ping6": r"IP6 fd53::\d+ > fd53::1: ICMP6, echo request",
    "ping6 answer": r"IP6 fd53::1 > fd53::\d+: ICMP6, echo reply",
    "TCP": r"IP 10\.53\.0\.\d+\.\d+ > 10\.53\.0\.1\.4321: Flags \[S\]",
    "TCP answer": r"IP 10\.53\.0\.1\.4321 > 10\.53\.0\.\d+\.\d+: Flags \[R",
}


def make_kernel_traffic(lab):
    """ARP, NDP, ping over both families, and a TCP connection that nobody takes."""
    lab.network.net.ip("neigh", "flush", "dev", lab.link.outer)
    for address in addresses(lab):
        done = outside(lab, "ping", "-c", "2", "-i", "0.2", "-W", "2", address)
        assert " 2 received" in done.stdout, done.stdout
    with lab.network.net.inside(), pytest.raises(ConnectionRefusedError):
        socket.create_connection((lab.link.v4(1), 4321), timeout=5).close()


def unseen(log, patterns):
    text = processes.tail(log, 100000)
    return [what for what, pattern in patterns.items() if not re.search(pattern, text)]


@on(*SETUPS)
def test_tcpdump_on_the_exception_port(lab):
    """It shows all that the kernel deals with, and none of the data plane's."""
    with service(lab, "tcpdump", [*TCPDUMP, "-i", "wc0"], says("listening on")) as log:
        make_kernel_traffic(lab)
        processes.wait_until(lambda: not unseen(log, SEEN_BY_TCPDUMP), 10)
        assert unseen(log, SEEN_BY_TCPDUMP) == []
        assert not re.search(r"\.53: \d+\+", processes.tail(log, 100000)), "a DNS query"


@on(Setup("af_packet", workers=2))
def test_tcpdump_on_the_netdev(lab):
    """Where the driver shares the netdev, tcpdump sees all that comes in, DNS included.

    What goes out is not there: the driver bypasses the queueing discipline, and the taps with it.
    """
    received = {what: pattern for what, pattern in SEEN_BY_TCPDUMP.items() if "answer" not in what}
    received["query"] = r"> 10\.53\.0\.1\.53: \d+\+ A\? www\.demo\.example"
    with service(lab, "tcpdump", [*TCPDUMP, "-i", lab.link.inner], says("listening on")) as log:
        make_kernel_traffic(lab)
        processes.wait_until(lambda: not unseen(log, received), 10)
        assert unseen(log, received) == []


# --- NTP

@pytest.fixture
def ntp_server(lab, wirecache):
    """chronyd with the host's clock as it is: it may neither set nor steer it (-x)."""
    del wirecache
    pid = os.path.join(lab.directory, "chronyd.pid")
    binds = "".join(f"bindaddress {a}\n" for a in addresses(lab))
    config = write(lab, "chrony.conf", f"local stratum {NTP_STRATUM}\nallow\n{binds}"
                   f"pidfile {pid}\ncmdport 0\nbindcmdaddress /\n")
    with service(lab, "chronyd", ["chronyd", "-x", "-d", "-u", "root", "-f", config],
                 lambda log: os.path.exists(pid)):
        yield


def ntp_exchange(lab, server):
    """One client packet (RFC 5905 §7.3) and its answer: (leap, version, mode), stratum, origin."""
    sent = struct.pack("!II", 0x12345678, 0x9abcdef0)
    with lab.network.net.inside():
        s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
    with s:
        s.settimeout(5)
        s.connect((server, NTP_PORT))
        s.send(bytes([0x23]) + bytes(39) + sent)
        answer = s.recv(1024)
    assert len(answer) == 48
    return (answer[0] >> 6, answer[0] >> 3 & 7, answer[0] & 7), answer[1], answer[24:32] == sent


@on(*SETUPS)
def test_ntp_server(lab, ntp_server):
    del ntp_server
    for address in addresses(lab):
        assert ntp_exchange(lab, address) == ((0, 4, 4), NTP_STRATUM, True)


@on(*SETUPS)
def test_ntp_client_of_its_own(lab, ntp_server):
    """chronyd as the client too: it takes the server for a good one. -Q only measures."""
    del ntp_server
    pid = os.path.join(lab.directory, "chronyd-client.pid")
    done = outside(lab, "chronyd", "-Q", "-t", "30", "-u", "root", f"pidfile {pid}", "cmdport 0",
                   "bindcmdaddress /", f"server {lab.link.v4(1)} iburst maxsamples 1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"System clock wrong by -?[\d.]+ seconds \(ignored\)",
                     done.stdout + done.stderr)


# --- SSH

@pytest.fixture
def ssh_host_key(lab, wirecache):
    """sshd with a key of its own; gives the public key. /run/sshd is in a private mount."""
    del wirecache
    key = os.path.join(lab.directory, "ssh_host_key")
    for path in (key, key + ".pub"):
        if os.path.exists(path):
            os.remove(path)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    listen = "".join(f"ListenAddress {a}\n" for a in addresses(lab))
    config = write(lab, "sshd_config", f"Port {SSH_PORT}\n{listen}HostKey {key}\nPidFile none\n"
                   "UsePAM no\nPasswordAuthentication no\n")
    run = ("mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && "
           f"exec /usr/sbin/sshd -D -e -f {config}")
    with service(lab, "sshd", ["sh", "-c", run], says(f"listening on {lab.link.v4(1)}")):
        with open(key + ".pub", encoding="ascii") as f:
            yield f.read().split()[1]


@on(*SETUPS)
def test_ssh_server(lab, ssh_host_key):
    """A key exchange over TCP: the client has seen the server prove that it holds the key."""
    for address in addresses(lab):
        done = outside(lab, "ssh-keyscan", "-T", "15", "-t", "ed25519", address)
        assert "SSH-2.0-OpenSSH" in done.stdout + done.stderr, done.stderr
        keys = [line.split() for line in done.stdout.splitlines() if not line.startswith("#")]
        assert [key[1:] for key in keys] == [["ssh-ed25519", ssh_host_key]], done.stderr


# --- a resolver of the kernel's sockets

@pytest.fixture
def resolver(lab, wirecache):
    """Unbound on another port of the same addresses, forwarding to the same upstream.

    It chooses its source ports itself, so it has to be told which are the data plane's.
    """
    del wirecache
    interfaces = "".join(f"  interface: {a}@{RESOLVER_PORT}\n"
                         for a in (*addresses(lab), "127.0.0.1"))
    config = write(lab, "unbound.conf", f"""server:
{interfaces}  access-control: 0.0.0.0/0 allow
  access-control: ::/0 allow
  outgoing-port-avoid: "10000-32767"
  chroot: ""
  username: ""
  pidfile: ""
  directory: "{lab.directory}"
  use-syslog: no
  verbosity: 1
  num-threads: 1
  module-config: "iterator"
remote-control:
  control-enable: no
forward-zone:
  name: "."
  forward-addr: {lab.link.v4(2)}
  forward-addr: {lab.link.v6(2)}
""")
    with service(lab, "unbound", ["unbound", "-d", "-p", "-c", config], says("start of service")):
        yield


@on(*SETUPS)
def test_resolver_with_the_same_upstream(lab, wirecache, upstream, resolver):
    """Its queries and their answers are the kernel's, by the exception port; none gets lost."""
    del resolver
    before = wirecache.metrics()
    for i in range(30):
        name = fresh_name()
        rtype = ("A", "TXT")[i % 2]
        right = upstream(name, rtype).message
        for server in addresses(lab):
            said = ask_udp(lab.network.net, make_query(name, rtype), server, RESOLVER_PORT)
            assert said.rcode() == 0 and said.answer
            assert canonical(said.answer) == canonical(right.answer)
        inside = ask_udp(lab.network.app, make_query(name, rtype), "127.0.0.1", RESOLVER_PORT)
        assert canonical(inside.answer) == canonical(right.answer)
    after = wirecache.metrics()
    # 30 answers of the upstream and 60 queries of the clients, at the least.
    assert after.total("punted_packets_total") >= before.total("punted_packets_total") + 90
    assert after.total("drops_total") == before.total("drops_total")

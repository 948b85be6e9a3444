"""A small virtual machine with wirecached in it, and the network outside that it serves.

The machine has two NUMA nodes with 256 MB of huge pages each and a network card on each node, bound
to vfio-pci behind an emulated IOMMU. QEMU emulates the CPUs as well (TCG): no /dev/kvm is needed,
and nothing here says how fast anything is. Each card's other end is a tap in a network namespace,
where clients and the upstream server live, with the addresses of netns.Link: port 0 is on
10.53.0.0/24, port 1 on 10.54.0.0/24; .1 is the appliance, .2 the upstream, .3 the client.
"""

import contextlib
import mmap
import os
import shutil
import socket
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "lib"))

# pylint: disable=wrong-import-position
import appliance  # noqa: E402
import image  # noqa: E402
import netns  # noqa: E402
import nsd  # noqa: E402
import processes  # noqa: E402

QEMU = "/usr/bin/qemu-system-x86_64"
NODES = 2
NODE_MEMORY_MB = 512
CPU = "Nehalem-v1"  # the oldest that Debian's DPDK is built for; has no wide registers to emulate
MAIN_CPU = 0
NODE_CPUS = ((0, 1, 2), (3, 4))
WORKERS_OF_NODE = ((0, 1), (2, 3))  # numbers of the workers, as the metrics name them
WORKER_CPUS = (1, 2, 3, 4)
PCI_ADDRESSES = ("0000:21:00.0", "0000:41:00.0")  # first bus behind each node's bridge
BOOT_TIMEOUT_SEC = 120
# The last two spare work that an emulated CPU is slow at: what guards against side channels, and
# remapping the page tables of each huge page.
KERNEL_OPTIONS = ("console=ttyS0 quiet panic=-1 intel_iommu=on mitigations=off "
                  "hugetlb_free_vmemmap=off")
VIRTIO_OPTIONS = "mq=on,vectors=6,rss=on,disable-legacy=on,iommu_platform=on,ats=on"


@dataclass(frozen=True)
class Nic:
    """A kind of network card: QEMU's device and its options, its tap's queues, DPDK's driver."""

    device: str
    options: str
    queues: int
    driver: str

    def __str__(self):
        return self.device


VIRTIO = Nic("virtio-net-pci", VIRTIO_OPTIONS, 2, "net_virtio")
E1000E = Nic("e1000e", "", 1, "net_e1000_em")
VMXNET3 = Nic("vmxnet3", "", 1, "net_vmxnet3")
NICS = {nic.device: nic for nic in (VIRTIO, E1000E, VMXNET3)}


class TapNetwork:
    """The namespace outside: a tap for each node's card. Shaped like netns.Network."""

    def __init__(self, run_id, queues):
        self.links = [netns.Link(i) for i in range(NODES)]
        self.net = netns.Namespace(f"wc-{run_id}-vm")
        try:
            self.net.ip("link", "set", "lo", "up")
            for link in self.links:
                self._add_tap(link, queues)
        except BaseException:
            self.close()
            raise

    def _add_tap(self, link, queues):
        many = ["multi_queue"] if queues > 1 else []
        self.net.ip("tuntap", "add", "dev", link.outer, "mode", "tap", *many)
        self.net.ip("link", "set", "dev", link.outer, "address", link.outer_mac)
        self.net.write_sysctl(f"ipv6/conf/{link.outer}/accept_ra", "0")
        # Each tap is a network of its own: no ARP answers for the other one's addresses.
        self.net.write_sysctl(f"ipv4/conf/{link.outer}/arp_ignore", "1")
        for host in (2, 3):
            self.net.ip("addr", "add", link.v4(host) + "/24", "dev", link.outer)
            self.net.ip("addr", "add", link.v6(host) + "/64", "dev", link.outer, "nodad")
        self.net.ip("link", "set", "dev", link.outer, "up")

    def close(self):
        with contextlib.suppress(RuntimeError):
            self.net.close()


def guest_config(links):
    """What wirecached is told in the guest: a worker for each queue and node."""
    config = appliance.default_config(links)
    config["cores"] = {"main": MAIN_CPU, "workers": list(WORKER_CPUS), "idle": "yield"}
    config["eal"] = {"memory_mb": 128, "huge_pages": "on"}
    for port, address in zip(config["port"], PCI_ADDRESSES):
        port["device"] = address
    # Emulated CPUs are slow, and the machine that emulates them may be busy: no second tries.
    config["upstream"] = {"try_timeout_ms": 5000, "deadline_ms": 9000,
                          "server": [{"address": link.v4(2)} for link in links]}
    config["metrics"] = {"listen": f"0.0.0.0:{appliance.METRICS_PORT}"}
    return config


def qemu_command(nic, image_paths, directory, memories, links):
    kernel_folder, initramfs = image_paths
    cpus = sum(len(c) for c in NODE_CPUS)
    command = [
        QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
        "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", CPU,
        "-smp", f"{cpus},sockets={cpus},cores=1,threads=1", "-m", str(NODES * NODE_MEMORY_MB),
        "-kernel", os.path.join(kernel_folder, "vmlinuz"), "-initrd", initramfs,
        "-append", KERNEL_OPTIONS,
        "-serial", "file:" + os.path.join(directory, "console.log"),
        "-serial", f"unix:{os.path.join(directory, 'shell')},server=on,wait=off",
        "-device", "intel-iommu,intremap=on,device-iotlb=on,aw-bits=48"]
    for node, link in enumerate(links):
        first, last = NODE_CPUS[node][0], NODE_CPUS[node][-1]
        queues = f",queues={nic.queues}" if nic.queues > 1 else ""
        options = "," + nic.options if nic.options else ""
        bus = 0x20 * (node + 1)
        command += [
            "-object", f"memory-backend-file,id=memory{node},share=on,size={NODE_MEMORY_MB}M,"
                       f"mem-path={memories[node].path}",
            "-numa", f"node,nodeid={node},cpus={first}-{last},memdev=memory{node}",
            "-device", f"pxb-pcie,id=bridge{node},bus_nr={bus},bus=pcie.0,numa_node={node}",
            "-device", f"pcie-root-port,id=port{node},bus=bridge{node},chassis={node + 1}",
            "-netdev", f"tap,id=net{node},ifname={link.outer},script=no,downscript=no,vhost=off"
                       + queues,
            "-device", f"{nic.device},netdev=net{node},bus=port{node},mac={link.inner_mac},"
                       f"romfile={options}"]
    return command


class Shell:
    """The guest's second serial port."""

    def __init__(self, path, is_alive, timeout_sec):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._received = b""
        if not processes.wait_until(lambda: not is_alive() or self._connects(path), timeout_sec):
            raise RuntimeError("QEMU opens no serial port")

    def _connects(self, path):
        with contextlib.suppress(OSError):
            self._socket.connect(path)
            return True
        return False

    def wait_for_line(self, start, timeout_sec):
        """(what came before the first line that starts so, the rest of that line)."""
        end = time.monotonic() + timeout_sec
        while True:
            lines = self._received.split(b"\n")
            for i, line in enumerate(lines[:-1]):
                if line.startswith(start):
                    self._received = b"\n".join(lines[i + 1:])
                    before = b"\n".join(lines[:i]).decode(errors="replace")
                    return before, line[len(start):].decode().strip()
            self._socket.settimeout(max(end - time.monotonic(), 0.01))
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionError("the machine has ended")
            self._received += data

    def run(self, command, timeout_sec=30):
        """The output of a command in the guest, which has to succeed."""
        self._socket.sendall(command.encode() + b"\n")
        output, code = self.wait_for_line(b"=== ", timeout_sec)
        if code != "0":
            raise RuntimeError(f"guest: {command}: exit {code}: {output}")
        return output.replace("\r", "")

    def close(self):
        self._socket.close()


class NodeMemory:
    """The physical memory of one of the guest's NUMA nodes, to be looked into from outside."""

    def __init__(self, node):
        self._fd = os.memfd_create(f"node{node}")
        os.ftruncate(self._fd, NODE_MEMORY_MB << 20)
        self.path = f"/proc/{os.getpid()}/fd/{self._fd}"

    def around(self, needle, before, after):
        """The bytes around each place that holds the needle: so many before it, so many after."""
        with mmap.mmap(self._fd, 0, prot=mmap.PROT_READ) as memory:
            for start, end in self._touched():
                at = memory.find(needle, start, end)
                while at >= 0:
                    yield memory[max(at - before, 0):at + len(needle) + after]
                    at = memory.find(needle, at + 1, end)

    def _touched(self):
        """The pieces that have memory behind them."""
        end = 0
        with contextlib.suppress(OSError):  # ENXIO: no more
            while True:
                start = os.lseek(self._fd, end, os.SEEK_DATA)
                end = os.lseek(self._fd, start, os.SEEK_HOLE)
                yield start, end

    def close(self):
        os.close(self._fd)


class Machine:
    """The running machine. close() ends it; QEMU ends with this process in any case."""

    def __init__(self, nic, network, directory):
        self.nic = nic
        self.network = network
        self.console_path = os.path.join(directory, "console.log")
        kernel_folder = image.kernel()
        config = appliance.to_toml(guest_config(network.links))
        initramfs = image.build_initramfs(directory, kernel_folder, appliance.binary(),
                                          {"/etc/wirecache.toml": config})
        self.memories = [NodeMemory(node) for node in range(NODES)]
        command = qemu_command(nic, (kernel_folder, initramfs), directory, self.memories,
                               network.links)
        self._process = processes.start(command, os.path.join(directory, "qemu.log"), network.net)
        self.shell = None
        try:
            self.shell = Shell(os.path.join(directory, "shell"), self._alive, 10)
            self.shell.wait_for_line(b"=== up", BOOT_TIMEOUT_SEC)
            if not processes.wait_until(lambda: self._ended() or self._is_ready(),
                                        BOOT_TIMEOUT_SEC, 0.2) or self._ended():
                raise RuntimeError("wirecached is not ready")
        except BaseException as error:
            self.close()
            log = processes.tail(os.path.join(directory, "qemu.log")) + self.console()
            if isinstance(error, (RuntimeError, OSError)):
                raise RuntimeError(f"{nic}: {error}\n{log}") from error
            raise

    def _alive(self):
        return self._process.poll() is None

    def _ended(self):
        return self.shell.run("cat /tmp/wirecached.exit 2>/dev/null || echo").strip() != ""

    def _is_ready(self):
        try:
            return self.http("/readyz")[0] == 200
        except OSError:
            return False

    def console(self):
        """What the kernel and wirecached have said."""
        return processes.tail(self.console_path, 60)

    def http(self, path):
        """(status, body) of a GET from outside: TCP through the exception port of port 0."""
        with self.network.net.inside():
            return appliance.http_get(self.network.links[0].v4(1), path)

    def metrics(self):
        return appliance.scrape(self.http)

    def stop_wirecached(self):
        """SIGTERM in the guest; the exit code, None when it did not end within 15 s."""
        code = self.shell.run(
            "kill $(pidof wirecached); for i in $(seq 150); do [ -e /tmp/wirecached.exit ] && "
            "break; sleep 0.1; done; cat /tmp/wirecached.exit || echo").strip()
        return int(code) if code else None

    def close(self):
        if self.shell is not None:
            self.shell.close()
        processes.stop(self._process)
        for memory in self.memories:
            memory.close()


class Lab:
    """Machine, network and NSD as its upstream, with everything below a folder of its own."""

    def __init__(self, nic, zones):
        self.directory = tempfile.mkdtemp(prefix="wirecache-vm-")
        os.chmod(self.directory, 0o755)  # NSD reads below it
        self._parts = contextlib.ExitStack()
        self._parts.callback(shutil.rmtree, self.directory)
        try:
            self.network = TapNetwork(os.getpid(), nic.queues)
            self._parts.callback(self.network.close)
            self.nsd = nsd.Nsd(self.network, self.directory, zones)
            self._parts.callback(self.nsd.close)
            self.machine = Machine(nic, self.network, self.directory)
            self._parts.callback(self.machine.close)
        except BaseException:
            self.close()
            raise

    def close(self):
        self._parts.close()

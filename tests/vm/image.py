"""What the virtual machine boots: Debian's cloud kernel, and an initramfs around wirecached.

The kernel is downloaded with apt and unpacked, never installed, and kept for the next run in
$XDG_CACHE_HOME/wirecache-vm or, without that, in build/vm. The initramfs mirrors this machine: the
program, its libraries and the drivers it needs lie where they lie here, so that what runs in the
guest is what was built.
"""

import glob
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
KERNEL_META_PACKAGE = "linux-image-cloud-amd64"
MODULES = (  # in the order in which the guest loads them
    "tun", "irqbypass", "vfio", "vfio_virqfd", "vfio_iommu_type1", "vfio-pci-core", "vfio-pci")
# EAL loads every driver that it finds, so the guest gets the few that it has devices for.
PLUGINS = ("bus_pci", "bus_vdev", "mempool_ring", "net_virtio", "net_e1000", "net_vmxnet3",
           "net_tap")
PLUGIN_FOLDERS = "/usr/lib/*/dpdk/pmds-*"
FOLDERS = ("bin", "dev", "proc", "sys", "tmp", "etc", "modules", "dev/hugepages",
           "var/run")


def run(*command, cwd=None):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          cwd=cwd, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


# --- kernel

def cache_folder():
    cache = os.environ.get("XDG_CACHE_HOME")
    return os.path.join(cache, "wirecache-vm") if cache else os.path.join(ROOT, "build", "vm")


def kernel():
    """A folder with `vmlinuz` and the modules; downloaded unless an earlier run did."""
    cache = cache_folder()
    known = sorted(glob.glob(os.path.join(cache, "linux-image-*")))
    if known:
        return known[-1]
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="download-") as directory:
        package = download_kernel(directory)
        unpacked = os.path.join(directory, "unpacked")
        run("dpkg-deb", "-x", package, unpacked)
        kept = os.path.join(directory, "kept")
        os.mkdir(kept)
        shutil.move(only(unpacked + "/boot/vmlinuz-*"), os.path.join(kept, "vmlinuz"))
        for module in MODULES:
            shutil.move(only(f"{unpacked}/lib/modules/*/kernel/**/{module}.ko"), kept)
        folder = os.path.join(cache, os.path.basename(package).removesuffix(".deb"))
        os.rename(kept, folder)
    return folder


def only(pattern):
    found = glob.glob(pattern, recursive=True)
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} files are {pattern}, where there should be one")
    return found[0]


def download_kernel(directory):
    """The path of the downloaded package."""
    try:
        run("apt-get", "download", kernel_package(), cwd=directory)
    except RuntimeError:  # no package lists, or lists that are older than the mirror's packages
        run("apt-get", "-qq", "update")
        run("apt-get", "download", kernel_package(), cwd=directory)
    return only(directory + "/*.deb")


def kernel_package():
    """The meta package depends on the kernel of the day."""
    depends = run("apt-cache", "depends", "--important", KERNEL_META_PACKAGE)
    match = re.search(r"Depends: (linux-image-\S+)", depends)
    if not match:
        raise RuntimeError(f"apt-cache knows no dependency of {KERNEL_META_PACKAGE}")
    return match.group(1)


# --- initramfs

class Initramfs:
    """A tree under `directory`, packed by pack()."""

    def __init__(self, directory):
        self._tree = os.path.join(directory, "tree")
        for folder in FOLDERS:
            os.makedirs(os.path.join(self._tree, folder))
        # As on this machine, the old places are links.
        for folder in ("lib", "lib64"):
            os.makedirs(os.path.join(self._tree, "usr", folder))
            os.symlink("usr/" + folder, os.path.join(self._tree, folder))

    def add(self, path, source, mode=0o644):
        """One file; `path` is the guest's."""
        target = self._tree + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        os.chmod(target, mode)

    def write(self, path, text):
        with open(self._tree + path, "w", encoding="ascii") as f:
            f.write(text)

    def mirror(self, path):
        """A library under its own name, which may be a link.

        It must be one file, however it is reached: two copies of a DPDK library are two libraries.
        """
        name = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        real = os.path.realpath(path)
        if not os.path.exists(self._tree + real):
            self.add(real, real, 0o755)
        if name != real and not os.path.lexists(self._tree + name):
            os.makedirs(os.path.dirname(self._tree + name), exist_ok=True)
            os.symlink(os.path.relpath(real, os.path.dirname(name)), self._tree + name)

    def pack(self, path):
        names = []
        for folder, folders, files in os.walk(self._tree):
            names += [os.path.relpath(os.path.join(folder, n), self._tree)
                      for n in sorted(folders + files)]
        with open(path, "wb") as f:
            subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=self._tree,
                           input="\n".join(names).encode(), stdout=f, check=True)


def libraries_of(program):
    """Paths of what the loader would load."""
    return re.findall(r"(?:=> |^\s)(/\S+) \(0x", run("ldd", program), re.M)


def build_initramfs(directory, kernel_folder, program, texts):
    """Builds it in `directory`; its path. `texts`: further files of the guest, by path."""
    tree = Initramfs(directory)
    tree.add("/bin/busybox", "/bin/busybox", 0o755)
    os.symlink("busybox", os.path.join(directory, "tree", "bin", "sh"))
    tree.add("/init", os.path.join(HERE, "init"), 0o755)
    stripped = os.path.join(directory, "wirecached")
    run("strip", "-o", stripped, program)
    tree.add("/bin/wirecached", stripped, 0o755)
    for library in libraries_of(program):
        tree.mirror(library)
    for plugin in PLUGINS:
        path = only(f"{PLUGIN_FOLDERS}/librte_{plugin}.so.*.*")
        tree.mirror(path)
        for library in libraries_of(path):
            tree.mirror(library)
    for module in MODULES:
        tree.add(f"/modules/{module}.ko", os.path.join(kernel_folder, module + ".ko"))
    tree.write("/etc/modules", "\n".join(MODULES) + "\n")
    for path, text in texts.items():
        tree.write(path, text)
    path = os.path.join(directory, "initramfs")
    tree.pack(path)
    shutil.rmtree(os.path.join(directory, "tree"))
    return path

"""wirecached under the demo and the tests: its configuration, its process, its metrics."""

import http.client
import json
import os
import re
import subprocess
import time
from dataclasses import dataclass

import processes

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
METRICS_PORT = 9353
EXIT_USAGE, EXIT_CONFIG, EXIT_DEVICE, EXIT_MEMORY, EXIT_PRIVILEGE = 2, 3, 4, 5, 6
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def binary(build="build"):
    return os.environ.get("WIRECACHED") or os.path.join(ROOT, build, "app", "wirecached")


def device(driver, link):
    """The configuration's `device` for a driver ("af_xdp", "af_packet") on the link's inner end."""
    return f"net_{driver}{link.index},iface={link.inner}"


def worker_cpus(count):
    """CPUs for `count` workers: main has the first, workers start from the last and go round."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[0], [cpus[-1 - i % len(cpus)] for i in range(count)]


def default_config(links, driver="af_xdp", workers=1):
    main, cpus = worker_cpus(workers)
    return {
        "cores": {"main": main, "workers": cpus, "idle": "yield", "oversubscribe": True},
        "eal": {"memory_mb": 512, "huge_pages": "off"},
        "port": [{
            "name": f"p{link.index}",
            "device": device(driver, link),
            "addresses": [link.v4(1) + "/24", link.v6(1) + "/64"],
            "exception_interface": f"wc{link.index}",
            "queues": 0,
        } for link in links],
        "clients": {"allow": ["10.0.0.0/8", "fd00::/8"]},
        "cache": {"memory_mb": 64},
        "upstream": {"try_timeout_ms": 400, "deadline_ms": 1900,
                     "server": [{"address": links[0].v4(2)}]},
        "metrics": {"listen": f"127.0.0.1:{METRICS_PORT}"},
    }


def to_toml(config):
    """TOML of nested dicts; JSON's scalars and lists are TOML's as well."""
    lines = []

    def table(path, values, brackets):
        lines.append(brackets[0] + ".".join(path) + brackets[1])
        nested = []
        for key, value in values.items():
            if isinstance(value, dict) or (isinstance(value, list) and value
                                           and isinstance(value[0], dict)):
                nested.append((key, value))
            else:
                lines.append(f"{key} = {json.dumps(value)}")
        emit(path, nested)

    def emit(path, items):
        for key, value in items:
            if isinstance(value, dict):
                table([*path, key], value, "[]")
            else:
                for element in value:
                    table([*path, key], element, ("[[", "]]"))

    emit([], config.items())
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Sample:
    name: str
    labels: dict
    value: float


class Metrics:
    """One scrape. Names without the prefix `wirecache_`."""

    def __init__(self, text):
        self.samples = []
        for line in text.splitlines():
            match = _SAMPLE.match(line)
            if match:
                labels = dict(_LABEL.findall(match.group(2) or ""))
                self.samples.append(Sample(match.group(1), labels, float(match.group(3))))

    def each(self, name, **labels):
        return [s for s in self.samples if s.name == "wirecache_" + name
                and all(s.labels.get(k) == v for k, v in labels.items())]

    def total(self, name, **labels):
        """Summed over workers and whatever label is not given. A missing name is a mistake."""
        found = self.each(name, **labels)
        if not found and not self.each(name):
            raise KeyError(f"no metric wirecache_{name}")
        return int(sum(s.value for s in found))

    def by_worker(self, name, **labels):
        result = {}
        for s in self.each(name, **labels):
            worker = s.labels.get("worker", "")
            result[worker] = result.get(worker, 0) + int(s.value)
        return result


def http_get(address, path):
    """(status, body) of a GET of the metrics listener, from the namespace of the caller."""
    connection = http.client.HTTPConnection(address, METRICS_PORT, timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from error
    finally:
        connection.close()


def scrape(get):
    """The metrics; `get` is a function of the path like http_get."""
    status, text = get("/metrics")
    if status != 200:
        raise RuntimeError(f"/metrics: HTTP {status}")
    return Metrics(text)


class Wirecached:
    """A running wirecached in the appliance's namespace."""

    def __init__(self, network, directory, config, outlive_parent=False):
        self.network = network
        self.config_path = os.path.join(directory, "wirecache.toml")
        self.log_path = os.path.join(directory, "wirecached.log")
        with open(self.config_path, "w", encoding="ascii") as f:
            f.write(to_toml(config))
        self.process = processes.start([binary(), "--config", self.config_path], self.log_path,
                                       network.app, outlive_parent)

    def wait_ready(self, timeout_sec=20):
        """True once /readyz says so; False if the program ended or the time is over."""
        ready = processes.wait_until(lambda: self.ended() or self._is_ready(), timeout_sec)
        return ready and not self.ended()

    def ended(self):
        return self.process.poll() is not None

    def log(self):
        return processes.tail(self.log_path, 40)

    def _is_ready(self):
        try:
            return self.http("/readyz")[0] == 200
        except OSError:
            return False

    def http(self, path):
        """(status, body) of a GET in the appliance's namespace."""
        with self.network.app.inside():
            return http_get("127.0.0.1", path)

    def metrics(self):
        return scrape(self.http)

    def metrics_at_rest(self, timeout_sec=10):
        """A scrape between which and the one before nothing was received and nobody waits."""
        end = time.monotonic() + timeout_sec
        before = self.metrics()
        while True:
            time.sleep(0.2)
            now = self.metrics()
            same = now.total("packets_received_total") == before.total("packets_received_total")
            if (same and now.total("waiting_clients") == 0) or time.monotonic() > end:
                return now
            before = now

    def stop(self):
        """SIGTERM; the exit code. Takes a left-over XDP program off the interfaces."""
        code = processes.stop(self.process, 10)
        self.detach_xdp()
        return code

    def detach_xdp(self):
        for link in self.network.links:
            for mode in ("xdp", "xdpgeneric"):
                subprocess.run(["ip", "-n", self.network.app.name, "link", "set", "dev",
                                link.inner, mode, "off"], capture_output=True, check=False)

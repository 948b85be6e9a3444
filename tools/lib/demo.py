"""The demo behind tools/run-demo: a real client, wirecached and a real upstream in namespaces.

Every question is asked twice with dig. Each answer must be what the upstream says, and each second
one must have come from the cache by wirecached's own counters; only then the exit code is 0.
"""

import argparse
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import appliance
import netns
import nsd
import processes

ZONE = os.path.join(appliance.ROOT, "tests", "integration", "zones", "demo.zone")
DRIVERS = ("af_xdp", "af_packet")
QUESTIONS = (  # what is shown, name, type, further arguments of dig, the rcode that is right
    ("address", "www.demo.example", "A", (), "NOERROR"),
    ("four addresses", "four.demo.example", "A", (), "NOERROR"),
    ("IPv6 address", "www.demo.example", "AAAA", (), "NOERROR"),
    ("text", "txt.demo.example", "TXT", (), "NOERROR"),
    ("mail servers", "demo.example", "MX", (), "NOERROR"),
    ("chain of three CNAMEs", "alias.demo.example", "A", (), "NOERROR"),
    ("no such name (NXDOMAIN)", "nowhere.demo.example", "A", (), "NXDOMAIN"),
    ("no such type (NODATA)", "onlya.demo.example", "AAAA", (), "NOERROR"),
    ("big answer, no EDNS: truncated", "big.demo.example", "TXT", ("+noedns", "+ignore"),
     "NOERROR"),
    ("big answer, EDNS: whole", "big.demo.example", "TXT", (), "NOERROR"),
)
SHOWN_LINES = 4


def say(text):
    print("== " + text, flush=True)


@dataclass
class Answer:
    """What dig printed, taken apart."""

    rcode: str
    flags: frozenset
    records: list  # answer and authority lines without TTL, sorted
    usec: int


def dig(network, server, source, name, rtype, extra=()):
    command = ["ip", "netns", "exec", network.net.name, "dig", "-u", "-b", source, "@" + server,
               name, rtype, "+tries=1", "+time=4", "+noadditional", *extra]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    status = re.search(r"status: (\w+)", done.stdout)
    flags = re.search(r"^;; flags:([^;]*);", done.stdout, re.M)
    took = re.search(r"Query time: (\d+) usec", done.stdout)
    if done.returncode != 0 or not (status and flags and took):
        return None
    records = []
    for line in done.stdout.splitlines():
        fields = line.split(None, 4)
        if line and not line.startswith(";") and len(fields) == 5:
            records.append(f"{fields[0]} {fields[3]} {fields[4]}")
    return Answer(status.group(1), frozenset(flags.group(1).split()), sorted(records),
                  int(took.group(1)))


def answer_part(answer, name_error):
    """What has to be equal to the upstream's: authority matters where it is a negative answer."""
    if name_error:
        return answer.records
    return [r for r in answer.records if r.split()[1] != "NS"]


class Demo:
    """The running parts, and the checks on them."""

    def __init__(self, network, directory, stack, outlive_parent):
        self.network = network
        self.link = network.links[0]
        say("starting NSD with the zone demo.example as the upstream")
        self.upstream = nsd.Nsd(network, directory, {"demo.example": ZONE}, outlive_parent)
        stack.callback(self.upstream.close)
        self.wirecached = self._start(directory, stack, outlive_parent)
        self.failures = 0

    def _start(self, directory, stack, outlive_parent):
        for driver in DRIVERS:
            config = appliance.default_config([self.link], driver)
            config["eal"]["huge_pages"] = "auto"
            say(f"starting wirecached on the veth by {driver.upper()}")
            wirecached = appliance.Wirecached(self.network, directory, config, outlive_parent)
            stack.callback(wirecached.stop)
            if wirecached.wait_ready():
                return wirecached
            code = wirecached.stop()
            if code != appliance.EXIT_DEVICE or driver == DRIVERS[-1]:
                raise RuntimeError(f"wirecached did not start (exit code {code}): "
                                   + wirecached.log().strip())
            say(f"not by {driver.upper()} here: {wirecached.log().strip()}")
        raise AssertionError("unreachable")

    def run(self):
        families = (("IPv4", self.link.v4(1), self.link.v4(3)),
                    ("IPv6", self.link.v6(1), self.link.v6(3)))
        known = set()
        for family, server, source in families:
            for what, name, rtype, extra, rcode in QUESTIONS:
                print(f"\n{family}  {name} {rtype} {' '.join(extra)}  ({what})")
                self._ask(server, source, (name, rtype, extra, rcode), (name, rtype) in known)
                known.add((name, rtype))
        self._totals()
        return self.failures == 0

    def _ask(self, server, source, question, known):
        name, rtype, extra, rcode = question
        own = self.upstream.address
        truth = dig(self.network, own, self.link.v4(3), name, rtype, extra)
        for turn in ("first", "second"):
            hits, misses = self._counts()
            answer = dig(self.network, server, source, name, rtype, extra)
            new_hits, new_misses = self._counts()
            if answer is None:
                self._fail(f"{turn}: no answer")
                continue
            outcome = "hit" if new_hits == hits + 1 else "miss" if new_misses > misses else "?"
            if turn == "first":
                for line in answer.records[:SHOWN_LINES]:
                    print("    " + (line if len(line) < 90 else line[:87] + "..."))
                if len(answer.records) > SHOWN_LINES:
                    print(f"    ... {len(answer.records) - SHOWN_LINES} more")
            truncated = " truncated" if "tc" in answer.flags else ""
            print(f"  {turn}: {answer.rcode}{truncated}, {answer.usec} us, {outcome}", flush=True)
            self._compare(answer, truth, rcode, turn)
            if (turn == "second" or known) and outcome != "hit":
                self._fail(f"{turn}: did not come from the cache")

    def _compare(self, answer, truth, rcode, turn):
        if truth is None:
            self._fail("the upstream itself does not answer")
            return
        if answer.rcode != rcode or answer.rcode != truth.rcode:
            self._fail(f"{turn}: {answer.rcode} where the upstream says {truth.rcode}")
        if ("tc" in answer.flags) != ("tc" in truth.flags):
            self._fail(f"{turn}: TC differs from the upstream's")
        if not {"qr", "ra", "rd"} <= answer.flags or "aa" in answer.flags:
            self._fail(f"{turn}: header flags {' '.join(sorted(answer.flags))}")
        negative = rcode != "NOERROR" or not any(
            r.split()[1] not in ("NS", "SOA") for r in truth.records)
        if answer_part(answer, negative) != answer_part(truth, negative):
            self._fail(f"{turn}: differs from the upstream's answer: {truth.records}")

    def _fail(self, text):
        self.failures += 1
        print("  WRONG: " + text, flush=True)

    def _counts(self):
        metrics = self.wirecached.metrics()
        return (metrics.total("queries_total", outcome="hit"),
                metrics.total("queries_total", outcome="miss"))

    def _totals(self):
        hits, misses = self._counts()
        print(f'\nwirecache_queries_total{{outcome="hit"}} {hits}\n'
              f'wirecache_queries_total{{outcome="miss"}} {misses}', flush=True)


def keep_running(demo, directory):
    """Writes the script that ends everything, and says how to use what is running."""
    network = demo.network
    stop_path = os.path.join(directory, "stop")
    with open(stop_path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n"
                f"kill {demo.wirecached.process.pid} {demo.upstream.process.pid}\n"
                "sleep 2\n"
                f"ip netns del {network.net.name}\n"
                f"ip netns del {network.app.name}\n"
                f"rm -r {shlex.quote(directory)}\n")
    os.chmod(stop_path, 0o755)
    network.detach()
    say("left running, as asked")
    print(f"  ask:     ip netns exec {network.net.name} dig @{demo.link.v4(1)} www.demo.example\n"
          f"           ip netns exec {network.net.name} dig @{demo.link.v6(1)} www.demo.example\n"
          f"  metrics: ip netns exec {network.app.name} curl -s "
          f"http://127.0.0.1:{appliance.METRICS_PORT}/metrics\n"
          f"  log:     {demo.wirecached.log_path}\n"
          f"  stop:    {stop_path}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="run-demo")
    parser.add_argument("--keep", action="store_true")
    keep = parser.parse_args().keep
    processes.raise_on_signals()
    directory = tempfile.mkdtemp(prefix="wirecache-demo-")
    with contextlib.ExitStack() as stack:
        stack.callback(subprocess.run, ["rm", "-rf", directory], check=False)
        say("laying out two network namespaces and a veth pair")
        network = stack.enter_context(netns.Network(os.getpid()))
        demo = Demo(network, directory, stack, outlive_parent=keep)
        good = demo.run()
        if keep:
            keep_running(demo, directory)
            stack.pop_all()
    if not good:
        say(f"FAILED: {demo.failures} checks")
        return 1
    say("every answer was right, and every second one came from the cache")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("run-demo: interrupted", file=sys.stderr)
        sys.exit(130)
    except (RuntimeError, OSError) as error:
        print(f"run-demo: {error}", file=sys.stderr)
        sys.exit(1)

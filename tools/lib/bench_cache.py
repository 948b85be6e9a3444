"""tools/bench cache: runs bench_cache once for each size, layout and run, and gathers the figures.

Each measurement is a process of its own, so that the growth of its memory is the cache's alone;
the runs of the layouts take turns, so that what changes on the machine meets all of them.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import huge_pages
import processes
import suites
from bench_report import TIMES, report, summary

MILLION = 1_000_000
SIZES = (1, 3, 4, 5, 6, 16)
PREPARED_SIZES = (1 * MILLION, 4 * MILLION)
SHARING_ENTRIES = 1 * MILLION
FEWEST_RUNS = 5
TARGETS = ("bench_cache", "hit_ratio")
CHILD_TIMEOUT_SEC = 1800
HIT_RATIO_TIMEOUT_SEC = 7200
# More than any of them takes, while its table grows.
MOST_BYTES = {"ours": 250, "after": 620, "before": 1250}
HUGE_BYTES = 210


@dataclass(frozen=True)
class Variant:
    """What one child measures: a layout, for ours its index, and the kind of pages."""
    layout: str
    index: str | None
    pages: str

    def __str__(self):
        index = f" ({self.index})" if self.index else ""
        return f"{self.layout}{index}, {self.pages} pages"

    def arguments(self):
        index = ["--index", self.index] if self.index else []
        return ["--layout", self.layout, "--pages", self.pages, *index]


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("no MemAvailable in /proc/meminfo")


class Bench:
    def __init__(self, options):
        self.options = options
        self.skipped = []
        cpus = sorted(os.sched_getaffinity(0))
        self.cpus = cpus[-2:] if len(cpus) > 1 else [cpus[0], None]
        self.programs = self.build()
        self.indexes = self.output([self.programs["bench_cache"], "--list-indexes"]).split()

    def build(self):
        problem = suites.build("build-bench", ["-Dbench=true", "-Dbuildtype=release"], "g++",
                               wanted=lambda target: target in TARGETS)
        if problem is not None:
            raise RuntimeError("the build failed:\n" + problem[-4000:])
        return {os.path.basename(f): f for f in suites.executables("build-bench")}

    def output(self, command, env=None, timeout_sec=CHILD_TIMEOUT_SEC):
        """What a program prints on standard output; its standard error is shown where it fails."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**os.environ, **(env or {})},
                                   preexec_fn=processes.die_with_parent)
        try:
            output, errors = process.communicate(timeout=timeout_sec)
        except subprocess.TimeoutExpired:
            processes.stop(process)
            raise RuntimeError(f"{' '.join(command)}: not done in {timeout_sec} s") from None
        except BaseException:
            processes.stop(process)
            raise
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}\n{errors}")
        return output

    def skip(self, what, reason):
        suites.say(f"skipped: {what}: {reason}")
        self.skipped.append({"what": what, "reason": reason})

    def measure(self, variant, entries, measurement):
        """One child's figures, or None where there is not enough memory (which is noted)."""
        command = [self.programs["bench_cache"], "--measure", measurement, "--entries",
                   str(entries), "--cpu", str(self.cpus[0]), *variant.arguments()]
        if measurement == "sharing":
            command += ["--second-cpu", str(self.cpus[1])]
        copies = 7 if measurement == "sharing" else 1
        wanted = MOST_BYTES[variant.layout] * entries * copies
        if available_bytes() < wanted:
            self.skip(f"{variant}, {entries} entries, {measurement}",
                      f"may need {wanted >> 20} MiB of memory, {available_bytes() >> 20} are left")
            return None
        env = {}
        with contextlib.ExitStack() as stack:
            if variant.pages == "huge" and variant.layout == "ours":
                size = (256 << 20) + HUGE_BYTES * entries * copies
                if not stack.enter_context(huge_pages.set_aside(size)):
                    self.skip(f"{variant}, {entries} entries, {measurement}",
                              f"the kernel has no {size >> 20} MiB of huge pages")
                    return None
            elif variant.pages == "huge":
                # The published layouts live in malloc; transparent huge pages are what it can have.
                env["MALLOC_CONF"] = "thp:always"
            return json.loads(self.output(command, env).splitlines()[-1])

    def variants(self):
        kinds = {"on": ("huge",), "off": ("normal",), "both": ("normal", "huge")}
        pages = kinds[self.options.huge_pages]
        ours = [Variant("ours", index, kind) for kind in pages for index in self.indexes]
        published = [Variant("after", None, kind) for kind in pages]
        return ours + published + [Variant("before", None, pages[0])]

    def runs(self, variants, entries, measurements):
        """{variant: its children's figures}: all variants once, then all again.

        `measurements(variant, run)` says what to measure. A variant for which there is no memory
        is left out from then on.
        """
        figures = {variant: [] for variant in variants}
        left_out = set()
        for run in range(self.options.runs):
            for variant in variants:
                if variant in left_out:
                    continue
                measurement = measurements(variant, run)
                suites.say(f"{entries} entries, {measurement} {run + 1}/{self.options.runs}: "
                           f"{variant}")
                figure = self.measure(variant, entries, measurement)
                if figure is None:
                    left_out.add(variant)
                else:
                    figures[variant].append(figure)
        return {variant: found for variant, found in figures.items() if found}

    def size(self, entries):
        """{variant: figures} of one size."""
        def measurement(variant, run):
            return "churn" if variant.layout == "ours" and run == 0 else "fill"

        rows = {variant: summary(found, TIMES)
                for variant, found in self.runs(self.variants(), entries, measurement).items()}
        if entries in PREPARED_SIZES:
            for variant, found in self.runs(list(rows), entries, lambda *_: "prepared").items():
                times = summary(found, ("prepared_inserts_per_sec",))
                spread = rows[variant]["spread"] | times["spread"]
                rows[variant] |= times | {"spread": spread}
        return rows

    def sharing(self):
        if self.cpus[1] is None:
            self.skip("reader_slowdown", "needs two CPUs")
            return []
        pages = "normal" if self.options.huge_pages == "off" else "huge"
        variants = [Variant("ours", index, pages) for index in self.indexes]
        results = []
        for variant, found in self.runs(variants, SHARING_ENTRIES, lambda *_: "sharing").items():
            slowdowns = [f["shared_lookup_ns"] / f["apart_lookup_ns"] - 1 for f in found]
            results.append(summary(found, [k for k, v in found[0].items() if isinstance(v, float)])
                           | {"reader_slowdown": round(statistics.median(slowdowns), 4),
                              "reader_slowdowns": [round(s, 4) for s in sorted(slowdowns)]})
        return results

    def hit_ratio(self):
        program = self.programs.get("hit_ratio")
        if program is None or not os.path.exists(program):
            self.skip("hit_ratio", "its program is not in this tree")
            return None
        suites.say("hit ratios over simulated traces")
        # A tenth of the names at a tenth of the pace expire as often between two requests.
        quick = (["--names", str(MILLION), "--requests-per-sec", "1000", "--capacity-percent", "10"]
                 if self.options.quick else [])
        return json.loads(self.output([program, *quick], timeout_sec=HIT_RATIO_TIMEOUT_SEC))


def parse_sizes(text):
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers") from None
    sizes = [int(n * MILLION) if n < 1000 else int(n) for n in numbers]
    if any(not 100_000 <= size <= 64 * MILLION for size in sizes):
        raise argparse.ArgumentTypeError("sizes are 0.1 to 64 million entries")
    return sizes


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tools/bench cache")
    parser.add_argument("--sizes", type=parse_sizes, default=None)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--huge-pages", choices=("on", "off", "both"), default="both")
    parser.add_argument("--runs", type=int, default=FEWEST_RUNS)
    options = parser.parse_args()
    if options.runs < FEWEST_RUNS:
        parser.error(f"--runs: at least {FEWEST_RUNS}")
    if options.sizes is None:
        options.sizes = [MILLION] if options.quick else [n * MILLION for n in SIZES]
    return options


def main():
    processes.raise_on_signals()
    options = parse_arguments()
    start = time.monotonic()
    bench = Bench(options)
    sizes = {entries: bench.size(entries) for entries in options.sizes}
    result = report(sizes, bench.sharing(), bench.hit_ratio())
    result |= {"runs": options.runs, "skipped": bench.skipped,
               "took_sec": round(time.monotonic() - start)}
    print(json.dumps(result))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(f"bench: {error}")
    except KeyboardInterrupt as reason:
        sys.exit(f"bench: stopped {reason}".rstrip())

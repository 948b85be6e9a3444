"""The suites behind tools/run-tests: each says what it does and counts what passed and failed."""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from dataclasses import dataclass, field

import processes

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
JOBS = max(2, os.cpu_count() or 2)
LINT = os.path.join(ROOT, "tools", "lint")
TEST_TIMEOUT_SEC = 300
# One build for the unit tests under sanitizers and the fuzz targets: they share the libraries.
# -O1: what it costs to run it gains in building.
SANITIZE_OPTIONS = ["-Dfuzz=true", "-Db_sanitize=address,undefined", "-Doptimization=1"]
# Simulations of other caches, counts of instructions, and what the suite tsan has.
NOT_SANITIZED = ("test_bench", "test_cost", "test_index_stress", "test_partition_stress")
# Only what threads share, so only the stress tests.
THREAD_OPTIONS = ["-Db_sanitize=thread", "-Doptimization=1"]
LINT_CHECKS = (  # name, command
    ("format", ["/usr/bin/python3", "-B", f"{LINT}/check_format.py"]),
    ("layers", ["/usr/bin/python3", "-B", f"{LINT}/check_layers.py"]),
    ("style", ["/usr/bin/python3", "-B", f"{LINT}/check_style.py"]),
    ("profiles", ["/usr/bin/python3", "-B", f"{LINT}/check_profiles.py"]),
    ("headers", ["/usr/bin/python3", "-B", f"{LINT}/check_headers.py"]),
    ("shell", ["/bin/bash", f"{LINT}/check_shell"]),
    ("python", ["/usr/bin/python3", "-B", f"{LINT}/check_python.py"]),
    ("clang-tidy", ["/usr/bin/python3", "-B", f"{LINT}/check_tidy.py"]),
)


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)

    def ok(self, n=1):
        self.passed += n

    def fail(self, name, output=""):
        self.failed += 1
        self.failures.append(name)
        print(f"   FAILED: {name}", flush=True)
        for line in output.strip().splitlines()[-60:]:
            print("      " + line, flush=True)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def say(text):
    print("== " + text, flush=True)


def run(command, timeout_sec=None, env=None, cwd=ROOT):
    """(exit code, output) of a command without terminal; the code is None after a time-out.

    The command has a process group of its own, so that Ctrl-C reaches it once, through us.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", cwd=cwd,
                               env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout_sec)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        processes.stop(process)
        return None, process.stdout.read() + f"\nstopped after {timeout_sec} s"
    except BaseException:
        processes.stop(process, timeout_sec=20)
        raise


def build(directory, options, compiler, wanted=lambda target: True):
    """Configures and builds; the compiler's complaints, or None where all is well.

    `wanted` chooses among the executables by name; what they need is built with them.
    """
    path = os.path.join(ROOT, directory)
    known = os.path.exists(os.path.join(path, "build.ninja"))
    setup = ["meson", "configure", path] if known else ["meson", "setup", path, ROOT]
    say(f"building {directory}/ with {compiler}")
    code, output = run([*setup, *options, "-Dwerror=true"], env={"CXX": compiler})
    if code == 0 and known:
        # A target that came since is known only then.
        code, output = run(["ninja", "-C", path, "build.ninja"])
    if code == 0:
        files = [f for f in executables(directory) if wanted(os.path.basename(f))]
        code, output = run(["ninja", "-C", path, *(os.path.relpath(f, path) for f in files)])
    return None if code == 0 else output


def executables(directory):
    """Paths of the programs that a configured build directory makes."""
    code, output = run(["meson", "introspect", "--targets", os.path.join(ROOT, directory)])
    if code != 0:
        raise RuntimeError(output)
    return sorted(f for t in json.loads(output) if t["type"] == "executable" for f in t["filename"])


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        yield from pool.map(function, items)


# --- lint

def lint(_options):
    count = Count()
    # clang-tidy and the header check read the compile commands of build/.
    if not os.path.exists(os.path.join(ROOT, "build", "build.ninja")):
        say("configuring build/ with g++")
        code, output = run(["meson", "setup", "build", ROOT, "-Dwerror=true"], env={"CXX": "g++"})
        if code != 0:
            count.fail("lint: configure build/", output)
            return count
    for name, command in LINT_CHECKS:
        say(f"lint: {name}")
        code, output = run(command)
        if code == 0:
            count.ok()
        else:
            count.fail("lint: " + name, output)
    return count


# --- unit, asan and tsan

def gtest_counts(count, name, code, output, json_path):
    """Adds one test program's cases; whatever ends it otherwise is one failure more."""
    failed_cases = 0
    try:
        with open(json_path, encoding="utf-8") as f:
            report = json.load(f)
    except (OSError, ValueError):
        report = None
    for suite in (report or {}).get("testsuites", ()):
        for case in suite["testsuite"]:
            if case.get("result") == "SKIPPED":
                count.skipped += 1
            elif case.get("failures"):
                failed_cases += 1
                text = "\n".join(f["failure"] for f in case["failures"])
                count.fail(f"{name}: {case['classname']}.{case['name']}", text)
            else:
                count.ok()
    if code != 0 and failed_cases == 0:
        count.fail(f"{name}: exit code {code}", output)
    elif code == 0 and report is None:
        count.ok()  # not a GoogleTest program


def run_test_program(test):
    """One entry of `meson introspect --tests`."""
    with tempfile.TemporaryDirectory() as directory:
        json_path = os.path.join(directory, "report.json")
        env = {**test["env"], "GTEST_OUTPUT": "json:" + json_path,
               "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
               "TSAN_OPTIONS": "halt_on_error=1"}
        code, output = run(test["cmd"], TEST_TIMEOUT_SEC, env, test.get("workdir") or directory)
        count = Count()
        gtest_counts(count, test["name"], code, output, json_path)
        return count


def is_test(name):
    return name.startswith("test_")


def is_stress_test(name):
    return is_test(name) and name.endswith("_stress")


def unit_tests(directory, options, compiler, wanted=is_test):
    count = Count()
    complaints = build(directory, options, compiler, wanted)
    if complaints is not None:
        count.fail(f"build of {directory}/", complaints)
        return count
    code, output = run(["meson", "introspect", "--tests", os.path.join(ROOT, directory)])
    if code != 0:
        count.fail(f"list of the tests in {directory}/", output)
        return count
    tests = [t for t in json.loads(output) if wanted(os.path.basename(t["cmd"][0]))]
    say(f"running {len(tests)} test programs of {directory}/")
    for result in in_parallel(run_test_program, [t for t in tests if t["is_parallel"]]):
        count.add(result)
    for test in tests:
        if not test["is_parallel"]:
            count.add(run_test_program(test))
    return count


def unit(_options):
    return unit_tests("build", [], "g++")


def asan(_options):
    return unit_tests("build-sanitize", SANITIZE_OPTIONS, "clang++-14",
                      lambda name: is_test(name) and name not in NOT_SANITIZED)


def tsan(_options):
    return unit_tests("build-thread", THREAD_OPTIONS, "clang++-14", is_stress_test)


# --- fuzz

def is_fuzz_target(name):
    return name.startswith("fuzz_")


def fuzz_target(binary, seconds):
    """(name, problem or None) of one libFuzzer run on a copy of the target's corpus."""
    name = os.path.basename(binary)
    short = name.removeprefix("fuzz_")
    with tempfile.TemporaryDirectory() as directory:
        corpus = os.path.join(directory, "corpus")
        os.mkdir(corpus)
        seeds = os.path.join(ROOT, "tests", "fuzz", "corpus", short)
        if not os.path.isdir(seeds) or not os.listdir(seeds):
            return name, f"no seed corpus in tests/fuzz/corpus/{short}"
        shutil.copytree(seeds, corpus, dirs_exist_ok=True)
        code, output = run([binary, corpus, f"-max_total_time={seconds}", "-timeout=10",
                            "-rss_limit_mb=4096", f"-artifact_prefix={directory}/"],
                           seconds + 120, cwd=directory)
        if code == 0:
            return name, None
        for artifact in os.listdir(directory):
            if artifact != "corpus":
                kept = os.path.join(ROOT, "build-sanitize", f"{short}-{artifact}")
                shutil.copy(os.path.join(directory, artifact), kept)
                output += f"\nthe input is kept in {kept}"
        return name, output


def fuzz(options):
    count = Count()
    complaints = build("build-sanitize", SANITIZE_OPTIONS, "clang++-14", is_fuzz_target)
    if complaints is not None:
        count.fail("build of build-sanitize/", complaints)
        return count
    targets = [f for f in executables("build-sanitize") if is_fuzz_target(os.path.basename(f))]
    if not targets:
        count.fail("no fuzz targets in tests/fuzz")
    say(f"running {len(targets)} fuzz targets for {options.fuzz_seconds} s each")
    for name, problem in in_parallel(lambda t: fuzz_target(t, options.fuzz_seconds), targets):
        if problem is None:
            print(f"   {name}: no finding", flush=True)
            count.ok()
        else:
            count.fail(name, problem)
    return count


# --- integration

def integration(_options):
    count = Count()
    complaints = build("build", [], "g++", lambda name: name == "wirecached")
    if complaints is not None:
        count.fail("build of build/app/wirecached", complaints)
        return count
    say("running the integration tests (pytest)")
    with tempfile.TemporaryDirectory() as directory:
        report = os.path.join(directory, "report.xml")
        code, _ = stream(["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                          "--tb=short", "--durations=12", f"--junitxml={report}",
                          "tests/integration"])
        cases = []
        if os.path.exists(report):
            cases = list(xml.etree.ElementTree.parse(report).getroot().iter("testcase"))
    for case in cases:
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
            count.failures.append(name)
        elif case.find("skipped") is not None:
            count.skipped += 1
        else:
            count.ok()
    if not cases or (code != 0 and count.failed == 0):
        count.fail(f"pytest: exit code {code}")
    return count


def stream(command):
    """Runs a command whose output is shown as it comes."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=ROOT, start_new_session=True)
    try:
        return process.wait(), ""
    except BaseException:
        processes.stop(process, timeout_sec=30)
        raise


SUITES = {"lint": lint, "unit": unit, "asan": asan, "tsan": tsan, "fuzz": fuzz,
          "integration": integration}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fuzz-seconds", type=int, default=15)
    parser.add_argument("suites", nargs="+", choices=list(SUITES))
    options = parser.parse_args()
    processes.raise_on_signals()
    total = Count()
    for name in options.suites:
        started = time.monotonic()
        count = SUITES[name](options)
        say(f"{name}: {count} in {time.monotonic() - started:.0f} s")
        total.add(count)
    for failure in total.failures:
        print("   failed: " + failure)
    print(total, flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("run-tests: interrupted", file=sys.stderr)
        sys.exit(130)

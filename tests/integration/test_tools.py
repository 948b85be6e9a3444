"""Real clients: dig, kdig, drill, dnsperf and kxdpgun get right answers, IPv4 and IPv6."""

import os
import re
import subprocess

import pytest
from client import ALL_SETUPS, CLIENT_HOST, on
from lab import appliance, netns
from questions import QUESTIONS

TOOLS = {
    "dig": ("dig", "+tries=1", "+time=4", "-b"),
    "kdig": ("kdig", "+retry=0", "+time=4", "+edns", "-b"),
    "drill": ("drill", "-b", "1232", "-I"),
}
HEADER_MARK = ";; ->>HEADER<<-"
STATUS = re.compile(r"(?:status|rcode): (\w+)")
# Types that dnsperf 2.10 and kxdpgun 3.2 know by name.
LOAD_TYPES = ("SOA", "NS", "MX", "TXT", "CAA", "A", "AAAA", "CNAME", "PTR", "SRV", "NAPTR", "TLSA",
              "SSHFP", "LOC", "HINFO", "RP", "AFSDB", "KX", "CERT", "DNAME", "DS", "DNSKEY", "CDS")
# A veth's queue may overflow while a busy machine keeps the worker off its CPU.
MAX_LOSS = 0.02
_truths = {}


def addresses(lab, v6):
    """(client, appliance, upstream)"""
    link = lab.link
    return tuple((link.v6 if v6 else link.v4)(host) for host in (CLIENT_HOST, 1, 2))


def run_inside(lab, *command, timeout=60):
    with lab.network.net.inside():
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=timeout, check=False)


def output_without_ttl(text):
    """(status, sorted records of the answer section, and the SOA of the authority section)."""
    section = ""
    records = []
    for line in text.splitlines():
        if "SECTION" in line or line.startswith(";;"):
            section = line
            continue
        fields = line.split(None, 4)
        if len(fields) == 5 and not line.startswith(";"):
            if "ANSWER" in section or ("AUTHORITY" in section and fields[3] == "SOA"):
                records.append((fields[0], fields[3], " ".join(fields[4].split())))
    status = STATUS.search(text)
    return (status.group(1) if status else "no answer", sorted(records))


def tool_says(lab, tool, server, source, questions):
    """What the tool prints for each question; dig and kdig ask them all in one run."""
    command = [*TOOLS[tool], source]
    if tool == "drill":
        outputs = [run_inside(lab, *command, "@" + server, *question).stdout
                   for question in questions]
    else:
        tuples = [word for question in questions for word in ("@" + server, *question)]
        text = run_inside(lab, *command, *tuples).stdout
        outputs = [HEADER_MARK + part for part in text.split(HEADER_MARK)[1:]]
    assert len(outputs) == len(questions), f"{len(outputs)} answers to {len(questions)} questions"
    return [output_without_ttl(output) for output in outputs]


def truth_of(lab, tool):
    """What the tool prints when it asks the upstream itself, by question."""
    if tool not in _truths:
        source, _, own = addresses(lab, v6=False)
        _truths[tool] = dict(zip(QUESTIONS, tool_says(lab, tool, own, source, QUESTIONS)))
    return _truths[tool]


@on(*ALL_SETUPS)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
@pytest.mark.parametrize("tool", TOOLS)
def test_tool_sees_what_the_upstream_says(lab, wirecache, tool, v6):
    del wirecache
    source, server, _ = addresses(lab, v6)
    truth = truth_of(lab, tool)
    said = dict(zip(QUESTIONS, tool_says(lab, tool, server, source, QUESTIONS)))
    wrong = [f"{' '.join(q)}: {said[q]}, the upstream {truth[q]}"
             for q in QUESTIONS if said[q] != truth[q]]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def query_file(lab):
    path = os.path.join(lab.directory, "queries")
    with open(path, "w", encoding="ascii") as f:
        f.writelines(f"{name} {rtype}\n" for name, rtype in QUESTIONS if rtype in LOAD_TYPES)
    return path


def expected_share(lab, rcode):
    """Which part of the query file gets this rcode, by what dig hears from the upstream."""
    asked = [q for q in QUESTIONS if q[1] in LOAD_TYPES]
    return sum(truth_of(lab, "dig")[q][0] == rcode for q in asked) / len(asked)


@on(*ALL_SETUPS)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
def test_dnsperf(lab, wirecache, query_file, v6):
    """Every query answered, with the rcodes that the upstream gives."""
    del wirecache
    source, server, _ = addresses(lab, v6)
    done = run_inside(lab, "dnsperf", "-s", server, "-a", source, "-d", query_file, "-l", "1",
                      "-Q", "5000", "-c", "20", "-e")
    sent, lost = (int(re.search(rf"Queries {what}: +(\d+)", done.stdout).group(1))
                  for what in ("sent", "lost"))
    assert sent > 2000 and lost <= sent * MAX_LOSS, done.stdout
    codes = {k: int(v) for k, v in re.findall(r"([A-Z]+) (\d+) \(", done.stdout)}
    assert set(codes) == {"NOERROR", "NXDOMAIN"}, done.stdout
    assert codes["NXDOMAIN"] == pytest.approx(sent * expected_share(lab, "NXDOMAIN"), rel=0.1)


@on(*ALL_SETUPS)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
def test_kxdpgun(lab, wirecache, query_file, v6):
    """Its packets come from many ports at once, without the kernel's UDP."""
    del wirecache
    source, server, _ = addresses(lab, v6)
    # It takes the next hop's MAC from the kernel.
    run_inside(lab, "ping", "-c", "1", "-W", "2", server)
    try:
        done = run_inside(lab, "kxdpgun", "-t", "1", "-Q", "5000", "-i", query_file, "-I",
                          lab.link.outer, "-l", source, server)
    finally:
        netns.run("ip", "-n", lab.network.net.name, "link", "set", "dev", lab.link.outer, "xdp",
                  "off")
    sent = int(re.search(r"total queries: +(\d+)", done.stdout).group(1))
    codes = {k: int(v) for k, v in re.findall(r"responded (\w+): +(\d+)", done.stdout)}
    assert set(codes) == {"NOERROR", "NXDOMAIN"}, done.stdout
    assert sum(codes.values()) >= sent * (1 - MAX_LOSS), done.stdout
    assert codes["NXDOMAIN"] == pytest.approx(sent * expected_share(lab, "NXDOMAIN"), rel=0.2)


@on(*ALL_SETUPS)
def test_metrics_of_prometheus_form(wirecache):
    """The scrape holds every family that the documentation promises, each with HELP and TYPE."""
    status, text = wirecache.http("/metrics")
    assert status == 200
    for family in ("packets_received_total", "client_queries_total", "queries_total",
                   "responses_total", "drops_total", "query_drops_total", "punted_packets_total",
                   "upstream_answers_taken_total", "upstream_queries_total",
                   "upstream_timeouts_total", "waiting_clients", "cache_entries", "cache_bytes",
                   "hit_latency_seconds", "miss_latency_seconds"):
        assert f"# HELP wirecache_{family} " in text
        assert f"# TYPE wirecache_{family} " in text
    assert appliance.Metrics(text).total("queries_total", outcome="hit") >= 0


@on(*ALL_SETUPS)
def test_health(wirecache):
    assert wirecache.http("/healthz")[0] == 200
    assert wirecache.http("/readyz")[0] == 200
    assert wirecache.http("/nothing")[0] == 404

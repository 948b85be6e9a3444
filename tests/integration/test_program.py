"""wirecached as a program: exit codes, one clear line, SIGTERM."""

import os
import re
import shutil
import subprocess
import time

import pytest
from client import Client, fresh_name, make_query
from lab import Setup, appliance

NOBODY = 65534
STOP_LIMIT_SEC = 4


@pytest.fixture
def quiet_lab(lab):
    """The lab without a running appliance."""
    lab.stop_current()
    return lab


def write_config(lab, config):
    path = os.path.join(lab.directory, "program.toml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(config if isinstance(config, str) else appliance.to_toml(config))
    return path


def run(lab, *arguments, prefix=(), binary=None):
    """(exit code, stdout, lines of stderr)"""
    done = subprocess.run(
        ["ip", "netns", "exec", lab.network.app.name, *prefix, binary or appliance.binary(),
         *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
        check=False)
    return done.returncode, done.stdout, done.stderr.splitlines()


def one_line(lines):
    assert len(lines) == 1, lines
    return lines[0]


def test_help(quiet_lab):
    code, out, _ = run(quiet_lab, "--help")
    assert code == 0 and "--config" in out and "--check" in out


@pytest.mark.parametrize("arguments", ((), ("--nonsense",), ("--config",)))
def test_wrong_command_line(quiet_lab, arguments):
    code, _, lines = run(quiet_lab, *arguments)
    assert code == appliance.EXIT_USAGE and lines


def test_check(quiet_lab):
    """Says that the file is good; starts nothing."""
    path = write_config(quiet_lab, Setup().config(quiet_lab))
    code, _, lines = run(quiet_lab, "--config", path, "--check")
    assert code == 0 and not lines
    assert "wc0" not in quiet_lab.network.app.ip("link")


def test_readme_configuration(quiet_lab):
    """What README says for a real NIC is good, but for this machine's number of cores."""
    with open(os.path.join(appliance.ROOT, "README.md"), encoding="utf-8") as f:
        text = re.search(r"```toml\n(.*?)```", f.read(), re.S).group(1)
    text = text.replace("workers = [2, 3]", "oversubscribe = true\nworkers = [0, 0]")
    code, _, lines = run(quiet_lab, "--config", write_config(quiet_lab, text), "--check")
    assert code == 0, lines


def good_toml(lab):
    return appliance.to_toml(Setup("af_packet").config(lab))


# what: (pattern to replace, replacement, what the line must say)
BAD_CONFIGS = {
    "unknown key": ('memory_mb = 64', 'memroy_mb = 64', "memory_mb"),
    "unknown section": ('[cache]', '[cahce]', "cache"),
    "wrong type": ('memory_mb = 64', 'memory_mb = "much"', "memory_mb"),
    "out of range": ('deadline_ms = 1900', 'deadline_ms = -1', "deadline_ms"),
    "unknown choice": ('idle = "yield"', 'idle = "yeild"', "yield"),
    "no such core": ('main = 0', 'main = 1023', "1023"),
    "overlapping cores": ('oversubscribe = true', 'oversubscribe = false', "core"),
    "bad address": ('"10.53.0.1/24"', '"10.53.0.256/24"', "10.53.0.256"),
    "bad syntax": ('memory_mb = 64', 'memory_mb = = 64', ""),
    "no servers": ('[[upstream.server]]\naddress = "10.53.0.2"', '', "server"),
}


@pytest.mark.parametrize("what", BAD_CONFIGS)
@pytest.mark.parametrize("check", ((), ("--check",)), ids=("start", "check"))
def test_bad_configuration(quiet_lab, what, check):
    """One line FILE:LINE: what is wrong; exit code 3; nothing started."""
    old, new, says = BAD_CONFIGS[what]
    text = good_toml(quiet_lab)
    if what == "overlapping cores":
        text = re.sub(r"workers = \[.*\]", "workers = [0, 0]", text)
    assert old in text
    path = write_config(quiet_lab, text.replace(old, new))
    code, out, lines = run(quiet_lab, "--config", path, *check)
    assert code == appliance.EXIT_CONFIG and not out
    assert re.match("(wirecached: )?" + re.escape(path) + r":\d+(:\d+)?: .", one_line(lines)), lines
    assert says.lower() in lines[0].lower()
    assert "wc0" not in quiet_lab.network.app.ip("link")


@pytest.mark.parametrize("check", ((), ("--check",)), ids=("start", "check"))
def test_bad_driver_profile(quiet_lab, tmp_path, check):
    """A mistake in an operator's profile is one of the configuration, told with its own file."""
    profile = tmp_path / "mine.toml"
    profile.write_text('drivers = ["net_af_packet"]\nburst = 33\n')
    config = {**Setup("af_packet").config(quiet_lab), "drivers": {"profiles": str(tmp_path)}}
    path = write_config(quiet_lab, config)
    code, out, lines = run(quiet_lab, "--config", path, *check)
    assert code == appliance.EXIT_CONFIG and not out
    assert f"{profile}:2: " in one_line(lines)


def test_unreadable_configuration(quiet_lab):
    code, _, lines = run(quiet_lab, "--config", "/nonexistent/wirecache.toml")
    assert code == appliance.EXIT_CONFIG and "/nonexistent/wirecache.toml" in one_line(lines)


@pytest.mark.parametrize("device", ("net_af_packet0,iface=nosuch", "net_af_xdp0,iface=nosuch",
                                    "0000:ff:1f.7", "net_nonsense0"))
def test_missing_device(quiet_lab, device):
    config = Setup("af_packet").config(quiet_lab)
    config["port"][0]["device"] = device
    code, _, lines = run(quiet_lab, "--config", write_config(quiet_lab, config))
    assert code == appliance.EXIT_DEVICE and device.split(",")[0] in one_line(lines)


def test_no_memory(quiet_lab):
    """Huge pages are demanded, far more than any machine has."""
    config = Setup("af_packet").config(quiet_lab)
    config["eal"].update(memory_mb=500000, huge_pages="on")
    code, _, lines = run(quiet_lab, "--config", write_config(quiet_lab, config))
    assert code == appliance.EXIT_MEMORY and one_line(lines)


def test_no_privilege(quiet_lab):
    copy = os.path.join(quiet_lab.directory, "wirecached")
    shutil.copy(appliance.binary(), copy)
    os.chmod(copy, 0o755)
    path = write_config(quiet_lab, Setup("af_packet").config(quiet_lab))
    os.chmod(path, 0o644)
    code, _, lines = run(
        quiet_lab, "--config", path, binary=copy,
        prefix=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"))
    assert code == appliance.EXIT_PRIVILEGE and one_line(lines)


@pytest.mark.parametrize("setup", (Setup("af_xdp", upstream="fake"),
                                   Setup("af_packet", workers=4, upstream="fake")), ids=str)
def test_sigterm_answers_who_waits(quiet_lab, setup):
    """Every waiting client gets its answer or SERVFAIL; exit code 0; nothing stays behind."""
    running = quiet_lab.start(setup)
    client = Client(quiet_lab)
    sockets = [client.socket(v6=i % 2 == 1) for i in range(40)]
    for i, s in enumerate(sockets):
        behaviour = "silent" if i % 4 else "delay-500"
        s.send(make_query(fresh_name(f"{behaviour}.fake.example")).to_wire())
    time.sleep(0.2)
    started = time.monotonic()
    running.process.terminate()
    for s in sockets:
        s.settimeout(STOP_LIMIT_SEC)
        answer = s.recv(4096)
        assert answer[2] & 0x80 and answer[3] & 15 in (0, 2)
        s.close()
    assert quiet_lab.stop_current() == 0
    assert time.monotonic() - started < STOP_LIMIT_SEC
    assert "wc0" not in quiet_lab.network.app.ip("link")


@pytest.mark.parametrize("driver", ("af_xdp", "af_packet"))
def test_starts_again_at_once(quiet_lab, driver):
    for _ in range(3):
        quiet_lab.start(Setup(driver))
        assert Client(quiet_lab)("www.demo.example").rcode == "NOERROR"
        assert quiet_lab.stop_current() == 0

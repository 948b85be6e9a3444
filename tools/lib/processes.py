"""Child processes of the demo and the tests: started apart from the terminal, always ended."""

import ctypes
import os
import signal
import subprocess
import time

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def die_with_parent():
    """preexec: should this program be killed outright, its children must not stay behind."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, log_path, namespace=None, outlive_parent=False):
    """Starts a service, its output in a file, in a session of its own: no Ctrl-C from the tty."""
    if namespace is not None:
        command = ["ip", "netns", "exec", namespace.name, *command]
    with open(log_path, "wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True,
                                preexec_fn=None if outlive_parent else die_with_parent)


def stop(process, timeout_sec=5):
    """SIGTERM, then SIGKILL; returns the exit code."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout_sec)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode


def wait_until(condition, timeout_sec, step_sec=0.05):
    """True as soon as condition() is, False when the time is over."""
    end = time.monotonic() + timeout_sec
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step_sec)
    return bool(condition())


def tail(path, lines=15):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as f:
        return "".join(f.readlines()[-lines:])


def raise_on_signals():
    """Turns SIGTERM and SIGHUP into what Ctrl-C is, so that every `finally` runs."""

    def handler(number, _frame):
        raise KeyboardInterrupt(signal.Signals(number).name)

    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGHUP, handler)

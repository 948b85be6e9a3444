"""clang-tidy with the checks of .clang-tidy on every source of lib/ and app/.

Reads the compile commands of build/, which has to be configured, not built.
"""

import concurrent.futures
import os
import subprocess
import sys

import sources

BUILD = os.path.join(sources.ROOT, "build")


def tidy(path):
    """None, or clang-tidy's findings."""
    done = subprocess.run(["clang-tidy-14", "--quiet", "-p", BUILD,
                           "--extra-arg=-Wno-unknown-warning-option", path],
                          cwd=sources.ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


def main():
    paths = sources.files(("lib", "app"), (".cc",))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return sources.report([r for r in pool.map(tidy, paths) if r])


if __name__ == "__main__":
    sys.exit(main())

"""Every header under lib/ and app/ compiles when it is the only thing included."""

import concurrent.futures
import os
import subprocess
import sys

import sources

WARNINGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")


def dependency_flags():
    done = subprocess.run(["pkg-config", "--cflags", "libdpdk", "jemalloc", "libxxhash"],
                          capture_output=True, text=True, check=True)
    # As in the build, other people's headers are system headers.
    flags = done.stdout.split()
    return [f.replace("-I", "-isystem", 1) if f.startswith("-I") else f for f in flags]


def compile_alone(path, flags):
    """None, or the compiler's complaint."""
    source = f'#include "{path}"\n#include "{path}"\n'
    done = subprocess.run(["g++", *WARNINGS, *flags, "-I", ".", "-x", "c++", "-"], input=source,
                          cwd=sources.ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{path} does not stand alone:\n{done.stderr}"


def main():
    flags = dependency_flags()
    headers = sources.files(("lib", "app"), (".h",))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda h: compile_alone(h, flags), headers)
        return sources.report([r for r in results if r])


if __name__ == "__main__":
    sys.exit(main())

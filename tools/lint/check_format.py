"""Every C++ file is as clang-format would write it; names those that are not."""

import subprocess
import sys

import sources

done = subprocess.run(["clang-format-14", "--dry-run", "-Werror", *sources.cpp_files()],
                      cwd=sources.ROOT, capture_output=True, text=True, check=False)
unformatted = sorted({line.split(":")[0] for line in done.stderr.splitlines()
                      if "-Wclang-format-violations" in line})
problems = [f"{path}: run clang-format-14 -i on it" for path in unformatted]
if done.returncode != 0 and not problems:
    problems = [done.stderr]
sys.exit(sources.report(problems))

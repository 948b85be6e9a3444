"""What STYLE asks of files and no other tool checks.

Files of at most 500 lines and 100 columns, headers that open with a comment and have
`#pragma once`, snake_case file names, no notes about unfinished work.
"""

import os
import re
import sys

import sources

MAX_LINES = 500
MAX_COLUMNS = 100
FILE_NAME = re.compile(r"^[a-z0-9_]+\.(h|cc|py)$")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")


def check(path):
    with open(os.path.join(sources.ROOT, path), encoding="utf-8") as f:
        lines = f.read().splitlines()
    if not FILE_NAME.match(os.path.basename(path)):
        yield f"{path}: file names are snake_case"
    if len(lines) > MAX_LINES:
        yield f"{path}: {len(lines)} lines, at most {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"
        if UNFINISHED.search(line):
            yield f"{path}:{number}: a note about unfinished work"
        if line != line.rstrip():
            yield f"{path}:{number}: blanks at the end of the line"
    if path.endswith(".h"):
        if not lines or not lines[0].startswith("// "):
            yield f"{path}: a header opens with a comment that says what it is for"
        if "#pragma once" not in lines:
            yield f"{path}: no #pragma once"
    code = [line for line in lines if not line.startswith("#")]
    if path.endswith(".py") and not (code and code[0].startswith('"""')):
        yield f"{path}: a module opens with a docstring"


def main():
    paths = sources.cpp_files() + sources.files(("tools", "tests"), (".py",))
    return sources.report([problem for path in paths for problem in check(path)])


if __name__ == "__main__":
    sys.exit(main())

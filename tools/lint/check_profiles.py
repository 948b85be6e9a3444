"""Driver profiles say where each value comes from, and the README lists them all.

In drivers-config/*.toml every key, and every element of `limits`, has a comment above it that
names its source: a file of DPDK, Linux or this tree, with its path. The README's table "Drivers"
has a row for each profile, with all its driver names and where it is tested.
"""

import os
import re
import sys

import sources

FOLDER = "drivers-config"
KEYS = ("drivers", "bind", "rx_descriptors", "tx_descriptors", "burst", "rss", "offloads",
        "spreads", "paired_queues", "power_of_two_queues", "copies", "max_queues", "tested",
        "limits")
SOURCE = re.compile(r"\b(drivers|doc|lib|config|linux)/[\w/.-]*|README\.md|\b[Tt]he same\b")
ASSIGNMENT = re.compile(r"^(\w+) = (.*)$")
ELEMENT = re.compile(r'^  ".*",$')
TESTED = {"here": "here", "vm": "in a virtual machine", "no": "no"}


def read(path):
    with open(os.path.join(sources.ROOT, path), encoding="utf-8") as f:
        return f.read()


def check_comments(path, text):
    comment, seen = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            comment.append(line)
            continue
        match = ASSIGNMENT.match(line)
        if match:
            seen.append(match.group(1))
        needs_source = match and match.group(1) not in ("limits", "tested")
        if (needs_source or ELEMENT.match(line)) and not SOURCE.search(" ".join(comment)):
            yield f"{path}:{number}: no comment above says where this comes from"
        if match and match.group(1) == "tested" and not comment:
            yield f"{path}:{number}: no comment above says how it is tested"
        if len(line) > 100:
            yield f"{path}:{number}: {len(line)} columns, at most 100"
        comment = []
    if tuple(seen) != KEYS:
        yield f"{path}: has the keys {', '.join(seen)}, not {', '.join(KEYS)}"


def value_of(text, key):
    return re.search(rf"^{key} = (.*)$", text, re.MULTILINE).group(1)


def check_row(readme, path, text):
    name = os.path.basename(path).removesuffix(".toml")
    row = re.search(rf"^\| `{re.escape(name)}` \|.*$", readme, re.MULTILINE)
    if row is None:
        yield f"README.md: no row for {path}"
        return
    wanted = re.findall(r'"([^"]+)"', value_of(text, "drivers"))
    for words in [*wanted, TESTED[value_of(text, "tested").strip('"')]]:
        if words not in row.group():
            yield f"README.md: the row of {name} lacks {words}"


def main():
    readme = read("README.md")
    build = read(f"{FOLDER}/meson.build")
    problems = []
    for path in sources.files((FOLDER,), (".toml",)):
        text = read(path)
        problems += check_comments(path, text)
        problems += check_row(readme, path, text)
        if f"'{os.path.basename(path)}'" not in build:
            problems.append(f"{path}: not part of the program ({FOLDER}/meson.build)")
    return sources.report(problems)


if __name__ == "__main__":
    sys.exit(main())

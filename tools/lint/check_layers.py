"""Each layer includes only layers to its left; siblings do not include each other.

base -> {dns, net, stats, config} -> {cache, port} -> upstream -> worker
     -> {stream, control, metrics} -> app
Also: dns and net know no DPDK, and project includes are written from the top of the tree.
"""

import os
import re
import sys

import sources

LAYERS = (("base",), ("dns", "net", "stats", "config"), ("cache", "port"), ("upstream",),
          ("worker",), ("stream", "control", "metrics"), ("app",))
RANK = {layer: rank for rank, group in enumerate(LAYERS) for layer in group}
WITHOUT_DPDK = ("base", "dns", "net", "stats", "config")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def layer_of(path):
    parts = path.split("/")
    if parts[0] == "app":
        return "app"
    return parts[1] if parts[0] == "lib" else None


def check_include(where, own, quote, target):
    """What is wrong with one include, or None."""
    if quote == "<":
        if target.startswith("rte_") and own in WITHOUT_DPDK:
            return f"{where}: {own} must not know DPDK, but includes <{target}>"
        return None
    other = layer_of(target)
    if other is None or not os.path.exists(os.path.join(sources.ROOT, target)):
        return f'{where}: "{target}" is not a file from the top of the source tree'
    if other not in RANK:
        return f'{where}: "{target}": {other} is not one of the layers'
    if other != own and RANK[other] >= RANK[own]:
        return f'{where}: {own} must not include {other} ("{target}")'
    return None


def main():
    problems = []
    for path in sources.cpp_files(("lib", "app")):
        own = layer_of(path)
        if own not in RANK:
            problems.append(f"{path}: {own} is not one of the layers")
            continue
        with open(os.path.join(sources.ROOT, path), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                match = INCLUDE.match(line)
                problem = match and check_include(f"{path}:{number}", own, *match.groups())
                if problem:
                    problems.append(problem)
    return sources.report(problems)


if __name__ == "__main__":
    sys.exit(main())

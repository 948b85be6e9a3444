#!/usr/bin/python3
"""Writes the hostile packets and their verdicts for the test program, or shows them.

  make_packets.py --out FILE        writes them ("-": standard output)
  make_packets.py --list            families, packets and verdicts of each
  make_packets.py --show N [N ...]  packets by number, taken apart by scapy

--family NAME ... leaves out all other families. The file is little-endian; strings and byte
strings have a 16-bit length before them:
  "WCHP1"; number of labels (16 bits), labels; number of families (16), names; then until the end
  packets: 1, number (32), family (16), what, frame, number of verdicts (8), verdicts; at last 0.
  A verdict: label (8), reply, upstream query (see verdict.py).
"""

import argparse
import collections
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

# pylint: disable=wrong-import-position
from hostile.catalogue import FAMILIES, judged  # noqa: E402
from hostile.setting import RIG  # noqa: E402
from hostile.verdict import LABELS  # noqa: E402

MAGIC = b"WCHP1"


def sized(data):
    if isinstance(data, str):
        data = data.encode()
    return struct.pack("<H", len(data)) + data


def strings(texts):
    return struct.pack("<H", len(texts)) + b"".join(map(sized, texts))


def write(out, names):
    family_numbers = {name: i for i, name in enumerate(names)}
    label_numbers = {label: i for i, label in enumerate(LABELS)}
    out.write(MAGIC + strings(LABELS) + strings(names))
    for number, (key, what, frame, verdicts) in enumerate(judged(RIG, names)):
        out.write(struct.pack("<BIH", 1, number, family_numbers[key]) + sized(what) + sized(frame)
                  + bytes((len(verdicts),)))
        for verdict in verdicts:
            out.write(bytes((label_numbers[verdict.label],)) + sized(verdict.reply)
                      + sized(verdict.upstream))
    out.write(b"\0")


def show_list(names):
    total = 0
    for key in names:
        verdicts = collections.Counter(
            " or ".join(dict.fromkeys(v.label for v in verdicts))
            for _, _, _, verdicts in judged(RIG, [key]))
        total += sum(verdicts.values())
        print(f"{key}: {sum(verdicts.values())}")
        for label, count in verdicts.most_common():
            print(f"    {label}: {count}")
    print(f"{total} packets")


def show(names, numbers):
    from scapy.all import Ether  # pylint: disable=import-outside-toplevel
    for number, (key, what, frame, verdicts) in enumerate(judged(RIG, names)):
        if number in numbers:
            print(f"== {number}: {key}: {what}\n{frame.hex()}")
            Ether(frame).show()
            for verdict in verdicts:
                print(f"-> {verdict.label} {verdict.reply.hex()} {verdict.upstream.hex()}".strip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out")
    what.add_argument("--list", action="store_true")
    what.add_argument("--show", nargs="+", type=int)
    options = parser.parse_args()
    if options.list:
        show_list(options.family)
    elif options.show:
        show(options.family, options.show)
    else:
        target = sys.stdout.fileno() if options.out == "-" else options.out
        with open(target, "wb", buffering=1 << 20) as f:
            write(f, options.family)


if __name__ == "__main__":
    main()

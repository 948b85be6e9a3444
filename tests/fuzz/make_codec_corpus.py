#!/usr/bin/env python3
"""Writes the seed corpus of the fuzz target `codec` beside this file.

The seeds are the upstream answers of the codec's unit tests, each with a byte before it that says
how it was fetched (fuzz_codec.cc). Needs: python3-dnspython. Usage: make_codec_corpus.py
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "unit" / "cache"))
import make_fixtures  # noqa: E402

FETCHED_WITH_DO = 1
# RFC 8914 §2: Stale Answer, with text.
EXTENDED_ERROR = bytes.fromhex("000f 0007 0003") + b"stale"


def main():
    folder = HERE / "corpus" / "codec"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for number, case in enumerate(make_fixtures.cases()):
        mode = make_fixtures.MODES[number % len(make_fixtures.MODES)]
        options = EXTENDED_ERROR if number % 3 == 0 else b""
        opt = make_fixtures.opt_record(True, options)
        wire = make_fixtures.render(case, mode, case.records, opt)
        name = re.sub(r"\W+", "_", case.name.lower())
        how = FETCHED_WITH_DO | (number % 8) << 1
        (folder / name).write_bytes(bytes([how]) + wire)


if __name__ == "__main__":
    main()

"""Huge pages of the kernel, set aside for a while and given back."""

import contextlib

_COUNT = "/proc/sys/vm/nr_hugepages"
PAGE_BYTES = 2 << 20


def _read():
    with open(_COUNT, encoding="ascii") as f:
        return int(f.read())


def _write(count):
    with open(_COUNT, "w", encoding="ascii") as f:
        f.write(str(count))


@contextlib.contextmanager
def set_aside(size_bytes):
    """That much in free pages of 2 MiB within the block: yields whether the kernel could give it.

    Whatever happens, as many pages are set aside at the end as were before.
    """
    before = _read()
    wanted = before + -(-size_bytes // PAGE_BYTES)
    try:
        try:
            _write(wanted)
        except OSError:
            yield False
            return
        yield _read() >= wanted
    finally:
        if _read() != before:
            _write(before)

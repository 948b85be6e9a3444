"""All families, and their packets with the verdicts."""

import random

from hostile import dns_families, families, frame_families, icmp_families, random_families
from hostile.oracle import judge

MODULES = (families, frame_families, icmp_families, dns_families, random_families)
FAMILIES = {f.__name__: f for module in MODULES for f in vars(module).values()
            if getattr(f, "is_family", False)}
SEED = "wirecache"


def packets(setting, names=None):
    """(family, what, frame) of all families, or of those named: the same ones every time.

    No frame comes twice in a family.
    """
    for key in FAMILIES if names is None else names:
        seen = set()
        for what, frame in FAMILIES[key](setting, random.Random(f"{SEED}/{key}")):
            if frame not in seen:
                seen.add(frame)
                yield key, what, frame


def judged(setting, names=None):
    """(family, what, frame, verdicts); without the packets that are left to a setting."""
    for key, what, frame in packets(setting, names):
        verdicts = judge(frame, setting)
        if verdicts is not None:
            yield key, what, frame, verdicts

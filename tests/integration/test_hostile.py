"""A sample of the hostile packets (tests/hostile) over veth against the real program.

The program's counters have to grow by the sums of the oracle's verdicts. tests/hostile/README.md
says where the kernel in between has a say.
"""

import collections
import functools
import json
import os
import sys
import time

import pytest
from client import fresh_name, on
from frames import Wire, recomputed
from lab import HERE, Setup

sys.path.insert(0, os.path.join(HERE, ".."))

# pylint: disable=wrong-import-position
from hostile.catalogue import FAMILIES, packets  # noqa: E402
from hostile.families import baselines  # noqa: E402
from hostile.oracle import judge  # noqa: E402
from hostile.setting import RIG, Setting, mac, packed  # noqa: E402
from hostile.verdict import DROPS  # noqa: E402

# No try is repeated, however busy the machine: the answer to an earlier one would be a drop.
PATIENT = (("upstream", "try_timeout_ms", 5000), ("upstream", "deadline_ms", 9000))
SETUPS = (Setup("af_xdp", workers=1, upstream="fake", overrides=PATIENT),
          Setup("af_packet", workers=2, upstream="fake", overrides=PATIENT))
A_FAMILY = 120  # packets
BATCH = 64
BATCH_TIMEOUT_SEC = REST_TIMEOUT_SEC = 30
ETHERNET_BYTES, MAX_FRAME_BYTES = 14, 1514


@functools.lru_cache(maxsize=1)
def sample(setting):
    """{family: [(what, frame, label)]}: evenly out of each, those with a single right verdict."""
    result = {}
    for family in FAMILIES:
        everything = list(packets(setting, [family]))
        chosen = []
        for _, what, frame in everything[::max(1, len(everything) // A_FAMILY)]:
            verdicts = judge(frame, setting) or ()
            labels = {v.label for v in verdicts}
            if len(labels) == 1 and ETHERNET_BYTES < len(frame) <= MAX_FRAME_BYTES:
                chosen.append((what, frame, labels.pop()))
        result[family] = chosen
    return result


def setting_of(lab):
    link = lab.link
    return Setting(port_mac=mac(link.inner_mac), listen=(packed(link.v4(1)), packed(link.v6(1))),
                   upstream_sources=(packed(link.v4(1)), packed(link.v6(1))),
                   client_v4=packed(link.v4(200)), client_v6=packed(link.v6(200)))


def reaches_af_packet(frame):
    """Whether the kernel gives a frame to AF_PACKET as it is.

    DPDK's fan-out has IPv4 fragments reassembled first; a tag is taken out on the way, which fails
    where nothing is behind it, and of its TPID nothing is told: 802.1ad comes out as 802.1Q.
    """
    ether_type = frame[12:14]
    if ether_type == b"\x88\xa8":
        return False
    l3 = 14
    if ether_type == b"\x81\0":
        l3 = 18
        ether_type = frame[16:18]
        if len(frame) < l3 + 2:
            return False
    fragment = int.from_bytes(frame[l3 + 6:l3 + 8], "big") & 0x3FFF
    return ether_type != b"\x08\0" or fragment == 0


def interface_sent(lab):
    """Frames that left the client's interface until now, whoever sent them."""
    link = json.loads(lab.network.net.ip("-s", "-j", "link", "show", "dev", lab.link.outer))
    return link[0]["stats64"]["tx"]["packets"]


class Counts:
    """What the program and the client's interface had counted at one moment of rest."""

    def __init__(self, lab, wirecache):
        end = time.monotonic() + REST_TIMEOUT_SEC
        while True:  # a frame that is on its way would be in one count only
            self.sent = interface_sent(lab)
            self.metrics = wirecache.metrics_at_rest()
            if interface_sent(lab) == self.sent:
                return
            assert time.monotonic() < end, "the client's interface is never at rest"

    def since(self, before, name, **labels):
        return self.metrics.total(name, **labels) - before.metrics.total(name, **labels)


def send(wire, wirecache, frames):
    """In batches, each when the one before has arrived: no ring on the way overflows."""
    target = wirecache.metrics().total("packets_received_total")
    for first in range(0, len(frames), BATCH):
        batch = frames[first:first + BATCH]
        for frame in batch:
            wire.send(frame)
        target += len(batch)
        end = time.monotonic() + BATCH_TIMEOUT_SEC
        while wirecache.metrics().total("packets_received_total") < target:
            assert time.monotonic() < end, f"frames {first} to {first + len(batch)} did not arrive"
            time.sleep(0.01)


def check_verdicts(before, after, expected, sent):
    """Each counter against the verdicts. Frames of the neighbouring kernel (ARP, NDP, ICMP) are
    for ours; nothing of it is dropped or a query. Of what is punted the kernel hands whole
    datagrams to the stream service (fragments of one piece, IPv6 with extension headers), which
    has them answered: the misses above the verdicts'."""
    drops = {reason: after.since(before, "drops_total", reason=reason) for reason in DROPS}
    assert drops == {reason: expected["drop " + reason] for reason in DROPS}
    assert after.since(before, "drops_total") == sum(drops.values())

    def outcome(name):
        return after.since(before, "queries_total", outcome=name)

    for name in ("refused", "malformed", "local"):
        assert outcome(name) == expected[name], name
    # An upstream query that got lost makes the same question of another packet a hit: SERVFAIL.
    by_the_kernel = after.since(before, "kernel_socket_queries_total")
    assert by_the_kernel < expected["punt"] / 10
    assert outcome("miss") + outcome("hit") == expected["miss"] + by_the_kernel
    assert outcome("overload") == 0
    queries = after.since(before, "client_queries_total")
    assert after.since(before, "responses_total") == queries
    taken = after.since(before, "upstream_answers_taken_total")
    of_the_kernel = after.sent - before.sent - sent - taken
    assert of_the_kernel >= 0, f"{after.sent - before.sent} frames, {sent} ours, {taken} answers"
    assert after.since(before, "punted_packets_total") == expected["punt"] + of_the_kernel


@on(*SETUPS)
def test_verdicts_over_the_wire(lab, wirecache, ask):
    assert ask("before.plain.fake.example").rcode == "NOERROR"
    af_packet = lab.current_setup.driver == "af_packet"
    chosen = [(frame, label) for family in sample(setting_of(lab)).values()
              for _, frame, label in family if not af_packet or reaches_af_packet(frame)]
    assert len(chosen) > 2000
    expected = collections.Counter(label for _, label in chosen)
    wire = Wire(lab.network.net, lab.link.outer)
    lab.fake.nothing()
    try:
        before = Counts(lab, wirecache)
        send(wire, wirecache, [frame for frame, _ in chosen])
        after = Counts(lab, wirecache)
    finally:
        lab.fake.answer()
        wire.close()
    check_verdicts(before, after, expected, len(chosen))
    assert after.metrics.total("waiting_clients") == after.metrics.total("pending_questions") == 0
    assert ask(fresh_name("plain.fake.example")).rcode == "NOERROR"
    assert ask(fresh_name("plain.fake.example"), v6=True).rcode == "NOERROR"


def test_every_family_is_in_the_sample(lab):
    for family, chosen in sample(setting_of(lab)).items():
        # The data of `real` is not part of the tree.
        assert len(chosen) >= 10 or family == "real", family


@pytest.mark.parametrize("what,datagram", list(baselines(RIG)), ids=lambda v: str(v)[:40])
def test_generator_against_scapy(what, datagram):
    """Lengths and checksums of the packets that all families start from."""
    frame = datagram.frame()
    assert recomputed(frame) == frame, what

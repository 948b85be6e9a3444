"""Counters add up at rest: the accounting that lib/stats/worker_stats.h states."""

import struct

from accounting import check_sums
from client import ALL_SETUPS, fresh_name, make_query, on
from lab import Setup

SETUPS = ALL_SETUPS + (Setup("af_packet", workers=4, upstream="fake"),)


@on(*SETUPS)
def test_counters_add_up_at_rest(lab, ask, wirecache):
    """After all that the other tests sent, and a mixture of every outcome."""
    fake = lab.current_setup.upstream == "fake"
    parent = "plain.fake.example" if fake else "wild.demo.example"
    before = wirecache.metrics_at_rest()
    check_sums(before)
    for i in range(30):
        link = i % lab.current_setup.ports
        name = fresh_name(parent)
        ask(name, v6=i % 2 == 0, link=link)
        ask(name, v6=i % 2 == 1, link=link)
        ask(fresh_name(parent), rd=False, link=link)
        ask.send(struct.pack("!6H", i, 0x0100, 0, 0, 0, 0), link=link)
        ask.send(make_query(name).to_wire()[:11], timeout=0.01, link=link)
        ask(name, "ANY", link=link)
    if fake:
        assert ask(fresh_name("silent.fake.example")).rcode == "SERVFAIL"
    after = wirecache.metrics_at_rest()
    check_sums(after)

    def grown(name, **labels):
        return after.total(name, **labels) - before.total(name, **labels)

    assert grown("queries_total", outcome="hit") == 30
    assert grown("queries_total", outcome="miss") == 30 + fake
    assert grown("queries_total", outcome="malformed") == 30
    assert grown("queries_total", outcome="refused") + grown(
        "queries_total", outcome="local") == 60
    assert grown("drops_total", reason="short_message") == 30
    assert grown("client_queries_total") == 150 + fake

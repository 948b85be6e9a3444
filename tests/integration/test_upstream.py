"""Misses: coalescing, retries, strict matching, truncated answers (SEMANTICS "Upstream …")."""

import select
import time

import pytest
from client import fresh_name, make_query, on
from fake_messages import address_of
from lab import Setup

ONE = Setup("af_xdp", workers=1, upstream="fake")
SETUPS = (ONE, Setup("af_packet", workers=4, upstream="fake"),
          Setup("af_xdp", workers=4, ports=4, upstream="fake"))
SOURCE_PORTS = 100
TRY_SEC, DEADLINE_SEC = 0.4, 1.9


def fake(behaviour):
    return fresh_name(behaviour + ".fake.example")


def right(name):
    return ".".join(str(b) for b in address_of(name))


@on(*SETUPS)
def test_a_name_asked_through_every_queue_is_fetched_once(lab, ask, wirecache):
    """While it is being asked and afterwards: one upstream query, one entry on the node."""
    name = fake("delay-300")
    before = wirecache.metrics_at_rest()
    sockets = [ask.socket(v6=i % 2 == 1, link=i % lab.current_setup.ports)
               for i in range(SOURCE_PORTS)]
    query = make_query(name).to_wire()
    for _ in range(2):
        for s in sockets:
            s.send(query)
        waiting = set(sockets)
        end = time.monotonic() + 3
        while waiting and time.monotonic() < end:
            for s in select.select(list(waiting), [], [], 0.2)[0]:
                answer = s.recv(4096)
                assert answer[3] & 15 == 0 and address_of(name) in answer
                waiting.discard(s)
        assert not waiting, f"{len(waiting)} of {SOURCE_PORTS} clients got no answer"
    for s in sockets:
        s.close()
    after = wirecache.metrics_at_rest()
    assert lab.fake.asked(name) == 1
    assert after.total("cache_entries") == before.total("cache_entries") + 1
    assert after.total("queries_total", outcome="miss") == before.total(
        "queries_total", outcome="miss") + SOURCE_PORTS
    assert after.total("queries_total", outcome="hit") == before.total(
        "queries_total", outcome="hit") + SOURCE_PORTS
    received = after.by_worker("packets_received_total")
    earlier = before.by_worker("packets_received_total")
    assert len(received) == lab.current_setup.workers
    assert all(received[w] > earlier[w] for w in received), "a queue got nothing"


@on(*SETUPS)
def test_many_names_at_once(lab, ask):
    """Every worker owns some of them; each is answered with its own address, and fetched once."""
    names = [fake("plain") for _ in range(200)]
    sockets = {ask.socket(link=i % lab.current_setup.ports): name
               for i, name in enumerate(names)}
    for s, name in sockets.items():
        s.send(make_query(name).to_wire())
    for s, name in sockets.items():
        s.settimeout(3)
        assert address_of(name) in s.recv(4096)
        s.close()
    assert [lab.fake.asked(name) for name in names] == [1] * len(names)


@on(*SETUPS)
@pytest.mark.parametrize("behaviour,counter", (
    ("wrongid", "upstream_unmatched"), ("wrongname", "upstream_mismatch"),
    ("wrongtype", "upstream_mismatch"), ("notresponse", None),
    ("wrongsource", None), ("wrongport", None)))
def test_only_a_matching_answer_is_taken(ask, wirecache, behaviour, counter):
    """RFC 5452 §3: the forged answer comes first and is dropped; the query goes on waiting."""
    name = fake(behaviour)
    before = wirecache.metrics()
    reply = ask(name)
    assert reply.addresses() == [right(name)]
    assert ask(name).addresses() == [right(name)]
    after = wirecache.metrics_at_rest()
    if counter:
        assert after.total("drops_total", reason=counter) == before.total(
            "drops_total", reason=counter) + 1


@on(ONE)
def test_garbage_with_the_right_id(ask):
    """Whether it counts as a failure or as nothing: the client gets the right answer."""
    name = fake("garbage")
    assert ask(name).addresses() == [right(name)]


@on(ONE)
def test_the_second_of_two_answers_is_dropped(ask, wirecache):
    before = wirecache.metrics_at_rest()
    assert ask(fake("twice")).rcode == "NOERROR"
    after = wirecache.metrics_at_rest()
    assert after.total("upstream_answers_taken_total") == before.total(
        "upstream_answers_taken_total") + 1
    assert after.total("drops_total") == before.total("drops_total") + 1


@on(*SETUPS)
def test_retry_after_the_tries_time(lab, ask):
    """A lost query is asked again, of the next server, after try_timeout_ms."""
    name = fake("silentonce")
    reply = ask(name)
    assert reply.addresses() == [right(name)]
    assert TRY_SEC * 0.9 <= reply.seconds < TRY_SEC + 0.4
    assert lab.fake.asked(name) == 2


@on(*SETUPS)
def test_servfail_by_the_deadline(lab, ask):
    name = fake("silent")
    reply = ask(name)
    assert reply.rcode == "SERVFAIL" and reply.seconds < DEADLINE_SEC + 0.3
    # At most three queries a server for one question (RFC 9520 §3.1); the failure is remembered.
    assert 2 <= lab.fake.asked(name) <= 6
    asked = lab.fake.asked(name)
    again = ask(name)
    assert again.rcode == "SERVFAIL" and again.seconds < 0.3
    assert lab.fake.asked(name) == asked


@on(ONE)
@pytest.mark.parametrize("behaviour,rcode", (("servfail", "SERVFAIL"), ("refused", "REFUSED")))
def test_failures_of_all_servers(lab, ask, behaviour, rcode):
    """Both servers are asked; the failure is passed on and remembered (RFC 9520 §3.2)."""
    name = fake(behaviour)
    reply = ask(name)
    assert reply.rcode == rcode and reply.seconds < DEADLINE_SEC + 0.3
    asked = lab.fake.asked(name)
    assert 2 <= asked <= 6
    assert ask(name).rcode == rcode and lab.fake.asked(name) == asked


@on(ONE)
def test_upstream_without_edns(lab, ask):
    """FORMERR to EDNS is asked again without it (RFC 6891 §7)."""
    name = fake("noedns")
    assert ask(name).addresses() == [right(name)]
    assert lab.fake.asked(name) >= 2


@on(*SETUPS)
def test_truncated_answer_is_passed_on_and_not_kept(lab, ask):
    name = fake("tc")
    for turn in (1, 2):
        reply = ask(name)
        assert reply.flag("TC") and reply.rcode == "NOERROR" and not reply.message.answer
        assert lab.fake.asked(name) == turn


@on(ONE)
def test_an_answer_expires(lab, ask):
    name = fake("ttl-2")
    assert ask(name).ttls() == [2]
    assert ask(name).rcode == "NOERROR" and lab.fake.asked(name) == 1
    time.sleep(3.1)
    assert ask(name).ttls() == [2] and lab.fake.asked(name) == 2


@on(ONE)
def test_ttl_0_is_not_kept(lab, ask):
    name = fake("ttl-0")
    assert ask(name).ttls() == [0]
    assert ask(name).ttls() == [0] and lab.fake.asked(name) == 2


@on(ONE)
def test_ttl_with_the_top_bit_is_a_large_one(ask):
    """RFC 8767 §4: capped at the maximum, one day here."""
    name = fake(f"ttl-{2 ** 31 + 5}")
    ask(name)
    assert 86390 <= ask(name).ttls()[0] <= 86400


@on(ONE)
def test_nxdomain_is_kept(lab, ask):
    name = fake("nxdomain")
    for _ in range(2):
        reply = ask(name)
        assert reply.rcode == "NXDOMAIN" and 55 <= reply.ttls("authority")[0] <= 60
    assert lab.fake.asked(name) == 1


@on(ONE)
def test_cd_is_a_key_of_its_own(lab, ask):
    name = fake("plain")
    for cd in (False, True, False, True):
        assert ask(name, cd=cd).addresses() == [right(name)]
    assert lab.fake.asked(name) == 2


@on(ONE)
@pytest.mark.parametrize("rtype", ("A", "TXT"), ids=("address", "no data"))
def test_extended_errors_are_kept_and_passed_on(lab, ask, rtype):
    """RFC 8914: from the upstream's OPT to every client that sent one, from the cache too."""
    name = fake("ede")
    for _ in range(2):
        options = ask(name, rtype).message.options
        assert [(int(o.otype), o.code, o.text) for o in options] == [(15, 17, "by list")]
    plain = ask(name, rtype, edns=False)
    assert not plain.has_opt and plain.rcode == "NOERROR"
    assert lab.fake.asked(name) == 1

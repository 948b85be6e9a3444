"""Every record type: the cached answer is the upstream's own, over IPv4 and IPv6."""

import dns.flags
import dns.rdatatype
import pytest
from client import ALL_SETUPS, DNSSEC_TYPES, canonical, make_query, on
from questions import QUESTIONS, SIGNED_QUESTIONS, number


def negative_soa(message):
    """The SOA of a negative answer's authority section; empty for positive ones."""
    return canonical(message.authority, lambda rrset: rrset.rdtype == dns.rdatatype.SOA)


def kept_without_do(rtype):
    """Which RRsets of the upstream's DO=1 answer a DO=0 client may see (RFC 4035 §3.2.1)."""
    return lambda rrset: rrset.rdtype not in DNSSEC_TYPES or rrset.rdtype == number(rtype)


def check_header(reply, query):
    flags = reply.message.flags
    assert flags & dns.flags.RA and not flags & dns.flags.AA and not flags & dns.flags.TC
    assert flags & dns.flags.RD == query.flags & dns.flags.RD
    assert flags & dns.flags.CD == query.flags & dns.flags.CD
    wire = query.to_wire()
    length = len(query.question[0].name.to_wire()) + 4
    assert reply.wire[12:12 + length] == wire[12:12 + length], "the question is not the client's"


def check_same(reply, truth, keep=lambda rrset: True):
    assert reply.rcode == truth.rcode
    assert canonical(reply.message.answer) == canonical(truth.message.answer, keep)
    assert negative_soa(reply.message) == negative_soa(truth.message)
    limits = {(r.name, r.rdtype, r.covers): r.ttl
              for r in truth.message.answer + truth.message.authority}
    for rrset in reply.message.answer + reply.message.authority:
        limit = limits[rrset.name, rrset.rdtype, rrset.covers]
        assert rrset.ttl <= limit, "a TTL above the upstream's"


@on(*ALL_SETUPS)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
@pytest.mark.parametrize("name,rtype", QUESTIONS, ids=lambda v: v)
def test_cached_answer_is_the_upstreams(ask, upstream, wirecache, name, rtype, v6):
    """First and second answer; the second from the cache."""
    truth = upstream(name, rtype)
    query = make_query(name.swapcase(), rtype)
    first = ask.exchange(query, v6=v6)
    check_same(first, truth)
    check_header(first, query)
    hits = wirecache.metrics().total("queries_total", outcome="hit")
    second = ask.exchange(query, v6=v6)
    check_same(second, truth)
    check_header(second, query)
    assert wirecache.metrics().total("queries_total", outcome="hit") == hits + 1
    assert all(a >= b for a, b in zip(first.ttls(), second.ttls()))
    assert len(second.wire) <= len(truth.wire), "longer than NSD's answer with the same data"


@on(*ALL_SETUPS)
@pytest.mark.parametrize("name,rtype", SIGNED_QUESTIONS, ids=lambda v: v)
def test_one_entry_answers_do_0_and_do_1(ask, upstream, wirecache, name, rtype):
    """Asked with DO=1 first; then both from the one entry (RFC 4035 §3.2.1)."""
    truth = upstream(name, rtype, do=True)
    check_same(ask(name, rtype, do=True), truth)
    hits = wirecache.metrics().total("queries_total", outcome="hit")
    with_do = ask(name, rtype, do=True)
    without_do = ask(name, rtype, do=False)
    assert wirecache.metrics().total("queries_total", outcome="hit") == hits + 2
    check_same(with_do, truth)
    if number(rtype) != dns.rdatatype.SOA:
        assert "RRSIG" in with_do.types() | with_do.types("authority")
    assert with_do.message.ednsflags & dns.flags.DO and not without_do.message.ednsflags
    check_same(without_do, truth, kept_without_do(rtype))
    hidden = {dns.rdatatype.to_text(t) for t in DNSSEC_TYPES} - {rtype}
    assert not (without_do.types() | without_do.types("authority")) & hidden
    # The denial and its signatures are all there for DO=1.
    if not truth.message.answer:
        assert canonical(with_do.message.authority) == canonical(truth.message.authority)


@on(*ALL_SETUPS)
def test_do_1_replaces_an_entry_fetched_without(ask, upstream, wirecache):
    """What was fetched with DO=0 is a miss for DO=1, which replaces it (SEMANTICS)."""
    name = "www.signed.example"
    cd = {"cd": True}  # a key of its own, that no other test has asked for
    ask(name, "MX", do=False, **cd)
    entries = wirecache.metrics().total("cache_entries")
    misses = wirecache.metrics().total("queries_total", outcome="miss")
    reply = ask(name, "MX", do=True, **cd)
    assert canonical(reply.message.authority) == canonical(
        upstream(name, "MX", do=True, **cd).message.authority)
    assert wirecache.metrics().total("queries_total", outcome="miss") == misses + 1
    assert ask(name, "MX", do=False, **cd).types("authority") == {"SOA"}
    now = wirecache.metrics()
    assert now.total("queries_total", outcome="miss") == misses + 1
    assert now.total("cache_entries") == entries

"""Header bits, EDNS, truncation, TTLs, and what is refused: SEMANTICS "Queries" and "Answers"."""

import random
import struct
import time

import dns.flags
import dns.message
import dns.rcode
import pytest
from client import ALL_SETUPS, fresh_name, make_query, on
from lab import Setup

SIMPLE = (Setup("af_xdp", workers=1), Setup("af_packet", workers=2))
QUESTION = b"\x03www\x04demo\x07example\x00\x00\x01\x00\x01"
OPT = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"


def raw(question=QUESTION, flags=0x0100, counts=(1, 0, 0, 0), rest=b"", query_id=0x1234):
    return struct.pack("!6H", query_id, flags, *counts) + question + rest


def rcode_of(answer):
    """The rcode of an answer's header; the answer must be one to raw()'s ID."""
    assert answer is not None, "no answer"
    assert answer[:2] == b"\x12\x34" and answer[2] & 0x80
    return dns.rcode.to_text(answer[3] & 15)


@on(*ALL_SETUPS)
def test_case_id_and_bits_are_the_clients(ask):
    """The question's bytes, ID, RD and CD are echoed, on a miss as on a hit (RFC 1035 §4.1.1)."""
    name = fresh_name("WiLd.DeMo.ExAmPlE")
    for spelling in (name, name.upper(), name.lower(), name.swapcase()):
        for cd in (False, True):
            query = make_query(spelling, "A", cd=cd)
            query.id = random.randrange(65536)
            reply = ask.exchange(query)
            assert reply.message.id == query.id
            assert reply.wire[12:12 + len(name) + 6] == query.to_wire()[12:12 + len(name) + 6]
            assert reply.flag("CD") == cd and reply.flag("RD") and reply.flag("RA")
            assert not reply.flag("AA") and not reply.flag("TC") and not reply.flag("AD")
            assert reply.addresses() == ["192.0.2.99"]


@on(*SIMPLE)
def test_without_rd_only_from_the_cache(ask):
    name = fresh_name()
    assert ask(name, rd=False).rcode == "REFUSED"
    ask(name)
    reply = ask(name, rd=False)
    assert reply.rcode == "NOERROR" and not reply.flag("RD")


@on(*SIMPLE)
@pytest.mark.parametrize("name,rtype,section", (
    ("www.demo.example", "A", "answer"), ("nowhere.demo.example", "A", "authority"),
    ("onlya.demo.example", "AAAA", "authority")))
def test_ttl_ages(ask, name, rtype, section):
    """Every TTL sinks by the seconds that pass, a kept SOA's too (RFC 2308 §5)."""
    before = ask(name, rtype).ttls(section)
    started = time.monotonic()
    time.sleep(2.2)
    after = ask(name, rtype).ttls(section)
    passed = time.monotonic() - started
    assert before and len(before) == len(after)
    for old, new in zip(before, after):
        assert passed - 1.2 <= old - new <= passed + 1.2


@on(*SIMPLE)
@pytest.mark.parametrize("name", ("nowhere.demo.example", "gone.demo.example"))
def test_negative_ttl(ask, name):
    """min(SOA TTL, SOA MINIMUM): the zone says 3600 and 300 (RFC 2308 §5)."""
    reply = ask(name)
    assert reply.rcode == "NXDOMAIN" and reply.types("authority") == {"SOA"}
    assert 200 < reply.ttls("authority")[0] <= 300


@on(*ALL_SETUPS)
def test_opt_only_for_who_sent_one(ask):
    """RFC 6891 §6.1.1; our size 1232; DO copied (RFC 3225 §3)."""
    for _ in range(2):
        assert not ask("www.demo.example", edns=False).has_opt
        for do in (False, True):
            reply = ask("www.demo.example", do=do)
            assert reply.has_opt and reply.message.edns == 0 and reply.message.payload == 1232
            assert bool(reply.message.ednsflags & dns.flags.DO) == do
            assert not reply.message.options


@on(*ALL_SETUPS)
@pytest.mark.parametrize("v6", (False, True), ids=("IPv4", "IPv6"))
def test_truncation(ask, v6):
    """About 900 bytes of TXT against what the client can take (RFC 2181 §9, RFC 6891 §6.2.5)."""
    name = "big.demo.example"
    for limit, options in ((512, {"edns": False}), (512, {"payload": 512}), (512, {"payload": 0}),
                           (512, {"payload": 100}), (800, {"payload": 800})):
        for _ in range(2):
            reply = ask(name, "TXT", v6=v6, **options)
            assert reply.flag("TC") and reply.rcode == "NOERROR"
            assert not reply.message.answer and len(reply.wire) <= limit
            assert not reply.message.authority and not reply.message.additional
            assert reply.has_opt == options.get("edns", True)
    for payload in (1232, 4096, 65535):
        reply = ask(name, "TXT", v6=v6, payload=payload)
        assert not reply.flag("TC") and len(reply.message.answer[0]) == 4
        assert len(reply.wire) <= 1232


@on(*SIMPLE)
def test_optional_sections_go_first(ask, upstream):
    """What does not fit loses additional, then authority, before TC is set."""
    full = upstream("www.demo.example", "A")
    reply = ask("www.demo.example", "A", edns=False)
    assert not reply.flag("TC") and reply.addresses() == full.addresses()


@on(*ALL_SETUPS)
@pytest.mark.parametrize("what,query,rcode", (
    ("notify", raw(flags=0x2100), "NOTIMP"),
    ("update", raw(flags=0x2900), "NOTIMP"),
    ("status", raw(flags=0x1100), "NOTIMP"),
    ("opcode 15 with junk", raw(flags=0x7900, rest=b"junk"), "NOTIMP"),
    ("no question", raw(b"", counts=(0, 0, 0, 0)), "FORMERR"),
    ("two questions", raw(QUESTION * 2, counts=(2, 0, 0, 0)), "FORMERR"),
    ("answer record", raw(counts=(1, 1, 0, 0), rest=b"\xc0\x0c" + QUESTION[-4:]
                          + b"\0\0\0\1\0\4\1\2\3\4"), "FORMERR"),
    ("authority record", raw(counts=(1, 0, 1, 0), rest=b"\xc0\x0c" + QUESTION[-4:]
                             + b"\0\0\0\1\0\4\1\2\3\4"), "FORMERR"),
    ("two OPT", raw(counts=(1, 0, 0, 2), rest=OPT * 2), "FORMERR"),
    ("garbage at the end", raw(rest=b"\0"), "FORMERR"),
    ("cut question", raw(QUESTION[:-3]), "FORMERR"),
    ("header only", raw(b""), "FORMERR"),
    ("label over 63", raw(b"\x40" + b"a" * 64 + b"\0\0\1\0\1"), "FORMERR"),
    ("pointer in the question", raw(b"\xc0\x0c\0\1\0\1"), "FORMERR"),
    ("pointer after a label", raw(b"\x03www\xc0\x0c\0\1\0\1"), "FORMERR"),
    ("name over 255", raw((b"\x3f" + b"a" * 63) * 4 + b"\0\0\1\0\1"), "FORMERR"),
    ("missing OPT", raw(counts=(1, 0, 0, 1)), "FORMERR"),
    ("AXFR", raw(QUESTION[:-4] + b"\0\xfc\0\1"), "REFUSED NOTIMP"),
    ("IXFR", raw(QUESTION[:-4] + b"\0\xfb\0\1"), "REFUSED NOTIMP"),
    ("MAILB", raw(QUESTION[:-4] + b"\0\xfd\0\1"), "REFUSED NOTIMP"),
    ("MAILA", raw(QUESTION[:-4] + b"\0\xfe\0\1"), "REFUSED NOTIMP"),
    ("TKEY", raw(QUESTION[:-4] + b"\0\xf9\0\1"), "REFUSED NOTIMP"),
    ("OPT as a question", raw(QUESTION[:-4] + b"\0\x29\0\1"), "REFUSED NOTIMP FORMERR"),
    ("class HS", raw(QUESTION[:-2] + b"\0\4"), "REFUSED"),
    ("class ANY", raw(QUESTION[:-2] + b"\0\xff"), "REFUSED"),
    ("version.bind CH TXT", raw(b"\x07version\x04bind\0\0\x10\0\3"), "REFUSED"),
), ids=lambda v: v if isinstance(v, str) and " " not in v else None)
def test_error_answers(ask, what, query, rcode):
    """RFC 1035 §4.1.1, RFC 6891 §6.1.1, RFC 9619 §4, SEMANTICS "Queries"."""
    assert rcode_of(ask.send(query)) in rcode.split(), what


@on(*SIMPLE)
def test_badvers(ask):
    """RFC 6891 §6.1.3: extended rcode 16 with our version."""
    query = make_query("www.demo.example", "A")
    query.use_edns(1, payload=1232)
    reply = ask.exchange(query)
    assert reply.rcode == "BADVERS" and reply.message.edns == 0 and not reply.message.answer


@on(*SIMPLE)
def test_any_is_answered_with_hinfo(ask):
    """RFC 8482 §4.2: one synthesised HINFO, no amplification."""
    reply = ask("demo.example", "ANY")
    assert reply.rcode == "NOERROR" and reply.types() == {"HINFO"}
    assert reply.message.answer[0][0].cpu == b"RFC8482" and len(reply.wire) < 100


@on(*SIMPLE)
@pytest.mark.parametrize("query", (
    raw(flags=0x8180), raw(flags=0x8000), raw()[:11], b"", b"\x12"),
    ids=("response", "response without RD", "11 bytes", "empty", "one byte"))
def test_silence(ask, wirecache, query):
    """Nothing that could make a loop is answered; it is counted."""
    dropped = wirecache.metrics().total("drops_total")
    assert ask.send(query, timeout=0.5) is None
    assert wirecache.metrics().total("drops_total") == dropped + 1


@on(*ALL_SETUPS)
def test_every_port_and_queue_answers(lab, ask):
    """Each port by its own address; many source ports spread over the queues."""
    setup = lab.current_setup
    for link in range(setup.ports):
        for v6 in (False, True):
            for _ in range(8):
                assert ask("four.demo.example", v6=v6, link=link).addresses() == [
                    "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]


STRANGERS = ("10.99.0.0/16", "fd53::99/128")


@on(Setup("af_packet", overrides=(("clients", "allow", STRANGERS),)))
def test_client_not_allowed_is_refused(ask, wirecache):
    for v6 in (False, True):
        reply = ask("www.demo.example", v6=v6)
        assert reply.rcode == "REFUSED" and not reply.message.answer
    assert wirecache.metrics().total("queries_total", outcome="refused") == 2


@on(Setup("af_packet", overrides=(("clients", "allow", STRANGERS), ("clients", "refuse", "drop"))))
def test_client_not_allowed_is_dropped(ask, wirecache):
    for v6 in (False, True):
        assert ask.send(make_query("www.demo.example").to_wire(), 0.5, v6=v6) is None
    assert wirecache.metrics().total("drops_total", reason="client_not_allowed") == 2


@on(Setup("af_packet", overrides=(("cache", "max_ttl", 20), ("cache", "min_ttl", 10),
                                  ("cache", "max_negative_ttl", 15))))
def test_configured_ttl_limits(ask):
    assert 18 <= ask("www.demo.example").ttls()[0] <= 20
    assert 13 <= ask("nowhere.demo.example").ttls("authority")[0] <= 15
    assert 18 <= ask("www.demo.example").ttls()[0] <= 20


@on(Setup("af_packet", overrides=(("edns", "udp_size", 1400), ("edns", "max_reply_bytes", 700))))
def test_configured_sizes(ask):
    reply = ask("www.demo.example", payload=4096)
    assert reply.message.payload == 1400
    assert ask("big.demo.example", "TXT", payload=4096).flag("TC")

"""Every record type of the IANA registry through the cache, with two upstreams.

Message by message: what a client gets is what NSD or Knot says when it is asked directly, as
dnspython and ldns read both; in no more bytes; and its signatures hold, whatever the case of the
question.
"""

import random

import client
import ldns_check
import pytest
import type_zone
from client import canonical, on
from lab import Setup
from questions import SIGNED_QUESTIONS

BY_NSD = Setup("af_packet", workers=1)
BY_KNOT = Setup("af_packet", workers=1, upstream="knot")


@pytest.fixture
def server(lab, wirecache):
    """The server that the appliance asks, asked directly."""
    del wirecache
    upstream = lab.knot() if lab.current_setup.upstream == "knot" else lab.nsd
    return client.Client(lab, upstream.address)


def in_any_case(name, seed):
    """draft-vixie-dnsext-dns0x20"""
    chance = random.Random(name + seed)
    return "".join(chance.choice((c.lower(), c.upper())) for c in name)


def is_read(rrset):
    """Whether dnspython sees names where they stand, and so undoes their compression."""
    return rrset.rdtype not in type_zone.UNREAD_NAMES


def check_same(reply, truth):
    """The same records, as both libraries read them, in no more bytes."""
    assert reply.rcode == truth.rcode and truth.rcode in ("NOERROR", "NXDOMAIN")
    assert not reply.flag("TC") and not truth.flag("TC")
    for section in ("answer", "authority"):
        assert canonical(getattr(reply.message, section), is_read) == canonical(
            getattr(truth.message, section), is_read), section
        assert ldns_check.records(reply.wire, section) == ldns_check.records(truth.wire, section)
    assert canonical(reply.message.additional) <= canonical(truth.message.additional)
    assert len(reply.wire) <= len(truth.wire)


def check_signatures(reply, keys):
    """`keys`: the zone's answer for DNSKEY."""
    signatures, complaints = ldns_check.bad_signatures(reply.wire, keys.wire)
    assert signatures > 0 and not complaints


@on(BY_NSD, BY_KNOT)
@pytest.mark.parametrize("name,rtype", type_zone.questions(), ids=lambda v: v)
def test_every_type_goes_through_the_cache(ask, server, wirecache, name, rtype):
    """RFC 3597 §3, RFC 4035 §3.2.1: fetched without DO, then with it, which serves both."""
    truth = {do: server(name, rtype, do=do) for do in (False, True)}
    keys = server(type_zone.ORIGIN, "DNSKEY", do=True)
    hits = wirecache.metrics().total("queries_total", outcome="hit")
    for number, do in enumerate((False, False, True, True, False)):
        reply = ask(in_any_case(name, str(number)), rtype, do=do)
        check_same(reply, truth[do])
        if do and rtype != "RRSIG":  # which answers with signatures of what is not there
            check_signatures(reply, keys)
    assert wirecache.metrics().total("queries_total", outcome="hit") == hits + 3


@on(BY_NSD)
@pytest.mark.parametrize("name,rtype", SIGNED_QUESTIONS, ids=lambda v: v)
def test_signatures_hold_whatever_the_case(ask, server, name, rtype):
    """Wildcards and NSEC3 too; the second answer is from the cache."""
    keys = server(".".join(name.split(".")[-2:]), "DNSKEY", do=True)
    for number in range(2):
        reply = ask(in_any_case(name, str(number)), rtype, do=True)
        assert reply.message.answer or reply.message.authority
        if rtype != "RRSIG":
            check_signatures(reply, keys)

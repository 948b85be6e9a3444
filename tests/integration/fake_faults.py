"""What an upstream server, or somebody who poses as one, may send instead of the right answer.

Each behaviour is called with the fake upstream, the socket that was asked and the query. Those that
forge send the right answer after the forged one, and nothing more with the argument `only`
(`wrongid-only`). `victim_of(name)` is whom the poisonous ones want to plant WRONG_ADDRESS for.
"""

import random
import struct

from fake_messages import (CLASS_CH, CLASS_IN, FLAG_TC, FORMERR, QUESTION_NAME, SERVFAIL, TYPE_A,
                           TYPE_AAAA, TYPE_CNAME, TYPE_NS, TYPE_TXT, WRONG_ADDRESS, address_of,
                           good_reply, message, record, reply, wire_name, wrong_reply)

RIGHT_ANSWER_DELAY_SEC = 0.03
FLOOD_ANSWERS, FLOOD_PER_MS = 1000, 10
FRAGMENTED_BYTES = 2000


def victim_of(name):
    """The other name that a poisoned answer speaks of: in the same domain as `name`."""
    return "victim-" + name


def _then_right(fake, s, query, *wrong, wrong_socket=None):
    for datagram in wrong:
        fake.send(wrong_socket or s, datagram, query.client)
    if query.argument != "only":
        fake.send_later(s, query, good_reply(query), RIGHT_ANSWER_DELAY_SEC)


# Answers to another question, or from somebody else.

def wrong_id(fake, s, query):
    _then_right(fake, s, query, wrong_reply(query, query_id=query.id ^ 0x5555))


def wrong_name(fake, s, query):
    question = b"\x05wrong" + query.question[1 + query.question[0]:]
    _then_right(fake, s, query, wrong_reply(query, question=question))


def wrong_type(fake, s, query):
    question = query.question[:-4] + struct.pack("!HH", TYPE_AAAA, CLASS_IN)
    _then_right(fake, s, query, wrong_reply(query, question=question))


def wrong_class(fake, s, query):
    question = query.question[:-2] + struct.pack("!H", CLASS_CH)
    _then_right(fake, s, query, wrong_reply(query, question=question))


def no_question(fake, s, query):
    _then_right(fake, s, query, wrong_reply(query, question=b"", counts=(0, 1, 0, 1)))


def two_questions(fake, s, query):
    _then_right(fake, s, query, wrong_reply(query, question=query.question * 2,
                                            counts=(2, 1, 0, 1)))


def not_response(fake, s, query):
    """Its own query comes back, and one with an answer section: both with QR=0."""
    _then_right(fake, s, query, query.wire, wrong_reply(query, flags=0x0100))


def wrong_opcode(fake, s, query):
    _then_right(fake, s, query, wrong_reply(query, flags=0x8180 | 4 << 11))


def wrong_source(fake, s, query):
    _then_right(fake, s, query, wrong_reply(query), wrong_socket=fake.strangers[s.family])


def wrong_source_port(fake, s, query):
    _then_right(fake, s, query, wrong_reply(query), wrong_socket=fake.wrong_ports[s.family])


def astray(fake, s, query):
    """To the next port of the asker, which may be another worker's."""
    host, port, *rest = query.client
    fake.send(s, wrong_reply(query), (host, port + 1, *rest))
    _then_right(fake, s, query)


def flood(fake, s, query):
    """Many guesses at the ID but not the right one, as fast as a busy machine takes them in.

    Only once for a name: the queries that follow, should it be too slow, are answered.
    """
    if fake.by_name[query.name] > 1:
        fake.send(s, good_reply(query), query.client)
        return
    ids = random.Random(query.name).sample(range(65536), FLOOD_ANSWERS)
    for i, guess in enumerate(ids):
        if guess != query.id:
            fake.send_later(s, query, wrong_reply(query, query_id=guess), i // FLOOD_PER_MS / 1000)
    fake.send_later(s, query, good_reply(query),
                    FLOOD_ANSWERS / FLOOD_PER_MS / 1000 + RIGHT_ANSWER_DELAY_SEC)


# Answers that cannot be read.

def empty(fake, s, query):
    """No byte, and no more than the ID."""
    _then_right(fake, s, query, b"", query.wire[:1], query.wire[:2])


def garbage(fake, s, query):
    _then_right(fake, s, query, query.wire[:2] + b"\x81\x80\x00\x01\x00\x07" + b"\xff" * 40)


def noise(fake, s, query):
    draw = random.Random(query.name)
    _then_right(fake, s, query, *(query.wire[:2] + b"\x81\x80" + draw.randbytes(draw.randrange(300))
                                  for _ in range(20)))


def cut(fake, s, query):
    """The datagram ends in the middle of a record: in the owner, the TTL, the data, the OPT."""
    whole = wrong_reply(query)
    answer = 12 + len(query.question)
    _then_right(fake, s, query, *(whole[:answer + kept] for kept in (1, 8, 14, 20)))


def pointer_loop(fake, s, query):
    """The owner of the answer is a pointer to itself."""
    here = struct.pack("!H", 0xC000 | 12 + len(query.question))
    _then_right(fake, s, query, message(query, (record(TYPE_A, WRONG_ADDRESS, owner=here),)))


def false_counts(fake, s, query):
    """More records are announced than come, and more come than are announced."""
    _then_right(fake, s, query, wrong_reply(query, counts=(1, 9, 0, 1)),
                wrong_reply(query, counts=(1, 1, 0, 0)))


def fragmented(fake, s, query):
    """Larger than was asked for and than the network takes in one piece."""
    text = record(TYPE_TXT, b"\xff" + b"x" * 255)
    fake.send(s, message(query, (record(TYPE_A, address_of(query.name)),), (),
                         (text,) * (FRAGMENTED_BYTES // len(text))), query.client)


# Right in form, hostile in content.

def poison(fake, s, query):
    """The right answer, and in every section an address for a name that nobody asked for."""
    victim = wire_name(victim_of(query.name))
    planted = record(TYPE_A, WRONG_ADDRESS, owner=victim)
    right = record(TYPE_A, address_of(query.name))
    nameserver = record(TYPE_NS, victim)
    fake.send(s, message(query, (right, planted), (nameserver, planted), (planted,)), query.client)


def foreign(fake, s, query):
    """An address, but not of the name that was asked for."""
    victim = wire_name(victim_of(query.name))
    fake.send(s, message(query, (record(TYPE_A, WRONG_ADDRESS, owner=victim),)), query.client)


def alias(fake, s, query):
    """The name is another's alias: what comes with it holds for the alias alone."""
    victim = wire_name(victim_of(query.name))
    records = (record(TYPE_CNAME, victim), record(TYPE_A, WRONG_ADDRESS, owner=victim))
    fake.send(s, message(query, records), query.client)


def alias_loop(fake, s, query):
    fake.send(s, message(query, (record(TYPE_CNAME, QUESTION_NAME),)), query.client)


def truncated_poison(fake, s, query):
    """TC=1, cut in mid-record, with what must not be used (RFC 2181 §9)."""
    fake.send(s, wrong_reply(query, flags=0x8180 | FLAG_TC)[:-13], query.client)


# Answers that are none.

def referral(fake, s, query):
    fake.send(s, message(query, (), (record(TYPE_NS, wire_name("ns.example")),)), query.client)


def format_error(fake, s, query):
    """To everything, EDNS or not."""
    fake.send(s, reply(query, FORMERR), query.client)


def not_well(fake, s, query):
    """SERVFAIL with an address in it."""
    fake.send(s, wrong_reply(query, rcode=SERVFAIL), query.client)


# Right, but not as expected.

def other_case(fake, s, query):
    """RFC 4343 §3: case is not significant; nor whether the owner is compressed."""
    question = query.question[:-4].upper() + query.question[-4:]
    owner = query.question[:-4].title()
    fake.send(s, message(query, (record(TYPE_A, address_of(query.name), owner=owner),),
                         question=question), query.client)


def twice(fake, s, query):
    for _ in range(2):
        fake.send(s, good_reply(query), query.client)


def thrice(fake, s, query):
    """And the third time when the first has been dealt with."""
    twice(fake, s, query)
    fake.send_later(s, query, good_reply(query), RIGHT_ANSWER_DELAY_SEC)


def recursing(fake, s, query):
    """A resolver that needs some time for a name, however often it is asked meanwhile."""
    fake.send_later(s, query, good_reply(query),
                    max(0.0, int(query.argument) / 1000 - fake.known_for_sec(s, query)))


BEHAVIOURS = {
    "wrongid": wrong_id, "wrongname": wrong_name, "wrongtype": wrong_type,
    "wrongclass": wrong_class, "noquestion": no_question, "twoquestions": two_questions,
    "notresponse": not_response, "wrongopcode": wrong_opcode, "wrongsource": wrong_source,
    "wrongport": wrong_source_port, "astray": astray, "flood": flood,
    "empty": empty, "garbage": garbage, "noise": noise, "cut": cut, "loop": pointer_loop,
    "counts": false_counts, "fragmented": fragmented,
    "poison": poison, "foreign": foreign, "alias": alias, "aliasloop": alias_loop,
    "tcpoison": truncated_poison,
    "referral": referral, "formerr": format_error, "notwell": not_well,
    "othercase": other_case, "twice": twice, "thrice": thrice, "recursing": recursing,
}

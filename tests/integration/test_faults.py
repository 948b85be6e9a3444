"""Faults of upstream servers, and forgers, one after the other under a load of hits.

Whatever they do: no client is told anything wrong, hits go on, new names are answered as soon as
the fault is over, and at rest every packet is accounted for (SEMANTICS "Upstream answers").
"""

import contextlib
import time

import pytest
from accounting import check_sums
from asking import NO_DATA, RIGHT, TRUNCATED, HitLoad, Questions, ask_all
from client import fresh_name, make_query, on
from fake_faults import victim_of
from fake_messages import Query, wrong_reply
from frames import Wire
from icmp_errors import UpstreamQuery, answer_frame, unreachable, wrong_guesses
from lab import Setup, processes

SETUPS = (Setup("af_xdp", workers=1, upstream="fake"),
          Setup("af_packet", workers=2, upstream="fake"))
TRY_SEC, DEADLINE_SEC = 0.4, 1.9
PASSED_OVER_SEC = 2.0
# What a busy machine may add to a time that the program keeps.
SLACK_SEC = 2.0
HOT_NAMES = 10
# So many that each of two workers owns some.
BATCH = 12
# What a veth may lose while a busy machine keeps a worker off its CPU, as in test_outage.py: the
# load's own receive buffers hold all of its answers, so that nothing else is lost.
MAX_LOSS = 0.005
# More than the five time-outs in a row after which a server is passed over, for each of two
# workers.
ENOUGH_FOR_EVERY_WORKER = 40
FIRST, SECOND = (0,), (1,)

UNMATCHED, MISMATCH, MALFORMED = "upstream_unmatched", "upstream_mismatch", "upstream_malformed"
# What is sent beside or instead of the right answer, and the reason under which it is dropped;
# None: it may be either.
FORGERIES = (
    ("wrongid", UNMATCHED), ("astray", UNMATCHED), ("empty", UNMATCHED),
    ("wrongname", MISMATCH), ("wrongtype", MISMATCH), ("wrongclass", MISMATCH),
    ("noquestion", MISMATCH), ("twoquestions", MISMATCH), ("notresponse", MISMATCH),
    ("wrongopcode", MISMATCH), ("wrongsource", MISMATCH), ("wrongport", MISMATCH),
    ("garbage", None), ("noise", None), ("cut", MALFORMED), ("loop", MALFORMED),
    ("counts", MALFORMED),
)


def fresh(count, behaviour="plain"):
    return [fresh_name(f"{behaviour}.fake.example") for _ in range(count)]


def kinds(answers):
    return {a.kind for a in answers}


class Run:
    """A fault under load, with the counters before it and, at rest, after it."""

    def __init__(self, lab, before):
        self.lab = lab
        self.before = before
        self.after = None

    def grown(self, name, **labels):
        return self.after.total(name, **labels) - self.before.total(name, **labels)

    def dropped(self, *reasons):
        return sum(self.grown("drops_total", reason=reason) for reason in reasons)

    def ask(self, count, behaviour="plain", at_most_sec=DEADLINE_SEC):
        """New names, all at once; each is answered within the time."""
        answers = ask_all(self.lab, fresh(count, behaviour))
        for a in answers:
            assert a.kind is not None and a.seconds < at_most_sec + SLACK_SEC, a
        return answers

    def recover(self):
        """Ends the fault: new names are answered at once, and soon by the first server again.

        At once, because servers that are passed over are asked where there are no others.
        """
        self.lab.fake.well()

        def first_serves_all():
            asked = [self.lab.fake.asked_of(i) for i in (0, 1)]
            assert kinds(self.ask(BATCH, at_most_sec=TRY_SEC)) == {RIGHT}
            return [self.lab.fake.asked_of(i) for i in (0, 1)] == [asked[0] + BATCH, asked[1]]

        assert processes.wait_until(first_serves_all, PASSED_OVER_SEC + SLACK_SEC)


@contextlib.contextmanager
def under_load(lab, wirecache):
    """The body switches a fault on; what has to hold whatever it was is checked behind it."""
    run = Run(lab, wirecache.metrics())
    hot = fresh(HOT_NAMES)
    assert kinds(ask_all(lab, hot)) == {RIGHT}
    load = HitLoad(lab, hot)
    load.start()
    try:
        yield run
        run.recover()
    finally:
        lab.fake.well()
        load.finish()
    assert not load.wrong, [answer.hex() for answer in load.wrong[:3]]
    assert load.lost <= load.asked * MAX_LOSS, (load.asked, load.lost)
    run.after = wirecache.metrics_at_rest()
    check_sums(run.after)
    assert run.grown("queries_total", outcome="hit") >= load.right


@on(*SETUPS)
@pytest.mark.parametrize("forgery,reason", FORGERIES)
def test_what_is_not_the_answer_is_not_taken(lab, wirecache, forgery, reason):
    """RFC 5452 §3, §9.1: it is dropped, and the query goes on waiting for the right one."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave(forgery)
        assert kinds(run.ask(8)) == {RIGHT}
    assert run.dropped(*([reason] if reason else (MISMATCH, MALFORMED))) >= 8


@on(*SETUPS)
def test_nothing_but_forgeries_and_silence(lab, wirecache):
    """From one server: the other one answers. From all: SERVFAIL by the deadline.

    What comes later is dropped.
    """
    behaviours = [f"{forgery}-only" for forgery, _ in FORGERIES]
    behaviours += ["silent", "delay-600", "delay-2100", "fragmented"]
    with under_load(lab, wirecache) as run:
        lab.fake.behave("plain", SECOND)
        names = [name for behaviour in behaviours for name in fresh(2, behaviour)]
        assert kinds(ask_all(lab, names)) == {RIGHT}
        lab.fake.well()
        names = [name for behaviour in behaviours for name in fresh(2, behaviour)]
        for answer in ask_all(lab, names):
            assert answer.kind == "SERVFAIL", answer
            assert answer.seconds < DEADLINE_SEC + SLACK_SEC, answer
            # RFC 9520 §3.1: three queries for each server at most.
            assert 2 <= lab.fake.asked(answer.name) <= 6
    assert run.grown("upstream_gave_up_total") == len(names)


@on(*SETUPS)
def test_flood_of_guessed_ids(lab, wirecache):
    """By somebody who knows server and port: a thousand IDs, but not the right one."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave("flood")
        assert kinds(run.ask(2)) == {RIGHT}
    assert run.dropped(UNMATCHED) >= 1000


@on(*SETUPS)
def test_a_dead_server_is_passed_over(lab, wirecache):
    with under_load(lab, wirecache) as run:
        lab.fake.behave("silent", FIRST)
        assert kinds(run.ask(ENOUGH_FOR_EVERY_WORKER)) == {RIGHT}
        answers = run.ask(8)
        assert kinds(answers) == {RIGHT}
        assert min(a.seconds for a in answers) < TRY_SEC, "the dead server is asked first"
    assert run.grown("upstream_timeouts_total") >= 5


@on(*SETUPS)
@pytest.mark.parametrize("behaviour", ("delay-600", "fragmented"))
def test_a_server_whose_answers_do_not_come_in_time(lab, wirecache, behaviour):
    """The next one is asked meanwhile; the answer to the earlier try is dropped."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave(behaviour, FIRST)
        assert kinds(run.ask(4)) == {RIGHT}
        time.sleep(0.4)  # for the late ones
    assert run.grown("upstream_timeouts_total") >= 1
    if behaviour == "delay-600":
        assert run.dropped(UNMATCHED) >= 1


@on(*SETUPS)
def test_resolvers_that_need_longer_than_a_try(lab, wirecache):
    """Both have to recurse; asked again, they go on with what they are about."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave("recursing-600")
        answers = run.ask(8)
        assert kinds(answers) == {RIGHT}
        assert min(a.seconds for a in answers) >= 0.6


@on(*SETUPS)
@pytest.mark.parametrize("behaviour,told", (
    ("servfail", "SERVFAIL"), ("refused", "REFUSED"), ("referral", "SERVFAIL"),
    ("formerr", "SERVFAIL"), ("notwell", "SERVFAIL")))
def test_servers_that_cannot_answer(lab, wirecache, behaviour, told):
    """The next server is asked at once; what all say is passed on at once."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave(behaviour, FIRST)
        answers = run.ask(8)
        assert kinds(answers) == {RIGHT}
        assert min(a.seconds for a in answers) < TRY_SEC
        lab.fake.behave(behaviour)
        answers = run.ask(8)
        assert kinds(answers) == {told}
        assert min(a.seconds for a in answers) < TRY_SEC
    assert run.grown("upstream_failures_total") >= 8 + 2 * 8


@on(*SETUPS)
@pytest.mark.parametrize("behaviour", ("tc", "tcpoison"))
def test_truncated_answers(lab, wirecache, behaviour):
    """TC=1: passed on without records, not kept (RFC 2181 §9)."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave(behaviour)
        names = fresh(4)
        assert kinds(ask_all(lab, names)) == {TRUNCATED}
        assert kinds(ask_all(lab, names)) == {TRUNCATED}
        assert all(lab.fake.asked(name) >= 2 for name in names)
        lab.fake.well()
        assert kinds(ask_all(lab, names)) == {RIGHT}
    assert run.grown("upstream_truncated_total") == 2 * 4


@on(*SETUPS)
def test_every_answer_three_times(lab, wirecache):
    """At most one counts (SEMANTICS), and the client gets one."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave("thrice")
        assert kinds(run.ask(8)) == {RIGHT}
        time.sleep(0.1)
    assert run.dropped(UNMATCHED) >= 2 * 8


@on(*SETUPS)
def test_other_case_is_the_same_name(lab, wirecache):
    """RFC 4343 §3: it is taken, and each client gets its own case back."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave("othercase")
        names = [name.replace("plain", "pLaIn") for name in fresh(8)]
        assert kinds(ask_all(lab, names)) == {RIGHT}
        asked = [lab.fake.asked(name) for name in names]
        lab.fake.well()
        assert kinds(ask_all(lab, [name.upper() for name in names])) == {RIGHT}
        assert [lab.fake.asked(name) for name in names] == asked, "it was not kept"
    assert run.dropped(MISMATCH, MALFORMED) == 0


@on(*SETUPS)
@pytest.mark.parametrize("behaviour,told", (
    ("poison", {RIGHT}), ("foreign", {NO_DATA, "SERVFAIL"}), ("aliasloop", {NO_DATA, "SERVFAIL"})))
def test_records_about_other_names(lab, wirecache, behaviour, told):
    """Neither told nor kept: the other name is asked for itself (RFC 5452 §6, RFC 2181 §5.4.1)."""
    with under_load(lab, wirecache) as run:
        lab.fake.behave(behaviour)
        names = fresh(4)
        assert kinds(ask_all(lab, names)) <= told
        lab.fake.well()
        victims = [victim_of(name) for name in names]
        assert kinds(ask_all(lab, victims)) == {RIGHT}
        assert all(lab.fake.asked(victim) >= 1 for victim in victims)
    assert run.grown("upstream_answers_taken_total") >= 8


@on(*SETUPS)
def test_an_alias_says_nothing_of_its_target(lab, ask, wirecache):
    with under_load(lab, wirecache):
        lab.fake.behave("alias")
        name = fresh(1)[0]
        assert ask(name).types() == {"CNAME", "A"}
        lab.fake.well()
        assert kinds(ask_all(lab, [victim_of(name)])) == {RIGHT}


@pytest.fixture
def talkative_kernel(lab):
    """The upstreams' kernel says port unreachable as often as there is cause."""
    limits = ("ipv4/icmp_ratelimit", "ipv6/icmp/ratelimit")
    for limit in limits:
        lab.network.net.write_sysctl(limit, "0")
    yield
    for limit in limits:
        lab.network.net.write_sysctl(limit, "1000")


@on(*SETUPS)
def test_port_unreachable_is_a_fast_failure(lab, wirecache, talkative_kernel):
    """The next server at once, SERVFAIL at once where there is none (RFC 1122 §4.1.3.3)."""
    del talkative_kernel
    with under_load(lab, wirecache) as run:
        for shut, others, told in ((FIRST, "plain", RIGHT), (SECOND, "servfail", "SERVFAIL"),
                                   (FIRST + SECOND, "", "SERVFAIL")):
            lab.fake.well()
            lab.fake.shut(shut)
            lab.fake.behave(others)
            answers = run.ask(8)
            assert kinds(answers) == {told}
            assert min(a.seconds for a in answers) < TRY_SEC
    # One or more of the first server, which is passed over then; one of the second for each name.
    assert run.grown("upstream_icmp_unreachable_total") >= 1 + 8 + 8


def waiting_query(lab, questions, family):
    """Has a new name asked of the server of that family (0: IPv4); the query on its way there."""
    name = fresh(1)[0]
    questions.send(name)
    assert processes.wait_until(
        lambda: (lab.fake.last_query(name) or (None,))[0] == family, DEADLINE_SEC, 0.001)
    _, port, query_id = lab.fake.last_query(name)
    return UpstreamQuery(lab.link.v6(1) if family else lab.link.v4(1), port,
                         lab.fake.servers[family], 53, query_id)


@on(*SETUPS)
@pytest.mark.parametrize("family", (0, 1), ids=("v4", "v6"))
def test_forged_icmp_does_nothing(lab, wirecache, family):
    """RFC 5927 §4: who is wrong about ID, ports or addresses ends no query; nor do other errors."""
    too_big = {"type": 2, "code": 0} if family else {"code": 4}
    expired = {"type": 3, "code": 0} if family else {"type": 11, "code": 0}
    wire = Wire(lab.network.net, lab.link.outer)
    with contextlib.closing(wire), under_load(lab, wirecache) as run:
        if family:
            lab.fake.behave("refused", FIRST)
        lab.fake.behave("delay-250", (family,))
        questions = Questions(lab)
        query = waiting_query(lab, questions, family)
        for guess in wrong_guesses(query):
            wire.send(unreachable(lab.link, guess))
        headers_only = (40 if family else 20) + 8
        for how in (too_big, expired, {"checksum": 0x1234}, {"quoted_bytes": headers_only},
                    {"quoted_bytes": headers_only - 1}):
            wire.send(unreachable(lab.link, query, **how))
        assert kinds(questions.close()) == {RIGHT}
    assert run.grown("upstream_icmp_unreachable_total") == 0
    assert run.dropped(UNMATCHED, MISMATCH) >= 5


@on(*SETUPS)
def test_a_router_may_say_it_as_well(lab, wirecache):
    """Host unreachable by somebody on the way, who has seen the query (RFC 792, RFC 4443 §3.1)."""
    link = lab.link
    wire = Wire(lab.network.net, link.outer)

    def told_of(family, how):
        lab.fake.behave("silent", (family,))
        # Again where a busy machine was slower than the try.
        for _ in range(5):
            questions = Questions(lab)
            wire.send(unreachable(link, waiting_query(lab, questions, family), **how))
            answer = questions.close()[0]
            if answer.seconds < TRY_SEC:
                return answer.kind
        return "nothing at once"

    with contextlib.closing(wire), under_load(lab, wirecache) as run:
        lab.fake.behave("servfail", FIRST)
        assert told_of(1, {"code": 3, "reporter": link.v6(2)}) == "SERVFAIL"
        lab.fake.behave("plain", SECOND)
        assert told_of(0, {"code": 1, "reporter": link.v4(2)}) == RIGHT
    assert run.grown("upstream_icmp_unreachable_total") >= 2


@on(*SETUPS)
def test_damaged_answers(lab, wirecache):
    """Every field is right, but for the UDP checksum or length: dropped unread."""
    wire = Wire(lab.network.net, lab.link.outer)
    with contextlib.closing(wire), under_load(lab, wirecache) as run:
        lab.fake.behave("delay-250", FIRST)
        questions = Questions(lab)
        query = waiting_query(lab, questions, 0)
        asked = make_query(questions.names[0])
        asked.id = query.query_id
        payload = wrong_reply(Query(asked.to_wire(), None))
        for damage in ({"chksum": 0x1234}, {"len": len(payload) + 9}, {"len": 7}):
            wire.send(answer_frame(lab.link, query, payload, **damage))
        assert kinds(questions.close()) == {RIGHT}
    assert run.dropped("bad_udp_checksum") == 1 and run.dropped("bad_udp_length") == 2


@contextlib.contextmanager
def addresses_gone(lab, servers):
    """The machines are away: packets to them fall silent."""
    net, device = lab.network.net, lab.link.outer
    net.write_sysctl("ipv4/ip_forward", "0")
    addresses = [(lab.link.v4(4) + "/24", ()), (lab.link.v6(4) + "/64", ("nodad",))]
    for server in servers:
        net.ip("addr", "del", addresses[server][0], "dev", device)
    try:
        yield
    finally:
        for server in servers:
            net.ip("addr", "add", addresses[server][0], "dev", device, *addresses[server][1])


def reboot(lab, questions, servers, away_sec):
    """While new names are asked: the process ends, the machine goes, comes, and answers again."""
    lab.fake.shut(servers)
    questions.stream(0.3)
    with addresses_gone(lab, servers):
        questions.stream(away_sec)
    questions.stream(0.2)
    lab.fake.open(servers)


@on(*SETUPS)
def test_one_server_crashes_and_reboots(lab, wirecache):
    """No client is told of it, whether the server is away for an instant or for long."""
    with under_load(lab, wirecache) as run:
        questions = Questions(lab)
        for _ in range(4):
            lab.fake.shut(FIRST)
            questions.stream(0.1)
            lab.fake.open(FIRST)
            questions.stream(0.1)
        # Longer than it is passed over for after ICMP: it is met silent as well.
        reboot(lab, questions, FIRST, PASSED_OVER_SEC + 0.2)
        run.recover()
        assert kinds(questions.close()) == {RIGHT}
    assert run.grown("upstream_icmp_unreachable_total") >= 1
    assert run.grown("upstream_timeouts_total") >= 1


@on(*SETUPS)
def test_all_servers_reboot(lab, wirecache):
    """SERVFAIL while there is nobody, by the deadline; then answers, of new names, by itself."""
    with under_load(lab, wirecache) as run:
        questions = Questions(lab)
        reboot(lab, questions, FIRST + SECOND, 1.0)
        run.recover()
        answers = questions.close()
        assert None not in kinds(answers) and kinds(answers) <= {RIGHT, "SERVFAIL"}
        assert "SERVFAIL" in kinds(answers)
        assert max(a.seconds for a in answers) < DEADLINE_SEC + SLACK_SEC
    assert run.grown("upstream_icmp_unreachable_total") >= 2
    assert run.grown("upstream_timeouts_total") >= 1

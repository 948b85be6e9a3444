"""What SEMANTICS "Queries" says of one DNS message on the service port, the cache being empty.

Written from that table and the RFCs that it names. Returns all verdicts that are right: more than
one only where the table leaves it open.
"""

import struct
from dataclasses import dataclass

from hostile.verdict import Verdict, drop

QR, OPCODE, RD, RA, AD, CD = 0x8000, 0x7800, 0x0100, 0x0080, 0x0020, 0x0010
DO = 0x8000
NOERROR, FORMERR, NOTIMP, REFUSED, BADVERS = 0, 1, 4, 5, 16
IN, CLASS_ANY = 1, 255
SOA, HINFO, SIG, OPT, TSIG, IXFR, ANY = 6, 13, 24, 41, 250, 251, 255
HEADER_BYTES = 12
MAX_NAME, MAX_LABEL = 255, 63  # RFC 1035 §2.3.4
# RFC 6761, 7686, 9476, 6762: names that will be answered here, by setting. `arpa` stands for all
# of RFC 6303, 8375 and 9462.
SPECIAL_TOP = (b"localhost", b"invalid", b"onion", b"alt", b"test", b"local", b"arpa")


class Malformed(Exception):
    """The message can't be read on from here."""


@dataclass
class Opt:
    dnssec_ok: bool
    version: int


@dataclass
class Query:
    """What was read of a message."""

    wire: bytes
    flags: int = 0
    counts: tuple = ()
    question: bytes = b""
    name: bytes = b""
    qtype: int = 0
    qclass: int = 0


class Sections:
    """The records behind the question, walked as far as they can be read."""

    def __init__(self, wire, at, counts):
        self.wire = wire
        self.at = at
        self.opts = []
        self.malformed = False
        self.signed = False
        self.doubtful_signature = False
        self.authority_types = []
        try:
            self._walk(*counts)
        except Malformed:
            self.malformed = True

    def _walk(self, answers, authorities, additional):
        for _ in range(answers):
            self._record()
        for _ in range(authorities):
            self.authority_types.append(self._record()[1])
        for left in range(additional - 1, -1, -1):
            self._additional(left)
        if self.at != len(self.wire):
            raise Malformed  # garbage after the last record

    def _record(self):
        start = self.at
        self.at = skip_name(self.wire, start)
        root = self.at == start + 1
        if self.at + 10 > len(self.wire):
            raise Malformed
        rtype, rclass, ttl, length = struct.unpack_from("!HHIH", self.wire, self.at)
        self.at += 10 + length
        if self.at > len(self.wire):
            raise Malformed
        return root, rtype, rclass, ttl, self.wire[self.at - length:self.at]

    def _additional(self, left):
        root, rtype, rclass, ttl, rdata = self._record()
        if rtype == OPT:
            # RFC 6891 §6.1.2: the root's, whole options. §6.1.1: at most one.
            if not root or not whole_options(rdata):
                raise Malformed
            self.opts.append(Opt(bool(ttl & DO), ttl >> 16 & 0xFF))
            if len(self.opts) > 1:
                raise Malformed
        elif rtype == TSIG:
            if left:  # RFC 8945 §5.1: the last record, or FORMERR
                raise Malformed
            self.signed = True
            # §4.2: the class must be ANY; what else it is then is not said.
            self.doubtful_signature = rclass != CLASS_ANY
        elif rtype == SIG and left == 0 and rdata[:2] == b"\0\0":  # SIG(0), RFC 2931 §3
            self.signed = True


def whole_options(rdata):
    at = 0
    while at < len(rdata):
        if at + 4 > len(rdata):
            return False
        at += 4 + struct.unpack_from("!H", rdata, at + 2)[0]
    return at == len(rdata)


def skip_name(wire, at):
    """The offset behind the name at `at`, which may be compressed (RFC 1035 §4.1.4).

    A pointer leads to a *prior* occurrence, so before the start of what it is a part of; not into
    the header.
    """
    after = None
    start = at
    length = 0
    while True:
        if at >= len(wire):
            raise Malformed
        label = wire[at]
        if label >= 0xC0:
            if at + 1 >= len(wire):
                raise Malformed
            after = at + 2 if after is None else after
            at = (label & 0x3F) << 8 | wire[at + 1]
            if not HEADER_BYTES <= at < start:
                raise Malformed
            start = at
            continue
        if label > MAX_LABEL or at + 1 + label > len(wire):
            raise Malformed
        length += 1 + label
        if length > MAX_NAME:
            raise Malformed
        at += 1 + label
        if label == 0:
            return at if after is None else after


def plain_name_length(wire, at):
    """The length of an uncompressed name; raises Malformed where it is none (RFC 1035 §3.1)."""
    start = at
    while at < len(wire) and at - start < MAX_NAME:
        label = wire[at]
        at += 1
        if label == 0:
            return at - start
        if label > MAX_LABEL:
            raise Malformed
        at += label
    raise Malformed


def is_special(name):
    """Whether a name is one of those that SEMANTICS has answered here ("special names")."""
    at, last = 0, b""
    while name[at]:
        last = name[at + 1:at + 1 + name[at]]
        at += 1 + name[at]
    return last.lower() in SPECIAL_TOP


def make_opt(setting, dnssec_ok, rcode=0):
    return struct.pack("!BHHBBHH", 0, OPT, setting.udp_size, rcode >> 4, 0, DO if dnssec_ok else 0,
                       0)


def reply(query, rcode, question=b"", answer=b"", opt=b""):
    """SEMANTICS "Answers": ID, opcode, RD, CD and question are the client's; RA=1, AA=0."""
    flags = QR | (query.flags & (OPCODE | RD | CD)) | RA | rcode & 0xF
    return (query.wire[:2] + struct.pack("!5H", flags, bool(question), bool(answer), 0, bool(opt))
            + question + answer + opt)


class Judge:
    """One message's verdicts."""

    def __init__(self, wire, setting):
        self.setting = setting
        self.query = Query(wire)
        self.sections = None  # once the question is read

    def verdicts(self):
        """All right ones, each once."""
        return list(dict.fromkeys(self._verdicts()))

    def refusals(self):
        """REFUSED, with the question and OPT as far as they can be read."""
        sections = self.sections
        opts = [make_opt(self.setting, opt.dnssec_ok) for opt in sections.opts] if sections else []
        if not opts or sections.malformed or self._counts_wrong():
            opts.append(b"")
        return [Verdict("refused", reply(self.query, REFUSED, self.query.question, opt=opt))
                for opt in opts]

    def _verdicts(self):
        query = self.query
        query.flags, *counts = struct.unpack_from("!5H", query.wire, 2)
        query.counts = tuple(counts)
        if query.flags & OPCODE:
            return [Verdict("malformed", reply(query, NOTIMP))]
        if counts[0] != 1:
            return [Verdict("malformed", reply(query, FORMERR))]
        try:
            self._read_question()
        except Malformed:
            return [Verdict("malformed", reply(query, FORMERR))]
        at = HEADER_BYTES + len(query.question)
        self.sections = Sections(query.wire, at, query.counts[1:])
        return self._judge_sections(self.sections)

    def _read_question(self):
        query = self.query
        length = plain_name_length(query.wire, HEADER_BYTES)
        end = HEADER_BYTES + length + 4
        if end > len(query.wire):
            raise Malformed
        query.question = query.wire[HEADER_BYTES:end]
        query.name = query.question[:length]
        query.qtype, query.qclass = struct.unpack("!HH", query.question[length:])

    def _judge_sections(self, sections):
        if sections.malformed or self._counts_wrong():
            return self._format_errors(sections)
        opt = sections.opts[0] if sections.opts else None
        if opt and opt.version > 0:
            return [self._answer("malformed", BADVERS, opt)]
        verdicts = self._judge_question(opt)
        if sections.signed:
            # "or REFUSED, by setting"; the table does not say whether before class and type.
            verdicts = [v for v in verdicts if v.label != "miss"]
            verdicts.append(self._answer("refused", REFUSED, opt))
        if sections.doubtful_signature:
            verdicts += self._format_errors(sections)
        return verdicts

    def _counts_wrong(self):
        """Records before the additional section; IXFR may have a SOA (RFC 1995 §3)."""
        _, answers, authorities, _ = self.query.counts
        if answers:
            return True
        ixfr = (self.query.qtype == IXFR and authorities == 1
                and self.sections.authority_types == [SOA])
        return bool(authorities) and not ixfr

    def _format_errors(self, sections):
        """With the question, and with an OPT where one could be read: both are right.

        The counts come before the question, so that one need not have been looked at then.
        """
        replies = [reply(self.query, FORMERR, self.query.question)]
        replies += [reply(self.query, FORMERR, self.query.question,
                          opt=make_opt(self.setting, opt.dnssec_ok)) for opt in sections.opts]
        if self._counts_wrong():
            replies.append(reply(self.query, FORMERR))
        return [Verdict("malformed", r) for r in replies]

    def _answer(self, label, rcode, opt, answer=b"", upstream=b""):
        opt_bytes = make_opt(self.setting, opt.dnssec_ok, rcode) if opt else b""
        message = reply(self.query, rcode, self.query.question, answer, opt_bytes)
        return Verdict(label, message, upstream)

    def _judge_question(self, opt):
        query = self.query
        if query.qclass != IN:  # CH: "default: REFUSED for the version"
            return [self._answer("refused", REFUSED, opt)]
        if query.qtype == ANY:  # RFC 8482 §4.2
            rdata = b"\x07RFC8482\0"
            hinfo = struct.pack("!HHHIH", 0xC00C, HINFO, IN, self.setting.any_ttl,
                                len(rdata)) + rdata
            return [self._answer("local", NOERROR, opt, hinfo)]
        # RFC 6895 §3.1: 0 is none, 128 to 255 are QTYPEs and meta types; OPT is a pseudo-type.
        if query.qtype in (0, OPT) or 128 <= query.qtype <= 255:
            return [self._answer("refused", REFUSED, opt), self._answer("malformed", NOTIMP, opt)]
        if not query.flags & RD:
            return [self._answer("refused", REFUSED, opt)]
        return [self._answer("miss", NOERROR, opt, upstream=self._upstream_query(opt))]

    def _upstream_query(self, opt):
        """SEMANTICS "Upstream queries", from the flags on; names are the same in any case."""
        query = self.query
        flags = RD | AD | query.flags & CD
        name = query.name.lower() + query.question[len(query.name):]
        return (struct.pack("!5H", flags, 1, 0, 0, 1) + name
                + make_opt(self.setting, opt is not None and opt.dnssec_ok))


def judge_message(message, client, setting):
    """All right verdicts for a message from `client`; None where the name is a special one."""
    if len(message) < HEADER_BYTES:
        return [drop("short_message")]
    if message[2] & 0x80:
        return [drop("unwanted_response")]
    judge = Judge(message, setting)
    verdicts = judge.verdicts()
    if judge.query.name and is_special(judge.query.name):
        return None
    if setting.allows(client):
        return verdicts
    # Refused; an error of the message itself may come first, an answer may not.
    return [v for v in verdicts if v.label == "malformed"] + judge.refusals()

#!/usr/bin/env python3
"""Writes the seed corpora of the fuzz targets `query` and `message` beside this file.

The messages are built with dnspython, or by changing such a message by hand where dnspython refuses
to write what a hostile peer would send. Every message has the same bytes on every run.
Needs: python3-dnspython. Usage: make_corpus.py
"""
import pathlib
import random
import struct

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
ID = 0x5743
OPT = bytes.fromhex("0000291000000000000000")
TSIG = bytes.fromhex("036b65790000fa00ff00000000003d") + bytes.fromhex(
    "0b686d61632d73686132353600000061a8c700012c0020" + "5a" * 32 + "574300000000")
SIG0 = bytes.fromhex("00001800ff00000000001300000800000000000000000000000000000100")
SOA = "ns.example.com. hostmaster.example.com. 2024010101 7200 3600 1209600 300"
NAME = "www.example.com."


def query(name=NAME, rdtype="A", rdclass="IN", **options):
    message = dns.message.make_query(name, rdtype, rdclass, **options)
    message.id = ID
    return message


def with_counts(wire, **counts):
    """`wire` with some of its header's four counts replaced."""
    fields = list(struct.unpack("!4H", wire[4:12]))
    for place, name in enumerate(("qd", "an", "ns", "ar")):
        fields[place] = counts.get(name, fields[place])
    return wire[:4] + struct.pack("!4H", *fields) + wire[12:]


def raw_question(name_wire, rdtype=1, rdclass=1, tail=b""):
    header = struct.pack("!6H", ID, 0x0100, 1, 0, 0, 0)
    return header + name_wire + struct.pack("!2H", rdtype, rdclass) + tail


def edns_queries():
    option = dns.edns.GenericOption
    cookie = option(10, bytes(range(8)))
    subnet = dns.edns.ECSOption("192.0.2.0", 24)
    v1 = query(use_edns=1, payload=1232)
    return {
        "edns": query(use_edns=0, payload=1232).to_wire(),
        "edns_do": query(use_edns=0, payload=4096, want_dnssec=True).to_wire(),
        "edns_small": query(use_edns=0, payload=100).to_wire(),
        "edns_v1": v1.to_wire(),
        "edns_cookie": query(use_edns=0, options=[cookie]).to_wire(),
        "edns_many": query(use_edns=0, options=[cookie, subnet, option(3, b""),
                                                option(12, bytes(40))]).to_wire(),
        "edns_cut_option": with_counts(query().to_wire(), ar=1)
                           + bytes.fromhex("00002910000000000000 06000a0008 0102"),
        "edns_two": with_counts(query().to_wire(), ar=2) + OPT + OPT,
        "edns_owner": with_counts(query().to_wire(), ar=1) + b"\xc0\x0c" + OPT[1:],
        "edns_garbage": with_counts(query().to_wire(), ar=1) + OPT + b"\0",
    }


def signed_queries():
    wire = query().to_wire()
    return {
        "tsig": with_counts(wire, ar=1) + TSIG,
        "tsig_edns": with_counts(wire, ar=2) + OPT + TSIG,
        "tsig_not_last": with_counts(wire, ar=2) + TSIG + OPT,
        "sig0": with_counts(wire, ar=1) + SIG0,
    }


def odd_queries():
    wire = query().to_wire()
    longest = b"\1a" * 127 + b"\0"
    record = bytes.fromhex("c00c000100010000003c0004c0000201")
    ixfr = query("example.com.", "IXFR")
    ixfr.authority.append(dns.rrset.from_text("example.com.", 0, "IN", "SOA", SOA))
    update = query()
    update.set_opcode(dns.opcode.UPDATE)
    response = dns.message.make_response(query())
    return {
        "short": wire[:11],
        "header_only": wire[:12],
        "response": response.to_wire(),
        "opcode_update": update.to_wire(),
        "no_question": with_counts(wire[:12], qd=0),
        "two_questions": with_counts(wire, qd=2) + wire[12:],
        "answer": with_counts(wire, an=1) + record,
        "additional": with_counts(wire, ar=1) + record,
        "ixfr_soa": ixfr.to_wire(),
        "garbage": wire + b"\0\0",
        "compressed": raw_question(b"\xc0\x0c"),
        "cut_name": wire[:18],
        "longest_name": raw_question(longest),
        "too_long_name": raw_question(b"\1a" + longest),
        "label_type": raw_question(b"\x41\x08\xff\0"),
        "any_bytes": raw_question(b"\4\0.\xff \0"),
        "type_0": raw_question(b"\0", rdtype=0),
    }


def queries():
    seeds = {"root_ns": query(".", "NS").to_wire()}
    for rdtype in ("A", "AAAA", "TXT", "MX", "HTTPS", "ANY", "AXFR", "RRSIG", "TYPE65280"):
        seeds["type_" + rdtype.lower()] = query("Www.eXample.com.", rdtype).to_wire()
    for rdclass in ("CH", "HS", "ANY"):
        seeds["class_" + rdclass.lower()] = query("version.bind.", "TXT", rdclass).to_wire()
    flags = query()
    flags.flags |= dns.flags.CD | dns.flags.AD
    seeds["flags"] = flags.to_wire()
    return seeds | edns_queries() | signed_queries() | odd_queries()


RDATA = {
    "A": ["192.0.2.1", "192.0.2.2", "192.0.2.3"],
    "AAAA": ["2001:db8::1", "2001:db8::2"],
    "NS": ["ns1.example.com.", "ns2.example.net."],
    "SOA": [SOA],
    "PTR": ["host.example.com."],
    "HINFO": ['"cpu" "os"'],
    "MX": ["10 mx1.example.com.", "20 mx2.www.example.com."],
    "TXT": ['"v=spf1 -all"', '"a" "b" ""'],
    "RP": ["admin.example.com. info.example.com."],
    "AFSDB": ["1 afs.example.com."],
    "RT": ["5 relay.example.com."],
    "PX": ["10 a.example.com. b.example.com."],
    "LOC": ["52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m"],
    "SRV": ["0 5 443 srv.example.com."],
    "NAPTR": ['100 10 "S" "SIP+D2U" "!^.*$!sip:a@example.com!" _sip._udp.example.com.'],
    "KX": ["10 kx.example.com."],
    "DNAME": ["example.net."],
    "DS": ["12345 13 2 " + "ab" * 32],
    "SSHFP": ["4 2 " + "cd" * 32],
    "NSEC": ["zzz.example.com. A AAAA RRSIG NSEC"],
    "TLSA": ["3 1 1 " + "ef" * 32],
    "SVCB": ["1 svc.example.com. alpn=h2 port=8443"],
    "HTTPS": ["1 . alpn=h2,h3 ipv4hint=192.0.2.1"],
    "CAA": ['0 issue "ca.example.net"'],
    "TYPE65280": [r"\# 4 0a000001"],
}


def response(rdtype, *answers, authority=(), additional=(), rcode=0):
    message = dns.message.make_response(query(NAME, rdtype), recursion_available=True)
    message.set_rcode(rcode)
    message.answer.extend(answers)
    message.authority.extend(authority)
    message.additional.extend(additional)
    return message.to_wire()


def rrset(owner, rdtype, *rdata, ttl=300):
    return dns.rrset.from_text(owner, ttl, "IN", rdtype, *rdata)


def whole_messages():
    seeds = {"rr_" + t.lower(): response(t, rrset(NAME, t, *data)) for t, data in RDATA.items()}
    chain = [rrset(NAME, "CNAME", "a.example.com."),
             rrset("a.example.com.", "CNAME", "b.a.example.com."),
             rrset("b.a.example.com.", "A", "192.0.2.9")]
    soa = rrset("example.com.", "SOA", SOA)
    signature = rrset(NAME, "RRSIG", "A 13 3 300 20300101000000 20200101000000 1 example.com. "
                      + "AAAA" * 21 + "AA==")
    nsec3 = rrset("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.example.com.", "NSEC3",
                  "1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr "
                  "MX DNSKEY NS SOA NSEC3PARAM RRSIG")
    seeds["cname_chain"] = response("A", *chain)
    seeds["nxdomain"] = response("A", authority=[soa], rcode=3)
    seeds["nodata"] = response("AAAA", authority=[soa])
    seeds["nsec3"] = response("AAAA", authority=[soa, nsec3], rcode=3)
    seeds["signed"] = response("A", rrset(NAME, "A", "192.0.2.1"), signature)
    seeds["referral"] = response("A", authority=[rrset("example.com.", "NS", "ns1.example.com.")],
                                 additional=[rrset("ns1.example.com.", "A", "192.0.2.53")])
    seeds["servfail"] = response("A", rcode=2)
    seeds["opt"] = with_counts(response("A", rrset(NAME, "A", "192.0.2.1")), ar=1) + OPT
    return seeds


def broken_messages():
    mx = response("MX", rrset(NAME, "MX", *RDATA["MX"]))
    question = with_counts(query().to_wire(), an=1)
    fixed = bytes.fromhex("000500010000003c")
    chain = b"\0" + b"".join(struct.pack("!H", 0xC000 | at) for at in [33] + list(range(34, 74, 2)))
    return {
        "cut": mx[:-5],
        "garbage": mx + b"\1\2\3",
        "count_too_high": with_counts(mx, an=9),
        "count_too_low": with_counts(mx, an=1),
        "pointer_loop": question + b"\xc0\x21" + fixed + b"\0\0",
        "pointer_forward": question + b"\xc0\x30" + fixed + b"\0\0",
        "pointer_header": question + b"\xc0\x00" + fixed + b"\0\0",
        "pointer_chain": question + b"\xc0\x0c" + fixed + struct.pack("!H", len(chain)) + chain,
        "name_past_rdata": question + b"\xc0\x0c" + fixed + b"\0\2\3abc\0",
        "rdlength_past_end": question + b"\xc0\x0c" + fixed + b"\xff\xff\0",
    }


def write(target, seeds):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, wire in seeds.items():
        (folder / name).write_bytes(wire)
    print(f"{target}: {len(seeds)} seeds")


if __name__ == "__main__":
    random.seed(0)  # dnspython shuffles the records of an RRset
    write("query", queries())
    write("message", whole_messages() | broken_messages())

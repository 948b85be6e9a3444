#!/usr/bin/python3
"""Writes fixtures.inc: upstream answers of every record type, and what a right reply to them holds.

dnspython parses the records and renders them; the messages are framed here, so that each answer
comes compressed in three ways. Run it again after a change and check the result in:
    tests/unit/cache/make_fixtures.py > tests/unit/cache/fixtures.inc

A record is written "owner ttl type rdata", with a mark before it:
    (none)  kept
    -       out of the chain, or doubled: not kept
    *       kept, but sent only with DO=1
"""

import io
import pathlib
import struct
import sys

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import every_type  # noqa: E402

IN = dns.rdataclass.IN
RFC1035 = {2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15}  # may be compressed both ways
RFC3597 = {17, 18, 21, 24, 26, 30, 33, 35, 36, 39}  # may come compressed (§4)
MAX_TTL, MAX_NEGATIVE_TTL = 86400, 3600
NOERROR, NXDOMAIN, YXDOMAIN = 0, 3, 6
MODES = ("none", "rfc1035", "rfc3597")
SECTIONS = ("answer", "authority", "additional")

SIG = "8 2 {ttl} 20300101000000 20200101000000 4242 {signer} c2lnbmF0dXJlc2lnbmF0dXJl"


def rrsig(owner, ttl, covered, signer="example.com.", mark="*"):
    return f"{mark}{owner} {ttl} RRSIG {covered} " + SIG.format(ttl=ttl, signer=signer)


SOA = "example.com. 7200 SOA ns1.example.com. hostmaster.example.com. 2024 7200 3600 1209600 900"
SIGNED_SOA = SOA + "\n" + rrsig("example.com.", 7200, "SOA")


class Record:
    def __init__(self, section, line):
        self.section = section
        self.mark = line[0] if line[0] in "-*" else ""
        owner, ttl, rrtype, rdata = line.lstrip("-*").split(None, 3)
        self.owner = dns.name.from_text(owner)
        self.ttl = int(ttl)
        self.type = dns.rdatatype.from_text(rrtype)
        self.rdata = dns.rdata.from_text(IN, self.type, rdata)
        self.covered = int(getattr(self.rdata, "type_covered", 0)) if self.type == 46 else 0

    def rrset(self):
        return (self.owner, self.type, self.covered)


class Case:
    def __init__(self, name, qname, qtype, **parts):
        self.name = name
        self.qname = dns.name.from_text(qname)
        self.qtype = dns.rdatatype.from_text(qtype)
        self.rcode = parts.get("rcode", NOERROR)
        self.status = parts.get("status", "kKeep")
        self.records = [
            Record(section, line.strip())
            for section in range(3)
            for line in parts.get(SECTIONS[section], "").strip().splitlines()
        ]

    def is_positive(self):
        has_soa = any(r.type == 6 and r.section == 1 for r in self.records)
        return self.status == "kKeep" and self.rcode == NOERROR and not has_soa

    def settle(self):
        """Every record's TTL as it is kept: RFC 2181 §5.2, RFC 2308 §5, RFC 8767 §4."""
        smallest = {}
        for r in self.records:
            ttl = min(r.ttl, MAX_TTL)
            if r.type == 6 and r.section == 1 and not self.is_positive():
                ttl = min(ttl, r.rdata.minimum, MAX_NEGATIVE_TTL)
            smallest[r.rrset()] = min(ttl, smallest.get(r.rrset(), MAX_TTL))
        for r in self.records:
            r.kept_ttl = smallest[r.rrset()]
            if r.type == 46 and self.qtype != 46:  # RFC 4034 §3: as what it signs
                r.kept_ttl = min(r.kept_ttl, smallest.get((r.owner, r.covered, 0), MAX_TTL))
        kept = [r.kept_ttl for r in self.records if r.mark != "-"]
        self.lifetime = min(kept) if self.status == "kKeep" else 0


compression = None  # of the record data that is being written
plain_to_wire = dns.name.Name.to_wire


def name_to_wire(self, file=None, compress=None, origin=None, canonicalize=False):
    """dnspython decides itself which data it compresses; here the mode does."""
    return plain_to_wire(self, file, compression, origin, canonicalize)


def with_compression(table, write):
    global compression
    compression = table
    dns.name.Name.to_wire = name_to_wire
    try:
        write()
    finally:
        dns.name.Name.to_wire = plain_to_wire
        compression = None


def render(case, mode, records, opt=None):
    file = io.BytesIO()
    counts = [sum(r.section == s for r in records) for s in range(3)]
    counts[2] += opt is not None
    file.write(struct.pack("!6H", 0x1234, 0x8180 | case.rcode, 1, *counts))
    table = None if mode == "none" else {}
    plain_to_wire(case.qname, file, table)
    file.write(struct.pack("!HH", case.qtype, IN))
    for r in records:
        plain_to_wire(r.owner, file, table)
        file.write(struct.pack("!HHIH", r.type, IN, r.ttl, 0))
        start = file.tell()
        compressible = RFC1035 | (RFC3597 if mode == "rfc3597" else set())
        with_compression(table if r.type in compressible else None, lambda: r.rdata.to_wire(file))
        end = file.tell()
        file.seek(start - 2)
        file.write(struct.pack("!H", end - start))
        file.seek(end)
    if opt is not None:
        file.write(opt)
    return file.getvalue()


def opt_record(dnssec_ok, options=b""):
    flags = 0x8000 if dnssec_ok else 0
    return struct.pack("!BHHIH", 0, 41, 1232, flags, len(options)) + options


def query(case, dnssec_ok):
    """A client's query with a case of its own (draft-vixie-dnsext-dns0x20)."""
    wire = bytearray(case.qname.to_wire())
    for i, c in enumerate(wire):
        if i % 2 and chr(c).isalpha() and c > 63:
            wire[i] = ord(chr(c).swapcase())
    header = struct.pack("!6H", 0xBEEF, 0x0100, 1, 0, 0, 1)
    edns = struct.pack("!BHHIH", 0, 41, 4096, 0x8000 if dnssec_ok else 0, 0)
    return header + bytes(wire) + struct.pack("!HH", case.qtype, IN) + edns


def literal(data):
    text = data.hex()
    lines = [text[i : i + 88] for i in range(0, len(text), 88)] or [""]
    return "\n     ".join(f'"{line}"' for line in lines)


def emit_records(case):
    for r in case.records:
        if r.mark == "-":
            continue
        do_only = "true" if r.mark == "*" else "false"
        print(f"     {{{r.section}, {do_only}, {int(r.type)}, {r.kept_ttl},")
        print(f"     {literal(r.owner.to_wire())},")
        print(f"     {literal(r.rdata.to_wire())}}},")


def emit(case):
    case.settle()
    kept = [r for r in case.records if r.mark != "-"]
    plain = [r for r in kept if r.mark != "*"]
    print(f'    {{"{case.name}", EncodeStatus::{case.status}, {case.rcode}, {case.lifetime},')
    print(f"     {len(render(case, 'rfc1035', plain, opt_record(False)))},")
    print(f"     {len(render(case, 'rfc1035', kept, opt_record(True)))},")
    print(f"     {literal(query(case, False))},")
    print(f"     {literal(query(case, True))},")
    upstream = [literal(render(case, mode, case.records, opt_record(True))) for mode in MODES]
    print("     {" + ",\n      ".join(upstream) + "},")
    print("     {")
    emit_records(case)
    print("     }},")


CASES = []


def case(*args, **parts):
    CASES.append(Case(*args, **parts))


def simple(name, owner, rrtype, *datas):
    """An RRset alone and in DNSSEC's company."""
    answer = "\n".join(f"{owner} 300 {rrtype} {data}" for data in datas)
    case(name, owner, rrtype, answer=answer)


def generic(*names):
    """Names as data of a type that dnspython does not know (RFC 3597 §5)."""
    wire = b"".join(dns.name.from_text(name).to_wire() for name in names)
    return rf"\# {len(wire)} {wire.hex()}"


def single_types():
    simple("A", "example.com.", "A", "192.0.2.1")
    simple("A of the root", ".", "A", "192.0.2.1")
    simple("A, many", "www.example.com.", "A", *[f"192.0.2.{i}" for i in range(1, 40)])
    simple("A, more than a block holds", "many.example.com.", "A",
           *[f"10.0.{i // 250}.{i % 250}" for i in range(200)])
    simple("AAAA", "www.example.com.", "AAAA", "2001:db8::1", "2001:db8::2")
    simple("TXT", "example.com.", "TXT", '"v=spf1 -all"', '"two" "strings"', '""')
    simple("TXT, long", "example.com.", "TXT", " ".join(f'"{chr(97 + i) * 200}"' for i in range(5)))
    simple("TXT of 254 bytes", "example.com.", "TXT", f'"{"a" * 253}"')
    simple("TXT of 255 bytes", "example.com.", "TXT", f'"{"a" * 254}"')
    simple("MX", "example.com.", "MX", "10 mail.example.com.", "20 mail2.example.com.",
           "30 mx.provider.example.net.", "40 backup.provider.example.net.", "50 .")
    simple("NS", "example.com.", "NS", "ns1.example.com.", "NS2.Example.Com.", "ns.other.org.")
    simple("PTR", "1.2.0.192.in-addr.arpa.", "PTR", "host.example.com.",
           "other.2.0.192.in-addr.arpa.")
    simple("SOA", "example.com.", "SOA",
           "ns1.example.com. hostmaster.example.com. 2024 7200 3600 1209600 900")
    simple("SOA of others", "example.com.", "SOA",
           "ns.provider.net. hostmaster.provider.net. 2024 7200 3600 1209600 900")
    simple("SRV", "_sip._tcp.example.com.", "SRV", "10 60 5060 big.example.com.",
           "10 20 5060 Small.Example.com.", "20 0 5060 backup.example.net.", "0 0 0 .")
    simple("NAPTR", "example.com.", "NAPTR",
           '100 10 "" "" "/urn:cid:.+@([^\\\\.]+\\\\.)(.*)$/\\\\2/i" .',
           '100 50 "s" "http+I2L+I2C+I2R" "" _http._tcp.example.com.')
    simple("RP", "example.com.", "RP", "admin.example.com. people.example.com.")
    simple("AFSDB", "example.com.", "AFSDB", "1 afs.example.com.", "2 DCE.example.com.")
    simple("RT", "example.com.", "RT", "10 relay.example.com.")
    simple("PX", "example.com.", "PX", "10 map822.example.com. mapx400.example.com.")
    simple("KX", "example.com.", "KX", "10 kx.example.com.")
    simple("DNAME", "old.example.com.", "DNAME", "New.Example.com.")
    simple("DNAME elsewhere", "old.example.com.", "DNAME", "new.example.net.")


def opaque_types():
    simple("HINFO", "example.com.", "HINFO", '"PDP-11" "UNIX"')
    simple("LOC", "example.com.", "LOC", "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m")
    simple("CAA", "example.com.", "CAA", '0 issue "ca.example.net"',
           '128 iodef "mailto:a@example.com"')
    simple("TLSA", "_443._tcp.example.com.", "TLSA", "3 1 1 " + "ab" * 32)
    simple("SSHFP", "example.com.", "SSHFP", "4 2 " + "cd" * 32)
    simple("DS", "child.example.com.", "DS", "4242 13 2 " + "ef" * 32)
    simple("DNSKEY", "example.com.", "DNSKEY", "257 3 13 " + "q80" * 32)
    simple("CDS", "example.com.", "CDS", "4242 13 2 " + "ef" * 32)
    simple("NSEC3PARAM", "example.com.", "NSEC3PARAM", "1 0 10 aabbccdd")
    simple("SVCB", "_8443._foo.example.com.", "SVCB",
           '1 svc.Example.com. alpn="h2,h3" port="8443" ipv4hint="192.0.2.1"')
    simple("HTTPS", "example.com.", "HTTPS", '1 . alpn="h2"', "0 Svc.example.net.")
    simple("CERT", "example.com.", "CERT", "PKIX 65535 1 AQOppkQvFlPFLiWZc0NX")
    simple("APL", "example.com.", "APL", "1:192.168.32.0/21 !1:192.168.38.0/28 2:FF00::/8")
    simple("URI", "_ftp._tcp.example.com.", "URI", '10 1 "ftp://ftp.example.com/public"')
    simple("SPF", "example.com.", "SPF", '"v=spf1 -all"')
    simple("OPENPGPKEY", "example.com.", "OPENPGPKEY", "AQOppkQvFlPFLiWZc0NX")
    simple("EUI48", "example.com.", "EUI48", "00-00-5e-00-53-2a")
    simple("EUI64", "example.com.", "EUI64", "00-00-5e-ef-10-00-00-2a")
    simple("L32", "example.com.", "L32", "10 10.1.2.0")
    simple("L64", "example.com.", "L64", "10 2001:0DB8:1140:1000")
    simple("NID", "example.com.", "NID", "10 0014:4fff:ff20:ee64")
    simple("LP", "example.com.", "LP", "10 L64-subnet1.example.com.")
    simple("CSYNC", "example.com.", "CSYNC", "66 3 A NS AAAA")
    simple("X25", "example.com.", "X25", '"311061700956"')
    simple("ISDN", "example.com.", "ISDN", '"150862028003217" "004"')
    simple("GPOS", "example.com.", "GPOS", "-32.6882 116.8652 10.0")
    simple("DHCID", "example.com.", "DHCID", "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=")
    simple("IPSECKEY", "example.com.", "IPSECKEY",
           "10 3 2 gw.example.com. AQNRU3mG7TVTO2BkR47usntb102uFJtu")
    simple("TYPE65280", "example.com.", "TYPE65280", r"\# 4 0a000001", r"\# 0")
    simple("MINFO", "example.com.", "TYPE14", generic("admin.example.com.", "errors.example.com."))
    simple("MB", "example.com.", "TYPE7", generic("mail.example.com."))


def registered_types():
    """What no other case asks for (RFC 3597: whatever is not known goes through as it is)."""
    asked = {each.qtype for each in CASES}
    samples = every_type.samples(dns.name.from_text("example.com."))
    for number, name in every_type.types().items():
        if number not in asked:
            simple(f"{name}, type {number}", "example.com.", f"TYPE{number}",
                   *[rf"\# {len(data)} {data.hex()}" for data in samples[number]])


def chains():
    case("CNAME asked for", "www.example.com.", "CNAME", answer="""
        www.example.com. 60 CNAME web.example.com.""")
    case("alias", "www.example.com.", "A", answer="""
        www.example.com. 300 CNAME web.example.com.
        web.example.com. 60 A 192.0.2.1
        web.example.com. 60 A 192.0.2.2""")
    case("aliases in any order, and foreign records", "www.example.com.", "A", answer="""
        -evil.example.net. 60 A 192.0.2.66
        c.cdn.example.net. 60 A 192.0.2.1
        b.example.org. 120 CNAME C.cdn.example.net.
        -www.example.com. 60 AAAA 2001:db8::1
        www.example.com. 300 CNAME b.example.org.
        c.cdn.example.net. 60 A 192.0.2.2
        -web.example.com. 60 CNAME c.cdn.example.net.""")
    case("alias, signed", "www.example.com.", "A", answer="\n".join([
        "www.example.com. 300 CNAME web.example.com.", rrsig("www.example.com.", 300, "CNAME"),
        rrsig("web.example.com.", 60, "A"), "web.example.com. 60 A 192.0.2.1",
        rrsig("web.example.com.", 60, "AAAA", mark="-")]))
    case("DNAME", "host.old.example.com.", "A", answer="""
        old.example.com. 600 DNAME new.example.net.
        host.old.example.com. 600 CNAME host.new.example.net.
        host.new.example.net. 300 A 192.0.2.7
        -other.example.com. 600 DNAME new.example.net.""")
    case("alias loop", "a.example.com.", "A", status="kUseOnce", answer="""
        a.example.com. 300 CNAME b.example.com.
        b.example.com. 300 CNAME a.example.com.""")
    case("RRSIG asked for", "example.com.", "RRSIG", answer="\n".join([
        rrsig("example.com.", 300, "A", mark=""), rrsig("example.com.", 600, "MX", mark="")]))
    case("NSEC asked for", "example.com.", "NSEC", answer="\n".join([
        "example.com. 300 NSEC www.Example.com. A NS SOA MX RRSIG NSEC DNSKEY",
        rrsig("example.com.", 300, "NSEC")]))
    case("doubled records, unequal TTLs", "example.com.", "MX", answer="""
        example.com. 300 MX 10 Mail.example.com.
        -example.com. 200 MX 10 mail.EXAMPLE.com.
        example.com. 100 MX 20 mail.example.com.""")
    case("TTL beyond the maximum", "example.com.", "A", answer="example.com. 604800 A 192.0.2.1")
    case("TTL with its top bit set", "example.com.", "A", answer="""
        example.com. 4294967295 A 192.0.2.1""")
    case("TTL 0", "example.com.", "A", status="kUseOnce", answer="example.com. 0 A 192.0.2.1")
    numbers = range(40)
    case("more names than one byte can count", "example.com.", "MX", answer="\n".join(
        f"example.com. 300 MX {i} mail.host{i}.provider{i}.example{i % 3}.org." for i in numbers))


def authorities():
    case("answer, NS and their addresses", "www.example.com.", "A", answer="""
        www.example.com. 300 A 192.0.2.1""", authority="""
        example.com. 3600 NS ns1.example.com.
        example.com. 3600 NS ns2.example.net.
        -example.net. 3600 NS ns3.example.net.""", additional="""
        ns1.example.com. 3600 A 192.0.2.53
        ns1.example.com. 3600 AAAA 2001:db8::53
        ns2.example.net. 3600 A 192.0.2.54
        -ns3.example.net. 3600 A 192.0.2.55
        -ns1.example.com. 3600 TXT "no address\"""")
    case("MX, SRV and SVCB targets", "_sip._tcp.example.com.", "SRV", answer="""
        _sip._tcp.example.com. 300 SRV 10 60 5060 Big.example.com.
        _sip._tcp.example.com. 300 SRV 10 60 5060 small.example.net.""", additional="\n".join([
        "big.example.com. 300 A 192.0.2.1", rrsig("big.example.com.", 300, "A"),
        "small.example.net. 300 AAAA 2001:db8::1"]))
    case("HTTPS with its own addresses", "example.com.", "HTTPS", answer="""
        example.com. 300 HTTPS 1 . alpn="h2"
        example.com. 300 HTTPS 2 svc.example.net. alpn="h3\"""", additional="""
        example.com. 300 A 192.0.2.1
        svc.example.net. 300 AAAA 2001:db8::1
        -www.example.com. 300 A 192.0.2.2""")
    case("NXDOMAIN", "nope.example.com.", "A", rcode=NXDOMAIN, authority=SOA)
    case("NXDOMAIN, SOA TTL below its MINIMUM", "nope.example.com.", "A", rcode=NXDOMAIN,
         authority="""
        example.com. 60 SOA ns1.example.com. mail.example.com. 2024 7200 3600 1209600 86400""")
    case("NXDOMAIN, capped", "nope.example.com.", "A", rcode=NXDOMAIN, authority="""
        example.com. 86400 SOA ns1.example.com. mail.example.com. 2024 7200 3600 1209600 86400""")
    case("NODATA", "www.example.com.", "MX", authority=SOA)
    case("NODATA, foreign SOA", "www.example.com.", "MX", status="kUseOnce", authority="""
        -example.net. 3600 SOA ns1.example.net. hostmaster.example.net. 1 2 3 4 5""")
    case("NODATA without SOA", "www.example.com.", "MX", status="kUseOnce")
    case("NXDOMAIN without SOA", "www.example.com.", "MX", rcode=NXDOMAIN, status="kUseOnce")
    case("alias to nothing", "www.example.com.", "A", rcode=NXDOMAIN, answer="""
        www.example.com. 300 CNAME gone.example.net.""", authority="""
        example.net. 3600 SOA ns1.example.net. hostmaster.example.net. 1 2 3 4 600""")
    case("YXDOMAIN", "long.old.example.com.", "A", rcode=YXDOMAIN, status="kUseOnce", answer="""
        old.example.com. 600 DNAME new.example.net.""")
    case("referral", "www.child.example.com.", "A", status="kReferral", authority="""
        child.example.com. 3600 NS ns.child.example.com.""", additional="""
        ns.child.example.com. 3600 A 192.0.2.53""")


def proofs():
    case("NXDOMAIN, NSEC", "nope.example.com.", "A", rcode=NXDOMAIN, authority="\n".join([
        SIGNED_SOA,
        "*mail.example.com. 900 NSEC www.example.com. A RRSIG NSEC",
        rrsig("mail.example.com.", 900, "NSEC"),
        "*example.com. 900 NSEC a.example.com. NS SOA RRSIG NSEC DNSKEY",
        rrsig("example.com.", 900, "NSEC"),
        "-example.org. 900 NSEC a.example.org. NS SOA"]))
    h = ["2t7b4g4vsa5smi47k61mv5bv1a22bojr", "b4um86eghhds6nea196smvmlo4ors995",
         "gjeqe526plbf1g8mklp59enfd789njgi"]
    case("NXDOMAIN, NSEC3", "nope.example.com.", "A", rcode=NXDOMAIN, authority="\n".join(
        [SIGNED_SOA] + [line for i in range(3) for line in (
            f"*{h[i]}.example.com. 900 NSEC3 1 1 0 - {h[(i + 1) % 3]} A RRSIG",
            rrsig(f"{h[i]}.example.com.", 900, "NSEC3"))]))
    case("wildcard answer with its proof alone", "any.example.com.", "A", answer="\n".join([
        "any.example.com. 300 A 192.0.2.1", rrsig("any.example.com.", 300, "A")]),
         authority="\n".join([
        "*aaa.example.com. 300 NSEC mail.example.com. A RRSIG NSEC",
        rrsig("aaa.example.com.", 300, "NSEC")]))
    case("wildcard alias to nothing in the next zone", "any.example.com.", "A", rcode=NXDOMAIN,
         answer="\n".join(["any.example.com. 300 CNAME gone.example.net.",
                           rrsig("any.example.com.", 300, "CNAME")]),
         authority="\n".join([
             "*aaa.example.com. 300 NSEC mail.example.com. A RRSIG NSEC",
             rrsig("aaa.example.com.", 300, "NSEC"),
             "example.net. 3600 SOA ns1.example.net. hostmaster.example.net. 1 2 3 4 600",
             rrsig("example.net.", 3600, "SOA", signer="example.net."),
             "*example.net. 600 NSEC www.example.net. NS SOA RRSIG NSEC",
             rrsig("example.net.", 600, "NSEC", signer="example.net.")]))


def cases():
    if not CASES:
        for add in (single_types, opaque_types, chains, authorities, proofs, registered_types):
            add()
    return CASES


def main():
    print("// Made by make_fixtures.py with dnspython: do not edit.")
    for each in cases():
        emit(each)


if __name__ == "__main__":
    main()

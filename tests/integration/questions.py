"""What the tests ask of the zones: every record type, and what is not there."""

import dns.rdatatype

DEMO = "demo.example"
_DEMO_QUESTIONS = (
    "@ SOA", "@ NS", "@ MX", "@ TXT", "@ CAA", "@ DNSKEY", "@ CDS", "@ CDNSKEY",
    "www A", "www AAAA", "four A", "four AAAA", "txt TXT", "empty TXT", "big TXT",
    "alias CNAME", "alias A", "alias AAAA", "alias3 A", "dangling A",
    "ptr PTR", "_sip._tcp SRV", "naptr NAPTR", "_443._tcp.www TLSA", "sshfp SSHFP", "loc LOC",
    "hinfo HINFO", "rp RP", "afsdb AFSDB", "kx KX", "cert CERT", "dname DNAME",
    "www.dname A", "www.dname AAAA", "svc TYPE64", "web TYPE65", "uri URI", "spf SPF",
    "unknown TYPE65280", "key._openpgpkey OPENPGPKEY", "key._smimecert SMIMEA",
    "any.wild A", "any.wild TXT", "mixed.case A", "mixed.case PTR", "child DS", "ent.sub2 A",
    # Negative: no such name (below a CNAME too), no such type, an empty non-terminal.
    "nowhere A", "nowhere.nowhere TXT", "onlya AAAA", "www TYPE65280", "sub2 A", "dangling TXT",
)


def _demo(question):
    owner, rtype = question.split()
    return (DEMO if owner == "@" else f"{owner}.{DEMO}", rtype)


QUESTIONS = tuple(_demo(q) for q in _DEMO_QUESTIONS)
SIGNED_QUESTIONS = tuple(
    (f"{owner}{zone}", rtype)
    for zone in ("signed.example", "signed3.example")
    for owner, rtype in (("", "SOA"), ("", "DNSKEY"), ("www.", "A"), ("www.", "AAAA"),
                         ("alias.", "A"), ("any.wild.", "A"), ("txt.", "TXT"),
                         ("nowhere.", "A"), ("txt.", "A"))
) + (("www.signed.example", "NSEC"), ("www.signed.example", "RRSIG"),
     ("signed3.example", "NSEC3PARAM"))


def number(rtype):
    return dns.rdatatype.from_text(rtype)

"""Every record type of the IANA registry, with data: for fixtures and for a zone of all types.

The numbers come from dnspython's and ldns's own tables and from what the registry has had since;
types without a sample here get bytes of no meaning.
"""

import ctypes
import hashlib
import struct

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype

META = {0, 41, *range(128, 256)}  # no data of a zone: RFC 6895 §3.1
# https://www.iana.org/assignments/dns-parameters: what neither library knows.
LATER = {57: "RKEY", 66: "DSYNC", 67: "HHIT", 68: "BRID", 100: "UINFO", 101: "UID", 102: "GID",
         259: "DOA", 261: "RESINFO", 262: "WALLET", 263: "CLA", 264: "IPN", 65280: "TYPE65280"}
_SIGNATURE = "8 2 300 20300101000000 20200101000000 4242 example.com. c2lnbmF0dXJl"

# As text, relative names below the origin; "@" is the origin itself.
_TEXTS = {
    "A": ("192.0.2.1", "192.0.2.2"),
    "NS": ("ns1", "NS2.Example.Net."),
    "CNAME": ("Alias-Target",),
    "SOA": ("ns1 hostmaster 2024 7200 3600 1209600 900",),
    "PTR": ("host", "host.sub"),
    "HINFO": ('"PDP-11" "UNIX"', '"" ""'),
    "MX": ("10 mail", "20 Mail.Provider.example."),
    "TXT": ('"one string"', '"two" "strings"', '""'),
    "RP": ("admin People",),
    "AFSDB": ("1 afs", "2 DCE"),
    "X25": ('"311061700956"',),
    "ISDN": ('"150862028003217" "004"', '"150862028003217"'),
    "RT": ("10 relay",),
    "PX": ("10 map822 Mapx400",),
    "GPOS": ("-32.6882 116.8652 10.0",),
    "AAAA": ("2001:db8::1", "2001:db8::2"),
    "LOC": ("52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m",),
    "SRV": ("10 60 5060 big", "20 0 5060 Backup.example.net."),
    "NAPTR": ('100 10 "" "" "!^.*$!sip:info@example.com!" .', '100 50 "s" "http" "" _http._tcp'),
    "KX": ("10 kx",),
    "CERT": ("PKIX 65535 1 AQOppkQvFlPFLiWZc0NX",),
    "DNAME": ("New",),
    "APL": ("1:192.168.32.0/21 !1:192.168.38.0/28 2:FF00::/8",),
    "DS": ("4242 13 2 " + "ef" * 32,),
    "SSHFP": ("4 2 " + "cd" * 32,),
    "IPSECKEY": ("10 3 2 Gw.example.com. AQNRU3mG7TVTO2BkR47usntb102uFJtu", "10 0 2 . AQNRU3mG"),
    "RRSIG": ("A " + _SIGNATURE, "MX " + _SIGNATURE),
    "NSEC": ("Next.example.com. A MX RRSIG NSEC TYPE65280",),
    "DNSKEY": ("257 3 13 " + "q80" * 32,),
    "DHCID": ("AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=",),
    "NSEC3": ("1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr A RRSIG",),
    "NSEC3PARAM": ("1 0 10 aabbccdd",),
    "TLSA": ("3 1 1 " + "ab" * 32,),
    "SMIMEA": ("3 1 1 " + "ab" * 32,),
    "HIP": ("2 200100107B1A74DF365639CC39F1D578 AwEAAbdxyhNuSutc rvs.example.com.",),
    "NINFO": ('"status" "up"',),
    "CDS": ("4242 13 2 " + "ef" * 32,),
    "CDNSKEY": ("257 3 13 " + "q80" * 32,),
    "OPENPGPKEY": ("AQOppkQvFlPFLiWZc0NX",),
    "CSYNC": ("66 3 A NS AAAA",),
    "ZONEMD": ("2018031500 1 1 " + "ab" * 48,),
    "SVCB": ('1 svc.Example.com. alpn="h2,h3" port="8443" ipv4hint="192.0.2.1"',),
    "HTTPS": ('1 . alpn="h2"', "0 Svc.example.net."),
    "SPF": ('"v=spf1 -all"', '"v=spf1" " -all"'),
    "NID": ("10 0014:4fff:ff20:ee64",),
    "L32": ("10 10.1.2.0",),
    "L64": ("10 2001:0DB8:1140:1000",),
    "LP": ("10 L64-subnet1.example.com.",),
    "EUI48": ("00-00-5e-00-53-2a",),
    "EUI64": ("00-00-5e-ef-10-00-00-2a",),
    "URI": ('10 1 "ftp://ftp.example.com/public"',),
    "CAA": ('0 issue "ca.example.net"', '128 iodef "mailto:a@example.com"'),
    "AVC": ('"app-name:WOLFGANG"',),
    "AMTRELAY": ("10 0 3 Relay.example.com.", "10 1 1 192.0.2.1"),
    "DLV": ("4242 13 2 " + "ef" * 32,),
}


def _ldns_types():
    ldns = ctypes.CDLL("libldns.so.3")
    ldns.ldns_rr_type2str.restype = ctypes.c_void_p
    libc = ctypes.CDLL(None)
    libc.free.argtypes = (ctypes.c_void_p,)
    types = {}
    for number in (*range(300), *range(32760, 32776)):
        text = ldns.ldns_rr_type2str(number)
        name = ctypes.string_at(text).decode()
        libc.free(text)
        if not name.startswith("TYPE"):
            types[number] = name.replace("-", "_")
    return types


def types():
    """Number -> name, in order."""
    known = {**LATER, **_ldns_types(), **{int(t): t.name for t in dns.rdatatype.RdataType}}
    return {number: known[number] for number in sorted(known) if number not in META}


def _wires(origin):
    """Data of types that dnspython does not write: number -> bytes of each record."""
    def name(text):
        return dns.name.from_text(text, origin).to_wire()

    signed = struct.pack("!HBBIIIH", 1, 8, 2, 300, 1893456000, 1577836800, 4242)
    return {
        3: (name("mail"),), 4: (name("Mail"),), 7: (name("mail"),), 8: (name("mail"),),
        9: (name("new-mail"),),
        10: (bytes(range(40)),),
        11: (bytes.fromhex("c0000201 06 00000040"),),
        14: (name("admin") + name("Errors"),),
        22: (bytes.fromhex("47000580005a0000000001e133ffffff00016100"),),
        23: (name("Host"),),
        24: (signed + name("@") + b"signature",),
        25: (bytes.fromhex("0100 03 05") + b"key of no meaning",),
        30: (name("next") + bytes.fromhex("4000000000000008"),),
        31: (bytes.fromhex("e32c6f78163a9348"),),
        32: (bytes.fromhex("32251a030067"),),
        34: (b"\x01+358400123456",),
        38: (bytes(1) + bytes(range(16)), b"\x40" + bytes(range(8)) + name("prefix")),
        40: (bytes.fromhex("400001ff02"),),
        58: (name("prev") + name("Next"),),
        66: (bytes.fromhex("003b 01 14ea") + name("Rr-endpoint"),),
        261: (b"\x08qnamemin",),
        262: (b"\x03ETH\x0a0xabcdef01",),
        263: (b"\x05TLS13",),
        264: (bytes.fromhex("000000000001869f"),),
    }


def samples(origin):
    """Number -> the data of some records, uncompressed."""
    wires = _wires(origin)
    result = {}
    for number, name in types().items():
        if name in _TEXTS:
            result[number] = tuple(
                dns.rdata.from_text(dns.rdataclass.IN, number, text, origin, False).to_wire()
                for text in _TEXTS[name])
        else:
            result[number] = wires.get(number) or (
                hashlib.sha512(name.encode()).digest()[:number % 60 + 1],)
    return result

// The shape of record data: where names stand in it and what may be compressed.
//
// RFC 1035 types may be compressed on the wire both ways; those of RFC 3597 §4 are decompressed on
// the way in and sent whole; in other types that hold names a compression pointer is malformed
// (RFC 3597 §4, RFC 9460 §2.2, RFC 4034 §3.1.7, §4.1.1). Types not listed are opaque; so are those
// whose name stands where other fields say (A6, IPSECKEY, HIP, AMTRELAY), which forbid compression.
// Pure functions; any thread.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/types.h"

namespace wirecache::dns {

enum class RdataNames : uint8_t {
  kNone,          // opaque, or without names
  kCompressible,  // RFC 1035: NS MD MF CNAME SOA MB MG MR PTR MINFO MX
  kDecompress,  // RFC 3597 §4: RP AFSDB RT SIG PX NXT SRV NAPTR; and KX, DNAME in the same spirit
  kVerbatim,  // a name that must not be compressed: RRSIG NSEC SVCB HTTPS LP TALINK DSYNC NSAP-PTR
};

// Layout in order: `before` fixed bytes, then `names` names, then `after` fixed bytes (or, with
// `tail` set, any number). NAPTR has three character-strings between its fixed bytes and its names
// (`strings`). Where names_kind is not kNone and `tail` is not set, the rdata delimits itself.
struct RdataShape {
  RdataNames names_kind = RdataNames::kNone;
  uint8_t before = 0;
  uint8_t strings = 0;
  uint8_t names = 0;
  uint8_t after = 0;
  bool tail = false;
  uint8_t fixed_bytes = 0;  // not 0: the whole rdata always has this length (A 4, AAAA 16, …)
  bool is_text = false;     // character-strings, in most records one (TXT, SPF)
};

RdataShape rdata_shape(uint16_t type);

// DNSSEC record types that are sent only with DO=1 or when asked for (RFC 4035 §3.2.1, RFC 5155
// §7.2): RRSIG, NSEC, NSEC3.
bool is_dnssec_type(uint16_t type);

// Types whose data is an address, so that the records of an RRset are alternatives of each other.
constexpr bool is_address_type(uint16_t type) {
  return type == static_cast<uint16_t>(RrType::kA) || type == static_cast<uint16_t>(RrType::kAaaa);
}

}  // namespace wirecache::dns

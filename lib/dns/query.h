// Parsing and judging a client's query (SEMANTICS "Queries"; RFC 1035, 6891, 9619, 8482).
//
// Invariant: a query is kOk only if the whole message was walked to its last byte. The checks run
// in the order header, opcode, counts, question, OPT, EDNS version, signature, class, type; the
// first that applies decides, so a signed query of any class or type is kSigned. Pure functions on
// byte spans; any thread; nothing is kept.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/types.h"

namespace wirecache::dns {

// What the client's OPT said, RFC 6891 §6.1.3.
struct Edns {
  bool present = false;
  bool dnssec_ok = false;
  uint8_t version = 0;
  uint16_t udp_size = 512;  // raised to 512 where less was sent; 512 without OPT

  DoBit do_bit() const { return dnssec_ok ? DoBit::kSet : DoBit::kClear; }
};

// What happens to a message that arrived on the service port.
enum class QueryStatus : uint8_t {
  kOk,            // look it up
  kDropShort,     // under 12 bytes: no answer
  kDropResponse,  // QR=1: no answer, it could loop
  kFormErr,       // answer FORMERR
  kNotImp,        // answer NOTIMP (opcode; or meta types that nobody serves)
  kBadVers,       // answer BADVERS, our EDNS version in the OPT
  kRefusedClass,  // class neither IN nor CH: answer REFUSED
  kChaos,         // class CH, well formed: the server answers or refuses itself
  kRefusedType,   // AXFR, IXFR, MAILA, MAILB, OPT, TSIG, TKEY… as qtype: answer REFUSED
  kAny,           // QTYPE=ANY, class IN: RFC 8482
  kSigned,        // TSIG or SIG(0) at its end: answer REFUSED
};

struct Query {
  uint16_t id = 0;
  uint16_t flags = 0;        // as received; RD, CD, AD and the opcode are taken from here
  uint16_t qname_bytes = 0;  // flat length with the root label; 0 where no question was parsed
  uint16_t qtype = 0;
  uint16_t qclass = 0;
  Edns edns;

  bool rd() const { return (flags & kFlagRd) != 0; }
  bool cd() const { return (flags & kFlagCd) != 0; }
  CdBit cd_bit() const { return cd() ? CdBit::kSet : CdBit::kClear; }
  bool ad() const { return (flags & kFlagAd) != 0; }
  // The question's name starts at kHeaderBytes and is never compressed.
  uint16_t question_bytes() const { return qname_bytes == 0 ? 0 : qname_bytes + 4; }
};

// Judges `message` (the UDP payload). `out` is filled as far as the parse came: id and flags from
// 12 bytes on; the question once it is well formed (so that an error can echo it); edns once the
// OPT is well formed.
QueryStatus parse_query(Bytes message, Query& out);

}  // namespace wirecache::dns

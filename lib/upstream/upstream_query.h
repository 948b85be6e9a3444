// Our own query on the wire, and the first judgement of an answer to it (SEMANTICS "Upstream
// queries", "Upstream answers"). Pure functions over byte spans; any thread.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/message.h"
#include "lib/upstream/pending.h"

namespace wirecache::upstream {

// Writes the query for `pending`'s try under way: RD=1, CD of the key, AD=1 (RFC 6840 §5.7), one
// OPT with `udp_size` and the DO bit unless the server was found not to know EDNS. Returns its
// length, 0 where `message` is too small.
size_t write_query(const Pending& pending, uint16_t udp_size, MutableBytes message);

enum class AnswerKind : uint8_t {
  kMismatch,   // QR, opcode, question or class differ: not an answer to this query
  kMalformed,  // does not parse to its last byte
  kTruncated,  // TC=1 and a usable rcode
  kUsable,     // NOERROR, NXDOMAIN or YXDOMAIN, whole
  kNoEdns,     // FORMERR or NOTIMP to a query with EDNS: ask again without (RFC 6891 §6.2.2)
  kFailure,    // any other rcode: ask the next server
};

struct JudgedAnswer {
  AnswerKind kind = AnswerKind::kMismatch;
  dns::Rcode rcode = dns::Rcode::kNoError;  // with the OPT's upper bits
};

JudgedAnswer judge_answer(const Pending& pending, Bytes message);

}  // namespace wirecache::upstream

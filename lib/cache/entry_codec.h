// Between messages and packed entries: encode an upstream's answer, build a client's reply.
//
// RRset block, in the order of the sections:
//   control 1  bits 0-1 section, or 3: the answer section, and the records go to the entry's end;
//              2 DNSSEC (only for DO=1); 3-4 owner: 0 the question's name, 1 that of the block
//              before, 2 a packed name follows; 5 type is the question's; 6 TTL is the lifetime;
//              7 exactly one record
//   owner      packed name, where it follows
//   type       1 byte where below 256 and not 0; else 0 and 2 bytes; absent with bit 5
//   ttl        what the TTL is above the lifetime: 1 to 3 bytes of 7 bits, the low ones first, bit
//   7
//              set where another follows; absent with bit 6
//   count      1 byte (1..255), absent with bit 7 and section 3; a larger RRset takes more blocks
//   records    rdata in one of four forms (rdata_parts.h): the bytes, where the type has one
//              length; fixed bytes, character-strings, packed names, fixed bytes, where they
//              delimit themselves; text: 1 character-string of less than 254 bytes as it is, else
//              254 and an opaque; opaque: length 1 byte (below 255) or 255 and 2 bytes, and the
//              bytes
// Integers of more than a byte: little-endian.
//
// Packed name: labels, then an end byte: 00 root; 10nnnnnn the question's name from label n on;
//   01nnnnnn the n-th label written out in this entry (and what followed it), n below 63;
//   01111111 and a byte: the same for n from 63 on. Labels of DNSSEC blocks are not numbered, so
//   that a DO=0 reply, which leaves them out, never points at what it did not emit.
// A name goes into a reply with compression pointers to the question or to a name emitted before
// it; one of a type that is not compressed refers to the question alone, and only where its case
// is the same, so that it goes out whole and unchanged.
//
// encode: the owner of the key, into its own scratch buffer. build: any worker, into the packet.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/cache/entry.h"
#include "lib/cache/key.h"
#include "lib/dns/query.h"
#include "lib/dns/types.h"

namespace wirecache::cache {

struct EncodeOptions {
  uint32_t min_ttl_sec = 0;
  uint32_t max_ttl_sec = 86400;
  uint32_t max_negative_ttl_sec = 3600;
  uint32_t now_sec = 0;
  bool fetched_with_do = false;
  bool keep_ad = false;  // the server is trusted to set AD
};

enum class EncodeStatus : uint8_t {
  kKeep,       // an entry; may be kept for `lifetime_sec`
  kUseOnce,    // an entry for those who wait, not to be kept (TTL 0, negative without SOA)
  kMalformed,  // the message does not parse: not an answer at all
  kReferral,   // neither answer nor SOA but a delegation: the server is lame for the name
  kTooLarge,   // does not fit an entry
};

struct Encoded {
  EncodeStatus status = EncodeStatus::kMalformed;
  uint16_t size_bytes = 0;  // of the entry in the scratch buffer
  uint32_t lifetime_sec = 0;
};

// Packs `message`, the matched upstream answer to `key` with rcode NOERROR, NXDOMAIN or YXDOMAIN
// and TC=0, into `scratch`. Keeps the answer chain from the key's name on (RFC 1034 §3.6.2, RFC
// 6672), the SOA and DNSSEC records and NS of the authority section, and addresses of names that
// kept records mention; of the OPT the extended errors (RFC 8914), as far as kMaxErrorBytes reach.
// TSIG and what is out of the chain are left out. Negative answers: RFC 2308 §3, §5. TTLs: RFC 2181
// §8, RFC 8767 §4.
Encoded encode_answer(const Key& key, Bytes message, const EncodeOptions& options,
                      MutableBytes scratch);

struct ReplyOptions {
  uint32_t now_sec = 0;
  uint16_t udp_size = 1232;         // put into our OPT
  uint16_t max_reply_bytes = 1232;  // the path's limit
  // Which of an RRset's addresses comes first, modulo their number; 0: as the upstream had them.
  uint32_t rotation = 0;
};

struct ReplyResult {
  uint16_t bytes = 0;  // length of the message; 0: `message` is too small even for the question
  bool truncated = false;
};

// Builds the whole reply to `query`, whose question `entry` matches, in `message`, at whose start
// the query's header and question stand (question_bytes() of them are kept as they are; all behind
// is overwritten). The reply obeys the client's size (512 without OPT), max_reply_bytes and the
// span, whichever is least. What does not fit: extended errors out first (RFC 8914 §3; without TC,
// for nothing of the answer is missing), additional next, then a positive answer's authority, then
// TC=1 (RFC 2181 §9).
ReplyResult build_reply(EntryView entry, const dns::Query& query, const ReplyOptions& options,
                        MutableBytes message);

// Whether the bytes at `entry` are a well-formed entry of at most `size` bytes: for dumps and
// fuzzing; the packet path trusts what encode_answer wrote.
bool entry_is_well_formed(Bytes entry);

}  // namespace wirecache::cache

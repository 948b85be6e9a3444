// Writing the parts of a reply that do not come from a cache entry: header, OPT, error and local
// answers, built in place over the query that they answer.
//
// Invariant: the bytes of the client's question are never rewritten, so its case is echoed
// (RFC 1035 §7.3, draft-vixie-dnsext-dns0x20). Pure functions on byte spans; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/query.h"
#include "lib/dns/types.h"

namespace wirecache::dns {

struct SectionCounts {
  uint16_t answer = 0;
  uint16_t authority = 0;
  uint16_t additional = 0;  // OPT included
};

// Writes the 12 header bytes at `message`: the client's ID, opcode, RD and CD, QR=1, RA=1, AA=0,
// Z=0, `extra_flags` (kFlagTc, kFlagAd), the low 4 bits of `rcode`, QDCOUNT 1 if the query has a
// parsed question, else 0.
void write_reply_header(uint8_t* message, const Query& query, Rcode rcode, uint16_t extra_flags,
                        SectionCounts counts);

// Appends our OPT (RFC 6891 §6.1.2): root owner, `udp_size`, the upper 8 bits of `rcode`, version
// 0, DO copied from the query, and these options. False where kOptBytes and they do not fit.
[[nodiscard]] bool write_opt(Writer& out, const Edns& client, Rcode rcode, uint16_t udp_size,
                             Bytes options = {});

// The answer without records to `query`, in place at `message` (capacity bytes): header, the
// question as it stands, an OPT if the client sent one. Returns its length; 0 where `capacity` is
// too small.
size_t write_empty_reply(MutableBytes message, const Query& query, Rcode rcode,
                         uint16_t extra_flags, uint16_t udp_size);

// The answer to QTYPE=ANY: one HINFO "RFC8482" "" with TTL 3600 (RFC 8482 §4.2), as above;
// 0 also where no question was parsed.
size_t write_any_reply(MutableBytes message, const Query& query, uint16_t udp_size);

}  // namespace wirecache::dns

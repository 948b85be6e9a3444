#include "lib/dns/reply.h"

#include <array>

namespace wirecache::dns {
namespace {

constexpr uint16_t kEchoedFlags = kOpcodeMask | kFlagRd | kFlagCd;
constexpr uint16_t kOptFlagDnssecOk = 0x8000;

// Owner: a pointer to the question; HINFO, IN, TTL 3600; CPU "RFC8482", OS "".
constexpr std::array<uint8_t, 21> kAnyAnswer = {0xc0, kHeaderBytes, 0,    13,  0,   1,   0,
                                                0,    0x0e,         0x10, 0,   9,   7,   'R',
                                                'F',  'C',          '8',  '4', '8', '2', 0};

struct ReplyParts {
  Rcode rcode = Rcode::kNoError;
  uint16_t extra_flags = 0;
  uint16_t udp_size = 0;
  Bytes answer;  // empty or one record
};

// A header, the question as it stands, the answer, an OPT if the client sent one; 0 where too
// small.
size_t write_reply(MutableBytes message, const Query& query, const ReplyParts& parts) {
  const size_t question_end = kHeaderBytes + query.question_bytes();
  const size_t opt_bytes = query.edns.present ? kOptBytes : 0;
  if (message.size() < question_end + parts.answer.size() + opt_bytes) return 0;
  const SectionCounts counts = {.answer = static_cast<uint16_t>(parts.answer.empty() ? 0 : 1),
                                .additional = static_cast<uint16_t>(query.edns.present ? 1 : 0)};
  write_reply_header(message.data(), query, parts.rcode, parts.extra_flags, counts);
  Writer out(message, question_end);
  if (!out.bytes(parts.answer)) return 0;
  if (query.edns.present && !write_opt(out, query.edns, parts.rcode, parts.udp_size)) return 0;
  return out.position();
}

}  // namespace

void write_reply_header(uint8_t* message, const Query& query, Rcode rcode, uint16_t extra_flags,
                        SectionCounts counts) {
  const auto flags =
      static_cast<uint16_t>(kFlagQr | kFlagRa | (query.flags & kEchoedFlags) | extra_flags |
                            (static_cast<uint16_t>(rcode) & kRcodeMask));
  store_be16(message, query.id);
  store_be16(message + 2, flags);
  store_be16(message + 4, query.qname_bytes == 0 ? 0 : 1);
  store_be16(message + 6, counts.answer);
  store_be16(message + 8, counts.authority);
  store_be16(message + 10, counts.additional);
}

bool write_opt(Writer& out, const Edns& client, Rcode rcode, uint16_t udp_size, Bytes options) {
  if (out.remaining() < kOptBytes + options.size()) return false;
  std::array<uint8_t, kOptBytes> opt = {};
  store_be16(&opt[1], static_cast<uint16_t>(RrType::kOpt));
  store_be16(&opt[3], udp_size);
  opt[5] = static_cast<uint8_t>(static_cast<uint16_t>(rcode) >> 4);
  store_be16(&opt[7], client.dnssec_ok ? kOptFlagDnssecOk : 0);
  store_be16(&opt[9], static_cast<uint16_t>(options.size()));
  return out.bytes(opt) && out.bytes(options);
}

size_t write_empty_reply(MutableBytes message, const Query& query, Rcode rcode,
                         uint16_t extra_flags, uint16_t udp_size) {
  return write_reply(
      message, query,
      {.rcode = rcode, .extra_flags = extra_flags, .udp_size = udp_size, .answer = {}});
}

size_t write_any_reply(MutableBytes message, const Query& query, uint16_t udp_size) {
  if (query.qname_bytes == 0) return 0;
  return write_reply(message, query, {.udp_size = udp_size, .answer = kAnyAnswer});
}

}  // namespace wirecache::dns

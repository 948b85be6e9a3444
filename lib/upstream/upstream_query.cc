#include "lib/upstream/upstream_query.h"

#include <cstring>

namespace wirecache::upstream {
namespace {

constexpr uint16_t kDoBit = 0x8000;

// The question must be ours to the letter but for case (0x20 is not in use).
bool question_matches(const Pending& pending, const dns::Header& header,
                      const dns::Question& question) {
  return header.id == pending.id && header.qr() && header.opcode() == 0 &&
         question.type == pending.type &&
         question.rr_class == static_cast<uint16_t>(dns::RrClass::kIn) &&
         dns::names_equal(question.name.view(), pending.name_view());
}

// A server that rejects EDNS may send back the bare header (RFC 6891 §7): nothing but ID, port and
// address says then that it is the answer.
bool is_bare_edns_rejection(const Pending& pending, const dns::Header& header, size_t bytes) {
  return bytes == dns::kHeaderBytes && pending.edns && header.id == pending.id && header.qr() &&
         header.opcode() == 0 && header.question_count == 0 &&
         (header.rcode() == dns::Rcode::kFormErr || header.rcode() == dns::Rcode::kNotImp);
}

AnswerKind kind_of(const Pending& pending, dns::Rcode rcode) {
  switch (rcode) {
    case dns::Rcode::kNoError:
    case dns::Rcode::kNxDomain:
    case dns::Rcode::kYxDomain:
      return AnswerKind::kUsable;
    case dns::Rcode::kFormErr:
    case dns::Rcode::kNotImp:
      return pending.edns ? AnswerKind::kNoEdns : AnswerKind::kFailure;
    default:
      return AnswerKind::kFailure;
  }
}

}  // namespace

size_t write_query(const Pending& pending, uint16_t udp_size, MutableBytes message) {
  uint16_t flags = dns::kFlagRd | dns::kFlagAd;
  if (pending.checking_disabled) flags |= dns::kFlagCd;
  Writer out(message);
  const bool written = out.u16(pending.id) && out.u16(flags) && out.u16(1) && out.u16(0) &&
                       out.u16(0) && out.u16(pending.edns ? 1 : 0) &&
                       out.bytes(pending.name_view()) && out.u16(pending.type) &&
                       out.u16(static_cast<uint16_t>(dns::RrClass::kIn));
  if (!written) return 0;
  if (!pending.edns) return out.position();
  const bool opt = out.u8(0) && out.u16(static_cast<uint16_t>(dns::RrType::kOpt)) &&
                   out.u16(udp_size) && out.u16(0) &&
                   out.u16(pending.dnssec == dns::DoBit::kSet ? kDoBit : 0) && out.u16(0);
  return opt ? out.position() : 0;
}

JudgedAnswer judge_answer(const Pending& pending, Bytes message) {
  dns::Header header;
  if (!dns::read_header(message, header)) return {AnswerKind::kMismatch, {}};
  if (is_bare_edns_rejection(pending, header, message.size()))
    return {AnswerKind::kNoEdns, header.rcode()};
  dns::MessageWalk walk(message);
  dns::Question question;
  if (!walk.begin(header, question)) return {AnswerKind::kMismatch, {}};
  if (!question_matches(pending, header, question)) return {AnswerKind::kMismatch, {}};
  // A truncated message may end anywhere: it is not walked (RFC 2181 §9).
  if (header.tc()) {
    const AnswerKind kind = kind_of(pending, header.rcode());
    return {kind == AnswerKind::kUsable ? AnswerKind::kTruncated : kind, header.rcode()};
  }

  auto rcode = static_cast<uint16_t>(header.rcode());
  dns::Record record;
  dns::MessageWalk::Step step;
  while ((step = walk.next(record)) == dns::MessageWalk::Step::kRecord) {
    if (record.type == static_cast<uint16_t>(dns::RrType::kOpt))
      rcode |= static_cast<uint16_t>(record.ttl >> 24) << 4;
  }
  if (step == dns::MessageWalk::Step::kMalformed) return {AnswerKind::kMalformed, {}};
  const auto full = static_cast<dns::Rcode>(rcode);
  return {kind_of(pending, full), full};
}

}  // namespace wirecache::upstream

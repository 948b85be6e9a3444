#include "lib/dns/query.h"

#include <algorithm>

#include "lib/dns/message.h"
#include "lib/dns/name.h"

namespace wirecache::dns {
namespace {

constexpr uint32_t kOptTtlDnssecOk = 0x8000;  // RFC 6891 §6.1.3
constexpr unsigned kOptTtlVersionShift = 16;

constexpr bool is(uint16_t number, RrType type) {
  return number == static_cast<uint16_t>(type);
}
constexpr bool is(uint16_t number, RrClass rr_class) {
  return number == static_cast<uint16_t>(rr_class);
}

// A record whose owner's content does not matter here.
struct Rr {
  bool root_owner = false;
  uint16_t type = 0;
  uint16_t rr_class = 0;
  uint32_t ttl = 0;
  Bytes rdata;
};

bool read_rr(Bytes message, Reader& reader, Rr& out) {
  const size_t start = reader.position();
  uint16_t rdata_bytes;
  if (!skip_name(message, reader)) return false;
  out.root_owner = reader.position() == start + 1;
  return reader.u16(out.type) && reader.u16(out.rr_class) && reader.u32(out.ttl) &&
         reader.u16(rdata_bytes) && reader.bytes(rdata_bytes, out.rdata);
}

bool read_question(Bytes message, Reader& reader, Query& out) {
  const size_t name_bytes = flat_name_length(message.subspan(kHeaderBytes));
  uint16_t type;
  uint16_t rr_class;
  if (name_bytes == 0 || !reader.skip(name_bytes) || !reader.u16(type) || !reader.u16(rr_class))
    return false;
  out.qname_bytes = static_cast<uint16_t>(name_bytes);
  out.qtype = type;
  out.qclass = rr_class;
  return true;
}

// An IXFR names the version that the client has by the SOA in its authority section (RFC 1995 §3);
// no other query has records before the additional section.
bool read_authority(Bytes message, Reader& reader, const Query& query, uint16_t count) {
  if (count == 0) return true;
  Rr rr;
  return count == 1 && is(query.qtype, RrType::kIxfr) && read_rr(message, reader, rr) &&
         is(rr.type, RrType::kSoa);
}

// RFC 6891 §6.1.2: root owner, at most one; its data is whole options.
bool read_opt(const Rr& rr, Edns& out) {
  if (out.present || !rr.root_owner) return false;
  Reader options(rr.rdata);
  while (!options.at_end()) {
    uint16_t code;
    uint16_t bytes;
    if (!options.u16(code) || !options.u16(bytes) || !options.skip(bytes)) return false;
  }
  out.present = true;
  out.udp_size = std::max(rr.rr_class, static_cast<uint16_t>(kMinUdpBytes));
  out.version = static_cast<uint8_t>(rr.ttl >> kOptTtlVersionShift);
  out.dnssec_ok = (rr.ttl & kOptTtlDnssecOk) != 0;
  return true;
}

// SIG(0): a SIG that covers type 0 (RFC 2931 §3).
bool is_sig0(const Rr& rr) {
  return is(rr.type, RrType::kSig) && rr.rdata.size() >= 2 && load_be16(rr.rdata.data()) == 0;
}

// Walks the additional section to the message's last byte. Records that say nothing about the query
// are passed over.
bool read_additional(Bytes message, Reader& reader, uint16_t count, Edns& edns, bool& is_signed) {
  for (; count > 0; --count) {
    Rr rr;
    if (!read_rr(message, reader, rr)) return false;
    if (is(rr.type, RrType::kOpt)) {
      if (!read_opt(rr, edns)) return false;
    } else if (is(rr.type, RrType::kTsig)) {  // RFC 8945 §4.2, §5.1: last, class ANY
      if (count != 1 || !is(rr.rr_class, RrClass::kAny)) return false;
      is_signed = true;
    } else if (count == 1 && is_sig0(rr)) {
      is_signed = true;
    }
  }
  return reader.at_end();
}

// RFC 6895 §3.1: 0 stands for none, 128 to 255 are QTYPEs and meta types, OPT is a pseudo-type.
bool is_meta_type(uint16_t type) {
  return type == 0 || is(type, RrType::kOpt) || (type >= 128 && type <= 255);
}

QueryStatus judge_class_and_type(const Query& query) {
  if (is(query.qclass, RrClass::kCh)) return QueryStatus::kChaos;
  if (!is(query.qclass, RrClass::kIn)) return QueryStatus::kRefusedClass;
  if (is(query.qtype, RrType::kAny)) return QueryStatus::kAny;
  return is_meta_type(query.qtype) ? QueryStatus::kRefusedType : QueryStatus::kOk;
}

}  // namespace

QueryStatus parse_query(Bytes message, Query& out) {
  out = Query{};
  Header header;
  if (!read_header(message, header)) return QueryStatus::kDropShort;
  out.id = header.id;
  out.flags = header.flags;
  if (header.qr()) return QueryStatus::kDropResponse;
  if (header.opcode() != 0) return QueryStatus::kNotImp;

  if (header.question_count != 1) return QueryStatus::kFormErr;
  Reader reader(message, kHeaderBytes);
  if (!read_question(message, reader, out)) return QueryStatus::kFormErr;
  // After the question although the counts come first: the verdict is the same, and so it is
  // echoed.
  if (header.answer_count != 0 || !read_authority(message, reader, out, header.authority_count))
    return QueryStatus::kFormErr;
  bool is_signed = false;
  if (!read_additional(message, reader, header.additional_count, out.edns, is_signed))
    return QueryStatus::kFormErr;

  if (out.edns.version > 0) return QueryStatus::kBadVers;
  if (is_signed) return QueryStatus::kSigned;
  return judge_class_and_type(out);
}

}  // namespace wirecache::dns

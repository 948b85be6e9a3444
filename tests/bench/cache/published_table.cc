#include "tests/bench/cache/published_table.h"

#include <algorithm>

#include "lib/dns/rdata.h"

namespace wirecache::bench {
namespace {

constexpr uint16_t kQuestionPointer = 0xc000 | dns::kHeaderBytes;

}  // namespace

bool parse_answer(Bytes message, ParsedAnswer& out) {
  dns::MessageWalk walk(message);
  if (!walk.begin(out.header, out.question)) return false;
  dns::lower_name(out.question.name.view(), out.question.name.bytes.data());
  out.count = 0;
  out.smallest_ttl = UINT32_MAX;
  while (out.count < out.records.size()) {
    dns::Record& record = out.records[out.count];
    switch (walk.next(record)) {
      case dns::MessageWalk::Step::kDone:
        return true;
      case dns::MessageWalk::Step::kMalformed:
        return false;
      case dns::MessageWalk::Step::kRecord:
        break;
    }
    if (static_cast<dns::RrType>(record.type) == dns::RrType::kOpt) continue;
    out.smallest_ttl = std::min(out.smallest_ttl, record.ttl);
    ++out.count;
  }
  return false;
}

bool append_rdata(Bytes message, const dns::Record& record, std::vector<uint8_t>& out) {
  const auto append = [&out](Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  const dns::RdataShape shape = dns::rdata_shape(record.type);
  const Bytes to_end = message.first(size_t{record.rdata_offset} + record.rdata_bytes);
  Reader reader(to_end, record.rdata_offset);
  Bytes part;
  if (shape.names_kind == dns::RdataNames::kCompressible ||
      shape.names_kind == dns::RdataNames::kDecompress) {
    if (!reader.bytes(shape.before, part)) return false;
    append(part);
    for (unsigned i = 0; i < shape.strings; ++i) {
      const size_t length = reader.remaining() == 0 ? 0 : 1u + to_end[reader.position()];
      if (!reader.bytes(length, part)) return false;
      append(part);
    }
    for (unsigned i = 0; i < shape.names; ++i) {
      dns::FlatName name;
      if (!dns::read_name(to_end, reader, name)) return false;
      append(name.view());
    }
  }
  if (!reader.bytes(reader.remaining(), part)) return false;
  append(part);
  return true;
}

bool begin_record(Writer& out, const RecordFrame& record, std::string_view question) {
  const bool is_question = record.owner.empty() || record.owner == question;
  return (is_question ? out.u16(kQuestionPointer) : out.bytes(as_bytes(record.owner))) &&
         out.u16(record.type) && out.u16(record.rr_class) && out.u32(record.ttl) && out.u16(0);
}

void end_record(Writer& out, size_t rdata_start) {
  store_be16(out.data() + rdata_start - 2, static_cast<uint16_t>(out.position() - rdata_start));
}

uint16_t finish_reply(const dns::Query& query, dns::Rcode rcode, const dns::SectionCounts& counts,
                      Writer& out) {
  dns::SectionCounts all = counts;
  if (query.edns.present) {
    if (!dns::write_opt(out, query.edns, rcode, kReplyLimit)) return 0;
    ++all.additional;
  }
  dns::write_reply_header(out.data(), query, rcode, 0, all);
  return static_cast<uint16_t>(out.position());
}

}  // namespace wirecache::bench

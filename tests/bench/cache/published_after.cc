#include "tests/bench/cache/published_after.h"

#include <cstring>

namespace wirecache::bench {
namespace {

// All records' data behind each other, each behind its length.
void gather_data(Bytes message, const ParsedAnswer& parsed, std::vector<uint8_t>& out) {
  out.clear();
  for (size_t i = 0; i < parsed.count; ++i) {
    const size_t start = out.size();
    out.resize(start + sizeof(uint16_t));
    if (!append_rdata(message, parsed.records[i], out)) out.resize(start + sizeof(uint16_t));
    store_be16(out.data() + start, static_cast<uint16_t>(out.size() - start - sizeof(uint16_t)));
  }
}

}  // namespace

std::shared_ptr<AfterLayout::Entry> AfterLayout::make(Bytes message, const ParsedAnswer& parsed,
                                                      uint32_t now_sec) {
  auto entry = std::make_shared<Entry>();
  entry->times = times_from(now_sec, parsed.smallest_ttl);
  entry->rcode = static_cast<uint8_t>(parsed.header.rcode());
  entry->flags = (parsed.header.flags & dns::kFlagAd) != 0 ? 1 : 0;
  entry->records = std::make_unique<Record[]>(parsed.count);
  const Bytes question = parsed.question.name.view();
  for (size_t i = 0; i < parsed.count; ++i) {
    const dns::Record& from = parsed.records[i];
    Record& record = entry->records[i];
    if (!dns::names_equal(from.owner.view(), question)) record.owner = as_text(from.owner.view());
    record.ttl = from.ttl;
    record.type = from.type;
    record.rr_class = from.rr_class;
    if (from.section < dns::Section::kAuthority) ++entry->authority_at;
    if (from.section < dns::Section::kAdditional) ++entry->additional_at;
  }
  entry->end = static_cast<uint16_t>(parsed.count);

  static thread_local std::vector<uint8_t> scratch;
  gather_data(message, parsed, scratch);
  entry->data.reset(new uint8_t[scratch.size()]);
  std::memcpy(entry->data.get(), scratch.data(), scratch.size());
  return entry;
}

uint16_t AfterLayout::answer(const Entry& entry, std::string_view question, Packet& packet,
                             uint32_t now_sec) {
  Writer out(MutableBytes(packet.message).first(kReplyLimit),
             dns::kHeaderBytes + packet.query.question_bytes());
  const uint8_t* data = entry.data.get();
  for (size_t i = 0; i < entry.end; ++i) {
    const Record& record = entry.records[i];
    const RecordFrame frame{record.owner, record.type, record.rr_class,
                            aged_ttl(record.ttl, entry.times, now_sec)};
    if (!begin_record(out, frame, question)) return 0;
    const size_t start = out.position();
    const uint16_t length = load_be16(data);
    if (!out.bytes({data + sizeof length, length})) return 0;
    data += sizeof length + length;
    end_record(out, start);
  }
  const dns::SectionCounts counts{entry.authority_at,
                                  static_cast<uint16_t>(entry.additional_at - entry.authority_at),
                                  static_cast<uint16_t>(entry.end - entry.additional_at)};
  return finish_reply(packet.query, static_cast<dns::Rcode>(entry.rcode), counts, out);
}

}  // namespace wirecache::bench

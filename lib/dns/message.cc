#include "lib/dns/message.h"

#include <limits>

namespace wirecache::dns {

bool read_header(Bytes message, Header& out) {
  Reader reader(message);
  return reader.u16(out.id) && reader.u16(out.flags) && reader.u16(out.question_count) &&
         reader.u16(out.answer_count) && reader.u16(out.authority_count) &&
         reader.u16(out.additional_count);
}

bool MessageWalk::begin(Header& header, Question& question) {
  if (message_.size() > std::numeric_limits<uint16_t>::max()) return false;
  if (!read_header(message_, header) || header.question_count != 1) return false;
  reader_ = Reader(message_, kHeaderBytes);
  left_[0] = header.answer_count;
  left_[1] = header.authority_count;
  left_[2] = header.additional_count;
  return read_name(message_, reader_, question.name) && reader_.u16(question.type) &&
         reader_.u16(question.rr_class);
}

MessageWalk::Step MessageWalk::next(Record& record) {
  size_t section = 0;
  while (section < 3 && left_[section] == 0) ++section;
  if (section == 3) return reader_.at_end() ? Step::kDone : Step::kMalformed;
  --left_[section];
  record.section = static_cast<Section>(section);
  if (!read_name(message_, reader_, record.owner) || !reader_.u16(record.type) ||
      !reader_.u16(record.rr_class) || !reader_.u32(record.ttl) || !reader_.u16(record.rdata_bytes))
    return Step::kMalformed;
  record.rdata_offset = static_cast<uint16_t>(reader_.position());
  return reader_.skip(record.rdata_bytes) ? Step::kRecord : Step::kMalformed;
}

}  // namespace wirecache::dns

#include "lib/cache/entry_writer.h"

#include <algorithm>

namespace wirecache::cache {
namespace {

bool write_le(Writer& out, uint32_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    if (!out.u8(static_cast<uint8_t>(value >> 8 * i))) return false;
  }
  return true;
}

}  // namespace

EntryWriter::EntryWriter(const Key& key, const EntryFields& fields, MutableBytes scratch)
    : key_(key), fields_(fields), out_(scratch.first(std::min(scratch.size(), kMaxEntryBytes))) {
  fits_ = write_header();
}

bool EntryWriter::write_header() {
  constexpr uint8_t kNoState = 0;
  const auto flags = static_cast<uint8_t>(fields_.flags | (key_.checking_disabled ? kEntryCd : 0));
  const uint32_t rcode = static_cast<uint32_t>(fields_.rcode) & 0xf;
  // The length and the number of blocks are filled in by finish().
  const bool fits = out_.u8(kNoState) && out_.u8(flags) && write_le(out_, 0, 2) &&
                    write_le(out_, fields_.inserted_sec, 4) &&
                    write_le(out_, fields_.lifetime_sec | rcode << 20, 3) &&
                    out_.u8(static_cast<uint8_t>(key_.name.size())) &&
                    write_le(out_, key_.type, 2) && out_.u8(key_.tag) && out_.u8(0) &&
                    out_.bytes(key_.name);
  if (fits) packer_.begin(out_.data(), key_.name, kEntryHeaderBytes);
  return fits;
}

bool EntryWriter::add(const AnswerRecords& records, const SelectedRrset& rrset, Audience audience) {
  if (blocks_ == 0) question_owner_ = records.find_owner(key_.name);
  SelectedRrset block = rrset;
  for (size_t left = rrset.count; fits_ && left != 0; left -= block.count) {
    block.count = static_cast<uint16_t>(std::min(left, kMostBlockRecords));
    fits_ = ++blocks_ <= kMostBlocks && write_block(records, block, audience);
    for (unsigned i = 0; i < block.count; ++i) block.first = records[block.first].next;
  }
  return fits_;
}

bool EntryWriter::write_block(const AnswerRecords& records, const SelectedRrset& block,
                              Audience audience) {
  const BlockOwner owner = choose_owner(block.owner, audience);
  uint8_t control = static_cast<uint8_t>(block.section);
  control |= static_cast<uint8_t>(static_cast<unsigned>(owner) << kBlockOwnerShift);
  if (audience == Audience::kDoOnly) control |= kBlockDnssec;
  if (block.type == key_.type) control |= kBlockTypeOfQuestion;
  if (block.ttl == fields_.lifetime_sec) control |= kBlockTtlIsLifetime;
  if (block.count == 1) control |= kBlockOneRecord;

  if (!out_.u8(control)) return false;
  if (owner == BlockOwner::kNamed) {
    dns::FlatName name;
    records.read_owner(block.owner, name);
    const PackMode mode =
        audience == Audience::kAll ? PackMode::kCompressed : PackMode::kUnnumbered;
    if (!packer_.pack(out_, name.view(), mode)) return false;
  }
  const bool is_short_type = block.type != 0 && block.type < 256;
  if ((control & kBlockTypeOfQuestion) == 0 &&
      !(is_short_type ? out_.u8(static_cast<uint8_t>(block.type))
                      : out_.u8(0) && write_le(out_, block.type, 2))) {
    return false;
  }
  if ((control & kBlockTtlIsLifetime) == 0 && !write_le(out_, block.ttl, 3)) return false;
  if (block.count != 1 && !out_.u8(static_cast<uint8_t>(block.count))) return false;
  uint16_t record = block.first;
  for (unsigned i = 0; i < block.count; ++i, record = records[record].next) {
    if (!write_record(records, records[record])) return false;
  }
  return true;
}

BlockOwner EntryWriter::choose_owner(uint16_t owner, Audience audience) {
  const bool may_repeat = last_owner_is_for_all_ || audience == Audience::kDoOnly;
  if (owner == last_owner_ && owner != question_owner_ && may_repeat) return BlockOwner::kAsBefore;
  last_owner_ = owner;
  const bool is_question = owner == question_owner_;
  last_owner_is_for_all_ = is_question || audience == Audience::kAll;
  return is_question ? BlockOwner::kQuestion : BlockOwner::kNamed;
}

bool EntryWriter::write_record(const AnswerRecords& records, const AnswerRecord& record) {
  RdataParts parts;
  records.split(record, parts);
  const dns::RdataShape shape = dns::rdata_shape(record.rdata.type);
  switch (rdata_form(shape)) {
    case RdataForm::kFixed:
      return out_.bytes(parts.before);
    case RdataForm::kNames:
      return write_names(parts, shape.names_kind == dns::RdataNames::kCompressible
                                    ? PackMode::kCompressed
                                    : PackMode::kWhole);
    case RdataForm::kOpaque:
      return write_opaque(parts);
  }
  return false;
}

bool EntryWriter::write_names(const RdataParts& parts, PackMode mode) {
  if (!out_.bytes(parts.before)) return false;
  for (unsigned i = 0; i < parts.name_count; ++i) {
    if (!packer_.pack(out_, parts.names[i].view(), mode)) return false;
  }
  return out_.bytes(parts.after);
}

bool EntryWriter::write_opaque(const RdataParts& parts) {
  size_t bytes = parts.before.size() + parts.after.size();
  for (unsigned i = 0; i < parts.name_count; ++i) bytes += parts.names[i].size;
  if (bytes > UINT16_MAX) return false;
  const bool is_short = bytes < kLongLength;
  if (!(is_short ? out_.u8(static_cast<uint8_t>(bytes))
                 : out_.u8(kLongLength) && write_le(out_, static_cast<uint32_t>(bytes), 2)) ||
      !out_.bytes(parts.before)) {
    return false;
  }
  for (unsigned i = 0; i < parts.name_count; ++i) {
    if (!out_.bytes(parts.names[i].view())) return false;
  }
  return out_.bytes(parts.after);
}

uint16_t EntryWriter::finish() {
  if (!fits_) return 0;
  const auto bytes = static_cast<uint16_t>(out_.position());
  uint8_t* entry = out_.data();
  entry[2] = static_cast<uint8_t>(bytes);
  entry[3] = static_cast<uint8_t>(bytes >> 8);
  entry[15] = static_cast<uint8_t>(blocks_);
  return bytes;
}

}  // namespace wirecache::cache

#include "lib/cache/entry_writer.h"

#include <algorithm>

namespace wirecache::cache {

EntryWriter::EntryWriter(const Key& key, const EntryFields& fields, Bytes errors,
                         MutableBytes scratch)
    : key_(key),
      fields_(fields),
      errors_(errors),
      out_(scratch.first(std::min(scratch.size(), kMaxEntryBytes))) {}

uint16_t EntryWriter::write(const AnswerRecords& records, const AnswerSelection& selection) {
  const bool is_plain = fields_.outcome == EntryOutcome::kPositive && selection.order().size() == 1;
  const EntryHead head(key_, is_plain ? EntryShape::kPlain : EntryShape::kBlocks, errors_);
  name_at_ = head.short_bytes();
  if (out_.take(name_at_) == nullptr || !out_.bytes(key_.name)) return 0;
  const bool fits = is_plain ? write_records(records, selection.rrsets()[selection.order()[0]])
                             : write_blocks(records, selection);
  return fits ? head.finish(out_, fields_) : 0;
}

bool EntryWriter::write_blocks(const AnswerRecords& records, const AnswerSelection& selection) {
  const std::span<const uint16_t> order = selection.order();
  question_owner_ = records.find_owner(key_.name);
  for (size_t i = 0; i < order.size(); ++i) {
    const SelectedRrset& rrset = selection.rrsets()[order[i]];
    const Audience audience = selection.is_for_do(rrset) ? Audience::kDoOnly : Audience::kAll;
    const Place place = i + 1 == order.size() ? Place::kLast : Place::kBeforeOthers;
    if (!write_rrset(records, rrset, audience, place)) return false;
  }
  return true;
}

bool EntryWriter::write_rrset(const AnswerRecords& records, const SelectedRrset& rrset,
                              Audience audience, Place place) {
  if (place == Place::kLast && rrset.section == dns::Section::kAnswer && rrset.count > 1) {
    return write_block(records, rrset, audience, kBlockToEnd);
  }
  SelectedRrset block = rrset;
  for (size_t left = rrset.count; left != 0; left -= block.count) {
    block.count = static_cast<uint16_t>(std::min(left, kMostBlockRecords));
    const auto section = static_cast<uint8_t>(block.section);
    if (!write_block(records, block, audience, section)) return false;
    for (unsigned i = 0; i < block.count; ++i) block.first = records[block.first].next;
  }
  return true;
}

bool EntryWriter::write_block(const AnswerRecords& records, const SelectedRrset& block,
                              Audience audience, uint8_t control) {
  const bool is_to_end = control == kBlockToEnd;
  const BlockOwner owner = choose_owner(block.owner, audience);
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
    if (!packer().pack(out_, name.view(), mode)) return false;
  }
  if ((control & kBlockTypeOfQuestion) == 0 && !write_type(block.type)) return false;
  if ((control & kBlockTtlIsLifetime) == 0 && !write_ttl(block.ttl - fields_.lifetime_sec)) {
    return false;
  }
  if (!is_to_end && block.count != 1 && !out_.u8(static_cast<uint8_t>(block.count))) return false;
  return write_records(records, block);
}

BlockOwner EntryWriter::choose_owner(uint16_t owner, Audience audience) {
  const bool may_repeat = last_owner_is_for_all_ || audience == Audience::kDoOnly;
  if (owner == last_owner_ && owner != question_owner_ && may_repeat) return BlockOwner::kAsBefore;
  last_owner_ = owner;
  const bool is_question = owner == question_owner_;
  last_owner_is_for_all_ = is_question || audience == Audience::kAll;
  return is_question ? BlockOwner::kQuestion : BlockOwner::kNamed;
}

bool EntryWriter::write_type(uint16_t type) {
  std::array<uint8_t, 3> bytes;
  put_type(bytes.data(), type);
  return out_.bytes(Bytes(bytes).first(type_bytes(type)));
}

bool EntryWriter::write_ttl(uint32_t above_lifetime) {
  for (; above_lifetime >= kTtlMore; above_lifetime >>= kTtlByteBits) {
    if (!out_.u8(static_cast<uint8_t>(above_lifetime | kTtlMore))) return false;
  }
  return out_.u8(static_cast<uint8_t>(above_lifetime));
}

bool EntryWriter::write_records(const AnswerRecords& records, const SelectedRrset& block) {
  const dns::RdataShape shape = dns::rdata_shape(block.type);
  const RdataForm form = rdata_form(shape);
  const bool has_names = form == RdataForm::kNames ||
                         shape.names_kind == dns::RdataNames::kDecompress ||
                         block.type == static_cast<uint16_t>(dns::RrType::kA6);
  uint16_t next = block.first;
  for (unsigned i = 0; i < block.count; ++i) {
    const AnswerRecord& record = records[next];
    next = record.next;
    const Bytes rdata = records.message().subspan(record.rdata.offset, record.rdata.bytes);
    const bool fits = has_names                   ? write_split(records, record, form)
                      : form == RdataForm::kFixed ? out_.bytes(rdata)
                      : form == RdataForm::kText  ? write_text(out_, rdata)
                                                  : write_opaque(out_, rdata);
    if (!fits) return false;
  }
  return true;
}

// Data with names that may stand compressed in the message.
bool EntryWriter::write_split(const AnswerRecords& records, const AnswerRecord& record,
                              RdataForm form) {
  RdataParts parts;
  records.split(record, parts);
  const std::span<const dns::FlatName> names = std::span(parts.names).first(parts.name_count);
  if (form == RdataForm::kOpaque) {
    size_t bytes = parts.before.size() + parts.after.size();
    for (const dns::FlatName& name : names) bytes += name.size;
    if (!write_length(out_, bytes)) return false;
  }
  const dns::RdataNames kind = dns::rdata_shape(record.rdata.type).names_kind;
  const PackMode mode =
      kind == dns::RdataNames::kCompressible ? PackMode::kCompressed : PackMode::kWhole;
  if (!out_.bytes(parts.before)) return false;
  for (const dns::FlatName& name : names) {
    const bool fits = form == RdataForm::kOpaque ? out_.bytes(name.view())
                                                 : packer().pack(out_, name.view(), mode);
    if (!fits) return false;
  }
  return out_.bytes(parts.after);
}

// Most entries hold no name but the question's and do without.
NamePacker& EntryWriter::packer() {
  if (!packs_) packer_.begin(out_.data(), key_.name, static_cast<uint16_t>(name_at_));
  packs_ = true;
  return packer_;
}

}  // namespace wirecache::cache

// entry_is_well_formed: reads an entry without trust, as strictly as the encoder writes it.
#include <array>

#include "lib/cache/block_format.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/name_packer.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"

namespace wirecache::cache {
namespace {

constexpr uint8_t kKnownFlags = kEntryAd | kEntryCd | kEntryFetchedWithDo | kEntryNegative;

bool name_is_well_formed(Bytes name) {
  if (name.empty() || dns::flat_name_length(name) != name.size()) return false;
  for (uint8_t c : name) {
    if (dns::ascii_lower(c) != c) return false;
  }
  return true;
}

class EntryChecker {
 public:
  explicit EntryChecker(EntryView entry) : entry_(entry), in_(entry.blocks()) {}

  bool blocks_are_well_formed() {
    for (unsigned i = 0; i < entry_.rrset_count(); ++i) {
      if (!check_block()) return false;
    }
    return in_.at_end();
  }

 private:
  enum class Owner : uint8_t { kNone, kForAll, kForDo };

  bool check_block();
  bool check_owner(uint8_t control);
  bool read_tail(uint8_t control, uint16_t& type, uint8_t& records);
  bool check_rdata(const dns::RdataShape& shape);
  bool check_opaque();
  bool check_name(PackMode mode);
  bool read_ref_length(uint8_t end, PackMode mode, size_t& bytes);

  EntryView entry_;
  Reader in_;
  uint8_t section_ = 0;
  Owner last_owner_ = Owner::kNone;
  unsigned labels_ = 0;
  std::array<uint8_t, kLabelRefs> label_bytes_;  // of the name from each numbered label on
};

bool EntryChecker::check_block() {
  uint8_t control;
  uint16_t type;
  uint8_t records;
  if (!in_.u8(control)) return false;
  const uint8_t section = control & kBlockSectionMask;
  if (section < section_ || section > static_cast<uint8_t>(dns::Section::kAdditional)) return false;
  section_ = section;
  if (!check_owner(control) || !read_tail(control, type, records)) return false;
  const dns::RdataShape shape = dns::rdata_shape(type);
  if ((control & kBlockDnssec) != 0 && rdata_form(shape) != RdataForm::kOpaque) return false;
  for (unsigned i = 0; i < records; ++i) {
    if (!check_rdata(shape)) return false;
  }
  return true;
}

bool EntryChecker::check_owner(uint8_t control) {
  const bool is_for_do = (control & kBlockDnssec) != 0;
  switch (block_owner(control)) {
    case BlockOwner::kQuestion:
      last_owner_ = Owner::kForAll;
      return true;
    case BlockOwner::kAsBefore:
      return last_owner_ == Owner::kForAll || (is_for_do && last_owner_ == Owner::kForDo);
    case BlockOwner::kNamed:
      last_owner_ = is_for_do ? Owner::kForDo : Owner::kForAll;
      return check_name(is_for_do ? PackMode::kUnnumbered : PackMode::kCompressed);
    default:
      return false;
  }
}

bool EntryChecker::read_tail(uint8_t control, uint16_t& type, uint8_t& records) {
  type = entry_.type();
  records = 1;
  Bytes field;
  if ((control & kBlockTypeOfQuestion) == 0) {
    uint8_t short_type;
    if (!in_.u8(short_type)) return false;
    type = short_type;
    if (short_type == 0) {
      if (!in_.bytes(2, field)) return false;
      type = load_le16(field.data());
    }
  }
  if ((control & kBlockTtlIsLifetime) == 0) {
    if (!in_.bytes(3, field) || load_le24(field.data()) > kMaxLifetimeSec) return false;
  }
  return (control & kBlockOneRecord) != 0 || (in_.u8(records) && records > 1);
}

bool EntryChecker::check_rdata(const dns::RdataShape& shape) {
  switch (rdata_form(shape)) {
    case RdataForm::kFixed:
      return in_.skip(shape.fixed_bytes);
    case RdataForm::kOpaque:
      return check_opaque();
    case RdataForm::kNames:
      break;
  }
  if (!in_.skip(shape.before)) return false;
  for (unsigned i = 0; i < shape.strings; ++i) {
    uint8_t length;
    if (!in_.u8(length) || !in_.skip(length)) return false;
  }
  const PackMode mode =
      shape.names_kind == dns::RdataNames::kCompressible ? PackMode::kCompressed : PackMode::kWhole;
  for (unsigned i = 0; i < shape.names; ++i) {
    if (!check_name(mode)) return false;
  }
  return in_.skip(shape.after);
}

bool EntryChecker::check_opaque() {
  uint8_t length;
  if (!in_.u8(length)) return false;
  if (length != kLongLength) return in_.skip(length);
  Bytes field;
  return in_.bytes(2, field) && in_.skip(load_le16(field.data()));
}

bool EntryChecker::check_name(PackMode mode) {
  const unsigned first_label = labels_;
  std::array<uint8_t, 128> label_starts;
  unsigned literal = 0;
  size_t bytes = 0;
  uint8_t lead;
  for (;;) {
    if (!in_.u8(lead)) return false;
    if (lead == kNameRoot || lead >= kNameLabelRef) break;
    if (!in_.skip(lead) || bytes + lead + 1 >= dns::kMaxNameBytes) return false;
    label_starts[literal++] = static_cast<uint8_t>(bytes);
    bytes += 1 + size_t{lead};
  }
  size_t rest = 1;
  if (lead != kNameRoot && !read_ref_length(lead, mode, rest)) return false;
  if (bytes + rest > dns::kMaxNameBytes) return false;
  if (mode == PackMode::kUnnumbered) return true;
  for (unsigned i = 0; i < literal && first_label + i < kLabelRefs; ++i) {
    label_bytes_[labels_++] = static_cast<uint8_t>(bytes + rest - label_starts[i]);
  }
  return true;
}

// The length of the name that the end byte `end` of a packed name refers to; it must exist.
bool EntryChecker::read_ref_length(uint8_t end, PackMode mode, size_t& bytes) {
  if ((end & kNameQuestionRef) != 0) {
    const Bytes name = entry_.name();
    size_t at = 0;
    if ((end & kNameLabelRef) != 0) return false;
    for (unsigned n = end & (kQuestionRefs - 1); n != 0 && name[at] != 0; --n) {
      at += 1 + size_t{name[at]};
      if (n == 1 && name[at] == 0) return false;  // the root is not referred to
    }
    if (name[at] == 0) return false;
    bytes = name.size() - at;
    return true;
  }
  if (mode == PackMode::kWhole) return false;
  unsigned number = end & (kNameLabelRef - 1);
  uint8_t more = 0;
  if (number == kNameLabelRefLong && !in_.u8(more)) return false;
  number += more;
  if (number >= labels_) return false;
  bytes = label_bytes_[number];
  return true;
}

}  // namespace

bool entry_is_well_formed(Bytes entry) {
  if (entry.size() < kEntryHeaderBytes) return false;
  const EntryView view(entry.data());
  const size_t name_end = kEntryHeaderBytes + view.name_bytes();
  return view.size_bytes() <= entry.size() && view.size_bytes() >= name_end &&
         (view.flags() & ~kKnownFlags) == 0 && view.lifetime_sec() <= kMaxLifetimeSec &&
         name_is_well_formed(view.name()) && EntryChecker(view).blocks_are_well_formed();
}

}  // namespace wirecache::cache

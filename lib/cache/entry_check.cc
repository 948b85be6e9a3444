// entry_is_well_formed: reads an entry without trust, as strictly as the encoder writes it.
#include <algorithm>
#include <array>
#include <limits>

#include "lib/cache/block_format.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/name_packer.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"

namespace wirecache::cache {
namespace {

constexpr uint8_t kKnownParts = kPartTag | kPartErrors;

// What the header says of the rest.
struct CheckedHead {
  bool is_plain = false;
  uint16_t type = 0;
  Bytes name;
};

bool read_le16(Reader& in, uint16_t& out) {
  Bytes field;
  if (!in.bytes(2, field)) return false;
  out = load_le16(field.data());
  return true;
}

// One byte where below 256 and not 0.
bool read_type(Reader& in, uint16_t& type) {
  uint8_t short_type;
  if (!in.u8(short_type)) return false;
  type = short_type;
  return short_type != 0 || (read_le16(in, type) && (type == 0 || type >= 256));
}

bool errors_are_well_formed(Bytes options) {
  Reader in(options);
  uint16_t code;
  uint16_t length;
  while (!in.at_end()) {
    if (!in.u16(code) || !in.u16(length) || !in.skip(length)) return false;
    if (code != dns::kOptionExtendedError || length < 2) return false;
  }
  return !options.empty();
}

bool parts_are_well_formed(Reader& in) {
  uint8_t parts;
  uint8_t tag;
  uint8_t bytes;
  Bytes errors;
  if (!in.u8(parts) || parts == 0 || (parts & ~kKnownParts) != 0) return false;
  if ((parts & kPartTag) != 0 && (!in.u8(tag) || tag == 0)) return false;
  return (parts & kPartErrors) == 0 ||
         (in.u8(bytes) && in.bytes(bytes, errors) && errors_are_well_formed(errors));
}

bool read_name(Bytes entry, Reader& in, Bytes& name) {
  const size_t bytes = dns::flat_name_length(entry.subspan(in.position()));
  if (bytes == 0 || !in.bytes(bytes, name)) return false;
  return std::none_of(name.begin(), name.end(), [](uint8_t c) { return dns::ascii_lower(c) != c; });
}

// Reads all up to the records; `entry` becomes what its length says.
bool read_head(Bytes& entry, Reader& in, CheckedHead& head) {
  constexpr size_t kFixedBytes = 1 + 1 + 4;
  Bytes fixed;
  uint8_t short_length;
  if (!in.bytes(kFixedBytes, fixed) || !in.u8(short_length)) return false;
  const uint8_t flags = fixed[1];
  uint16_t length = short_length;
  if ((flags & kEntryLong) != 0) {
    uint8_t high;
    if (!in.u8(high) || high == 0) return false;
    length = static_cast<uint16_t>(length | high << 8);
  }
  if (length < in.position() || length > entry.size()) return false;
  entry = entry.first(length);
  in = Reader(entry, in.position());
  const EntryView view(entry.data());
  if (view.lifetime_sec() > lifetime_of_code(lifetime_code(kMaxLifetimeSec))) return false;
  head.is_plain = view.is_plain();
  switch (view.flagged_type()) {
    case FlaggedType::kOther:
      if (!read_type(in, head.type)) return false;
      break;
    default:
      head.type = view.type();
  }
  if ((flags & kEntryExtended) != 0 && !parts_are_well_formed(in)) return false;
  return read_name(entry, in, head.name);
}

class EntryChecker {
 public:
  EntryChecker(const CheckedHead& head, const Reader& records) : head_(head), in_(records) {}

  bool records_are_well_formed() {
    if (head_.is_plain) return check_records(head_.type, kAllRecords);
    while (!in_.at_end()) {
      if (!check_block()) return false;
    }
    return true;
  }

 private:
  enum class Owner : uint8_t { kNone, kForAll, kForDo };
  static constexpr unsigned kAllRecords = std::numeric_limits<unsigned>::max();

  bool check_block();
  bool check_owner(uint8_t control);
  bool read_tail(uint8_t control, uint16_t& type, unsigned& records);
  bool check_ttl();
  bool check_records(uint16_t type, unsigned records);
  bool check_rdata(const dns::RdataShape& shape);
  bool check_text();
  bool check_opaque();
  bool check_name(PackMode mode);
  bool read_ref_length(uint8_t end, PackMode mode, size_t& bytes);

  const CheckedHead& head_;
  Reader in_;
  uint8_t section_ = 0;
  Owner last_owner_ = Owner::kNone;
  unsigned labels_ = 0;
  std::array<uint8_t, kLabelRefs> label_bytes_;  // of the name from each numbered label on
};

bool EntryChecker::check_block() {
  uint8_t control;
  uint16_t type;
  unsigned records;
  if (!in_.u8(control)) return false;
  const uint8_t section = block_section(control);
  if (section < section_) return false;
  section_ = section;
  if (!check_owner(control) || !read_tail(control, type, records)) return false;
  if ((control & kBlockDnssec) != 0 && rdata_form(dns::rdata_shape(type)) != RdataForm::kOpaque) {
    return false;
  }
  return check_records(type, records);
}

// To the entry's end, there is at least one.
bool EntryChecker::check_records(uint16_t type, unsigned records) {
  const dns::RdataShape shape = dns::rdata_shape(type);
  if (records == kAllRecords) {
    do {
      if (!check_rdata(shape)) return false;
    } while (!in_.at_end());
    return true;
  }
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

bool EntryChecker::read_tail(uint8_t control, uint16_t& type, unsigned& records) {
  type = head_.type;
  if ((control & kBlockTypeOfQuestion) == 0 && !read_type(in_, type)) return false;
  if ((control & kBlockTtlIsLifetime) == 0 && !check_ttl()) return false;
  if (block_is_to_end(control)) {
    records = kAllRecords;
    return (control & kBlockOneRecord) == 0;
  }
  records = 1;
  if ((control & kBlockOneRecord) != 0) return true;
  uint8_t count;
  if (!in_.u8(count)) return false;
  records = count;
  return count > 1;
}

bool EntryChecker::check_ttl() {
  uint32_t ttl = 0;
  for (unsigned i = 0; i < kMostTtlBytes; ++i) {
    uint8_t byte;
    if (!in_.u8(byte)) return false;
    ttl |= static_cast<uint32_t>(byte & ~kTtlMore) << i * kTtlByteBits;
    if ((byte & kTtlMore) == 0) return ttl <= kMaxLifetimeSec;
  }
  return false;
}

bool EntryChecker::check_rdata(const dns::RdataShape& shape) {
  switch (rdata_form(shape)) {
    case RdataForm::kFixed:
      return in_.skip(shape.fixed_bytes);
    case RdataForm::kText:
      return check_text();
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

bool EntryChecker::check_text() {
  uint8_t length;
  if (!in_.u8(length) || length == kTextOpaque + 1) return false;
  return length == kTextOpaque ? check_opaque() : in_.skip(length);
}

bool EntryChecker::check_opaque() {
  uint8_t length;
  if (!in_.u8(length)) return false;
  if (length != kLongLength) return in_.skip(length);
  uint16_t long_length;
  return read_le16(in_, long_length) && in_.skip(long_length);
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
    const Bytes name = head_.name;
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
  CheckedHead head;
  Reader in(entry);
  return read_head(entry, in, head) && EntryChecker(head, in).records_are_well_formed();
}

}  // namespace wirecache::cache

#include "lib/cache/entry_head.h"

#include <algorithm>

#include "lib/cache/block_format.h"

namespace wirecache::cache {
namespace {

uint8_t* put_le16(uint8_t* to, unsigned value) {
  to[0] = static_cast<uint8_t>(value);
  to[1] = static_cast<uint8_t>(value >> 8);
  return to + 2;
}

}  // namespace

EntryHead::EntryHead(const Key& key, EntryShape shape, Bytes errors)
    : key_(key),
      errors_(errors),
      shape_(shape),
      type_(shape == EntryShape::kPlain ? flagged_type_of(key.type) : FlaggedType::kOther),
      short_bytes_(kEntryLengthAt + 1) {
  if (has_type()) short_bytes_ += type_bytes(key.type);
  if (is_extended()) ++short_bytes_;
  if (key.tag != 0) ++short_bytes_;
  if (!errors.empty()) short_bytes_ += 1 + errors.size();
}

uint8_t EntryHead::flags(const EntryFields& fields, size_t bytes) const {
  unsigned flags = fields.flags;
  if (shape_ == EntryShape::kPlain) {
    flags |= kEntryPlain | static_cast<unsigned>(type_) << kEntryChoiceShift;
  } else {
    flags |= static_cast<unsigned>(fields.outcome) << kEntryChoiceShift;
  }
  if (key_.checking_disabled) flags |= kEntryCd;
  if (bytes > kMaxShortEntryBytes) flags |= kEntryLong;
  if (is_extended()) flags |= kEntryExtended;
  return static_cast<uint8_t>(flags);
}

uint16_t EntryHead::finish(Writer& out, const EntryFields& fields) const {
  size_t bytes = out.position();
  if (bytes > kMaxShortEntryBytes) {
    if (out.remaining() == 0) return 0;
    uint8_t* name = out.data() + short_bytes_;
    std::memmove(name + 1, name, bytes - short_bytes_);
    ++bytes;
  }
  uint8_t* to = out.data();
  *to++ = 0;
  *to++ = flags(fields, bytes);
  const uint32_t times = entry_times(fields.now_sec, fields.lifetime_sec);
  to = put_le16(put_le16(to, times), times >> 16);
  *to++ = static_cast<uint8_t>(bytes);
  if (bytes > kMaxShortEntryBytes) *to++ = static_cast<uint8_t>(bytes >> 8);
  if (has_type()) to = put_type(to, key_.type);
  if (!is_extended()) return static_cast<uint16_t>(bytes);
  *to++ =
      static_cast<uint8_t>((key_.tag != 0 ? kPartTag : 0) | (errors_.empty() ? 0 : kPartErrors));
  if (key_.tag != 0) *to++ = key_.tag;
  if (!errors_.empty()) {
    *to++ = static_cast<uint8_t>(errors_.size());
    std::copy(errors_.begin(), errors_.end(), to);
  }
  return static_cast<uint16_t>(bytes);
}

}  // namespace wirecache::cache

// The bits of an RRset block and its fields (layout: entry_codec.h), shared by who writes, reads
// and checks them.
#pragma once

#include <cstdint>
#include <cstring>

#include "lib/base/bytes.h"

namespace wirecache::cache {

inline constexpr uint8_t kBlockSectionMask = 0x03;
// The answer section, and the block's records are all that is left of the entry.
inline constexpr uint8_t kBlockToEnd = 0x03;
inline constexpr uint8_t kBlockDnssec = 0x04;
inline constexpr unsigned kBlockOwnerShift = 3;
inline constexpr uint8_t kBlockOwnerMask = 0x03;
inline constexpr uint8_t kBlockTypeOfQuestion = 0x20;
inline constexpr uint8_t kBlockTtlIsLifetime = 0x40;
inline constexpr uint8_t kBlockOneRecord = 0x80;  // 0 with kBlockToEnd

enum class BlockOwner : uint8_t { kQuestion = 0, kAsBefore = 1, kNamed = 2 };

inline BlockOwner block_owner(uint8_t control) {
  return static_cast<BlockOwner>(control >> kBlockOwnerShift & kBlockOwnerMask);
}
inline bool block_is_to_end(uint8_t control) {
  return (control & kBlockSectionMask) == kBlockToEnd;
}
inline uint8_t block_section(uint8_t control) {
  return block_is_to_end(control) ? 0 : control & kBlockSectionMask;
}

// What a plain entry's control byte would be.
inline constexpr uint8_t kPlainControl = kBlockToEnd | kBlockTypeOfQuestion | kBlockTtlIsLifetime;

inline constexpr size_t kMostBlockRecords = 255;
// The length of opaque data: two bytes follow.
inline constexpr uint8_t kLongLength = 255;
// The first byte of text: below it is the length of the one character-string.
inline constexpr uint8_t kTextOpaque = 254;

// A byte of a TTL.
inline constexpr unsigned kTtlByteBits = 7;
inline constexpr uint8_t kTtlMore = 0x80;  // another follows
inline constexpr unsigned kMostTtlBytes = 3;

inline uint16_t load_le16(const uint8_t* p) {
  return static_cast<uint16_t>(p[0] | p[1] << 8);
}

// A type takes one byte where it is below 256 and not 0.
inline size_t type_bytes(uint16_t type) {
  return type != 0 && type < 256 ? 1 : 3;
}
inline uint8_t* put_type(uint8_t* to, uint16_t type) {
  const bool is_short = type_bytes(type) == 1;
  *to++ = is_short ? static_cast<uint8_t>(type) : 0;
  if (is_short) return to;
  *to++ = static_cast<uint8_t>(type);
  *to++ = static_cast<uint8_t>(type >> 8);
  return to;
}

[[nodiscard]] inline bool write_length(Writer& out, size_t bytes) {
  if (bytes < kLongLength) return out.u8(static_cast<uint8_t>(bytes));
  return bytes <= UINT16_MAX && out.u8(kLongLength) && out.u8(static_cast<uint8_t>(bytes)) &&
         out.u8(static_cast<uint8_t>(bytes >> 8));
}
[[nodiscard]] inline bool write_opaque(Writer& out, Bytes rdata) {
  return write_length(out, rdata.size()) && out.bytes(rdata);
}
[[nodiscard]] inline bool write_text(Writer& out, Bytes rdata) {
  const bool is_one_string =
      !rdata.empty() && rdata[0] < kTextOpaque && rdata.size() == size_t{1} + rdata[0];
  return is_one_string ? out.bytes(rdata) : out.u8(kTextOpaque) && write_opaque(out, rdata);
}

}  // namespace wirecache::cache

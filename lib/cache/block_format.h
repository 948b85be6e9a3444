// The bits of an RRset block (layout: entry_codec.h), shared by who writes, reads and checks it.
#pragma once

#include <cstdint>
#include <cstring>

#include "lib/base/bytes.h"

namespace wirecache::cache {

inline constexpr uint8_t kBlockSectionMask = 0x03;
inline constexpr uint8_t kBlockDnssec = 0x04;
inline constexpr unsigned kBlockOwnerShift = 3;
inline constexpr uint8_t kBlockOwnerMask = 0x03;
inline constexpr uint8_t kBlockTypeOfQuestion = 0x20;
inline constexpr uint8_t kBlockTtlIsLifetime = 0x40;
inline constexpr uint8_t kBlockOneRecord = 0x80;

enum class BlockOwner : uint8_t { kQuestion = 0, kAsBefore = 1, kNamed = 2 };

inline BlockOwner block_owner(uint8_t control) {
  return static_cast<BlockOwner>(control >> kBlockOwnerShift & kBlockOwnerMask);
}

inline constexpr size_t kMostBlockRecords = 255;
inline constexpr size_t kMostBlocks = 255;
inline constexpr uint8_t kLongLength = 255;  // two bytes follow

inline uint16_t load_le16(const uint8_t* p) {
  return static_cast<uint16_t>(p[0] | p[1] << 8);
}
inline uint32_t load_le24(const uint8_t* p) {
  return p[0] | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16;
}

}  // namespace wirecache::cache

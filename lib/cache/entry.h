// The packed cache entry: its header, and a view of it.
//
// One contiguous byte string, written once by its owner, never grown or moved while a reader may
// see it (RCU); only the state byte changes. Little-endian fields, no alignment.
//
//   0  state  1   atomic: bits 0-1 popularity; 2 stands in main (segment_store.h); the others are 0
//   1  flags  1   EntryFlag; bits 4-5: a plain entry's FlaggedType, else the EntryOutcome
//   2  times  4   bits 0-24 when it expires (TscClock::seconds modulo 2^25); bits 25-31 its
//                 lifetime, as a float of two bits behind the leading one, rounded up
//   6  bytes  1   length of the whole entry; 2 where flagged long
//      type   0   where a flag says it; else 1 where below 256 and not 0; else 0 and 2 bytes
//      parts      where flagged extended: a byte of EntryPart bits, then what they say: the tag, 1;
//                 extended errors, their length 1 and the options (RFC 8914 §2) as an OPT has them
//      name       of the question, flat, lower case: it ends itself
//      plain:     the data of the records of one RRset, as in an RRset block, to the entry's end
//      else:      RRset blocks (entry_codec.h), to the entry's end
//
// A plain entry is one RRset in the answer section, of the question's name and type, that lives as
// long as the entry: nearly all of them. Beside name and data it costs 7 bytes for A, AAAA and TXT,
// 8 for other types below 256, and one more where it is longer than 255.
//
// On the reference mix (56% A, 25% AAAA, 19% TXT of 64 to 224 bytes, 1 to 4 records, names of 18
// bytes) an entry takes 109.5 bytes for 102.4 of names and data (TheReferenceMix in entry_test.cc).
//
// Times are told apart within half the modulus, 194 days: an expired entry must be gone by then.
//
// Readers: any worker of the node, between two quiescent reports. Writer: the owner, before
// insertion; the state byte: anybody.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/cache/key.h"
#include "lib/dns/types.h"

namespace wirecache::cache {

inline constexpr size_t kEntryLengthAt = 6;
inline constexpr size_t kMaxEntryBytes = 65535;
inline constexpr size_t kMaxShortEntryBytes = 255;
inline constexpr size_t kMaxErrorBytes = 255;
inline constexpr uint32_t kMaxLifetimeSec = 7 * 86400;
inline constexpr uint8_t kMaxPopularity = 3;
inline constexpr uint8_t kStateMain = 0x04;

enum EntryFlag : uint8_t {
  kEntryAd = 0x01,             // the upstream said AD=1 and is trusted to
  kEntryCd = 0x02,             // asked with CD=1: part of the key
  kEntryFetchedWithDo = 0x04,  // asked with DO=1: may serve DO=1 clients
  kEntryPlain = 0x08,
  kEntryLong = 0x40,
  kEntryExtended = 0x80,
};
inline constexpr unsigned kEntryChoiceShift = 4;  // of bits 4-5
inline constexpr uint8_t kEntryChoiceMask = 0x03;

// Types that a plain entry's flags say; 0: the type stands behind the length.
enum class FlaggedType : uint8_t { kOther = 0, kA = 1, kAaaa = 2, kTxt = 3 };

// What came, where that is not a plain entry. All but kPositive need their authority section.
enum class EntryOutcome : uint8_t {
  kPositive = 0,  // the type asked for is there
  kNoData = 1,
  kNxDomain = 2,
  kYxDomain = 3,
};

enum EntryPart : uint8_t {
  kPartTag = 0x01,
  kPartErrors = 0x02,
};

inline FlaggedType flagged_type_of(uint16_t type) {
  switch (static_cast<dns::RrType>(type)) {
    case dns::RrType::kA:
      return FlaggedType::kA;
    case dns::RrType::kAaaa:
      return FlaggedType::kAaaa;
    case dns::RrType::kTxt:
      return FlaggedType::kTxt;
    default:
      return FlaggedType::kOther;
  }
}

// Lifetimes in seven bits: exact below 4, then 4 to 7 times a power of two, rounded up.
constexpr uint32_t lifetime_of_code(uint32_t code) {
  return code < 4 ? code : (4 | (code & 3)) << ((code >> 2) - 1);
}
constexpr uint32_t lifetime_code(uint32_t sec) {
  if (sec < 4) return sec;
  const auto shift = static_cast<uint32_t>(std::bit_width(sec)) - 3;
  // 8 where it is rounded up to the next power of two: the carry goes into the exponent.
  const uint32_t mantissa = (sec + (1u << shift) - 1) >> shift;
  return (shift << 2) + mantissa;
}
static_assert(lifetime_code(kMaxLifetimeSec) < 128);
static_assert(lifetime_of_code(lifetime_code(300)) == 320);
static_assert(lifetime_of_code(lifetime_code(512)) == 512);
static_assert(lifetime_of_code(lifetime_code(511)) == 512);

inline constexpr unsigned kExpiryBits = 25;
// The field `times` of an entry that is written at `now_sec` to live for at most kMaxLifetimeSec.
constexpr uint32_t entry_times(uint32_t now_sec, uint32_t lifetime_sec) {
  return ((now_sec + lifetime_sec) & ((1u << kExpiryBits) - 1)) | lifetime_code(lifetime_sec)
                                                                      << kExpiryBits;
}

class EntryView {
 public:
  explicit EntryView(const uint8_t* entry) : p_(entry) {}

  const uint8_t* data() const { return p_; }
  uint8_t flags() const { return p_[1]; }
  bool has(EntryFlag flag) const { return (flags() & flag) != 0; }
  uint16_t size_bytes() const {
    const unsigned low = p_[kEntryLengthAt];
    return static_cast<uint16_t>(has(kEntryLong) ? low | p_[kEntryLengthAt + 1] << 8 : low);
  }
  bool is_plain() const { return has(kEntryPlain); }
  FlaggedType flagged_type() const {
    return is_plain() ? static_cast<FlaggedType>(choice()) : FlaggedType::kOther;
  }
  // Of an entry that is not plain.
  EntryOutcome outcome() const { return static_cast<EntryOutcome>(choice()); }
  dns::Rcode rcode() const;
  uint16_t type() const { return key_part().type; }
  dns::CdBit cd_bit() const { return has(kEntryCd) ? dns::CdBit::kSet : dns::CdBit::kClear; }
  uint8_t tag() const { return key_part().tag; }
  Bytes name() const;
  // What stands behind the name, whose length the caller knows from the key that it matched.
  Bytes records(size_t name_bytes) const {
    const size_t start = key_part().name_at + name_bytes;
    return {p_ + start, size_bytes() - start};
  }
  // As options of an OPT record; empty: none.
  Bytes extended_errors() const;

  bool matches(const Key& key) const {
    const uint8_t flags = p_[1];
    if (((flags & kEntryCd) != 0) != key.checking_disabled) return false;
    uint16_t type;
    size_t at = parts_at(type);
    if (type != key.type) return false;
    if ((flags & kEntryExtended) != 0) [[unlikely]] {
      const KeyPart part = key_part();
      if (part.tag != key.tag) return false;
      at = part.name_at;
    } else if (key.tag != 0) {
      return false;
    }
    // Flat names end themselves: no name is the beginning of another.
    return at + key.name.size() <= size_bytes() &&
           std::memcmp(p_ + at, key.name.data(), key.name.size()) == 0;
  }

  // Rounded up, by a quarter at most: remaining_sec() is exact.
  uint32_t lifetime_sec() const { return lifetime_of_code(load<uint32_t>(2) >> kExpiryBits); }
  // How long it is still fresh; negative: for so long it has been stale.
  int32_t remaining_sec(uint32_t now_sec) const {
    constexpr unsigned kUnused = 32 - kExpiryBits;
    return static_cast<int32_t>((load<uint32_t>(2) - now_sec) << kUnused) >> kUnused;
  }
  bool fresh(uint32_t now_sec) const { return remaining_sec(now_sec) > 0; }

  // How often it was asked for, 0 to kMaxPopularity.
  uint8_t popularity() const { return state().load(std::memory_order_relaxed) & kMaxPopularity; }
  // Among those that have been asked for, or proved worth keeping.
  bool is_in_main() const { return (state().load(std::memory_order_relaxed) & kStateMain) != 0; }
  // Written only where it changes, so that the line of a popular entry stays shared; where two
  // readers race, one of them may not count.
  void note_asked() const {
    uint8_t now = state().load(std::memory_order_relaxed);
    if ((now & kMaxPopularity) == kMaxPopularity) return;
    state().compare_exchange_weak(now, static_cast<uint8_t>(now + 1), std::memory_order_relaxed);
  }
  void set_popularity(uint8_t popularity) const {
    const auto change = static_cast<uint8_t>((this->popularity() ^ popularity) & kMaxPopularity);
    if (change != 0) state().fetch_xor(change, std::memory_order_relaxed);
  }

 private:
  struct KeyPart {
    uint16_t type;
    uint8_t tag;
    uint16_t name_at;
  };

  template <typename T>
  T load(size_t at) const {
    T v;
    std::memcpy(&v, p_ + at, sizeof v);
    return v;
  }
  uint8_t choice() const { return flags() >> kEntryChoiceShift & kEntryChoiceMask; }
  // The one byte of an entry that is not const, wherever it stands.
  std::atomic_ref<uint8_t> state() const {
    return std::atomic_ref<uint8_t>(const_cast<uint8_t&>(*p_));
  }
  KeyPart key_part() const;
  // Behind the type, which is put into `type`.
  size_t parts_at(uint16_t& type) const;

  const uint8_t* p_;
};

inline dns::Rcode EntryView::rcode() const {
  if (is_plain()) return dns::Rcode::kNoError;
  switch (outcome()) {
    case EntryOutcome::kNxDomain:
      return dns::Rcode::kNxDomain;
    case EntryOutcome::kYxDomain:
      return dns::Rcode::kYxDomain;
    default:
      return dns::Rcode::kNoError;
  }
}

inline size_t EntryView::parts_at(uint16_t& type) const {
  // The types of FlaggedType, a byte each.
  constexpr uint32_t kTypes = 1u << 8 | 28u << 16 | 16u << 24;
  size_t at = kEntryLengthAt + (has(kEntryLong) ? 2 : 1);
  if (is_plain()) {
    type = static_cast<uint8_t>(kTypes >> 8 * choice());
    if (type != 0) return at;
  }
  type = p_[at++];
  if (type == 0) {
    type = load<uint16_t>(at);
    at += 2;
  }
  return at;
}

inline EntryView::KeyPart EntryView::key_part() const {
  KeyPart out;
  size_t at = parts_at(out.type);
  out.tag = 0;
  if (has(kEntryExtended)) [[unlikely]] {
    const uint8_t parts = p_[at++];
    if ((parts & kPartTag) != 0) out.tag = p_[at++];
    if ((parts & kPartErrors) != 0) at += 1 + size_t{p_[at]};
  }
  out.name_at = static_cast<uint16_t>(at);
  return out;
}

inline Bytes EntryView::extended_errors() const {
  if (!has(kEntryExtended)) return {};
  uint16_t type;
  size_t at = parts_at(type);
  const uint8_t parts = p_[at++];
  if ((parts & kPartErrors) == 0) return {};
  if ((parts & kPartTag) != 0) ++at;
  return {p_ + at + 1, p_[at]};
}

inline Bytes EntryView::name() const {
  const size_t start = key_part().name_at;
  size_t end = start;
  while (p_[end] != 0) end += 1 + size_t{p_[end]};
  return {p_ + start, end + 1 - start};
}

}  // namespace wirecache::cache

// The packed cache entry: its header, and a read-only view of it.
//
// One contiguous byte string, written once by its owner, never grown or moved while a reader may
// see it (RCU); only the state byte changes. Little-endian fields, no alignment.
//
//   0   state      1  atomic: popularity and, later, refresh flags
//   1   flags      1  EntryFlag
//   2   bytes      2  length of the whole entry, header included
//   4   inserted   4  seconds (TscClock::seconds) when it was written
//   8   lifetime   3  low 20 bits seconds to live, high 4 bits rcode
//   11  name bytes 1  1..255
//   12  type       2  of the question
//   14  tag        1
//   15  rrsets     1  number of RRset blocks that follow the name
//   16  name          flat, lower case; then the RRset blocks (entry_codec.h)
//
// Readers: any worker of the node, between two quiescent reports. Writer: the owner, before
// insertion.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/cache/key.h"
#include "lib/dns/types.h"

namespace wirecache::cache {

inline constexpr size_t kEntryHeaderBytes = 16;
inline constexpr size_t kMaxEntryBytes = 65535;
inline constexpr uint32_t kMaxLifetimeSec = 7 * 86400;  // fits 20 bits
static_assert(kMaxLifetimeSec < (1u << 20));

enum EntryFlag : uint8_t {
  kEntryAd = 0x01,             // the upstream said AD=1 and is trusted to
  kEntryCd = 0x02,             // asked with CD=1: part of the key
  kEntryFetchedWithDo = 0x04,  // asked with DO=1: may serve DO=1 clients
  kEntryNegative = 0x08,       // no answer of the type: its authority section is needed
};

class EntryView {
 public:
  explicit EntryView(const uint8_t* entry) : p_(entry) {}

  const uint8_t* data() const { return p_; }
  uint8_t flags() const { return p_[1]; }
  uint16_t size_bytes() const { return load<uint16_t>(2); }
  dns::CdBit cd_bit() const {
    return (flags() & kEntryCd) != 0 ? dns::CdBit::kSet : dns::CdBit::kClear;
  }
  uint32_t inserted_sec() const { return load<uint32_t>(4); }
  uint32_t lifetime_sec() const { return load24() & 0xfffff; }
  dns::Rcode rcode() const { return static_cast<dns::Rcode>(load24() >> 20); }
  uint8_t name_bytes() const { return p_[11]; }
  uint16_t type() const { return load<uint16_t>(12); }
  uint8_t tag() const { return p_[14]; }
  uint8_t rrset_count() const { return p_[15]; }
  Bytes name() const { return {p_ + kEntryHeaderBytes, name_bytes()}; }
  // Where the first RRset block starts, and all block bytes.
  Bytes blocks() const {
    const size_t start = kEntryHeaderBytes + name_bytes();
    return {p_ + start, size_bytes() - start};
  }

  bool matches(const Key& key) const {
    return name_bytes() == key.name.size() && type() == key.type && tag() == key.tag &&
           ((flags() & kEntryCd) != 0) == key.checking_disabled &&
           std::memcmp(name().data(), key.name.data(), key.name.size()) == 0;
  }
  // Age in whole seconds; a clock behind the insertion counts as age 0.
  uint32_t age_sec(uint32_t now_sec) const {
    const uint32_t age = now_sec - inserted_sec();
    return static_cast<int32_t>(age) < 0 ? 0 : age;
  }
  bool fresh(uint32_t now_sec) const { return age_sec(now_sec) < lifetime_sec(); }

 private:
  template <typename T>
  T load(size_t at) const {
    T v;
    std::memcpy(&v, p_ + at, sizeof v);
    return v;
  }
  uint32_t load24() const { return p_[8] | p_[9] << 8 | static_cast<uint32_t>(p_[10]) << 16; }

  const uint8_t* p_;
};

}  // namespace wirecache::cache

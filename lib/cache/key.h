// The cache key: lower-case name, type, CD and tag of a question (class is always IN).
//
// What is hashed: the flat name in lower case (1 to 255 bytes), type (2), CD (1), tag (1).
// The hash is a seed for owner and index only; a hit always compares the name, type, CD and tag.
// A KeyBuffer is a plain value of one thread.
#pragma once

#include <array>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/base/hash.h"
#include "lib/dns/name.h"
#include "lib/dns/types.h"

namespace wirecache::cache {

struct Key {
  Bytes name;  // flat, lower case; borrowed
  uint16_t type = 0;
  bool checking_disabled = false;
  uint8_t tag = 0;  // the client's view
  uint64_t hash = 0;
};

// What of a key is hashed behind its name.
inline constexpr size_t kKeySuffixBytes = 4;
inline void write_key_suffix(uint8_t* out, uint16_t type, dns::CdBit cd, uint8_t tag) {
  store_be16(out, type);
  out[2] = cd == dns::CdBit::kSet ? 1 : 0;
  out[3] = tag;
}

class KeyBuffer {
 public:
  // Lowers `name` (a valid flat name) into this buffer and hashes. The Key borrows from it.
  Key make(const HashSecret& secret, Bytes name, uint16_t type, dns::CdBit cd, uint8_t tag) {
    dns::lower_name(name, bytes_.data());
    write_key_suffix(bytes_.data() + name.size(), type, cd, tag);
    const Bytes all(bytes_.data(), name.size() + kKeySuffixBytes);
    return Key{all.first(name.size()), type, cd == dns::CdBit::kSet, tag, secret.hash(all)};
  }

 private:
  std::array<uint8_t, dns::kMaxNameBytes + kKeySuffixBytes> bytes_;
};

}  // namespace wirecache::cache

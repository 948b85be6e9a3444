// The hash of a kept entry's key, made anew from the entry: what evicts or moves an entry finds its
// place in the index by it. Pure function; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "lib/base/hash.h"
#include "lib/cache/entry.h"
#include "lib/cache/key.h"
#include "lib/dns/name.h"

namespace wirecache::cache {

// As KeyBuffer::make has it; the entry's name is in lower case.
inline uint64_t hash_of(const HashSecret& secret, EntryView entry) {
  std::array<uint8_t, dns::kMaxNameBytes + kKeySuffixBytes> bytes;
  const Bytes name = entry.name();
  std::memcpy(bytes.data(), name.data(), name.size());
  write_key_suffix(bytes.data() + name.size(), entry.type(), entry.cd_bit(), entry.tag());
  return secret.hash(Bytes(bytes).first(name.size() + kKeySuffixBytes));
}

}  // namespace wirecache::cache

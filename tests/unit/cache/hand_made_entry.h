// Entries in the layout of entry.h, written by hand: for tests of what keeps and finds them.
// Plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/cache/entry.h"

namespace wirecache::cache {

// An entry of `key` that lives for `lifetime_sec` from `now_sec` on, with `payload` where the
// records would stand.
inline std::vector<uint8_t> entry_of(const Key& key, Bytes payload, uint32_t now_sec = 0,
                                     uint32_t lifetime_sec = 300) {
  const uint32_t times = entry_times(now_sec, lifetime_sec);
  std::vector<uint8_t> entry = {0, kEntryLong | kEntryExtended};
  for (unsigned i = 0; i < 4; ++i) entry.push_back(static_cast<uint8_t>(times >> 8 * i));
  entry.resize(entry.size() + 2);  // the length
  entry.push_back(0);              // two bytes of type follow
  entry.push_back(static_cast<uint8_t>(key.type));
  entry.push_back(static_cast<uint8_t>(key.type >> 8));
  entry.push_back(kPartTag);
  entry.push_back(key.tag);
  entry.insert(entry.end(), key.name.begin(), key.name.end());
  entry.insert(entry.end(), payload.begin(), payload.end());
  if (key.checking_disabled) entry[1] |= kEntryCd;
  entry[kEntryLengthAt] = static_cast<uint8_t>(entry.size());
  entry[kEntryLengthAt + 1] = static_cast<uint8_t>(entry.size() >> 8);
  return entry;
}

// Of an entry of entry_of(), beside name and payload.
inline constexpr size_t kHandMadeHeadBytes = 13;

}  // namespace wirecache::cache

// Writes what stands before an entry's name (entry.h), once the rest is there and its length known.
//
// Plain value of one thread, for one entry; borrows key and errors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/cache/entry.h"
#include "lib/cache/key.h"

namespace wirecache::cache {

enum class EntryShape : uint8_t { kBlocks, kPlain };

// What a head says beside key, shape, errors and length.
struct EntryFields {
  uint8_t flags = 0;  // kEntryAd and kEntryFetchedWithDo
  EntryOutcome outcome = EntryOutcome::kPositive;
  uint32_t now_sec = 0;
  uint32_t lifetime_sec = 0;
};

class EntryHead {
 public:
  // `errors`: options, at most kMaxErrorBytes.
  EntryHead(const Key& key, EntryShape shape, Bytes errors);

  // So much room is left for it: its length in an entry of up to kMaxShortEntryBytes.
  size_t short_bytes() const { return short_bytes_; }
  // Writes it before the name and the records, which stand in `out` from short_bytes() on; moves
  // them where the entry is long. The entry's length, 0 where it does not fit.
  uint16_t finish(Writer& out, const EntryFields& fields) const;

 private:
  bool is_extended() const { return key_.tag != 0 || !errors_.empty(); }
  bool has_type() const { return type_ == FlaggedType::kOther; }
  uint8_t flags(const EntryFields& fields, size_t bytes) const;

  const Key& key_;
  Bytes errors_;
  EntryShape shape_;
  FlaggedType type_;
  size_t short_bytes_;
};

}  // namespace wirecache::cache

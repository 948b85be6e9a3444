// Writes an entry, block by block, in the layout of entry.h and entry_codec.h.
//
// Invariant: a block that is not for DO alone never takes its owner from one that is, so that a
// DO=0 reply can leave that out. Plain value of one thread; borrows the records and the buffer.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/cache/answer_records.h"
#include "lib/cache/answer_selection.h"
#include "lib/cache/block_format.h"
#include "lib/cache/entry.h"
#include "lib/cache/key.h"
#include "lib/cache/name_packer.h"

namespace wirecache::cache {

struct EntryFields {
  uint8_t flags = 0;  // without kEntryCd, which is the key's
  dns::Rcode rcode = dns::Rcode::kNoError;
  uint32_t inserted_sec = 0;
  uint32_t lifetime_sec = 0;
};

class EntryWriter {
 public:
  EntryWriter(const Key& key, const EntryFields& fields, MutableBytes scratch);

  enum class Audience : uint8_t { kAll, kDoOnly };
  // Appends the RRset, whose ttl is what is to be stored, in as many blocks as it takes. After a
  // false (no room) the entry is unusable.
  [[nodiscard]] bool add(const AnswerRecords& records, const SelectedRrset& rrset,
                         Audience audience);
  // Completes the header: the entry's bytes, 0 where it did not fit.
  uint16_t finish();

 private:
  bool write_header();
  bool write_block(const AnswerRecords& records, const SelectedRrset& block, Audience audience);
  BlockOwner choose_owner(uint16_t owner, Audience audience);
  bool write_record(const AnswerRecords& records, const AnswerRecord& record);
  bool write_names(const RdataParts& parts, PackMode mode);
  bool write_opaque(const RdataParts& parts);

  const Key& key_;
  EntryFields fields_;
  Writer out_;
  NamePacker packer_;
  bool fits_;
  size_t blocks_ = 0;
  uint16_t question_owner_ = kNoOwner;
  uint16_t last_owner_ = kNoOwner;
  bool last_owner_is_for_all_ = true;
};

}  // namespace wirecache::cache

// Writes an entry in the layout of entry.h and entry_codec.h.
//
// Invariant: a block that is not for DO alone never takes its owner from one that is, so that a
// DO=0 reply can leave that out. Plain value of one thread, for one entry; borrows what it is
// given.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/cache/answer_records.h"
#include "lib/cache/answer_selection.h"
#include "lib/cache/block_format.h"
#include "lib/cache/entry_head.h"
#include "lib/cache/key.h"
#include "lib/cache/name_packer.h"

namespace wirecache::cache {

class EntryWriter {
 public:
  // `errors`: options, at most kMaxErrorBytes.
  EntryWriter(const Key& key, const EntryFields& fields, Bytes errors, MutableBytes scratch);

  // Writes the whole entry, of RRsets whose ttl is what is to be stored. Its length; 0 where it
  // does not fit.
  uint16_t write(const AnswerRecords& records, const AnswerSelection& selection);

 private:
  enum class Audience : uint8_t { kAll, kDoOnly };
  enum class Place : uint8_t { kLast, kBeforeOthers };

  bool write_blocks(const AnswerRecords& records, const AnswerSelection& selection);
  bool write_rrset(const AnswerRecords& records, const SelectedRrset& rrset, Audience audience,
                   Place place);
  bool write_block(const AnswerRecords& records, const SelectedRrset& block, Audience audience,
                   uint8_t control);
  BlockOwner choose_owner(uint16_t owner, Audience audience);
  bool write_type(uint16_t type);
  bool write_ttl(uint32_t above_lifetime);
  bool write_records(const AnswerRecords& records, const SelectedRrset& block);
  bool write_split(const AnswerRecords& records, const AnswerRecord& record, RdataForm form);
  NamePacker& packer();

  const Key& key_;
  const EntryFields& fields_;
  Bytes errors_;
  Writer out_;
  NamePacker packer_;
  size_t name_at_ = 0;
  bool packs_ = false;
  uint16_t question_owner_ = kNoOwner;
  uint16_t last_owner_ = kNoOwner;
  bool last_owner_is_for_all_ = true;
};

}  // namespace wirecache::cache

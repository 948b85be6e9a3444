// Record data taken apart for packing: what stands before its names, the names, what follows; and
// how an entry stores it.
//
// Invariant: split_rdata() is true only for data that is well formed for its type, to its last
// byte. Pure functions over bytes that must outlive the result; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/name.h"
#include "lib/dns/rdata.h"

namespace wirecache::cache {

// How an entry stores the data of a record (entry_codec.h).
enum class RdataForm : uint8_t {
  kFixed,   // the type's one length: the bytes
  kNames,   // delimits itself: fixed bytes and character-strings, packed names, fixed bytes
  kText,    // one character-string, which says its own length; else as kOpaque
  kOpaque,  // length and bytes, as they go into a reply
};

inline RdataForm rdata_form(const dns::RdataShape& shape) {
  if (shape.fixed_bytes != 0) return RdataForm::kFixed;
  if (shape.is_text) return RdataForm::kText;
  const bool packs = shape.names_kind == dns::RdataNames::kCompressible ||
                     shape.names_kind == dns::RdataNames::kDecompress;
  return packs && !shape.tail ? RdataForm::kNames : RdataForm::kOpaque;
}

struct RdataParts {
  Bytes before;  // the character-strings included; all of it where no name is taken out
  std::array<dns::FlatName, 2> names;
  uint8_t name_count = 0;
  Bytes after;
};

// The part of a message that is one record's data.
struct RdataPlace {
  uint16_t type;
  uint16_t offset;
  uint16_t bytes;
};

// Names of RFC 1035 and RFC 3597 §4 types come out decompressed. Those of other types stay where
// they are and are only checked: a compression pointer in them is malformed (RFC 3597 §4).
[[nodiscard]] bool split_rdata(Bytes message, const RdataPlace& place, RdataParts& parts);

// The bytes that `strings` character-strings (RFC 1035 §3.3) take at the start of `bytes`, SIZE_MAX
// where they are cut short.
size_t strings_length(Bytes bytes, unsigned strings);

}  // namespace wirecache::cache

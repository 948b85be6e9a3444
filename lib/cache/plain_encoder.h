// The short way from an answer to an entry, for the answers that come most: nothing but addresses
// or text of the question's own name.
//
// Invariant: what it makes is what the long way would (answer_encoder.cc), byte for byte. The
// owner's, into its scratch buffer.
#pragma once

#include "lib/base/bytes.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/key.h"

namespace wirecache::cache {

// False where the message is of another shape, which says nothing about whether it is good; the
// scratch is then anything.
[[nodiscard]] bool encode_plain(const Key& key, Bytes message, const EncodeOptions& options,
                                MutableBytes scratch, Encoded& encoded);

// RFC 8767 §4: a TTL with its top bit set is a large one, and all are capped; 0 is never raised.
uint32_t stored_ttl(uint32_t ttl, const EncodeOptions& options);

}  // namespace wirecache::cache

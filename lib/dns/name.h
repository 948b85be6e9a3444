// Domain names on the wire (RFC 1035 §3.1, §4.1.4): validation, decompression, ASCII case.
//
// A "flat name" is an uncompressed wire name with its root label, 1 to 255 bytes. Compression
// pointers are followed only strictly backwards (each target below the start of the name or of the
// pointer's own segment), never into the header, and at most 127 times, so every walk ends soon.
// Pure functions on byte spans; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/types.h"

namespace wirecache::dns {

// ASCII only (RFC 4343 §3): bytes above 0x7f and everything that is no letter stay.
inline uint8_t ascii_lower(uint8_t c) {
  return (c >= 'A' && c <= 'Z') ? static_cast<uint8_t>(c | 0x20) : c;
}
// Length bytes (0..63) are no letters, so a whole flat name can be lowered byte by byte.
// `out` has at least in.size() bytes.
void lower_name(Bytes in, uint8_t* out);
// Equal without case, as flat names.
bool names_equal(Bytes a, Bytes b);
// Whether the flat name `name` is `ancestor` or below it (label boundaries respected).
bool is_subdomain(Bytes name, Bytes ancestor);
// The number of labels, root not counted.
unsigned label_count(Bytes flat_name);

// The length in bytes, root label included, of the flat name at the start of `bytes`; 0 where it is
// cut short, over 255 bytes, or has a label byte above 63 (a compression pointer included).
size_t flat_name_length(Bytes bytes);

// A decompressed name and where the reader goes on after it.
struct FlatName {
  std::array<uint8_t, kMaxNameBytes> bytes;
  uint8_t size = 0;  // 0: none
  Bytes view() const { return {bytes.data(), size}; }
};

// Reads the possibly compressed name at `reader` from `message` (whose first byte is the DNS
// header's) and moves the reader behind it. The reader is one over `message` or over its first
// bytes (message.first(end of the rdata): what stands in place may then not pass that end). False:
// malformed (cut, loop, forward pointer, over 255 bytes, label type other than 00 and 11); the
// reader is then unusable.
[[nodiscard]] bool read_name(Bytes message, Reader& reader, FlatName& out);
// The same checks without keeping the name.
[[nodiscard]] bool skip_name(Bytes message, Reader& reader);

}  // namespace wirecache::dns

#include "lib/cache/rdata_parts.h"

namespace wirecache::cache {
namespace {

using dns::RdataNames;
using dns::RdataShape;
using dns::RrType;

// RFC 2874 §3.1: a prefix length, the address bits behind it, a name unless the prefix is 0. False:
// the prefix is longer than an address.
bool a6_shape(Bytes rdata, RdataShape& shape) {
  constexpr unsigned kAddressBits = 128;
  if (rdata.empty() || rdata[0] > kAddressBits) return false;
  shape = {.names_kind = RdataNames::kDecompress,
           .before = static_cast<uint8_t>(1 + (kAddressBits - rdata[0] + 7) / 8),
           .names = static_cast<uint8_t>(rdata[0] == 0 ? 0 : 1)};
  return true;
}

// The names of such types are part of what is signed, to the byte.
bool verbatim_names_ok(Bytes rdata, const RdataShape& shape) {
  if (rdata.size() < shape.before) return false;
  size_t position = shape.before;
  for (unsigned i = 0; i < shape.names; ++i) {
    const size_t name_bytes = dns::flat_name_length(rdata.subspan(position));
    if (name_bytes == 0) return false;
    position += name_bytes;
  }
  const size_t rest = rdata.size() - position;
  return shape.tail || rest == shape.after;
}

}  // namespace

size_t strings_length(Bytes bytes, unsigned strings) {
  size_t position = 0;
  for (unsigned i = 0; i < strings; ++i) {
    if (position >= bytes.size()) return SIZE_MAX;
    position += 1 + size_t{bytes[position]};
    if (position > bytes.size()) return SIZE_MAX;
  }
  return position;
}

bool split_rdata(Bytes message, const RdataPlace& place, RdataParts& parts) {
  const Bytes rdata = message.subspan(place.offset, place.bytes);
  RdataShape shape = dns::rdata_shape(place.type);
  if (place.type == static_cast<uint16_t>(RrType::kA6) && !a6_shape(rdata, shape)) return false;
  parts.before = rdata;
  parts.name_count = 0;
  parts.after = {};
  if (shape.fixed_bytes != 0) return rdata.size() == shape.fixed_bytes;
  if (shape.names_kind == RdataNames::kNone) return true;
  if (shape.names_kind == RdataNames::kVerbatim) return verbatim_names_ok(rdata, shape);

  if (rdata.size() < shape.before) return false;
  const size_t strings = strings_length(rdata.subspan(shape.before), shape.strings);
  if (strings == SIZE_MAX) return false;
  parts.before = rdata.first(shape.before + strings);
  // Pointers lead backwards, so the end of this record's data is the end of what is looked at.
  const Bytes until_end = message.first(size_t{place.offset} + place.bytes);
  Reader reader(until_end, place.offset + parts.before.size());
  for (; parts.name_count < shape.names; ++parts.name_count) {
    if (!dns::read_name(until_end, reader, parts.names[parts.name_count])) return false;
  }
  parts.after = until_end.subspan(reader.position());
  return shape.tail || parts.after.size() == shape.after;
}

}  // namespace wirecache::cache

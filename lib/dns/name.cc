#include "lib/dns/name.h"

#include <cstring>

namespace wirecache::dns {
namespace {

constexpr uint8_t kPointerBits = 0xc0;
// A name has at most 127 labels, so a longer chain of pointers only costs its reader time.
constexpr unsigned kMaxPointers = 127;
constexpr uint64_t kOnes = 0x0101010101010101;

// ascii_lower on eight bytes at once: no byte's sum carries into the next, for the top bits are
// off.
uint64_t lower_8(uint64_t v) {
  const uint64_t low = v & (0x7f * kOnes);
  const uint64_t from_a = low + (0x80 - 'A') * kOnes;
  const uint64_t above_z = low + (0x7f - 'Z') * kOnes;
  const uint64_t upper_case = (from_a ^ above_z) & ~v & (0x80 * kOnes);
  return v | (upper_case >> 2);
}

uint64_t load_8(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Follows a name label by label, `sink(length byte, label)` for each, the root's included.
template <typename Sink>
bool walk_name(Bytes message, Reader& reader, Sink sink) {
  Reader jumped(message);
  Reader* cursor = &reader;
  size_t segment_start = reader.position();
  size_t size = 0;
  unsigned pointers = 0;
  for (;;) {
    uint8_t length;
    Bytes label;
    if (!cursor->u8(length)) return false;
    if (length >= kPointerBits) {
      uint8_t low;
      if (!cursor->u8(low) || ++pointers > kMaxPointers) return false;
      const size_t target = static_cast<size_t>(length & ~kPointerBits) << 8 | low;
      if (target < kHeaderBytes || target >= segment_start || target >= message.size())
        return false;
      segment_start = target;
      jumped = Reader(message, target);
      cursor = &jumped;
      continue;
    }
    if (length > kMaxLabelBytes || !cursor->bytes(length, label)) return false;
    if (size + 1 + length > kMaxNameBytes) return false;
    sink(length, label);
    size += 1 + size_t{length};
    if (length == 0) return true;
  }
}

}  // namespace

void lower_name(Bytes in, uint8_t* out) {
  size_t i = 0;
  for (; i + 8 <= in.size(); i += 8) {
    const uint64_t v = lower_8(load_8(in.data() + i));
    std::memcpy(out + i, &v, sizeof v);
  }
  for (; i < in.size(); ++i) out[i] = ascii_lower(in[i]);
}

bool names_equal(Bytes a, Bytes b) {
  if (a.size() != b.size()) return false;
  size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    if (lower_8(load_8(a.data() + i)) != lower_8(load_8(b.data() + i))) return false;
  }
  for (; i < a.size(); ++i) {
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

bool is_subdomain(Bytes name, Bytes ancestor) {
  while (name.size() > ancestor.size()) {
    const size_t label_bytes = 1 + size_t{name[0]};
    if (name[0] == 0 || label_bytes > name.size()) return false;
    name = name.subspan(label_bytes);
  }
  return names_equal(name, ancestor);
}

unsigned label_count(Bytes flat_name) {
  unsigned count = 0;
  for (size_t i = 0; i < flat_name.size() && flat_name[i] != 0; i += 1 + size_t{flat_name[i]})
    ++count;
  return count;
}

size_t flat_name_length(Bytes bytes) {
  size_t i = 0;
  while (i < bytes.size() && i < kMaxNameBytes) {
    const uint8_t length = bytes[i++];
    if (length == 0) return i;
    if (length > kMaxLabelBytes) return 0;
    i += length;
  }
  return 0;
}

bool read_name(Bytes message, Reader& reader, FlatName& out) {
  size_t size = 0;
  const bool ok = walk_name(message, reader, [&](uint8_t length, Bytes label) {
    out.bytes[size] = length;
    if (length != 0) std::memcpy(out.bytes.data() + size + 1, label.data(), length);
    size += 1 + size_t{length};
  });
  out.size = ok ? static_cast<uint8_t>(size) : 0;
  return ok;
}

bool skip_name(Bytes message, Reader& reader) {
  return walk_name(message, reader, [](uint8_t, Bytes) {});
}

}  // namespace wirecache::dns

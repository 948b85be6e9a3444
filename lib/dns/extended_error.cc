#include "lib/dns/extended_error.h"

#include "lib/dns/types.h"

namespace wirecache::dns {
namespace {

constexpr size_t kOptionHeadBytes = 4;  // code and length, RFC 6891 §6.1.2
constexpr size_t kInfoCodeBytes = 2;

}  // namespace

size_t copy_extended_errors(Bytes options, MutableBytes out) {
  Reader reader(options);
  Writer writer(out);
  uint16_t code;
  uint16_t length;
  Bytes data;
  while (reader.u16(code) && reader.u16(length) && reader.bytes(length, data)) {
    if (code != kOptionExtendedError || length < kInfoCodeBytes) continue;
    if (writer.remaining() < kOptionHeadBytes + kInfoCodeBytes) break;
    if (writer.remaining() < kOptionHeadBytes + data.size()) data = data.first(kInfoCodeBytes);
    if (!writer.u16(code) || !writer.u16(static_cast<uint16_t>(data.size())) ||
        !writer.bytes(data)) {
      break;
    }
  }
  return writer.position();
}

}  // namespace wirecache::dns

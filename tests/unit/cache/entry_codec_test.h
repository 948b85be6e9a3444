// Messages written by hand, and the fixture of the tests that encode them.
// Plain values.
#pragma once

#include <string>

#include "tests/unit/cache/codec_support.h"

namespace wirecache::cache {

using dns::flat;
using dns::from_hex;

inline constexpr uint16_t kA = 1;
inline constexpr uint16_t kNs = 2;
inline constexpr uint16_t kCname = 5;
inline constexpr uint16_t kSoa = 6;
inline constexpr uint16_t kMx = 15;
inline constexpr uint16_t kTxt = 16;
inline constexpr uint16_t kIn = 1;
inline const WireBytes kPointerToQuestion = {0xc0, 0x0c};

inline WireBytes be16(unsigned value) {
  return {static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}
inline WireBytes be32(uint32_t value) {
  return be16(value >> 16) + be16(value & 0xffff);
}

// Writes messages by hand, after RFC 1035 §4.1.
struct MessageBuilder {
  WireBytes question;
  uint16_t flags = 0x8180;  // QR RD RA
  unsigned counts[3] = {0, 0, 0};
  WireBytes records = {};

  MessageBuilder& add(unsigned section, const WireBytes& owner, unsigned type, uint32_t ttl,
                      const WireBytes& rdata, unsigned rr_class = kIn) {
    ++counts[section];
    records = records + owner + be16(type) + be16(rr_class) + be32(ttl) +
              be16(static_cast<unsigned>(rdata.size())) + rdata;
    return *this;
  }
  WireBytes wire() const {
    return be16(0x1234) + be16(flags) + be16(1) + be16(counts[0]) + be16(counts[1]) +
           be16(counts[2]) + question + records;
  }
};

inline MessageBuilder answer_to(const std::string& name, unsigned type) {
  return {.question = flat(name) + be16(type) + be16(kIn)};
}

inline WireBytes query_of(const std::string& name, unsigned type, uint16_t flags = 0x0100) {
  return be16(0xbeef) + be16(flags) + from_hex("0001 0000 0000 0000") + flat(name) + be16(type) +
         be16(kIn);
}
// The same with an OPT, RFC 6891 §6.1.2.
inline WireBytes edns_query_of(const std::string& name, unsigned type, unsigned size,
                               bool dnssec_ok) {
  WireBytes query = query_of(name, type);
  query[11] = 1;
  return query + from_hex("00 0029") + be16(size) + be32(dnssec_ok ? 0x8000 : 0) + be16(0);
}

inline const WireBytes kAddress = {192, 0, 2, 1};
inline constexpr ReplyOptions kReply = {.now_sec = 1'000'000};

inline WireBytes soa_rdata(uint32_t minimum) {
  return flat("ns") + flat("mail") + be32(1) + be32(2) + be32(3) + be32(4) + be32(minimum);
}

// A text of `bytes` bytes in one RRset.
inline WireBytes text_of(size_t bytes) {
  WireBytes rdata;
  for (; bytes > 256; bytes -= 256) rdata = rdata + WireBytes{255} + WireBytes(255, 't');
  return rdata + WireBytes{static_cast<uint8_t>(bytes - 1)} + WireBytes(bytes - 1, 't');
}

class EntryCodecTest : public CodecTest {
 protected:
  TestEntry encode_wire(const MessageBuilder& message) { return encode_with(message, options()); }
  TestEntry encode_with(const MessageBuilder& message, const EncodeOptions& options) {
    const size_t name_bytes = dns::flat_name_length(message.question);
    const Bytes name = Bytes(message.question).first(name_bytes);
    return encode(key_of(dns::to_vector(name), load_be16(name.data() + name_bytes)), message.wire(),
                  options);
  }
  EncodeStatus status_of(const MessageBuilder& message) {
    return encode_wire(message).encoded.status;
  }
};

}  // namespace wirecache::cache

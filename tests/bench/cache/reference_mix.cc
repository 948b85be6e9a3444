#include "tests/bench/cache/reference_mix.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "lib/dns/types.h"

namespace wirecache::bench {
namespace {

struct TtlShare {
  uint32_t sec;
  uint32_t percent;
};
constexpr TtlShare kTtls[] = {{1, 1},    {5, 2},     {10, 3},    {20, 4},   {30, 8},
                              {60, 20},  {120, 8},   {300, 24},  {600, 6},  {900, 3},
                              {1800, 4}, {3600, 10}, {14400, 3}, {86400, 4}};

constexpr std::string_view kTopLevels[] = {"com", "net", "org"};
constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr size_t kCodeLetters = 6;  // of 5 bits: the index
constexpr size_t kMostLetters = 16;
constexpr uint16_t kUdpSize = 1232;

// Each aspect of a question has a stream of its own, so that one can be had without the others.
enum class Aspect : uint64_t { kName = 1, kKind = 2, kTtl = 3, kData = 4 };

Draw draw_for(uint64_t seed, uint64_t index, Aspect aspect) {
  Draw mixed(seed ^ static_cast<uint64_t>(aspect) << 56);
  return Draw(mixed.next() + index * 0xd1342543de82ef95);
}

struct Kind {
  uint16_t type;
  uint32_t records;
};

Kind kind_of(uint64_t seed, uint64_t index) {
  Draw draw = draw_for(seed, index, Aspect::kKind);
  const uint32_t percent = draw.below(100);
  const dns::RrType type = percent < 56   ? dns::RrType::kA
                           : percent < 81 ? dns::RrType::kAaaa
                                          : dns::RrType::kTxt;
  return {static_cast<uint16_t>(type), 1 + draw.below(4)};
}

// The length of the next record's data.
uint32_t draw_rdata_bytes(Draw& data, uint16_t type) {
  switch (static_cast<dns::RrType>(type)) {
    case dns::RrType::kA:
      return 4;
    case dns::RrType::kAaaa:
      return 16;
    default:
      return 1 + 64 + data.below(161);
  }
}

uint8_t* write_rdata(Draw& data, uint16_t type, uint32_t bytes, uint8_t* out) {
  const bool is_text = static_cast<dns::RrType>(type) == dns::RrType::kTxt;
  if (is_text) *out++ = static_cast<uint8_t>(bytes-- - 1);
  for (uint32_t done = 0; done < bytes; done += sizeof(uint64_t)) {
    const uint64_t random = data.next();
    std::memcpy(out + done, &random, std::min<size_t>(sizeof random, bytes - done));
  }
  return out + bytes;
}

uint8_t* put16(uint8_t* out, uint16_t v) {
  store_be16(out, v);
  return out + sizeof v;
}

uint8_t* put_header_and_question(const Question& question, uint16_t flags, uint16_t answers,
                                 uint8_t* out) {
  for (const uint16_t v : {uint16_t{0x5eed}, flags, uint16_t{1}, answers, uint16_t{0}, uint16_t{1}})
    out = put16(out, v);
  std::memcpy(out, question.name_bytes.data(), question.name_size);
  out = put16(out + question.name_size, question.type);
  return put16(out, static_cast<uint16_t>(dns::RrClass::kIn));
}

uint8_t* put_opt(uint8_t* out) {
  *out++ = 0;
  out = put16(out, static_cast<uint16_t>(dns::RrType::kOpt));
  out = put16(out, kUdpSize);
  std::memset(out, 0, 6);
  return out + 6;
}

}  // namespace

Question ReferenceMix::question(uint64_t index) const {
  Draw draw = draw_for(seed_, index, Aspect::kName);
  // 6 to 16 letters, of which 6 are the index, turned about without losing a bit.
  const size_t letters = kCodeLetters + draw.below(kMostLetters - kCodeLetters + 1);
  std::array<uint8_t, kMostLetters> text;
  uint64_t code = index * 0x2545f491 & (kMostQuestions - 1);
  for (size_t i = 0; i < kCodeLetters; ++i, code >>= 5) text[i] = kLetters[code & 31];
  for (size_t i = kCodeLetters; i < letters; ++i) text[i] = kLetters[draw.below(36)];

  const size_t host_letters = 1 + draw.below(static_cast<uint32_t>(letters - 1));
  const std::string_view top = kTopLevels[draw.below(3)];
  Question out;
  uint8_t* p = out.name_bytes.data();
  *p++ = static_cast<uint8_t>(host_letters);
  p = std::copy_n(text.data(), host_letters, p);
  *p++ = static_cast<uint8_t>(letters - host_letters);
  p = std::copy_n(text.data() + host_letters, letters - host_letters, p);
  *p++ = static_cast<uint8_t>(top.size());
  p = std::copy_n(top.data(), top.size(), p);
  *p++ = 0;
  out.name_size = static_cast<uint8_t>(p - out.name_bytes.data());
  out.type = kind_of(seed_, index).type;
  return out;
}

uint32_t ReferenceMix::ttl_sec(uint64_t index) const {
  Draw draw = draw_for(seed_, index, Aspect::kTtl);
  uint32_t percent = draw.below(100);
  const TtlShare* share = kTtls;
  for (; percent >= share->percent; ++share) percent -= share->percent;
  return draw.below(2) == 0 ? share->sec : 1 + draw.below(share->sec);
}

uint32_t ReferenceMix::payload_bytes(uint64_t index) const {
  const Question question = this->question(index);
  const Kind kind = kind_of(seed_, index);
  Draw lengths = draw_for(seed_, index, Aspect::kData);
  uint32_t total = question.name_size;
  for (uint32_t i = 0; i < kind.records; ++i) total += draw_rdata_bytes(lengths, kind.type);
  return total;
}

uint16_t ReferenceMix::write_answer(uint64_t index, uint8_t* out) const {
  constexpr uint16_t kResponse = dns::kFlagQr | dns::kFlagRd | dns::kFlagRa;
  constexpr uint16_t kQuestionPointer = 0xc000 | dns::kHeaderBytes;
  const Kind kind = kind_of(seed_, index);
  const uint32_t ttl = ttl_sec(index);
  Draw lengths = draw_for(seed_, index, Aspect::kData);
  Draw data(lengths.next() ^ index);
  lengths = draw_for(seed_, index, Aspect::kData);
  uint8_t* p =
      put_header_and_question(question(index), kResponse, static_cast<uint16_t>(kind.records), out);
  for (uint32_t i = 0; i < kind.records; ++i) {
    p = put16(p, kQuestionPointer);
    p = put16(p, kind.type);
    p = put16(p, static_cast<uint16_t>(dns::RrClass::kIn));
    store_be32(p, ttl);
    const uint32_t bytes = draw_rdata_bytes(lengths, kind.type);
    p = put16(p + sizeof ttl, static_cast<uint16_t>(bytes));
    p = write_rdata(data, kind.type, bytes, p);
  }
  return static_cast<uint16_t>(put_opt(p) - out);
}

uint16_t ReferenceMix::write_query(uint64_t index, uint8_t* out) const {
  uint8_t* p = put_header_and_question(question(index), dns::kFlagRd, 0, out);
  return static_cast<uint16_t>(put_opt(p) - out);
}

}  // namespace wirecache::bench

#include "lib/cache/plain_encoder.h"

#include <algorithm>
#include <limits>

#include "lib/cache/block_format.h"
#include "lib/cache/entry_head.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"

namespace wirecache::cache {
namespace {

// Where more came, comparing each with each would take long.
constexpr uint16_t kMostPlainRecords = 8;
constexpr uint16_t kPointerToQuestion = 0xc000 | dns::kHeaderBytes;

// Reads the message front to back, taking only what is expected there.
class PlainAnswer {
 public:
  PlainAnswer(const Key& key, Bytes message, Writer& out)
      : key_(key), message_(message), in_(message), shape_(dns::rdata_shape(key.type)), out_(out) {}

  // Writes the records' data.
  bool encode();
  bool has_ad() const { return (header_.flags & dns::kFlagAd) != 0; }
  uint32_t ttl() const { return ttl_; }

 private:
  bool read_question();
  bool take_record();
  bool is_known(Bytes rdata) const;
  bool read_opt();

  const Key& key_;
  Bytes message_;
  Reader in_;
  dns::RdataShape shape_;
  Writer& out_;
  dns::Header header_;
  uint32_t ttl_ = std::numeric_limits<uint32_t>::max();
  size_t taken_ = 0;
  std::array<Bytes, kMostPlainRecords> rdata_;
};

bool PlainAnswer::encode() {
  const RdataForm form = rdata_form(shape_);
  if (form != RdataForm::kFixed && form != RdataForm::kText) return false;
  if (!read_question()) return false;
  for (unsigned i = 0; i < header_.answer_count; ++i) {
    if (!take_record()) return false;
  }
  return (header_.additional_count == 0 || read_opt()) && in_.at_end();
}

bool PlainAnswer::read_question() {
  Bytes name;
  uint16_t type;
  uint16_t rr_class;
  return message_.size() <= std::numeric_limits<uint16_t>::max() &&
         dns::read_header(message_, header_) && header_.rcode() == dns::Rcode::kNoError &&
         header_.question_count == 1 && header_.answer_count != 0 &&
         header_.answer_count <= kMostPlainRecords && header_.authority_count == 0 &&
         header_.additional_count <= 1 && in_.skip(dns::kHeaderBytes) &&
         in_.bytes(key_.name.size(), name) && dns::names_equal(name, key_.name) && in_.u16(type) &&
         in_.u16(rr_class) && type == key_.type &&
         rr_class == static_cast<uint16_t>(dns::RrClass::kIn);
}

bool PlainAnswer::take_record() {
  uint16_t owner;
  uint16_t type;
  uint16_t rr_class;
  uint32_t ttl;
  uint16_t bytes;
  Bytes rdata;
  if (!in_.u16(owner) || !in_.u16(type) || !in_.u16(rr_class) || !in_.u32(ttl) || !in_.u16(bytes) ||
      !in_.bytes(bytes, rdata)) {
    return false;
  }
  if (owner != kPointerToQuestion || type != key_.type ||
      rr_class != static_cast<uint16_t>(dns::RrClass::kIn)) {
    return false;
  }
  if (shape_.fixed_bytes != 0 && bytes != shape_.fixed_bytes) return false;
  ttl_ = std::min(ttl_, ttl);
  if (is_known(rdata)) return true;
  rdata_[taken_++] = rdata;
  return shape_.fixed_bytes != 0 ? out_.bytes(rdata) : write_text(out_, rdata);
}

bool PlainAnswer::is_known(Bytes rdata) const {
  return std::any_of(rdata_.begin(), rdata_.begin() + static_cast<std::ptrdiff_t>(taken_),
                     [&](Bytes other) {
                       return other.size() == rdata.size() &&
                              std::memcmp(other.data(), rdata.data(), rdata.size()) == 0;
                     });
}

// One that says nothing beside size, version and DO.
bool PlainAnswer::read_opt() {
  uint8_t owner;
  uint16_t type;
  uint16_t udp_size;
  uint32_t ttl;
  uint16_t bytes;
  return in_.u8(owner) && in_.u16(type) && in_.u16(udp_size) && in_.u32(ttl) && in_.u16(bytes) &&
         owner == 0 && type == static_cast<uint16_t>(dns::RrType::kOpt) && ttl >> 24 == 0 &&
         bytes == 0;
}

}  // namespace

uint32_t stored_ttl(uint32_t ttl, const EncodeOptions& options) {
  if (ttl == 0) return 0;
  const uint32_t most = std::min(options.max_ttl_sec, kMaxLifetimeSec);
  return std::min(std::max(ttl, options.min_ttl_sec), most);
}

bool encode_plain(const Key& key, Bytes message, const EncodeOptions& options, MutableBytes scratch,
                  Encoded& encoded) {
  const EntryHead head(key, EntryShape::kPlain, {});
  if (scratch.size() < head.short_bytes()) return false;
  Writer out(scratch.first(std::min(scratch.size(), kMaxEntryBytes)), head.short_bytes());
  PlainAnswer answer(key, message, out);
  if (!out.bytes(key.name) || !answer.encode()) return false;
  EntryFields fields{.now_sec = options.now_sec, .lifetime_sec = stored_ttl(answer.ttl(), options)};
  if (options.fetched_with_do) fields.flags |= kEntryFetchedWithDo;
  if (options.keep_ad && answer.has_ad()) fields.flags |= kEntryAd;
  const uint16_t bytes = head.finish(out, fields);
  if (bytes == 0) return false;
  encoded = {.status = fields.lifetime_sec == 0 ? EncodeStatus::kUseOnce : EncodeStatus::kKeep,
             .size_bytes = bytes,
             .lifetime_sec = fields.lifetime_sec};
  return true;
}

}  // namespace wirecache::cache

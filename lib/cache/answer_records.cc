#include "lib/cache/answer_records.h"

namespace wirecache::cache {
namespace {

using dns::RrType;

// Tells records and owners apart quickly. Not keyed: whoever makes two things collide loses a
// record of his own answer.
class Digest {
 public:
  void add(Bytes bytes) {
    size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + i, sizeof word);
      mix(word);
    }
    uint64_t rest = 0;
    if (i < bytes.size()) std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
    mix(rest ^ static_cast<uint64_t>(bytes.size()) << 56);
  }
  void add_name(Bytes name) {
    std::array<uint8_t, dns::kMaxNameBytes> lower;
    dns::lower_name(name, lower.data());
    add(Bytes(lower).first(name.size()));
  }
  uint64_t value() const { return value_; }

 private:
  void mix(uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 29;
  }
  uint64_t value_ = 0x243f6a8885a308d3u;
};

uint64_t name_digest(Bytes name) {
  Digest digest;
  digest.add_name(name);
  return digest.value();
}

uint64_t rdata_digest(const RdataParts& parts) {
  Digest digest;
  digest.add(parts.before);
  for (unsigned i = 0; i < parts.name_count; ++i) digest.add_name(parts.names[i].view());
  digest.add(parts.after);
  return digest.value();
}

bool is_question(const dns::Question& question, const Key& key) {
  return question.rr_class == static_cast<uint16_t>(dns::RrClass::kIn) &&
         question.type == key.type && dns::names_equal(question.name.view(), key.name);
}

// Where the records begin; the message has a well-formed question.
size_t question_end(Bytes message) {
  Reader reader(message, dns::kHeaderBytes);
  return dns::skip_name(message, reader) && reader.skip(4) ? reader.position() : message.size();
}

// Records about the message itself.
bool is_about_message(const dns::Record& record) {
  switch (static_cast<RrType>(record.type)) {
    case RrType::kOpt:
    case RrType::kTsig:
    case RrType::kTkey:
      return true;
    default:
      return false;
  }
}

bool is_opt(const dns::Record& record) {
  return record.type == static_cast<uint16_t>(RrType::kOpt);
}
// The upper 8 bits of the rcode, RFC 6891 §6.1.3: what is not known here is no answer.
bool has_extended_rcode(const dns::Record& record) {
  return is_opt(record) && record.ttl >> 24 != 0;
}

}  // namespace

AnswerRecords::Status AnswerRecords::read(const Key& key, Bytes message) {
  message_ = message;
  opt_ = {};
  count_ = 0;
  owner_count_ = 0;
  dns::MessageWalk walk(message);
  dns::Question question;
  if (!walk.begin(header_, question) || !is_question(question, key)) return Status::kMalformed;
  size_t owner_at = question_end(message);
  dns::Record record;
  for (;;) {
    switch (walk.next(record)) {
      case dns::MessageWalk::Step::kDone:
        return Status::kOk;
      case dns::MessageWalk::Step::kMalformed:
        return Status::kMalformed;
      case dns::MessageWalk::Step::kRecord:
        break;
    }
    if (has_extended_rcode(record)) return Status::kMalformed;
    if (is_opt(record)) opt_ = message.subspan(record.rdata_offset, record.rdata_bytes);
    if (record.rr_class == static_cast<uint16_t>(dns::RrClass::kIn) && !is_about_message(record)) {
      const Status status = add(record, static_cast<uint16_t>(owner_at));
      if (status != Status::kOk) return status;
    }
    owner_at = size_t{record.rdata_offset} + record.rdata_bytes;
  }
}

AnswerRecords::Status AnswerRecords::add(const dns::Record& record, uint16_t owner_at) {
  if (count_ == kMostRecords) return Status::kTooMany;
  AnswerRecord& kept = records_[count_];
  kept.rdata = {record.type, record.rdata_offset, record.rdata_bytes};
  kept.section = record.section;
  kept.ttl = record.ttl;
  kept.next = kNoRecord;
  RdataParts parts;
  if (!split_rdata(message_, kept.rdata, parts)) return Status::kMalformed;
  kept.digest = rdata_digest(parts);
  const bool signature = record.type == static_cast<uint16_t>(RrType::kRrsig);
  kept.covered = signature ? load_be16(parts.before.data()) : 0;
  kept.owner = number_owner(record.owner.view(), owner_at);
  ++count_;
  return Status::kOk;
}

uint16_t AnswerRecords::number_owner(Bytes name, uint16_t at) {
  const uint16_t known = find_owner(name);
  if (known != kNoOwner) return known;
  owners_[owner_count_] = {name_digest(name), at};
  return static_cast<uint16_t>(owner_count_++);
}

uint16_t AnswerRecords::find_owner(Bytes name) const {
  constexpr unsigned kMostComparisons =
      8;  // digests that are equal by design cost no more than this
  const uint64_t digest = name_digest(name);
  unsigned comparisons = 0;
  for (size_t i = 0; i < owner_count_ && comparisons < kMostComparisons; ++i) {
    if (owners_[i].digest != digest) continue;
    dns::FlatName known;
    read_owner(static_cast<uint16_t>(i), known);
    if (dns::names_equal(known.view(), name)) return static_cast<uint16_t>(i);
    ++comparisons;
  }
  return kNoOwner;
}

void AnswerRecords::read_owner(uint16_t owner, dns::FlatName& name) const {
  Reader reader(message_, owners_[owner].at);
  static_cast<void>(dns::read_name(message_, reader, name));  // has succeeded before
}

}  // namespace wirecache::cache

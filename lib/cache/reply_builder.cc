#include <algorithm>
#include <array>

#include "lib/cache/block_format.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/name_packer.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"
#include "lib/dns/reply.h"

namespace wirecache::cache {
namespace {

constexpr uint16_t kPointer = 0xc000;     // RFC 1035 §4.1.4
constexpr size_t kPointerReach = 0x4000;  // a pointer has 14 bits
constexpr uint16_t kRootOffset = 0;       // stands for the root, which takes no pointer

// Reads the blocks of an entry, which encode_answer wrote and which is trusted, and writes them as
// records.
class RecordWriter {
 public:
  enum class Result : uint8_t { kComplete, kTruncated };

  RecordWriter(EntryView entry, const dns::Query& query, const ReplyOptions& options, Writer& out)
      : entry_(entry),
        in_(entry.blocks().data()),
        wants_dnssec_(query.edns.dnssec_ok),
        age_sec_(entry.age_sec(options.now_sec)),
        out_(out) {}

  // Writes what fits; kTruncated where something is missing that may not be left out.
  Result write_all();
  const dns::SectionCounts& counts() const { return counts_; }

 private:
  // What stands between a block's owner and its records.
  struct BlockTail {
    uint16_t type;
    uint32_t ttl;
    unsigned records;
  };

  bool write_block(uint8_t control);
  void skip_block(uint8_t control);
  bool write_owner(uint8_t control);
  BlockTail read_tail(uint8_t control);
  bool write_rdata(const dns::RdataShape& shape);
  bool write_named_rdata(const dns::RdataShape& shape);
  bool copy(size_t bytes);
  size_t read_opaque_length();

  // These take the packed name at in_.
  bool write_compressed(bool numbered, uint16_t& place);
  bool write_whole();
  void skip_name();

  bool write_label(bool numbered);
  uint16_t read_ref();
  bool write_pointer(uint16_t offset);
  size_t question_label(unsigned number) const;
  uint16_t question_offset() const {
    return entry_.name_bytes() == 1 ? kRootOffset : uint16_t{dns::kHeaderBytes};
  }
  uint16_t& count_of(uint8_t section);

  EntryView entry_;
  const uint8_t* in_;
  bool wants_dnssec_;
  uint32_t age_sec_;
  Writer& out_;
  dns::SectionCounts counts_;
  uint16_t last_owner_ = kRootOffset;
  unsigned labels_ = 0;
  std::array<uint16_t, kLabelRefs> label_offsets_;
};

RecordWriter::Result RecordWriter::write_all() {
  constexpr auto kAnswer = static_cast<uint8_t>(dns::Section::kAnswer);
  constexpr auto kAuthority = static_cast<uint8_t>(dns::Section::kAuthority);
  const bool is_negative = (entry_.flags() & kEntryNegative) != 0;
  uint8_t section = kAnswer;
  size_t section_start = out_.position();
  for (unsigned i = 0; i < entry_.rrset_count(); ++i) {
    const uint8_t control = *in_++;
    if ((control & kBlockSectionMask) != section) {
      section = control & kBlockSectionMask;
      section_start = out_.position();
    }
    if ((control & kBlockDnssec) != 0 && !wants_dnssec_) {
      skip_block(control);
      continue;
    }
    if (write_block(control)) continue;
    if (section == kAnswer || (section == kAuthority && is_negative)) return Result::kTruncated;
    // This section is left out whole, and so is what comes behind it.
    out_.rewind(section_start);
    count_of(section) = 0;
    break;
  }
  return Result::kComplete;
}

uint16_t& RecordWriter::count_of(uint8_t section) {
  switch (static_cast<dns::Section>(section)) {
    case dns::Section::kAnswer:
      return counts_.answer;
    case dns::Section::kAuthority:
      return counts_.authority;
    default:
      return counts_.additional;
  }
}

bool RecordWriter::write_block(uint8_t control) {
  if (!write_owner(control)) return false;
  const BlockTail tail = read_tail(control);
  const dns::RdataShape shape = dns::rdata_shape(tail.type);
  // Class IN between type and TTL; the data's length behind them is filled in once it is known.
  std::array<uint8_t, 10> head;
  store_be16(&head[0], tail.type);
  store_be16(&head[2], static_cast<uint16_t>(dns::RrClass::kIn));
  store_be32(&head[4], tail.ttl > age_sec_ ? tail.ttl - age_sec_ : 0);
  store_be16(&head[8], shape.fixed_bytes);
  for (unsigned i = 0; i < tail.records; ++i) {
    if (i != 0 && !write_pointer(last_owner_)) return false;
    if (!out_.bytes(head)) return false;
    const size_t rdata_start = out_.position();
    if (!write_rdata(shape)) return false;
    store_be16(out_.data() + rdata_start - 2, static_cast<uint16_t>(out_.position() - rdata_start));
  }
  count_of(control & kBlockSectionMask) += static_cast<uint16_t>(tail.records);
  return true;
}

// For DO alone: its owner's labels are not numbered and its data is opaque.
void RecordWriter::skip_block(uint8_t control) {
  const BlockOwner owner = block_owner(control);
  if (owner == BlockOwner::kNamed) skip_name();
  if (owner == BlockOwner::kQuestion) last_owner_ = question_offset();
  const BlockTail tail = read_tail(control);
  for (unsigned i = 0; i < tail.records; ++i) in_ += read_opaque_length();
}

bool RecordWriter::write_owner(uint8_t control) {
  switch (block_owner(control)) {
    case BlockOwner::kQuestion:
      last_owner_ = question_offset();
      return write_pointer(last_owner_);
    case BlockOwner::kAsBefore:
      return write_pointer(last_owner_);
    default:
      return write_compressed((control & kBlockDnssec) == 0, last_owner_);
  }
}

RecordWriter::BlockTail RecordWriter::read_tail(uint8_t control) {
  BlockTail tail = {entry_.type(), entry_.lifetime_sec(), 1};
  if ((control & kBlockTypeOfQuestion) == 0) {
    tail.type = *in_++;
    if (tail.type == 0) {
      tail.type = load_le16(in_);
      in_ += 2;
    }
  }
  if ((control & kBlockTtlIsLifetime) == 0) {
    tail.ttl = load_le24(in_);
    in_ += 3;
  }
  if ((control & kBlockOneRecord) == 0) tail.records = *in_++;
  return tail;
}

bool RecordWriter::write_rdata(const dns::RdataShape& shape) {
  switch (rdata_form(shape)) {
    case RdataForm::kFixed:
      return copy(shape.fixed_bytes);
    case RdataForm::kNames:
      return write_named_rdata(shape);
    default:
      return copy(read_opaque_length());
  }
}

bool RecordWriter::write_named_rdata(const dns::RdataShape& shape) {
  size_t before = shape.before;
  for (unsigned i = 0; i < shape.strings; ++i) before += 1 + size_t{in_[before]};
  if (!copy(before)) return false;
  for (unsigned i = 0; i < shape.names; ++i) {
    uint16_t place;
    const bool fits = shape.names_kind == dns::RdataNames::kCompressible
                          ? write_compressed(true, place)
                          : write_whole();
    if (!fits) return false;
  }
  return copy(shape.after);
}

bool RecordWriter::copy(size_t bytes) {
  if (!out_.bytes({in_, bytes})) return false;
  in_ += bytes;
  return true;
}

size_t RecordWriter::read_opaque_length() {
  const size_t length = *in_++;
  if (length != kLongLength) return length;
  in_ += 2;
  return load_le16(in_ - 2);
}

// `place`: what a pointer to this name is to point at; no pointer to a pointer.
bool RecordWriter::write_compressed(bool numbered, uint16_t& place) {
  const bool has_labels = *in_ != kNameRoot && *in_ < kNameLabelRef;
  place = static_cast<uint16_t>(out_.position());
  while (*in_ != kNameRoot && *in_ < kNameLabelRef) {
    if (!write_label(numbered)) return false;
  }
  const uint16_t rest = read_ref();
  if (!has_labels) place = rest;
  return write_pointer(rest);
}

// Such a name refers to the question alone, by which its case is that of the entry's name.
bool RecordWriter::write_whole() {
  while (*in_ != kNameRoot && *in_ < kNameLabelRef) {
    if (!write_label(true)) return false;
  }
  const uint8_t end = *in_++;
  if (end == kNameRoot) return out_.u8(0);
  return out_.bytes(entry_.name().subspan(question_label(end & (kQuestionRefs - 1))));
}

void RecordWriter::skip_name() {
  while (*in_ != kNameRoot && *in_ < kNameLabelRef) in_ += 1 + size_t{*in_};
  in_ += *in_ == (kNameLabelRef | kNameLabelRefLong) ? 2 : 1;
}

bool RecordWriter::write_label(bool numbered) {
  if (numbered && labels_ < kLabelRefs) {
    label_offsets_[labels_++] = static_cast<uint16_t>(out_.position());
  }
  return copy(1 + size_t{*in_});
}

// Where in the reply that stands what the end of a packed name refers to.
uint16_t RecordWriter::read_ref() {
  const uint8_t end = *in_++;
  if (end == kNameRoot) return kRootOffset;
  if ((end & kNameQuestionRef) != 0) {
    return static_cast<uint16_t>(dns::kHeaderBytes + question_label(end & (kQuestionRefs - 1)));
  }
  unsigned number = end & (kNameLabelRef - 1);
  if (number == kNameLabelRefLong) number += *in_++;
  return label_offsets_[number];
}

bool RecordWriter::write_pointer(uint16_t offset) {
  if (offset == kRootOffset) return out_.u8(0);
  if (offset < kPointerReach) return out_.u16(static_cast<uint16_t>(kPointer | offset));
  // Beyond a pointer's reach the name is written again; what is read here was written here.
  dns::FlatName name;
  const Bytes written(out_.data(), out_.position());
  Reader reader(written, offset);
  return dns::read_name(written, reader, name) && out_.bytes(name.view());
}

// Where in the question's name its label `number` starts.
size_t RecordWriter::question_label(unsigned number) const {
  const Bytes name = entry_.name();
  size_t at = 0;
  for (; number != 0; --number) at += 1 + size_t{name[at]};
  return at;
}

size_t reply_limit(const dns::Query& query, const ReplyOptions& options, size_t room) {
  const size_t client = query.edns.present
                            ? std::max<size_t>(query.edns.udp_size, dns::kMinUdpBytes)
                            : dns::kMinUdpBytes;
  return std::min({client, size_t{options.max_reply_bytes}, room});
}

// AD only for who understands it (RFC 6840 §5.7).
uint16_t ad_flag(EntryView entry, const dns::Query& query) {
  const bool is_asked_for = query.edns.dnssec_ok || query.ad();
  return (entry.flags() & kEntryAd) != 0 && is_asked_for ? dns::kFlagAd : 0;
}

}  // namespace

ReplyResult build_reply(EntryView entry, const dns::Query& query, const ReplyOptions& options,
                        MutableBytes message) {
  const size_t limit = reply_limit(query, options, message.size());
  const size_t question_end = dns::kHeaderBytes + query.question_bytes();
  const size_t opt_bytes = query.edns.present ? dns::kOptBytes : 0;
  if (limit < question_end + opt_bytes) return {};

  Writer records(message.first(limit - opt_bytes), question_end);
  RecordWriter writer(entry, query, options, records);
  const bool truncated = writer.write_all() == RecordWriter::Result::kTruncated;
  const uint16_t flags = truncated ? dns::kFlagTc : ad_flag(entry, query);
  dns::SectionCounts counts = truncated ? dns::SectionCounts{} : writer.counts();
  if (query.edns.present) ++counts.additional;
  dns::write_reply_header(message.data(), query, entry.rcode(), flags, counts);

  Writer out(message.first(limit), truncated ? question_end : records.position());
  if (query.edns.present && !dns::write_opt(out, query.edns, entry.rcode(), options.udp_size)) {
    return {};
  }
  return {.bytes = static_cast<uint16_t>(out.position()), .truncated = truncated};
}

}  // namespace wirecache::cache

#include <algorithm>
#include <array>
#include <limits>

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
constexpr unsigned kAllRecords = std::numeric_limits<unsigned>::max();

// Type, class, TTL and the data's length: what stands between a record's owner and its data.
constexpr size_t kRecordHeadBytes = 10;
using RecordHead = std::array<uint8_t, kRecordHeadBytes>;

RecordHead record_head(uint16_t type, uint32_t ttl, uint16_t rdata_bytes) {
  RecordHead head;
  store_be16(&head[0], type);
  store_be16(&head[2], static_cast<uint16_t>(dns::RrClass::kIn));
  store_be32(&head[4], ttl);
  store_be16(&head[8], rdata_bytes);
  return head;
}

// TTLs fall to 0 and stay there.
uint32_t ttl_from(int32_t remaining_sec, uint32_t above_lifetime = 0) {
  return static_cast<uint32_t>(std::max(remaining_sec + static_cast<int32_t>(above_lifetime), 0));
}

// Reads the blocks of an entry, which encode_answer wrote and which is trusted, and writes them as
// records.
class RecordWriter {
 public:
  enum class Result : uint8_t { kComplete, kTruncated };

  RecordWriter(EntryView entry, const dns::Query& query, const ReplyOptions& options, Writer& out)
      : entry_(entry),
        name_bytes_(query.qname_bytes),
        wants_dnssec_(query.edns.dnssec_ok),
        remaining_sec_(entry.remaining_sec(options.now_sec)),
        rotation_(options.rotation),
        out_(out) {
    const Bytes records = entry.records(name_bytes_);
    name_ = records.data() - name_bytes_;
    in_ = records.data();
    end_ = in_ + records.size();
  }

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

  Result write_blocks();
  bool write_block(uint8_t control);
  void skip_block(uint8_t control);
  bool write_owner(uint8_t control);
  BlockTail read_tail(uint8_t control);
  uint32_t read_above_lifetime();
  unsigned write_fixed(const BlockTail& tail, unsigned bytes);
  unsigned write_others(const BlockTail& tail, const dns::RdataShape& shape);
  bool write_rdata(const dns::RdataShape& shape);
  bool write_named_rdata(const dns::RdataShape& shape);
  bool write_text();
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
    return name_bytes_ == 1 ? kRootOffset : uint16_t{dns::kHeaderBytes};
  }
  uint16_t& count_of(uint8_t section);

  EntryView entry_;
  size_t name_bytes_;
  const uint8_t* name_;
  const uint8_t* in_;
  const uint8_t* end_;
  bool wants_dnssec_;
  int32_t remaining_sec_;
  uint32_t rotation_;
  Writer& out_;
  dns::SectionCounts counts_;
  uint16_t last_owner_ = kRootOffset;
  unsigned labels_ = 0;
  std::array<uint16_t, kLabelRefs> label_offsets_;
};

RecordWriter::Result RecordWriter::write_all() {
  if (!entry_.is_plain()) return write_blocks();
  return write_block(kPlainControl) ? Result::kComplete : Result::kTruncated;
}

RecordWriter::Result RecordWriter::write_blocks() {
  constexpr auto kAnswer = static_cast<uint8_t>(dns::Section::kAnswer);
  constexpr auto kAuthority = static_cast<uint8_t>(dns::Section::kAuthority);
  const bool is_negative = entry_.outcome() != EntryOutcome::kPositive;
  uint8_t section = kAnswer;
  size_t section_start = out_.position();
  while (in_ != end_) {
    const uint8_t control = *in_++;
    if (block_section(control) != section) {
      section = block_section(control);
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
  const unsigned records =
      shape.fixed_bytes != 0 ? write_fixed(tail, shape.fixed_bytes) : write_others(tail, shape);
  count_of(block_section(control)) += static_cast<uint16_t>(records);
  return records != 0;
}

// Records of one length, addresses in turn. How many there are, 0 where they do not fit; as below.
unsigned RecordWriter::write_fixed(const BlockTail& tail, unsigned bytes) {
  const auto left = static_cast<unsigned>(end_ - in_) / bytes;
  const unsigned records = std::min(tail.records, left);
  const RecordHead head = record_head(tail.type, tail.ttl, static_cast<uint16_t>(bytes));
  unsigned next = dns::is_address_type(tail.type) ? rotation_ % records : 0;
  for (unsigned i = 0; i < records; ++i) {
    if (i != 0 && !write_pointer(last_owner_)) return 0;
    if (!out_.bytes(head) || !out_.bytes({in_ + next * bytes, bytes})) return 0;
    if (++next == records) next = 0;
  }
  in_ += records * bytes;
  return records;
}

unsigned RecordWriter::write_others(const BlockTail& tail, const dns::RdataShape& shape) {
  const RecordHead head = record_head(tail.type, tail.ttl, 0);
  unsigned records = 0;
  for (; records != tail.records && in_ != end_; ++records) {
    if (records != 0 && !write_pointer(last_owner_)) return 0;
    if (!out_.bytes(head)) return 0;
    const size_t rdata_start = out_.position();
    if (!write_rdata(shape)) return 0;
    // The length is known only now.
    store_be16(out_.data() + rdata_start - 2, static_cast<uint16_t>(out_.position() - rdata_start));
  }
  return records;
}

// For DO alone: its owner's labels are not numbered and its data is opaque.
void RecordWriter::skip_block(uint8_t control) {
  const BlockOwner owner = block_owner(control);
  if (owner == BlockOwner::kNamed) skip_name();
  if (owner == BlockOwner::kQuestion) last_owner_ = question_offset();
  const BlockTail tail = read_tail(control);
  for (unsigned i = 0; i != tail.records && in_ != end_; ++i) {
    const size_t bytes = read_opaque_length();
    in_ += bytes;
  }
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
  BlockTail tail = {entry_.type(), ttl_from(remaining_sec_), kAllRecords};
  if ((control & kBlockTypeOfQuestion) == 0) {
    tail.type = *in_++;
    if (tail.type == 0) {
      tail.type = load_le16(in_);
      in_ += 2;
    }
  }
  if ((control & kBlockTtlIsLifetime) == 0) {
    tail.ttl = ttl_from(remaining_sec_, read_above_lifetime());
  }
  if ((control & kBlockOneRecord) != 0) {
    tail.records = 1;
  } else if (!block_is_to_end(control)) {
    tail.records = *in_++;
  }
  return tail;
}

uint32_t RecordWriter::read_above_lifetime() {
  uint32_t value = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = *in_++;
    value |= static_cast<uint32_t>(byte & ~kTtlMore) << shift;
    shift += kTtlByteBits;
  } while ((byte & kTtlMore) != 0 && shift < kMostTtlBytes * kTtlByteBits);
  return value;
}

bool RecordWriter::write_rdata(const dns::RdataShape& shape) {
  switch (rdata_form(shape)) {
    case RdataForm::kNames:
      return write_named_rdata(shape);
    case RdataForm::kText:
      return write_text();
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

bool RecordWriter::write_text() {
  if (*in_ < kTextOpaque) return copy(1 + size_t{*in_});
  ++in_;
  return copy(read_opaque_length());
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
  return out_.bytes(Bytes(name_, name_bytes_).subspan(question_label(end & (kQuestionRefs - 1))));
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
  size_t at = 0;
  for (; number != 0; --number) at += 1 + size_t{name_[at]};
  return at;
}

// The commonest reply of all, without a loop over blocks: the addresses of the question's own name,
// in turn. How many there are; 0 where they do not fit.
template <size_t kAddressBytes>
uint16_t write_addresses(EntryView entry, const dns::Query& query, const ReplyOptions& options,
                         Writer& out) {
  constexpr size_t kBytes = sizeof kPointer + kRecordHeadBytes + kAddressBytes;
  const Bytes addresses = entry.records(query.qname_bytes);
  const auto records = static_cast<uint16_t>(addresses.size() / kAddressBytes);
  uint8_t* to = out.take(records * kBytes);
  if (to == nullptr) return 0;
  const RecordHead head = record_head(query.qtype, ttl_from(entry.remaining_sec(options.now_sec)),
                                      uint16_t{kAddressBytes});
  unsigned next = options.rotation == 0 ? 0 : options.rotation % records;
  for (unsigned i = 0; i < records; ++i, to += kBytes) {
    store_be16(to, kPointer | dns::kHeaderBytes);
    std::memcpy(to + sizeof kPointer, head.data(), kRecordHeadBytes);
    std::memcpy(to + sizeof kPointer + kRecordHeadBytes, &addresses[next * kAddressBytes],
                kAddressBytes);
    if (++next == records) next = 0;
  }
  return records;
}

// Answers of every other shape. Apart from the above, which needs no room for a RecordWriter.
[[gnu::noinline]] bool write_sections(EntryView entry, const dns::Query& query,
                                      const ReplyOptions& options, Writer& out,
                                      dns::SectionCounts& counts) {
  RecordWriter writer(entry, query, options, out);
  if (writer.write_all() == RecordWriter::Result::kTruncated) return false;
  counts = writer.counts();
  return true;
}

// Writes the records of all sections and counts them; false where TC must be set.
bool write_records(EntryView entry, const dns::Query& query, const ReplyOptions& options,
                   Writer& out, dns::SectionCounts& counts) {
  const bool is_root = query.qname_bytes == 1;
  switch (is_root ? FlaggedType::kOther : entry.flagged_type()) {
    case FlaggedType::kA:
      counts.answer = write_addresses<4>(entry, query, options, out);
      return counts.answer != 0;
    case FlaggedType::kAaaa:
      counts.answer = write_addresses<16>(entry, query, options, out);
      return counts.answer != 0;
    default:
      return write_sections(entry, query, options, out, counts);
  }
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
  return entry.has(kEntryAd) && is_asked_for ? dns::kFlagAd : 0;
}

// Ends the reply with our OPT, with the extended errors where they fit.
bool write_opt(EntryView entry, const dns::Query& query, const ReplyOptions& options, Writer& out) {
  Bytes errors = entry.extended_errors();
  if (out.remaining() < dns::kOptBytes + errors.size()) errors = {};
  return dns::write_opt(out, query.edns, entry.rcode(), options.udp_size, errors);
}

}  // namespace

ReplyResult build_reply(EntryView entry, const dns::Query& query, const ReplyOptions& options,
                        MutableBytes message) {
  const size_t limit = reply_limit(query, options, message.size());
  const size_t question_end = dns::kHeaderBytes + query.question_bytes();
  const size_t opt_bytes = query.edns.present ? dns::kOptBytes : 0;
  if (limit < question_end + opt_bytes) return {};

  Writer records(message.first(limit - opt_bytes), question_end);
  dns::SectionCounts counts;
  const bool truncated = !write_records(entry, query, options, records, counts);
  const uint16_t flags = truncated ? dns::kFlagTc : ad_flag(entry, query);
  if (query.edns.present) ++counts.additional;
  dns::write_reply_header(message.data(), query, entry.rcode(), flags, counts);

  Writer out(message.first(limit), truncated ? question_end : records.position());
  if (query.edns.present && !write_opt(entry, query, options, out)) return {};
  return {.bytes = static_cast<uint16_t>(out.position()), .truncated = truncated};
}

}  // namespace wirecache::cache

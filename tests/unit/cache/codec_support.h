// Messages as comparable records, and the way from an upstream's answer to a client's reply.
// Plain values; a message that does not parse fails the test that reads it.
#pragma once

#include <gtest/gtest.h>

#include <compare>
#include <ostream>
#include <vector>

#include "lib/cache/entry_codec.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"
#include "lib/dns/query.h"
#include "tests/unit/dns/hex.h"

namespace wirecache::cache {

using dns::WireBytes;
using dns::operator+;

// A record without compression; names without case where they are compressed, or owners.
struct PlainRecord {
  unsigned section = 0;
  WireBytes owner;
  uint16_t type = 0;
  uint32_t ttl = 0;
  WireBytes rdata;
  friend auto operator<=>(const PlainRecord&, const PlainRecord&) = default;
};

inline WireBytes lowered(WireBytes bytes) {
  for (uint8_t& c : bytes) c = dns::ascii_lower(c);
  return bytes;
}

// Case counts in all data but names that may come or go compressed: a pointer may lead to another
// spelling.
inline PlainRecord plain_record(unsigned section, WireBytes owner, uint16_t type, uint32_t ttl,
                                WireBytes rdata) {
  const dns::RdataNames kind = dns::rdata_shape(type).names_kind;
  const bool has_case = kind == dns::RdataNames::kNone || kind == dns::RdataNames::kVerbatim;
  return {section, lowered(std::move(owner)), type, ttl,
          has_case ? std::move(rdata) : lowered(std::move(rdata))};
}

inline void PrintTo(const PlainRecord& record, std::ostream* out) {
  *out << "section " << record.section << " type " << record.type << " ttl " << record.ttl
       << " owner " << std::string(record.owner.begin(), record.owner.end()) << " rdata "
       << testing::PrintToString(record.rdata);
}

struct ParsedMessage {
  bool is_well_formed = false;
  dns::Header header;
  bool has_opt = false;
  WireBytes options;                 // of the OPT
  std::vector<PlainRecord> records;  // without the OPT
};

inline ParsedMessage parse(Bytes message) {
  ParsedMessage out;
  dns::MessageWalk walk(message);
  dns::Question question;
  if (!walk.begin(out.header, question)) return out;
  dns::Record record;
  dns::MessageWalk::Step step;
  while ((step = walk.next(record)) == dns::MessageWalk::Step::kRecord) {
    if (record.type == static_cast<uint16_t>(dns::RrType::kOpt)) {
      out.has_opt = true;
      out.options = dns::to_vector(message.subspan(record.rdata_offset, record.rdata_bytes));
      continue;
    }
    RdataParts parts;
    if (!split_rdata(message, {record.type, record.rdata_offset, record.rdata_bytes}, parts)) {
      return out;
    }
    WireBytes rdata = dns::to_vector(parts.before);
    for (unsigned i = 0; i < parts.name_count; ++i) {
      rdata = rdata + dns::to_vector(parts.names[i].view());
    }
    rdata = rdata + dns::to_vector(parts.after);
    out.records.push_back(plain_record(static_cast<unsigned>(record.section),
                                       dns::to_vector(record.owner.view()), record.type, record.ttl,
                                       std::move(rdata)));
  }
  out.is_well_formed = step == dns::MessageWalk::Step::kDone;
  return out;
}

// An entry and how it came about.
struct TestEntry {
  Encoded encoded;
  WireBytes bytes;
  EntryView view() const { return EntryView(bytes.data()); }
};

class CodecTest : public testing::Test {
 protected:
  static constexpr uint32_t kNow = 1'000'000;

  static EncodeOptions options() {
    return {.now_sec = kNow, .fetched_with_do = true, .keep_ad = true};
  }

  Key key_of(const WireBytes& name, uint16_t type) {
    return key_buffer_.make(secret_, name, type, dns::CdBit::kClear, 0);
  }
  // The entry of the question that `query` asks.
  TestEntry encode(const WireBytes& query, const WireBytes& upstream,
                   const EncodeOptions& options) {
    const dns::Query parsed = parse_query(query);
    const Bytes name = Bytes(query).subspan(dns::kHeaderBytes, parsed.qname_bytes);
    return encode(key_of(dns::to_vector(name), parsed.qtype), upstream, options);
  }
  TestEntry encode(const Key& key, const WireBytes& upstream, const EncodeOptions& options) {
    TestEntry entry;
    entry.bytes.resize(kMaxEntryBytes);
    entry.encoded = encode_answer(key, upstream, options, entry.bytes);
    entry.bytes.resize(entry.encoded.size_bytes);
    entry.bytes.shrink_to_fit();
    EXPECT_EQ(entry.encoded.size_bytes != 0, entry_is_well_formed(entry.bytes));
    return entry;
  }
  static dns::Query parse_query(const WireBytes& query) {
    dns::Query parsed;
    EXPECT_EQ(dns::parse_query(query, parsed), dns::QueryStatus::kOk);
    return parsed;
  }
  // The reply to `query` in a buffer of `room` bytes full of what must not be left behind.
  static WireBytes reply(const TestEntry& entry, const WireBytes& query,
                         const ReplyOptions& options, size_t room = 65535) {
    WireBytes message(room, 0xa5);
    std::copy_n(query.begin(), std::min(query.size(), room), message.begin());
    const ReplyResult result = build_reply(entry.view(), parse_query(query), options, message);
    EXPECT_EQ(result.bytes != 0 && (message[2] & 2) != 0, result.truncated);
    message.resize(result.bytes);
    return message;
  }

  HashSecret secret_ = HashSecret::from_seed(1);
  KeyBuffer key_buffer_;
};

}  // namespace wirecache::cache

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/cache/codec_fixtures.h"
#include "tests/unit/cache/codec_support.h"

namespace wirecache::cache {
namespace {

using dns::from_hex;

constexpr ReplyOptions kLarge = {.now_sec = 1'000'000, .max_reply_bytes = 65535};

// The records that a reply is to hold, by section, in no order within it.
std::vector<PlainRecord> expected(const Fixture& fixture, bool with_do) {
  std::vector<PlainRecord> records;
  for (const FixtureRecord& record : fixture.records) {
    if (record.is_for_do && !with_do) continue;
    records.push_back(plain_record(record.section, from_hex(record.owner), record.type, record.ttl,
                                   from_hex(record.rdata)));
  }
  std::sort(records.begin(), records.end());
  return records;
}

std::vector<PlainRecord> sorted(std::vector<PlainRecord> records) {
  std::sort(records.begin(), records.end());
  return records;
}

class FixtureTest : public CodecTest {
 protected:
  // Whatever stands in the fixture, in each way that it can come compressed.
  template <typename Check>
  void for_each_kept(EncodeOptions options, Check check) {
    for (const Fixture& fixture : fixtures()) {
      for (const char* upstream : fixture.upstream) {
        SCOPED_TRACE(fixture.name);
        const TestEntry entry = encode(from_hex(fixture.query), from_hex(upstream), options);
        EXPECT_EQ(entry.encoded.status, fixture.status);
        if (fixture.status == EncodeStatus::kReferral || HasFailure()) continue;
        check(fixture, entry);
      }
    }
  }
};

TEST_F(FixtureTest, EntriesHaveTheRightRcodeAndLifetime) {
  for_each_kept(options(), [](const Fixture& fixture, const TestEntry& entry) {
    EXPECT_EQ(static_cast<unsigned>(entry.view().rcode()), fixture.rcode);
    EXPECT_EQ(entry.encoded.lifetime_sec, fixture.lifetime_sec);
    EXPECT_EQ(entry.view().remaining_sec(kNow), static_cast<int32_t>(fixture.lifetime_sec));
    EXPECT_GE(entry.view().lifetime_sec(), fixture.lifetime_sec);
    EXPECT_LE(entry.view().lifetime_sec(), fixture.lifetime_sec * 5 / 4);
  });
}

TEST_F(FixtureTest, RepliesHoldTheRightRecords) {
  for_each_kept(options(), [](const Fixture& fixture, const TestEntry& entry) {
    for (const bool with_do : {false, true}) {
      const WireBytes query = from_hex(with_do ? fixture.query_do : fixture.query);
      const WireBytes message = reply(entry, query, kLarge);
      const ParsedMessage parsed = parse(message);
      ASSERT_TRUE(parsed.is_well_formed);
      EXPECT_EQ(sorted(parsed.records), expected(fixture, with_do));
      EXPECT_TRUE(parsed.has_opt);
      EXPECT_EQ(static_cast<unsigned>(parsed.header.rcode()), fixture.rcode);
      const size_t question_bytes = parse_query(query).question_bytes();
      EXPECT_TRUE(std::equal(
          query.begin() + dns::kHeaderBytes,
          query.begin() + dns::kHeaderBytes + static_cast<std::ptrdiff_t>(question_bytes),
          message.begin() + dns::kHeaderBytes));
    }
  });
}

// Compressed owners and an OPT without options take the short way to an entry, others the long one.
// Without names in the data, whose case is that of what they are compressed against.
TEST_F(FixtureTest, HoweverAnAnswerIsCompressedItsEntryIsTheSame) {
  unsigned compared = 0;
  for (const Fixture& fixture : fixtures()) {
    SCOPED_TRACE(fixture.name);
    const auto entry_of = [&](size_t mode) {
      return encode(from_hex(fixture.query), from_hex(fixture.upstream[mode]), options());
    };
    const TestEntry uncompressed = entry_of(0);
    if (uncompressed.bytes.empty() || !uncompressed.view().is_plain() ||
        dns::rdata_shape(uncompressed.view().type()).names_kind != dns::RdataNames::kNone) {
      continue;
    }
    ++compared;
    EXPECT_EQ(entry_of(1).bytes, uncompressed.bytes);
    EXPECT_EQ(entry_of(2).bytes, uncompressed.bytes);
  }
  EXPECT_GT(compared, 50u);
}

TEST_F(FixtureTest, RepliesAreNoLongerThanDnspythonCompressesThem) {
  for_each_kept(options(), [](const Fixture& fixture, const TestEntry& entry) {
    EXPECT_LE(reply(entry, from_hex(fixture.query), kLarge).size(), fixture.plain_bytes);
    EXPECT_LE(reply(entry, from_hex(fixture.query_do), kLarge).size(), fixture.do_bytes);
  });
}

TEST_F(FixtureTest, WhatWasFetchedWithoutDoHoldsNoDnssecRecords) {
  EncodeOptions without_do = options();
  without_do.fetched_with_do = false;
  for_each_kept(without_do, [](const Fixture& fixture, const TestEntry& entry) {
    EXPECT_EQ(entry.view().flags() & kEntryFetchedWithDo, 0);
    const ParsedMessage parsed = parse(reply(entry, from_hex(fixture.query_do), kLarge));
    EXPECT_EQ(sorted(parsed.records), expected(fixture, false));
  });
}

TEST_F(FixtureTest, TtlsAreLoweredByTheAge) {
  for_each_kept(options(), [](const Fixture& fixture, const TestEntry& entry) {
    if (entry.encoded.lifetime_sec == 0) return;
    ReplyOptions later = kLarge;
    later.now_sec += entry.encoded.lifetime_sec - 1;
    std::vector<PlainRecord> right = expected(fixture, true);
    for (PlainRecord& record : right) record.ttl -= entry.encoded.lifetime_sec - 1;
    const ParsedMessage parsed = parse(reply(entry, from_hex(fixture.query_do), later));
    EXPECT_EQ(sorted(parsed.records), sorted(right));
  });
}

// At every size: within it, well formed, and short of whole sections only, from the end.
TEST_F(FixtureTest, RepliesOfEverySizeAreWellFormed) {
  for_each_kept(options(), [](const Fixture& fixture, const TestEntry& entry) {
    const WireBytes query = from_hex(fixture.query_do);
    const size_t least = dns::kHeaderBytes + parse_query(query).question_bytes() + dns::kOptBytes;
    const std::vector<PlainRecord> right = expected(fixture, true);
    const size_t most = reply(entry, query, kLarge).size();
    for (size_t room = least; room < most; ++room) {
      const WireBytes message = reply(entry, query, kLarge, std::max(room, query.size()));
      ReplyOptions limited = kLarge;
      limited.max_reply_bytes = static_cast<uint16_t>(room);
      const WireBytes limited_message = reply(entry, query, limited);
      ASSERT_LE(limited_message.size(), room);
      const ParsedMessage parsed = parse(limited_message);
      ASSERT_TRUE(parsed.is_well_formed);
      ASSERT_TRUE(parsed.has_opt);
      if (parsed.header.tc()) {
        ASSERT_TRUE(parsed.records.empty());
        continue;
      }
      unsigned last_section = 0;
      for (const PlainRecord& record : parsed.records) {
        last_section = std::max(last_section, record.section);
      }
      std::vector<PlainRecord> prefix;
      std::copy_if(right.begin(), right.end(), std::back_inserter(prefix),
                   [&](const PlainRecord& record) { return record.section <= last_section; });
      ASSERT_EQ(sorted(parsed.records), prefix);
      ASSERT_TRUE(parse(message).is_well_formed);
    }
    ASSERT_EQ(reply(entry, query, kLarge, most).size(), most);
  });
}

TEST_F(FixtureTest, ACutEntryIsNotWellFormed) {
  for_each_kept(options(), [](const Fixture&, const TestEntry& entry) {
    for (size_t size = 0; size < entry.bytes.size(); ++size) {
      ASSERT_FALSE(entry_is_well_formed(Bytes(entry.bytes).first(size)));
    }
  });
}

// A shorter length is believed only where the records that are left are whole.
TEST_F(FixtureTest, AShortenedEntryIsOfFewerRecordsOrNotWellFormed) {
  for_each_kept(options(), [](const Fixture& fixture, const TestEntry& entry) {
    const WireBytes query = from_hex(fixture.query_do);
    const size_t right = parse(reply(entry, query, kLarge)).records.size();
    const bool is_long = entry.view().has(kEntryLong);
    for (size_t size = is_long ? 256 : 8; size < entry.bytes.size(); ++size) {
      TestEntry shorter = entry;
      shorter.bytes.resize(size);
      shorter.bytes[6] = static_cast<uint8_t>(size);
      if (is_long) shorter.bytes[7] = static_cast<uint8_t>(size >> 8);
      if (!entry_is_well_formed(shorter.bytes)) continue;
      const ParsedMessage parsed = parse(reply(shorter, query, kLarge));
      ASSERT_TRUE(parsed.is_well_formed);
      ASSERT_LT(parsed.records.size(), right);
    }
  });
}

// A whole answer that is cut anywhere is malformed, however little is missing.
TEST_F(FixtureTest, ACutAnswerIsMalformed) {
  for (const Fixture& fixture : fixtures()) {
    SCOPED_TRACE(fixture.name);
    const WireBytes upstream = from_hex(fixture.upstream[1]);
    for (size_t size = 0; size < upstream.size(); ++size) {
      const WireBytes cut(upstream.begin(), upstream.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(encode(from_hex(fixture.query), cut, options()).encoded.status,
                EncodeStatus::kMalformed);
    }
  }
}

}  // namespace
}  // namespace wirecache::cache

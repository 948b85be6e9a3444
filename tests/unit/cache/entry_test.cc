#include "lib/cache/entry.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>

#include "tests/unit/cache/entry_codec_test.h"
#include "tests/unit/cache/hand_made_entry.h"

namespace wirecache::cache {
namespace {

constexpr uint32_t kDaySec = 86400;

class EntryTest : public EntryCodecTest {
 protected:
  Key key(const char* name, uint16_t type, dns::CdBit cd = dns::CdBit::kClear, uint8_t tag = 0) {
    return buffers_[next_++ % buffers_.size()].make(secret_, flat(name), type, cd, tag);
  }
  TestEntry encode_key(const Key& key, const WireBytes& rdata = kAddress) {
    const WireBytes question = dns::to_vector(key.name) + be16(key.type) + be16(kIn);
    const MessageBuilder message{.question = question};
    MessageBuilder copy = message;
    return encode(key, copy.add(0, kPointerToQuestion, key.type, 300, rdata).wire(), options());
  }
  std::array<KeyBuffer, 8> buffers_;
  size_t next_ = 0;
};

TEST_F(EntryTest, MatchesTheWholeKeyAndNoOther) {
  constexpr uint16_t kUnknown = 65280, kAAndHighByte = 0x0101;
  const Key keys[] = {
      key("example.com", kA),
      key("example.com", kUnknown),
      key("example.com", kTxt),
      key("example.com", kA, dns::CdBit::kSet),
      key("example.com", kA, dns::CdBit::kClear, 7),
      key("example.con", kA),
      key("example.com", kAAndHighByte),
      key("sub.example.com", kA),
  };
  for (const Key& entry_key : keys) {
    const TestEntry entry = encode_key(entry_key);
    ASSERT_EQ(entry.encoded.status, EncodeStatus::kKeep);
    EXPECT_EQ(entry.view().type(), entry_key.type);
    EXPECT_EQ(entry.view().tag(), entry_key.tag);
    EXPECT_EQ(entry.view().cd_bit() == dns::CdBit::kSet, entry_key.checking_disabled);
    EXPECT_EQ(dns::to_vector(entry.view().name()), dns::to_vector(entry_key.name));
    for (const Key& other : keys) {
      EXPECT_EQ(entry.view().matches(other), &other == &entry_key);
    }
  }
}

// The entry stands at the end of its allocation: a sanitizer sees a byte too much being read.
TEST_F(EntryTest, MatchesReadsNothingBehindTheEntry) {
  const TestEntry entry = encode_key(key("", kTxt), text_of(1));
  const auto exact = std::make_unique<uint8_t[]>(entry.bytes.size());
  std::copy(entry.bytes.begin(), entry.bytes.end(), exact.get());
  const EntryView view(exact.get());
  EXPECT_TRUE(view.matches(key("", kTxt)));
  EXPECT_FALSE(view.matches(key("a-name.longer-than.the-whole-entry.example", kTxt)));
  EXPECT_EQ(entry.bytes.size(), 7u + 1 + 1);
}

// 56% A, 25% AAAA, 19% TXT of 64 to 224 random bytes; 1 to 4 records; names of 18 bytes.
TEST_F(EntryTest, TheReferenceMixTakesLittleBesideItsNamesAndData) {
  constexpr uint16_t kAaaa = 28;
  std::mt19937 random(1);
  const auto text = [&] {
    WireBytes rdata(65 + random() % 161);
    for (uint8_t& byte : rdata) byte = static_cast<uint8_t>(random());
    rdata[0] = static_cast<uint8_t>(rdata.size() - 1);
    return rdata;
  };
  size_t entries = 0;
  size_t entry_bytes = 0;
  size_t payload_bytes = 0;
  for (; entries < 5000; ++entries) {
    const unsigned share = random() % 100;
    const uint16_t type = share < 56 ? kA : share < 81 ? kAaaa : kTxt;
    const std::string name = std::to_string(100'000'000'000 + random()) + ".com";
    MessageBuilder message = answer_to(name, type);
    payload_bytes += flat(name).size();
    for (unsigned i = 0, records = 1 + random() % 4; i < records; ++i) {
      const WireBytes address = be32(random()) + be32(random()) + be32(random()) + be32(random());
      const WireBytes rdata = type == kTxt ? text() : type == kAaaa ? address : be32(random());
      message.add(0, kPointerToQuestion, type, 300, rdata);
      payload_bytes += rdata.size();
    }
    const TestEntry entry = encode_wire(message);
    ASSERT_EQ(entry.encoded.status, EncodeStatus::kKeep);
    entry_bytes += entry.bytes.size();
  }
  EXPECT_NEAR(static_cast<double>(payload_bytes) / entries, 102.5, 4);
  // 7 bytes of header; 8 where it is longer than 255: most TXT of two records and more.
  EXPECT_LE(static_cast<double>(entry_bytes - payload_bytes) / entries, 7.2);
}

TEST_F(EntryTest, TimesAreExactOverTheWholeRange) {
  const Key k = key("example.com", kA);
  for (const uint32_t now : {0u, 1u << 24, (1u << 25) - 100, (1u << 25) + 5, 0xffffff00u}) {
    for (const uint32_t lifetime : {1u, 3u, 4u, 7u, 8u, 59u, 300u, 3600u, kDaySec, 7 * kDaySec}) {
      const WireBytes entry = entry_of(k, {}, now, lifetime);
      const EntryView view(entry.data());
      const auto remaining = static_cast<int32_t>(lifetime);
      EXPECT_EQ(view.remaining_sec(now), remaining);
      EXPECT_EQ(view.remaining_sec(now - 1), remaining + 1);  // a reader's clock that is behind
      EXPECT_EQ(view.remaining_sec(now + lifetime + 30 * kDaySec), -30 * int32_t{kDaySec});
      EXPECT_TRUE(view.fresh(now + lifetime - 1));
      EXPECT_FALSE(view.fresh(now + lifetime));
      EXPECT_FALSE(view.fresh(now + lifetime + 180 * kDaySec));
      EXPECT_GE(view.lifetime_sec(), lifetime);
      EXPECT_LE(view.lifetime_sec(), lifetime + lifetime / 4);
    }
  }
}

TEST_F(EntryTest, PopularityStaysAtThreeAndLeavesOtherBitsAlone) {
  WireBytes entry = entry_of(key("example.com", kA), {});
  constexpr uint8_t kOthers = 0xfc;
  entry[0] = kOthers;
  const EntryView view(entry.data());
  for (const unsigned expected : {0u, 1u, 2u, 3u, 3u, 3u}) {
    EXPECT_EQ(view.popularity(), expected);
    EXPECT_EQ(entry[0], kOthers | expected);
    view.note_asked();
  }
  for (const uint8_t popularity : {0, 2, 1, 3}) {
    view.set_popularity(popularity);
    EXPECT_EQ(view.popularity(), popularity);
    EXPECT_EQ(entry[0], kOthers | popularity);
  }
}

TEST_F(EntryTest, ReadersMayNoteAtTheSameTime) {
  WireBytes entry = entry_of(key("example.com", kA), {});
  const EntryView view(entry.data());
  const auto note = [&] {
    for (int i = 0; i < 1000; ++i) view.note_asked();
  };
  std::thread other(note);
  note();
  other.join();
  EXPECT_EQ(view.popularity(), kMaxPopularity);
}

}  // namespace
}  // namespace wirecache::cache

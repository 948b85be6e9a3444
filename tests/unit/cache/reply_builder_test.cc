#include <gtest/gtest.h>

#include <string>

#include "lib/cache/entry_codec.h"
#include "tests/unit/cache/entry_codec_test.h"

namespace wirecache::cache {
namespace {

constexpr uint16_t kAaaa = 28;
constexpr uint16_t kOpt = 41;

// RFC 8914 §2: option 15, length, INFO-CODE, EXTRA-TEXT.
const WireBytes kStale = from_hex("000f 0007 0003") + WireBytes{'s', 't', 'a', 'l', 'e'};
const WireBytes kFiltered = from_hex("000f 0002 0011");
const WireBytes kNsid = from_hex("0003 0004 61626364");

class ReplyBuilderTest : public EntryCodecTest {
 protected:
  static MessageBuilder with_options(MessageBuilder message, const WireBytes& options) {
    return message.add(2, flat(""), kOpt, 0, options, 1232);
  }
  std::vector<WireBytes> data(const TestEntry& entry, const WireBytes& query, uint32_t rotation) {
    ReplyOptions options = kReply;
    options.rotation = rotation;
    std::vector<WireBytes> out;
    for (const PlainRecord& record : parse(reply(entry, query, options)).records) {
      out.push_back(record.rdata);
    }
    return out;
  }
};

TEST_F(ReplyBuilderTest, AddressesRotate) {
  for (const char* name : {"example.com", ""}) {  // the root takes no pointer
    for (const uint16_t type : {kA, kAaaa}) {
      std::vector<WireBytes> stored;
      MessageBuilder message = answer_to(name, type);
      for (uint8_t i = 0; i < 3; ++i) {
        stored.push_back(WireBytes(type == kA ? 4 : 16, i));
        message.add(0, flat(name), type, 300, stored.back());
      }
      const TestEntry entry = encode_wire(message);
      const WireBytes query = query_of(name, type);
      using List = std::vector<WireBytes>;
      EXPECT_EQ(data(entry, query, 0), stored);
      EXPECT_EQ(data(entry, query, 1), (List{stored[1], stored[2], stored[0]}));
      EXPECT_EQ(data(entry, query, 2), (List{stored[2], stored[0], stored[1]}));
      EXPECT_EQ(data(entry, query, 3), stored);
      EXPECT_EQ(data(entry, query, 0xffffffff), stored);  // 3 times 0x55555555
    }
  }
}

TEST_F(ReplyBuilderTest, OnlyAddressesRotate) {
  MessageBuilder message = answer_to("a.example", kA);
  message.add(0, flat("a.example"), kCname, 60, flat("b.test"));
  for (uint8_t i = 0; i < 3; ++i) message.add(0, flat("b.test"), kA, 300, WireBytes(4, i));
  const std::vector<WireBytes> rotated = data(encode_wire(message), query_of("a.example", kA), 2);
  EXPECT_EQ(rotated, (std::vector<WireBytes>{flat("b.test"), WireBytes(4, 2), WireBytes(4, 0),
                                             WireBytes(4, 1)}));
  MessageBuilder texts = answer_to("example.com", kTxt);
  texts.add(0, kPointerToQuestion, kTxt, 300, text_of(5));
  texts.add(0, kPointerToQuestion, kTxt, 300, text_of(6));
  EXPECT_EQ(data(encode_wire(texts), query_of("example.com", kTxt), 1),
            (std::vector<WireBytes>{text_of(5), text_of(6)}));
}

// Addresses have a way of their own out of a plain entry: no less checked than the other.
TEST_F(ReplyBuilderTest, AddressesThatDoNotFitAreTruncated) {
  for (const uint16_t type : {kA, kAaaa}) {
    const size_t bytes = type == kA ? 4 : 16;
    MessageBuilder message = answer_to("example.com", type);
    for (uint8_t i = 0; i < 3; ++i)
      message.add(0, kPointerToQuestion, type, 300, WireBytes(bytes, i));
    const TestEntry entry = encode_wire(message);
    const WireBytes query = query_of("example.com", type);
    const size_t whole = query.size() + 3 * (12 + bytes);
    EXPECT_EQ(reply(entry, query, kReply, whole).size(), whole);
    const WireBytes cut = reply(entry, query, kReply, whole - 1);
    EXPECT_EQ(cut.size(), query.size());
    EXPECT_TRUE(parse(cut).header.tc());
    EXPECT_EQ(parse(cut).header.answer_count, 0);
  }
}

// RRsets of other TTLs than the lifetime, at both ends of what one, two and three bytes hold.
TEST_F(ReplyBuilderTest, EveryRrsetHasItsOwnTtl) {
  EncodeOptions longest = options();
  longest.max_ttl_sec = kMaxLifetimeSec;
  for (const uint32_t above : {1u, 127u, 128u, 16383u, 16384u, kMaxLifetimeSec - 60}) {
    const TestEntry entry =
        encode_with(answer_to("a.example", kA)
                        .add(0, flat("a.example"), kCname, 60 + above, flat("b.test"))
                        .add(0, flat("b.test"), kA, 60, kAddress),
                    longest);
    for (const uint32_t age : {0u, 59u, 60u, 61u, 60 + above, 61 + above}) {
      ReplyOptions later = kReply;
      later.now_sec += age;
      const ParsedMessage parsed = parse(reply(entry, query_of("a.example", kA), later));
      ASSERT_EQ(parsed.records.size(), 2u);
      EXPECT_EQ(parsed.records[0].ttl, 60 + above - std::min(age, 60 + above));
      EXPECT_EQ(parsed.records[1].ttl, 60 - std::min(age, 60u));
    }
  }
}

TEST_F(ReplyBuilderTest, ExtendedErrorsGoToWhoSentAnOpt) {
  for (const uint16_t type : {kA, kMx}) {
    const WireBytes rdata = type == kA ? kAddress : be16(10) + flat("mail");
    const TestEntry entry = encode_wire(
        with_options(answer_to("example.com", type).add(0, kPointerToQuestion, type, 300, rdata),
                     kNsid + kStale + kFiltered));
    const ParsedMessage plain = parse(reply(entry, query_of("example.com", type), kReply));
    EXPECT_FALSE(plain.has_opt);
    EXPECT_EQ(plain.records.size(), 1u);
    const ParsedMessage edns =
        parse(reply(entry, edns_query_of("example.com", type, 1232, false), kReply));
    EXPECT_TRUE(edns.is_well_formed);
    EXPECT_EQ(edns.options, kStale + kFiltered);
    EXPECT_EQ(edns.records, plain.records);
  }
}

TEST_F(ReplyBuilderTest, NegativeAnswersKeepTheirExtendedErrors) {
  MessageBuilder message = answer_to("www.example.com", kA);
  message.flags |= 3;
  message.add(1, flat("example.com"), kSoa, 300, soa_rdata(300));
  const TestEntry entry = encode_wire(with_options(message, kFiltered));
  const ParsedMessage parsed =
      parse(reply(entry, edns_query_of("www.example.com", kA, 1232, false), kReply));
  EXPECT_EQ(parsed.header.rcode(), dns::Rcode::kNxDomain);
  EXPECT_EQ(parsed.options, kFiltered);
  EXPECT_EQ(parsed.records.size(), 1u);
}

// A tag stands beside them.
TEST_F(ReplyBuilderTest, ExtendedErrorsOfATaggedEntry) {
  const Key key = key_buffer_.make(secret_, flat("example.com"), kA, dns::CdBit::kClear, 9);
  const MessageBuilder message =
      answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress);
  const TestEntry entry = encode(key, with_options(message, kStale).wire(), options());
  EXPECT_EQ(entry.view().tag(), 9);
  EXPECT_EQ(dns::to_vector(entry.view().extended_errors()), kStale);
  EXPECT_TRUE(entry.view().matches(key));
  const ParsedMessage parsed =
      parse(reply(entry, edns_query_of("example.com", kA, 1232, false), kReply));
  EXPECT_EQ(parsed.options, kStale);
}

// RFC 8914 §3: they are dropped before anything else is.
TEST_F(ReplyBuilderTest, ExtendedErrorsAreLeftOutFirst) {
  const TestEntry entry =
      encode_wire(with_options(answer_to("example.com", kA)
                                   .add(0, kPointerToQuestion, kA, 300, kAddress)
                                   .add(1, kPointerToQuestion, kNs, 300, flat("ns.test"))
                                   .add(2, flat("ns.test"), kA, 300, kAddress),
                               kStale));
  const WireBytes query = edns_query_of("example.com", kA, 1232, false);
  const WireBytes whole = reply(entry, query, kReply);
  EXPECT_EQ(parse(whole).options, kStale);
  ReplyOptions tight = kReply;
  for (size_t cut = 1; cut <= kStale.size(); ++cut) {
    tight.max_reply_bytes = static_cast<uint16_t>(whole.size() - cut);
    const WireBytes without = reply(entry, query, tight);
    const ParsedMessage parsed = parse(without);
    EXPECT_EQ(without.size(), whole.size() - kStale.size());
    EXPECT_TRUE(parsed.has_opt);
    EXPECT_EQ(parsed.options, WireBytes{});
    EXPECT_EQ(parsed.records.size(), 3u);
    EXPECT_FALSE(parsed.header.tc());
  }
}

// So many bytes and no more: of an error that is too long its code alone.
TEST_F(ReplyBuilderTest, ExtendedErrorsAreBounded) {
  const WireBytes longest = from_hex("000f 00fb 0000") + WireBytes(249, 'x');
  const WireBytes longer = from_hex("000f 00fc 0000") + WireBytes(250, 'x');
  const auto options_of = [&](const WireBytes& sent) {
    const TestEntry entry = encode_wire(with_options(
        answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress), sent));
    return parse(reply(entry, edns_query_of("example.com", kA, 1232, false), kReply)).options;
  };
  EXPECT_EQ(options_of(longest), longest);
  EXPECT_EQ(options_of(longer), from_hex("000f 0002 0000"));
  EXPECT_EQ(options_of(longest + kFiltered), longest);
  WireBytes many;
  for (unsigned i = 0; i < 100; ++i) many = many + kFiltered;
  EXPECT_EQ(options_of(many), WireBytes(many.begin(), many.begin() + 252));  // 42 of 6 bytes
}

}  // namespace
}  // namespace wirecache::cache

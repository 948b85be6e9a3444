#include <gtest/gtest.h>

#include <string>

#include "lib/cache/entry_codec.h"
#include "tests/unit/cache/codec_support.h"

namespace wirecache::cache {
namespace {

using dns::flat;
using dns::from_hex;

constexpr uint16_t kA = 1;
constexpr uint16_t kNs = 2;
constexpr uint16_t kCname = 5;
constexpr uint16_t kSoa = 6;
constexpr uint16_t kMx = 15;
constexpr uint16_t kTxt = 16;
constexpr uint16_t kIn = 1;
const WireBytes kPointerToQuestion = {0xc0, 0x0c};

WireBytes be16(unsigned value) {
  return {static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
}
WireBytes be32(uint32_t value) {
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

MessageBuilder answer_to(const std::string& name, unsigned type) {
  return {.question = flat(name) + be16(type) + be16(kIn)};
}

WireBytes query_of(const std::string& name, unsigned type, uint16_t flags = 0x0100) {
  return be16(0xbeef) + be16(flags) + from_hex("0001 0000 0000 0000") + flat(name) + be16(type) +
         be16(kIn);
}
// The same with an OPT, RFC 6891 §6.1.2.
WireBytes edns_query_of(const std::string& name, unsigned type, unsigned size, bool dnssec_ok) {
  WireBytes query = query_of(name, type);
  query[11] = 1;
  return query + from_hex("00 0029") + be16(size) + be32(dnssec_ok ? 0x8000 : 0) + be16(0);
}

const WireBytes kAddress = {192, 0, 2, 1};
constexpr ReplyOptions kReply = {.now_sec = 1'000'000};

WireBytes soa_rdata(uint32_t minimum) {
  return flat("ns") + flat("mail") + be32(1) + be32(2) + be32(3) + be32(4) + be32(minimum);
}

// A text of `bytes` bytes in one RRset.
WireBytes text_of(size_t bytes) {
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

TEST_F(EntryCodecTest, OneAddressTakes34Bytes) {
  const TestEntry entry =
      encode_wire(answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress));
  EXPECT_EQ(entry.encoded.status, EncodeStatus::kKeep);
  EXPECT_EQ(entry.encoded.lifetime_sec, 300u);
  // Header as entry.h draws it: state, flags, length, inserted (1,000,000), lifetime, name, type,
  // tag, 1.
  EXPECT_EQ(entry.bytes, from_hex("00 04 2200 40420f00 2c0100 0d 0100 00 01") +
                             flat("example.com") + WireBytes{0x80 | 0x40 | 0x20} + kAddress);
}

TEST_F(EntryCodecTest, TheReplyToAPlainQueryIsExact) {
  const TestEntry entry =
      encode_wire(answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress));
  ReplyOptions later = kReply;
  later.now_sec += 100;
  EXPECT_EQ(reply(entry, query_of("eXample.COM", kA), later),
            from_hex("beef 8180 0001 0001 0000 0000") + flat("eXample.COM") + be16(kA) + be16(kIn) +
                kPointerToQuestion + be16(kA) + be16(kIn) + be32(200) + be16(4) + kAddress);
}

TEST_F(EntryCodecTest, NamesInDataPointIntoTheQuestion) {
  const TestEntry entry =
      encode_wire(answer_to("www.example.com", kCname)
                      .add(0, kPointerToQuestion, kCname, 300, flat("Web.EXAMPLE.com")));
  // 3Web and a byte for the question's name from label 1 on.
  EXPECT_EQ(entry.bytes.size(), 16u + 17 + 1 + 4 + 1);
  const WireBytes message = reply(entry, query_of("www.example.com", kCname), kReply);
  EXPECT_EQ(WireBytes(message.end() - 6, message.end()), from_hex("03 576562 c010"));
}

TEST_F(EntryCodecTest, AnAliasTargetIsTheNextOwner) {
  const TestEntry entry = encode_wire(answer_to("a.example", kA)
                                          .add(0, flat("a.example"), kCname, 300, flat("b.test"))
                                          .add(0, flat("B.test"), kA, 300, kAddress));
  // CNAME: control, type, 1b 4test 0; A: control, a reference to the first label written, address.
  EXPECT_EQ(entry.bytes.size(), 16u + 11 + 2 + 8 + 1 + 1 + 4);
  const WireBytes message = reply(entry, query_of("a.example", kA), kReply);
  // The CNAME's data starts at 12 + 15 + 12.
  EXPECT_EQ(WireBytes(message.end() - 16, message.end() - 14), from_hex("c027"));
}

TEST_F(EntryCodecTest, TakesTheLargestPartOfANameThatIsKnown) {
  const TestEntry entry =
      encode_wire(answer_to("example", kMx)
                      .add(0, flat("example"), kMx, 300, be16(1) + flat("a.b.c"))
                      .add(0, flat("example"), kMx, 300, be16(2) + flat("x.b.c"))
                      .add(0, flat("example"), kMx, 300, be16(3) + flat("y.x.b.c")));
  const WireBytes message = reply(entry, query_of("example", kMx), kReply);
  const size_t end = 12 + 9 + 4 + (12 + 2 + 7) + (12 + 2 + 4) + (12 + 2 + 4);
  EXPECT_EQ(message.size(), end);
  EXPECT_EQ(parse(message).records[2].rdata, be16(3) + flat("y.x.b.c"));
}

TEST_F(EntryCodecTest, TheRootIsNeverPointedAt) {
  const TestEntry entry = encode_wire(answer_to("", kNs)
                                          .add(0, flat(""), kNs, 300, flat("a.ns"))
                                          .add(0, flat(""), kNs, 300, flat("")));
  EXPECT_EQ(reply(entry, query_of("", kNs), kReply),
            from_hex("beef 8180 0001 0002 0000 0000 00 0002 0001") +
                from_hex("00 0002 0001 0000012c 0006") + flat("a.ns") +
                from_hex("00 0002 0001 0000012c 0001 00"));
}

// RFC 3597 §4 types go out whole, in the upstream's spelling; those later than that are not
// touched.
TEST_F(EntryCodecTest, WholeNamesKeepTheirSpelling) {
  constexpr unsigned kSrv = 33, kHttps = 65;
  const auto rdata = [&](unsigned type, const WireBytes& sent) {
    const TestEntry entry =
        encode_wire(answer_to("example.com", type).add(0, kPointerToQuestion, type, 300, sent));
    const WireBytes message = reply(entry, query_of("EXAMPLE.COM", type), kReply);
    return WireBytes(message.begin() + 12 + 13 + 4 + 12, message.end());
  };
  for (const char* name : {"a.example.com", "a.Example.com", "a.example.COM", "b.C", "com", ""}) {
    const WireBytes srv = be16(1) + be16(2) + be16(3) + flat(name);
    EXPECT_EQ(rdata(kSrv, srv), srv);
    const WireBytes https = be16(1) + flat(name) + from_hex("0003 0002 01bb");
    EXPECT_EQ(rdata(kHttps, https), https);
  }
}

TEST_F(EntryCodecTest, CountsMoreThan255RecordsInSeveralBlocks) {
  MessageBuilder message = answer_to("example.com", kA);
  for (unsigned i = 0; i < 512; ++i) {
    message.add(0, kPointerToQuestion, kA, 300, be32(0x0a000000 + i));
  }
  const TestEntry entry = encode_wire(message);
  EXPECT_EQ(entry.encoded.status, EncodeStatus::kKeep);
  EXPECT_EQ(entry.view().rrset_count(), 3);
  const ReplyOptions large = {.now_sec = kNow, .max_reply_bytes = 65535};
  const WireBytes query = edns_query_of("example.com", kA, 65535, false);
  EXPECT_EQ(parse(reply(entry, query, large)).records.size(), 512u);
  message.add(0, kPointerToQuestion, kA, 300, be32(1));
  EXPECT_EQ(status_of(message), EncodeStatus::kTooLarge);
}

TEST_F(EntryCodecTest, AnswersTooLargeForAnEntryAreSaidToBe) {
  // 400 SRV records that refer to one long name are less than half as long as they are
  // decompressed.
  constexpr unsigned kSrv = 33;
  MessageBuilder message = answer_to("example.com", kSrv);
  const std::string label(60, 'x');
  message.add(0, kPointerToQuestion, kSrv, 300,
              WireBytes(6) + flat(label + "." + label + "." + label));
  constexpr unsigned kFirstTarget = 12 + 13 + 4 + 12 + 6;
  for (unsigned i = 1; i < 400; ++i) {
    message.add(0, kPointerToQuestion, kSrv, 300,
                be16(i) + WireBytes(4) + be16(0xc000 | kFirstTarget));
  }
  EXPECT_EQ(status_of(message), EncodeStatus::kTooLarge);
  const WireBytes small =
      answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress).wire();
  const Key key = key_of(flat("example.com"), kA);
  WireBytes scratch(33);
  for (size_t room = 0; room < 34; ++room) {
    EXPECT_EQ(encode_answer(key, small, options(),
                            MutableBytes(scratch).first(std::min(room, size_t{33})))
                  .status,
              EncodeStatus::kTooLarge);
  }
}

// RFC 1035 §4.1.4: a pointer has 14 bits; behind them names are written whole.
TEST_F(EntryCodecTest, NamesBehindAPointersReachAreWhole) {
  MessageBuilder message = answer_to("example.com", kMx);
  for (unsigned i = 0; i < 500; ++i) {
    const std::string host = "a-rather-long-host-name-" + std::to_string(i);
    message.add(0, kPointerToQuestion, kMx, 300,
                be16(i) + flat(host + ".test" + std::to_string(i)));
  }
  message.add(1, flat("example.com"), kNs, 300, flat("ns.test499"));
  message.add(2, flat("a-rather-long-host-name-499.test499"), kA, 300, kAddress);
  message.add(2, flat("ns.test499"), kA, 300, kAddress);
  const TestEntry entry = encode_wire(message);
  ASSERT_EQ(entry.encoded.status, EncodeStatus::kKeep);
  const ReplyOptions large = {.now_sec = kNow, .max_reply_bytes = 65535};
  const WireBytes wire = reply(entry, edns_query_of("example.com", kMx, 65535, false), large);
  EXPECT_GT(wire.size(), 0x4000u);
  EXPECT_EQ(parse(wire).records, parse(message.wire()).records);
}

TEST_F(EntryCodecTest, FollowsSixteenAliasesAndNoMore) {
  for (unsigned aliases : {16u, 17u}) {
    MessageBuilder message = answer_to("n0", kA);
    for (unsigned i = aliases; i-- > 0;) {  // the last first
      message.add(0, flat("n" + std::to_string(i)), kCname, 300, flat("n" + std::to_string(i + 1)));
    }
    message.add(0, flat("n" + std::to_string(aliases)), kA, 300, kAddress);
    const TestEntry entry = encode_wire(message);
    EXPECT_EQ(entry.encoded.status, aliases == 16 ? EncodeStatus::kKeep : EncodeStatus::kUseOnce);
    const ParsedMessage parsed = parse(reply(entry, query_of("n0", kA), kReply));
    ASSERT_EQ(parsed.records.size(), aliases == 16 ? 17u : 16u);
    for (unsigned i = 0; i < 16; ++i) {  // in the chain's order
      EXPECT_EQ(parsed.records[i].owner, flat("n" + std::to_string(i)));
    }
  }
}

TEST_F(EntryCodecTest, LeavesOutOtherClassesAndOwners) {
  constexpr unsigned kChaos = 3;
  const TestEntry entry = encode_wire(answer_to("example.com", kTxt)
                                          .add(0, kPointerToQuestion, kTxt, 10, text_of(5), kChaos)
                                          .add(0, flat("other.com"), kTxt, 20, text_of(6))
                                          .add(0, kPointerToQuestion, kTxt, 300, text_of(7))
                                          .add(2, flat("example.com"), kA, 30, kAddress));
  EXPECT_EQ(entry.encoded.lifetime_sec, 300u);
  const ParsedMessage parsed = parse(reply(entry, query_of("example.com", kTxt), kReply));
  ASSERT_EQ(parsed.records.size(), 1u);
  EXPECT_EQ(parsed.records[0].rdata, text_of(7));
}

TEST_F(EntryCodecTest, MalformedAnswersAreNoAnswers) {
  const auto answer = [](unsigned type, const WireBytes& rdata) {
    return answer_to("example.com", type).add(0, kPointerToQuestion, type, 300, rdata);
  };
  constexpr unsigned kAaaa = 28, kSrv = 33, kNaptr = 35, kA6 = 38, kRrsig = 46, kNsec = 47,
                     kHttps = 65;
  EXPECT_EQ(status_of(answer(kA, {1, 2, 3})), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kA, {1, 2, 3, 4, 5})), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kAaaa, kAddress)), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kCname, {3, 'w', 'w'})), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kCname, flat("web") + WireBytes{0})), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kCname, from_hex("c0ff"))), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kCname, {})), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kMx, be16(10))), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kSoa, flat("ns") + flat("mail") + be32(1))), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kSrv, be32(1) + be16(1))), EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kNaptr, be32(1) + from_hex("0000 05 41 00"))),
            EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kA6, {129, 0})), EncodeStatus::kMalformed);
  // Compression where the type forbids it: RFC 4034 §3.1.7, §4.1.1, RFC 9460 §2.2.
  EXPECT_EQ(status_of(answer(kRrsig, WireBytes(18) + kPointerToQuestion)),
            EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kNsec, kPointerToQuestion + from_hex("0001 40"))),
            EncodeStatus::kMalformed);
  EXPECT_EQ(status_of(answer(kHttps, be16(1) + kPointerToQuestion)), EncodeStatus::kMalformed);
  // Out of the chain as well.
  EXPECT_EQ(status_of(answer(kTxt, text_of(5)).add(2, flat("other"), kA, 300, {1, 2, 3})),
            EncodeStatus::kMalformed);
  // Bytes behind the last record.
  MessageBuilder longer = answer(kA, kAddress);
  longer.records.push_back(0);
  EXPECT_EQ(status_of(longer), EncodeStatus::kMalformed);
}

TEST_F(EntryCodecTest, AnswersToOtherQuestionsAndRcodesAreNoAnswers) {
  const MessageBuilder message =
      answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress);
  EXPECT_EQ(encode(key_of(flat("example.org"), kA), message.wire(), options()).encoded.status,
            EncodeStatus::kMalformed);
  EXPECT_EQ(encode(key_of(flat("example.com"), kTxt), message.wire(), options()).encoded.status,
            EncodeStatus::kMalformed);
  MessageBuilder failed = message;
  failed.flags |= 2;
  EXPECT_EQ(status_of(failed), EncodeStatus::kMalformed);
  // BADCOOKIE (23): its lower half alone would be YXRRSET, the upper alone NOERROR.
  MessageBuilder extended = message;
  extended.add(2, flat(""), 41, 0x01000000, {}, 1232);
  EXPECT_EQ(status_of(extended), EncodeStatus::kMalformed);
}

// RFC 2874: the address bits behind the prefix, then a name that may come compressed (RFC 3597 §4).
TEST_F(EntryCodecTest, A6IsDecompressed) {
  constexpr unsigned kA6 = 38;
  const TestEntry entry =
      encode_wire(answer_to("example.com", kA6)
                      .add(0, kPointerToQuestion, kA6, 300,
                           WireBytes{64, 1, 2, 3, 4, 5, 6, 7, 8} + kPointerToQuestion));
  const WireBytes message = reply(entry, query_of("example.com", kA6), kReply);
  const WireBytes right = WireBytes{64, 1, 2, 3, 4, 5, 6, 7, 8} + flat("example.com");
  EXPECT_EQ(WireBytes(message.end() - static_cast<std::ptrdiff_t>(right.size()), message.end()),
            right);
}

TEST_F(EntryCodecTest, TtlsStayBetweenTheConfiguredBounds) {
  EncodeOptions bounded = options();
  bounded.min_ttl_sec = 60;
  bounded.max_ttl_sec = 3600;
  const auto lifetime = [&](uint32_t ttl) {
    return encode_with(answer_to("example.com", kA).add(0, kPointerToQuestion, kA, ttl, kAddress),
                       bounded)
        .encoded.lifetime_sec;
  };
  EXPECT_EQ(lifetime(1), 60u);
  EXPECT_EQ(lifetime(300), 300u);
  EXPECT_EQ(lifetime(86400), 3600u);
  EXPECT_EQ(lifetime(0x80000000), 3600u);  // RFC 8767 §4
  EXPECT_EQ(lifetime(0), 0u);              // never raised
}

TEST_F(EntryCodecTest, NegativeAnswersLiveAsTheSoaSays) {
  const auto lifetime = [&](uint32_t ttl, uint32_t minimum) {
    MessageBuilder message = answer_to("www.example.com", kA);
    message.flags |= 3;
    return encode_wire(message.add(1, flat("example.com"), kSoa, ttl, soa_rdata(minimum))).encoded;
  };
  EXPECT_EQ(lifetime(600, 300).lifetime_sec, 300u);
  EXPECT_EQ(lifetime(300, 600).lifetime_sec, 300u);
  EXPECT_EQ(lifetime(86400, 86400).lifetime_sec, 3600u);
  EXPECT_EQ(lifetime(300, 0).status, EncodeStatus::kUseOnce);
}

// RFC 6840 §5.7, §5.8.
TEST_F(EntryCodecTest, AdGoesToWhoAskedForItOnly) {
  MessageBuilder message =
      answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress);
  const auto ad = [&](const TestEntry& entry, const WireBytes& query) {
    return (reply(entry, query, kReply)[3] & dns::kFlagAd) != 0;
  };
  const WireBytes plain = query_of("example.com", kA);
  const WireBytes with_ad = query_of("example.com", kA, 0x0100 | dns::kFlagAd);
  const WireBytes with_do = edns_query_of("example.com", kA, 1232, true);
  EXPECT_FALSE(ad(encode_wire(message), with_do));
  message.flags |= dns::kFlagAd;
  const TestEntry entry = encode_wire(message);
  EXPECT_FALSE(ad(entry, plain));
  EXPECT_TRUE(ad(entry, with_ad));
  EXPECT_TRUE(ad(entry, with_do));
  EncodeOptions untrusted = options();
  untrusted.keep_ad = false;
  EXPECT_FALSE(ad(encode_with(message, untrusted), with_do));
}

TEST_F(EntryCodecTest, RepliesObeyTheLeastOfTheLimits) {
  const TestEntry entry = encode_wire(
      answer_to("example.com", kTxt).add(0, kPointerToQuestion, kTxt, 300, text_of(1000)));
  const auto bytes = [&](const WireBytes& query, unsigned path, size_t room) {
    const ReplyOptions options = {.now_sec = kNow, .max_reply_bytes = static_cast<uint16_t>(path)};
    return reply(entry, query, options, room).size();
  };
  const WireBytes plain = query_of("example.com", kTxt);
  const size_t question_end = 12 + 13 + 4;
  const size_t whole = question_end + 12 + 1000;
  EXPECT_EQ(bytes(plain, 4096, 4096), question_end);  // 512 without OPT: TC
  EXPECT_EQ(bytes(edns_query_of("example.com", kTxt, 0, false), 4096, 4096), question_end + 11);
  EXPECT_EQ(bytes(edns_query_of("example.com", kTxt, 4096, false), 4096, 4096), whole + 11);
  EXPECT_EQ(bytes(edns_query_of("example.com", kTxt, 1051, false), 4096, 4096), question_end + 11);
  EXPECT_EQ(bytes(edns_query_of("example.com", kTxt, 1052, false), 4096, 4096), whole + 11);
  EXPECT_EQ(bytes(edns_query_of("example.com", kTxt, 4096, false), 1051, 4096), question_end + 11);
  EXPECT_EQ(bytes(edns_query_of("example.com", kTxt, 4096, false), 4096, 1051), question_end + 11);
  EXPECT_EQ(bytes(plain, 4096, question_end), question_end);
  WireBytes tight(plain.begin(), plain.end() - 1);
  EXPECT_EQ(build_reply(entry.view(), parse_query(plain), kReply, tight).bytes, 0);
}

// RFC 2181 §9: first the additional section goes, then a positive answer's authority, then all but
// TC.
TEST_F(EntryCodecTest, LeavesOutSectionsBeforeItTruncates) {
  const MessageBuilder positive = answer_to("example.com", kA)
                                      .add(0, kPointerToQuestion, kA, 300, kAddress)
                                      .add(1, kPointerToQuestion, kNs, 300, flat("ns1.test"))
                                      .add(1, kPointerToQuestion, kNs, 300, flat("ns2.test"))
                                      .add(2, flat("ns1.test"), kA, 300, kAddress)
                                      .add(2, flat("ns2.test"), kA, 300, kAddress);
  MessageBuilder negative = answer_to("www.example.com", kA);
  negative.add(1, flat("example.com"), kSoa, 300, soa_rdata(300));
  const auto counts = [&](const MessageBuilder& message, size_t cut) {
    const TestEntry entry = encode_wire(message);
    const WireBytes question = WireBytes(12) + message.question;
    const WireBytes query = be16(1) + from_hex("0100 0001 0000 0000 0000") + message.question;
    const size_t whole = reply(entry, query, kReply).size();
    const dns::Header h = parse(reply(entry, query, kReply, whole - cut)).header;
    return std::to_string(h.answer_count) + std::to_string(h.authority_count) +
           std::to_string(h.additional_count) + (h.tc() ? "TC" : "");
  };
  EXPECT_EQ(counts(positive, 0), "122");
  EXPECT_EQ(counts(positive, 1), "120");
  EXPECT_EQ(counts(positive, 32), "120");
  EXPECT_EQ(counts(positive, 33), "100");
  EXPECT_EQ(counts(positive, 32 + 22 + 18), "100");
  EXPECT_EQ(counts(positive, 32 + 22 + 18 + 1), "000TC");
  EXPECT_EQ(counts(negative, 0), "010");
  EXPECT_EQ(counts(negative, 1), "000TC");
}

TEST_F(EntryCodecTest, ForeignBytesAreNotAWellFormedEntry) {
  const TestEntry entry = encode_wire(answer_to("a.example", kA)
                                          .add(0, flat("a.example"), kCname, 300, flat("b.test"))
                                          .add(0, flat("B.test"), kA, 300, kAddress));
  const auto with = [&](size_t at, uint8_t value) {
    WireBytes changed = entry.bytes;
    changed[at] = value;
    return entry_is_well_formed(changed);
  };
  EXPECT_TRUE(with(0, 0xff));   // the state is anybody's
  EXPECT_FALSE(with(1, 0x80));  // an unknown flag
  EXPECT_FALSE(with(2, entry.bytes[2] + 1));
  EXPECT_FALSE(with(11, 10));           // the name's length
  EXPECT_FALSE(with(15, 3));            // blocks
  EXPECT_FALSE(with(17, 'A'));          // upper case
  EXPECT_FALSE(with(27, 0xc0 | 0x03));  // section 3
  EXPECT_FALSE(with(27, 0xc0 | 0x08));  // the owner of no block before
  EXPECT_FALSE(with(38, 0x42));         // a label that was not written
  EXPECT_FALSE(with(38, 0xc0));         // no end byte
  EXPECT_TRUE(with(38, 0x41));          // the other label
}

}  // namespace
}  // namespace wirecache::cache

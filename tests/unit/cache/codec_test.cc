#include <gtest/gtest.h>

#include <string>

#include "lib/cache/entry_codec.h"
#include "tests/unit/cache/entry_codec_test.h"

namespace wirecache::cache {
namespace {

// Header as entry.h draws it: state, flags, when it expires (1,000,300) and lifetime (5 << 6, code
// 29), length, and where the flags do not say it the type.
TEST_F(EntryCodecTest, OneAddressTakes24Bytes) {
  const TestEntry entry =
      encode_wire(answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress));
  EXPECT_EQ(entry.encoded.status, EncodeStatus::kKeep);
  EXPECT_EQ(entry.encoded.lifetime_sec, 300u);
  EXPECT_EQ(entry.bytes, from_hex("00 1c 6c430f3a 18") + flat("example.com") + kAddress);
}

TEST_F(EntryCodecTest, AnRrsetOfTheQuestionTakesNothingBesideItsData) {
  constexpr unsigned kAaaa = 28, kSpf = 99, kDs = 43, kUnknown = 65280;
  const WireBytes v6(16, 6);
  const auto records_of = [&](unsigned type, const WireBytes& first, const WireBytes& second) {
    const TestEntry entry = encode_wire(answer_to("example.com", type)
                                            .add(0, kPointerToQuestion, type, 300, first)
                                            .add(0, kPointerToQuestion, type, 300, second));
    const size_t head = entry.bytes.size() - entry.view().records(13).size() - 13;
    EXPECT_EQ(entry.view().type(), type);
    EXPECT_EQ(dns::to_vector(entry.view().name()), flat("example.com"));
    return be16(static_cast<unsigned>(head)) + dns::to_vector(entry.view().records(13));
  };
  const WireBytes other = {10, 0, 0, 1};
  EXPECT_EQ(records_of(kA, kAddress, other), be16(7) + kAddress + other);
  EXPECT_EQ(records_of(kAaaa, v6, WireBytes(16, 7)), be16(7) + v6 + WireBytes(16, 7));
  EXPECT_EQ(records_of(kTxt, text_of(10), text_of(100)), be16(7) + text_of(10) + text_of(100));
  EXPECT_EQ(records_of(kTxt, text_of(200), text_of(100)), be16(8) + text_of(200) + text_of(100));
  EXPECT_EQ(records_of(kSpf, text_of(10), text_of(11)), be16(8) + text_of(10) + text_of(11));
  // Opaque data has its length before it.
  EXPECT_EQ(records_of(kDs, text_of(10), text_of(11)),
            be16(8) + WireBytes{10} + text_of(10) + WireBytes{11} + text_of(11));
  EXPECT_EQ(records_of(kUnknown, {}, {5}), be16(10) + from_hex("00 01 05"));
}

// The short way must not be taken where it would know less: each of these answers is nearly plain.
TEST_F(EntryCodecTest, NearlyPlainAnswersAreReadInFull) {
  const auto plain = [] {
    return answer_to("example.com", kA).add(0, kPointerToQuestion, kA, 300, kAddress);
  };
  const WireBytes entry = encode_wire(plain()).bytes;
  // Equal records are one, of the smallest TTL.
  EXPECT_EQ(encode_wire(plain().add(0, kPointerToQuestion, kA, 400, kAddress)).bytes, entry);
  EXPECT_EQ(encode_wire(plain().add(2, flat(""), 41, 0, {}, 1232)).bytes, entry);
  EXPECT_EQ(encode_wire(plain().add(2, flat("other"), kA, 5, kAddress)).bytes, entry);
  EXPECT_EQ(encode_wire(plain().add(0, flat("other"), kA, 5, kAddress)).bytes, entry);
  EXPECT_EQ(encode_wire(plain().add(0, kPointerToQuestion, kTxt, 5, text_of(5))).bytes, entry);
  EXPECT_EQ(encode_wire(plain().add(0, kPointerToQuestion, kA, 5, kAddress, 3)).bytes, entry);
  MessageBuilder many = answer_to("example.com", kA);
  for (unsigned i = 0; i < 20; ++i) many.add(0, kPointerToQuestion, kA, 300, be32(i / 2));
  EXPECT_EQ(encode_wire(many).bytes.size(), 7u + 13 + 10 * 4);
  // In another case than the key's (draft-vixie-dnsext-dns0x20).
  MessageBuilder shouted = plain();
  shouted.question = flat("EXAMPLE.com") + be16(kA) + be16(kIn);
  EXPECT_EQ(encode(key_of(flat("example.com"), kA), shouted.wire(), options()).bytes, entry);
}

// Text that is not one short character-string: marked, and opaque.
TEST_F(EntryCodecTest, TextOfOtherShapesKeepsItsBytes) {
  const WireBytes two_strings = text_of(3) + text_of(4);
  for (const WireBytes& text :
       {text_of(254), text_of(255), text_of(256), two_strings, WireBytes{}, WireBytes{0},
        WireBytes{0, 0}, WireBytes{7, 'x'}, text_of(1000), WireBytes{255}, WireBytes{254}}) {
    const TestEntry entry = encode_wire(answer_to("example.com", kTxt)
                                            .add(0, kPointerToQuestion, kTxt, 300, text)
                                            .add(0, kPointerToQuestion, kTxt, 300, text_of(9)));
    const ParsedMessage parsed = parse(reply(entry, edns_query_of("example.com", kTxt, 4096, false),
                                             {.now_sec = kNow, .max_reply_bytes = 4096}));
    ASSERT_EQ(parsed.records.size(), 2u);
    EXPECT_EQ(parsed.records[0].rdata, text);
    EXPECT_EQ(parsed.records[1].rdata, text_of(9));
  }
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
  EXPECT_EQ(entry.bytes.size(), 8u + 17 + 4 + 1);
  const WireBytes message = reply(entry, query_of("www.example.com", kCname), kReply);
  EXPECT_EQ(WireBytes(message.end() - 6, message.end()), from_hex("03 576562 c010"));
}

TEST_F(EntryCodecTest, AnAliasTargetIsTheNextOwner) {
  const TestEntry entry = encode_wire(answer_to("a.example", kA)
                                          .add(0, flat("a.example"), kCname, 300, flat("b.test"))
                                          .add(0, flat("B.test"), kA, 300, kAddress));
  // CNAME: control, type, 1b 4test 0; A: control, a reference to the first label written, address.
  EXPECT_EQ(entry.bytes.size(), 8u + 11 + 2 + 8 + 1 + 1 + 4);
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

TEST_F(EntryCodecTest, CountsMoreThan255Records) {
  MessageBuilder message = answer_to("example.com", kA);
  for (unsigned i = 0; i < 512; ++i) {
    message.add(0, kPointerToQuestion, kA, 300, be32(0x0a000000 + i));
  }
  const TestEntry entry = encode_wire(message);
  EXPECT_EQ(entry.encoded.status, EncodeStatus::kKeep);
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
  WireBytes scratch(24);
  for (size_t room = 0; room <= 24; ++room) {
    EXPECT_EQ(encode_answer(key, small, options(), MutableBytes(scratch).first(room)).status,
              room < 24 ? EncodeStatus::kTooLarge : EncodeStatus::kKeep);
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
  // 8 header, 11 name; 19 control, 20 type, 21 1b 4test 0; 29 control, 30 reference, 31 address.
  ASSERT_EQ(entry.bytes.size(), 35u);
  const auto with = [&](size_t at, unsigned value) {
    WireBytes changed = entry.bytes;
    changed[at] = static_cast<uint8_t>(value);
    return entry_is_well_formed(changed);
  };
  const unsigned flags = entry.bytes[1];
  EXPECT_TRUE(with(0, 0xff));  // the state is anybody's
  EXPECT_FALSE(with(1, flags | kEntryLong));
  EXPECT_FALSE(with(5, 0xff));  // a lifetime above the longest
  EXPECT_FALSE(with(6, entry.bytes.size() + 1));
  EXPECT_FALSE(with(6, 7));
  EXPECT_FALSE(with(7, 0));             // two bytes of type that would be the name's
  EXPECT_FALSE(with(9, 'A'));           // upper case
  EXPECT_FALSE(with(19, 0xc0 | 0x03));  // to the end, and one record
  EXPECT_FALSE(with(19, 0xc0 | 0x08));  // the owner of no block before
  EXPECT_FALSE(with(19, 0xc0 | 0x18));  // no owner
  EXPECT_FALSE(with(30, 0x42));         // a label that was not written
  EXPECT_FALSE(with(30, 0xc0));         // no end byte
  EXPECT_TRUE(with(30, 0x41));          // the other label
}

}  // namespace
}  // namespace wirecache::cache

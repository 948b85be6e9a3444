#include "lib/dns/query.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/dns/hex.h"

namespace wirecache::dns {
namespace {

// The messages that are named "dnspython" below were made with dnspython 2.3
// (dns.message.make_query(...).to_wire() with ID 0x1234); the rest is by hand from the RFCs.
constexpr char kExampleComA[] = "076578616d706c6503636f6d0000010001";
constexpr char kOpt[] = "00 0029 1000 00000000 0000";

QueryStatus judge(std::string_view hex) {
  Query query;
  return parse_query(from_hex(hex), query);
}

// A header with ID 0x1234 and RD=1, the counts, then `body`.
std::string with_counts(std::string_view counts, std::string_view body) {
  return "1234 0100 " + std::string(counts) + std::string(body);
}

// A query for example.com with this type and class, without EDNS.
std::string asking(std::string_view type_and_class) {
  return with_counts("0001 0000 0000 0000",
                     "076578616d706c6503636f6d00" + std::string(type_and_class));
}

// A query for example.com A with these additional records.
std::string with_additional(std::string_view count, std::string_view records) {
  return with_counts("0001 0000 0000 " + std::string(count), kExampleComA + std::string(records));
}

TEST(ParseQuery, PlainQueryByDnspython) {
  const WireBytes message = from_hex("123401000001000000000000074578616d706c6503434f4d0000010001");
  Query query;
  ASSERT_EQ(parse_query(message, query), QueryStatus::kOk);
  EXPECT_EQ(query.id, 0x1234);
  EXPECT_TRUE(query.rd());
  EXPECT_FALSE(query.cd());
  EXPECT_FALSE(query.ad());
  EXPECT_EQ(query.qname_bytes, 13);
  EXPECT_EQ(query.question_bytes(), 17);
  EXPECT_EQ(query.qtype, 1);
  EXPECT_EQ(query.qclass, 1);
  EXPECT_FALSE(query.edns.present);
  EXPECT_EQ(query.edns.udp_size, 512);  // RFC 1035 §4.2.1
}

TEST(ParseQuery, EdnsWithDoAndCookieByDnspython) {
  const WireBytes message = from_hex(
      "123401000001000000000001076578616d706c6503636f6d00001c000100002904d000008000000c"
      "000a00080102030405060708");
  Query query;
  ASSERT_EQ(parse_query(message, query), QueryStatus::kOk);
  EXPECT_EQ(query.qtype, 28);
  EXPECT_TRUE(query.edns.present);
  EXPECT_TRUE(query.edns.dnssec_ok);
  EXPECT_EQ(query.edns.version, 0);
  EXPECT_EQ(query.edns.udp_size, 1232);
}

TEST(ParseQuery, FlagsAreTakenAsReceived) {
  Query query;
  ASSERT_EQ(
      parse_query(from_hex("1234 0030 0001 0000 0000 0000" + std::string(kExampleComA)), query),
      QueryStatus::kOk);
  EXPECT_FALSE(query.rd());
  EXPECT_TRUE(query.cd());
  EXPECT_TRUE(query.ad());
}

TEST(ParseQuery, RootIsAName) {
  Query query;
  ASSERT_EQ(parse_query(from_hex("1234 0100 0001 0000 0000 0000 00 0002 0001"), query),
            QueryStatus::kOk);
  EXPECT_EQ(query.qname_bytes, 1);
  EXPECT_EQ(query.question_bytes(), 5);
}

TEST(ParseQuery, DropsShortMessages) {
  EXPECT_EQ(judge(""), QueryStatus::kDropShort);
  EXPECT_EQ(judge("1234 0100 0001 0000 0000 00"), QueryStatus::kDropShort);
  EXPECT_EQ(judge("1234 8100"), QueryStatus::kDropShort);
}

TEST(ParseQuery, DropsResponsesOfAnyOpcode) {
  EXPECT_EQ(judge("1234 8180 0001 0000 0000 0000" + std::string(kExampleComA)),
            QueryStatus::kDropResponse);
  EXPECT_EQ(judge("1234 a000 0001 0000 0000 0000"), QueryStatus::kDropResponse);
}

TEST(ParseQuery, OtherOpcodesBeforeAnyLookAtSections) {
  Query query;
  // NOTIFY (RFC 1996) and UPDATE (RFC 2136), the latter cut off after its counts.
  EXPECT_EQ(parse_query(from_hex("1234 2400 0001 0000 0000 0000 00 0006 0001"), query),
            QueryStatus::kNotImp);
  EXPECT_EQ(query.id, 0x1234);
  EXPECT_EQ(query.flags, 0x2400);
  EXPECT_EQ(query.question_bytes(), 0);
  EXPECT_EQ(judge("1234 2800 ffff ffff ffff ffff"), QueryStatus::kNotImp);
  EXPECT_EQ(judge("1234 7800 0000 0000 0000 0000"), QueryStatus::kNotImp);
}

TEST(ParseQuery, ExactlyOneQuestion) {  // RFC 9619 §4
  EXPECT_EQ(judge("1234 0100 0000 0000 0000 0000"), QueryStatus::kFormErr);
  const std::string question = kExampleComA;
  EXPECT_EQ(judge(with_counts("0002 0000 0000 0000", question + question)), QueryStatus::kFormErr);
}

TEST(ParseQuery, RecordsInAnswerOrAuthority) {
  const std::string record = "c00c 0001 0001 0000003c 0004 c0000201";
  Query query;
  EXPECT_EQ(parse_query(from_hex(with_counts("0001 0001 0000 0000", kExampleComA + record)), query),
            QueryStatus::kFormErr);
  EXPECT_EQ(query.qname_bytes, 13) << "the question is there to be echoed";
  EXPECT_EQ(judge(with_counts("0001 0000 0001 0000", kExampleComA + record)),
            QueryStatus::kFormErr);
}

TEST(ParseQuery, IxfrMayCarryOneSoa) {  // RFC 1995 §3
  const std::string ixfr = "076578616d706c6503636f6d0000fb0001";
  const std::string soa =
      "c00c 0006 0001 00000000 001a 016100 016200 00000001 00000002 00000003 00000004 00000005";
  const std::string a = "c00c 0001 0001 0000003c 0004 c0000201";
  EXPECT_EQ(judge(with_counts("0001 0000 0001 0000", ixfr + soa)), QueryStatus::kRefusedType);
  EXPECT_EQ(judge(with_counts("0001 0000 0000 0000", ixfr)), QueryStatus::kRefusedType);
  EXPECT_EQ(judge(with_counts("0001 0000 0001 0000", ixfr + a)), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_counts("0001 0000 0002 0000", ixfr + soa + soa)), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_counts("0001 0000 0001 0000", kExampleComA + soa)), QueryStatus::kFormErr);
}

TEST(ParseQuery, MalformedQuestions) {
  const std::string counts = "0001 0000 0000 0000";
  EXPECT_EQ(judge(with_counts(counts, "")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_counts(counts, "0161")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_counts(counts, "016100 0001 00")), QueryStatus::kFormErr) << "class cut";
  EXPECT_EQ(judge(with_counts(counts, "c00c 0001 0001")), QueryStatus::kFormErr) << "compressed";
  EXPECT_EQ(judge(with_counts(counts, "0161c00c 0001 0001")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_counts(counts, "41 08ff 00 0001 0001")), QueryStatus::kFormErr);
}

TEST(ParseQuery, NamesOfAtMost255Bytes) {
  // Labels of one byte: 127 and the root are 255 bytes, 128 are 257 (RFC 1035 §2.3.4).
  std::string longest;
  for (int i = 0; i < 127; ++i) longest += "0161";
  const std::string counts = "0001 0000 0000 0000";
  EXPECT_EQ(judge(with_counts(counts, longest + "00 0001 0001")), QueryStatus::kOk);
  EXPECT_EQ(judge(with_counts(counts, "0161" + longest + "00 0001 0001")), QueryStatus::kFormErr);
}

TEST(ParseQuery, GarbageAfterTheLastRecord) {
  EXPECT_EQ(judge(asking("0001 0001 00")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0001", std::string(kOpt) + "00")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0000", kOpt)), QueryStatus::kFormErr) << "not counted";
}

TEST(ParseQuery, CutAdditional) {
  const WireBytes whole = from_hex(with_additional("0001", kOpt));
  Query query;
  ASSERT_EQ(parse_query(whole, query), QueryStatus::kOk);
  for (size_t size = kHeaderBytes; size < whole.size(); ++size)
    EXPECT_EQ(parse_query(Bytes(whole).first(size), query), QueryStatus::kFormErr) << size;
  EXPECT_EQ(judge(with_additional("ffff", kOpt)), QueryStatus::kFormErr);
}

TEST(ParseQuery, AtMostOneOptWithARootOwner) {  // RFC 6891 §6.1.1, §6.1.2
  EXPECT_EQ(judge(with_additional("0002", std::string(kOpt) + kOpt)), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0001", "c00c 0029 1000 00000000 0000")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0001", "0161 00 0029 1000 00000000 0000")),
            QueryStatus::kFormErr);
}

TEST(ParseQuery, OptionsMustBeWhole) {  // RFC 6891 §6.1.2
  const std::string opt = "00 0029 1000 00000000 ";
  EXPECT_EQ(judge(with_additional("0001", opt + "0004 0003 0000")), QueryStatus::kOk);
  EXPECT_EQ(judge(with_additional("0001", opt + "0008 0003 0000 000c 0000")), QueryStatus::kOk);
  EXPECT_EQ(judge(with_additional("0001", opt + "0003 0003 00")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0001", opt + "0005 000a 0008 01")), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0001", opt + "0005 0003 0000 01")), QueryStatus::kFormErr);
}

TEST(ParseQuery, UdpSizesBelow512CountAs512) {  // RFC 6891 §6.2.3
  struct Case {
    const char* sent;
    uint16_t expected;
  };
  for (const Case& c : {Case{"0000", 512}, Case{"01ff", 512}, Case{"0200", 512}, Case{"0201", 513},
                        Case{"ffff", 65535}}) {
    Query query;
    ASSERT_EQ(parse_query(from_hex(with_additional(
                              "0001", "00 0029 " + std::string(c.sent) + " 00000000 0000")),
                          query),
              QueryStatus::kOk);
    EXPECT_EQ(query.edns.udp_size, c.expected);
  }
}

TEST(ParseQuery, LaterEdnsVersionsByDnspython) {  // RFC 6891 §6.1.3
  Query query;
  EXPECT_EQ(
      parse_query(from_hex("123401000001000000000001076578616d706c6503636f6d00000100010000290190"
                           "000100000000"),
                  query),
      QueryStatus::kBadVers);
  EXPECT_TRUE(query.edns.present);
  EXPECT_EQ(query.edns.version, 1);
  EXPECT_EQ(query.edns.udp_size, 512);
  EXPECT_EQ(query.qname_bytes, 13);
}

TEST(ParseQuery, VersionComesBeforeSignatureClassAndType) {
  const std::string opt_v1 = "00 0029 1000 00010000 0000";
  EXPECT_EQ(judge(with_counts("0001 0000 0000 0001", "016100 00fc 00ff" + opt_v1)),
            QueryStatus::kBadVers);
  const std::string tsig = "00 00fa 00ff 00000000 0000";
  EXPECT_EQ(judge(with_additional("0002", opt_v1 + tsig)), QueryStatus::kBadVers);
}

TEST(ParseQuery, TsigByDnspython) {  // RFC 8945 §4.2
  EXPECT_EQ(judge("123401000001000000000001076578616d706c6503636f6d0000010001036b65790000fa00ff"
                  "00000000003d0b686d61632d7368613235360000006b0d7928012c0020f73345ed67d5a1c7e9c1"
                  "c754eecef84b73ab5fa586cc02ecdedd4aba3b8b8c1a123400000000"),
            QueryStatus::kSigned);
}

TEST(ParseQuery, TsigMustBeLastAndOfClassAny) {  // RFC 8945 §4.2, §5.1
  const std::string tsig = "036b657900 00fa 00ff 00000000 0000";
  EXPECT_EQ(judge(with_additional("0002", kOpt + tsig)), QueryStatus::kSigned);
  EXPECT_EQ(judge(with_additional("0002", tsig + kOpt)), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0002", tsig + tsig)), QueryStatus::kFormErr);
  EXPECT_EQ(judge(with_additional("0001", "036b657900 00fa 0001 00000000 0000")),
            QueryStatus::kFormErr);
}

TEST(ParseQuery, Sig0AtTheEnd) {  // RFC 2931 §3: type covered 0
  const std::string fixed = "08 00 00000000 00000000 00000000 0001 00 ";
  EXPECT_EQ(judge(with_additional("0001", "00 0018 00ff 00000000 0013 0000" + fixed)),
            QueryStatus::kSigned);
  EXPECT_EQ(judge(with_additional("0001", "00 0018 00ff 00000000 0013 0001" + fixed)),
            QueryStatus::kOk)
      << "an ordinary SIG is a record like others";
  EXPECT_EQ(judge(with_additional("0001", "00 0018 00ff 00000000 0000")), QueryStatus::kOk);
}

TEST(ParseQuery, ASignatureComesBeforeClassAndType) {
  const std::string tsig = "036b657900 00fa 00ff 00000000 0000";
  EXPECT_EQ(judge(with_counts("0001 0000 0000 0001", "016100 00fc 0001" + tsig)),
            QueryStatus::kSigned);
  EXPECT_EQ(judge(with_counts("0001 0000 0000 0001", "016100 0001 0003" + tsig)),
            QueryStatus::kSigned);
}

TEST(ParseQuery, OtherAdditionalRecordsArePassedOver) {
  const std::string a = "c00c 0001 0001 0000003c 0004 c0000201";
  Query query;
  ASSERT_EQ(parse_query(from_hex(with_additional("0003", a + kOpt + a)), query), QueryStatus::kOk);
  EXPECT_TRUE(query.edns.present);
  EXPECT_EQ(judge(with_additional("0001", "c0ff 0001 0001 0000003c 0004 c0000201")),
            QueryStatus::kFormErr)
      << "their owners must be names all the same";
}

TEST(ParseQuery, ClassesBeforeTypes) {
  EXPECT_EQ(judge(asking("0010 0003")), QueryStatus::kChaos);
  EXPECT_EQ(judge(asking("00ff 0003")), QueryStatus::kChaos);
  EXPECT_EQ(judge(asking("0001 0000")), QueryStatus::kRefusedClass);
  EXPECT_EQ(judge(asking("0001 0004")), QueryStatus::kRefusedClass);  // HS
  EXPECT_EQ(judge(asking("0001 00fe")), QueryStatus::kRefusedClass);  // NONE
  EXPECT_EQ(judge(asking("0001 00ff")), QueryStatus::kRefusedClass);  // ANY
  EXPECT_EQ(judge(asking("00ff 00ff")), QueryStatus::kRefusedClass);
}

TEST(ParseQuery, EveryType) {  // RFC 6895 §3.1
  WireBytes message = from_hex(asking("0000 0001"));
  for (unsigned type = 0; type <= 0xffff; ++type) {
    store_be16(message.data() + message.size() - 4, static_cast<uint16_t>(type));
    QueryStatus expected = QueryStatus::kOk;
    if (type == 0 || type == 41 || (type >= 128 && type <= 254))
      expected = QueryStatus::kRefusedType;
    if (type == 255) expected = QueryStatus::kAny;
    Query query;
    ASSERT_EQ(parse_query(message, query), expected) << type;
    ASSERT_EQ(query.qtype, type);
  }
}

TEST(ParseQuery, LeavesNothingFromAnEarlierQuery) {
  Query query;
  ASSERT_EQ(parse_query(from_hex(with_additional("0001", "00 0029 1000 00008000 0000")), query),
            QueryStatus::kOk);
  EXPECT_EQ(parse_query(from_hex("1234"), query), QueryStatus::kDropShort);
  EXPECT_EQ(query.question_bytes(), 0);
  EXPECT_FALSE(query.edns.present);
  EXPECT_FALSE(query.edns.dnssec_ok);
}

}  // namespace
}  // namespace wirecache::dns

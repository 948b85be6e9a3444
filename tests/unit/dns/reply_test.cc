#include "lib/dns/reply.h"

#include <gtest/gtest.h>

#include "tests/unit/dns/hex.h"

namespace wirecache::dns {
namespace {

// Made with dnspython 2.3: Example.COM A, RD, CD, EDNS with 4096 and DO.
constexpr char kEdnsQuery[] =
    "123401100001000000000001074578616d706c6503434f4d00000100010000291000000080000000";
// Example.com ANY without EDNS.
constexpr char kAnyQuery[] = "123401000001000000000000076578616d706c6503636f6d0000ff0001";

struct Parsed {
  WireBytes buffer;  // the query, and room behind it filled with old bytes
  Query query;
};

Parsed parsed(std::string_view hex, size_t capacity = 512) {
  Parsed out;
  out.buffer = from_hex(hex);
  parse_query(out.buffer, out.query);
  out.buffer.resize(capacity, 0xee);
  return out;
}

WireBytes reply_bytes(const Parsed& p, size_t size) {
  return to_vector(Bytes(p.buffer).first(size));
}

TEST(WriteReplyHeader, EchoesIdOpcodeRdAndCdOnly) {
  Query query;
  query.id = 0xbeef;
  query.flags = 0x7f7f;  // everything set but QR
  query.qname_bytes = 1;
  WireBytes header(kHeaderBytes);
  write_reply_header(header.data(), query, Rcode::kNoError, 0, {});
  // QR, opcode 15, RD, RA, CD; no AA, TC, Z, AD, rcode (RFC 1035 §4.1.1, RFC 6840 §5.8).
  EXPECT_EQ(header, from_hex("beef f990 0001 0000 0000 0000"));
}

TEST(WriteReplyHeader, AddsFlagsRcodeAndCounts) {
  Query query;
  query.id = 1;
  WireBytes header(kHeaderBytes);
  write_reply_header(header.data(), query, Rcode::kNxDomain, kFlagTc | kFlagAd,
                     {.answer = 0x0102, .authority = 0x0304, .additional = 0x0506});
  EXPECT_EQ(header, from_hex("0001 82a3 0000 0102 0304 0506"));
}

TEST(WriteReplyHeader, KeepsTheLowBitsOfAnExtendedRcode) {
  WireBytes header(kHeaderBytes);
  write_reply_header(header.data(), Query{}, Rcode::kBadVers, 0, {});
  EXPECT_EQ(header, from_hex("0000 8080 0000 0000 0000 0000"));
}

TEST(WriteOpt, Rfc6891Section612) {
  WireBytes buffer(kOptBytes);
  Writer writer(buffer);
  ASSERT_TRUE(write_opt(writer, {.present = true, .dnssec_ok = true}, Rcode::kBadVers, 1232));
  EXPECT_EQ(buffer, from_hex("00 0029 04d0 01 00 8000 0000"));
  Writer again(buffer);
  ASSERT_TRUE(write_opt(again, {.present = true, .version = 3}, Rcode::kServFail, 4096));
  EXPECT_EQ(buffer, from_hex("00 0029 1000 00 00 0000 0000"));
}

TEST(WriteOpt, WritesNothingWhereItDoesNotFit) {
  WireBytes buffer(kOptBytes, 0xee);
  Writer writer(buffer, 1);
  EXPECT_FALSE(write_opt(writer, {.present = true}, Rcode::kNoError, 1232));
  EXPECT_EQ(writer.position(), 1u);
  EXPECT_EQ(buffer, WireBytes(kOptBytes, 0xee));
}

TEST(WriteEmptyReply, BadVersAsDnspythonWritesIt) {
  Parsed p = parsed(kEdnsQuery);
  const size_t size = write_empty_reply(p.buffer, p.query, Rcode::kBadVers, 0, 1232);
  EXPECT_EQ(
      reply_bytes(p, size),
      from_hex("123481900001000000000001074578616d706c6503434f4d000001000100002904d0010080000000"));
}

TEST(WriteEmptyReply, NoOptForAClientThatSentNone) {  // RFC 6891 §7
  Parsed p = parsed(kAnyQuery);
  const size_t size = write_empty_reply(p.buffer, p.query, Rcode::kRefused, 0, 1232);
  EXPECT_EQ(reply_bytes(p, size),
            from_hex("123481850001000000000000076578616d706c6503636f6d0000ff0001"));
}

TEST(WriteEmptyReply, TruncatedWithTcAndOpt) {  // RFC 2181 §9
  Parsed p = parsed(kEdnsQuery);
  const size_t size = write_empty_reply(p.buffer, p.query, Rcode::kNoError, kFlagTc, 1232);
  EXPECT_EQ(
      reply_bytes(p, size),
      from_hex("123483900001000000000001074578616d706c6503434f4d000001000100002904d0000080000000"));
}

TEST(WriteEmptyReply, FormErrWithoutAQuestionIsABareHeader) {
  Parsed p = parsed("1234 0100 0001 0000 0000 0000 c00c 0001 0001");
  const size_t size = write_empty_reply(p.buffer, p.query, Rcode::kFormErr, 0, 1232);
  EXPECT_EQ(reply_bytes(p, size), from_hex("1234 8181 0000 0000 0000 0000"));
}

TEST(WriteEmptyReply, NotImpEchoesTheOpcode) {
  Parsed p = parsed("1234 2800 0001 0000 0000 0000 00 0006 0001");  // UPDATE
  const size_t size = write_empty_reply(p.buffer, p.query, Rcode::kNotImp, 0, 1232);
  EXPECT_EQ(reply_bytes(p, size), from_hex("1234 a884 0000 0000 0000 0000"));
}

TEST(WriteEmptyReply, TouchesNothingWhereItDoesNotFit) {
  Parsed p = parsed(kEdnsQuery);
  const WireBytes before = p.buffer;
  EXPECT_EQ(write_empty_reply(MutableBytes(p.buffer).first(39), p.query, Rcode::kNoError, 0, 1232),
            0u);
  EXPECT_EQ(p.buffer, before);
  EXPECT_EQ(write_empty_reply(MutableBytes(p.buffer).first(40), p.query, Rcode::kNoError, 0, 1232),
            40u);
  EXPECT_EQ(p.buffer[40], 0xee) << "not a byte behind the reply";
  EXPECT_EQ(write_empty_reply({}, p.query, Rcode::kNoError, 0, 1232), 0u);
}

TEST(WriteAnyReply, AsDnspythonWritesIt) {  // RFC 8482 §4.2
  Parsed p = parsed(kAnyQuery);
  const size_t size = write_any_reply(p.buffer, p.query, 1232);
  EXPECT_EQ(reply_bytes(p, size),
            from_hex("123481800001000100000000076578616d706c6503636f6d0000ff0001c00c000d000100000e"
                     "1000090752464338343832 00"));
}

TEST(WriteAnyReply, WithOptBehindTheAnswer) {
  Parsed p = parsed("1234 0100 0001 0000 0000 0001 00 00ff 0001 00 0029 1000 00000000 0000");
  const size_t size = write_any_reply(p.buffer, p.query, 1232);
  EXPECT_EQ(reply_bytes(p, size), from_hex("1234 8180 0001 0001 0000 0001 00 00ff 0001"
                                           "c00c 000d 0001 00000e10 0009 0752464338343832 00"
                                           "00 0029 04d0 00000000 0000"));
}

TEST(WriteAnyReply, WritesNothingWithoutRoomOrQuestion) {
  Parsed p = parsed(kAnyQuery);
  const WireBytes before = p.buffer;
  EXPECT_EQ(write_any_reply(MutableBytes(p.buffer).first(49), p.query, 1232), 0u);
  EXPECT_EQ(write_any_reply(p.buffer, Query{}, 1232), 0u);
  EXPECT_EQ(p.buffer, before);
  EXPECT_EQ(write_any_reply(MutableBytes(p.buffer).first(50), p.query, 1232), 50u);
}

}  // namespace
}  // namespace wirecache::dns

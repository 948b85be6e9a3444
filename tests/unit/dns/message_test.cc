#include "lib/dns/message.h"

#include <gtest/gtest.h>

#include "tests/unit/dns/hex.h"

namespace wirecache::dns {
namespace {

// Made with dnspython 2.3: the response to www.example.com MX with
//   www.example.com. 300 CNAME mail.example.com. / mail.example.com. 60 MX 10 mx.mail.example.com.
//   authority: example.com. 86400 NS ns.example.net.
//   additional: mx.mail.example.com. 30 A 192.0.2.1
WireBytes mx_response() {
  return from_hex(
      "12348180000100020001000103777777076578616d706c6503636f6d00000f0001c00c0005000100"
      "00012c0007046d61696cc010c02d000f00010000003c0007000a026d78c02dc01000020001000151"
      "800010026e73076578616d706c65036e657400c042000100010000001e0004c0000201");
}

using Step = MessageWalk::Step;

// Walks to the end; the number of records, or -1 where malformed.
int walk(const WireBytes& message) {
  MessageWalk walk(message);
  Header header;
  Question question;
  if (!walk.begin(header, question)) return -1;
  Record record;
  for (int records = 0;; ++records) {
    const Step step = walk.next(record);
    if (step == Step::kDone) return records;
    if (step == Step::kMalformed) return -1;
  }
}

TEST(ReadHeader, TakesTheFieldsOfRfc1035Section411) {
  Header header;
  ASSERT_TRUE(read_header(from_hex("abcd a783 0001 0002 0003 0004"), header));
  EXPECT_EQ(header.id, 0xabcd);
  EXPECT_TRUE(header.qr());
  EXPECT_EQ(header.opcode(), 4);  // NOTIFY
  EXPECT_TRUE(header.tc());
  EXPECT_EQ(header.rcode(), Rcode::kNxDomain);
  EXPECT_EQ(header.question_count, 1);
  EXPECT_EQ(header.answer_count, 2);
  EXPECT_EQ(header.authority_count, 3);
  EXPECT_EQ(header.additional_count, 4);
  EXPECT_FALSE(read_header(from_hex("abcd a783 0001 0002 0003 00"), header));
}

TEST(MessageWalk, YieldsTheRecordsInOrder) {
  const WireBytes message = mx_response();
  MessageWalk walk(message);
  Header header;
  Question question;
  ASSERT_TRUE(walk.begin(header, question));
  EXPECT_EQ(header.id, 0x1234);
  EXPECT_EQ(to_vector(question.name.view()), flat("www.example.com"));
  EXPECT_EQ(question.type, 15);
  EXPECT_EQ(question.rr_class, 1);

  struct Expected {
    Section section;
    const char* owner;
    uint16_t type;
    uint32_t ttl;
    const char* rdata_hex;
  };
  const Expected expected[] = {
      {Section::kAnswer, "www.example.com", 5, 300, "046d61696cc010"},
      {Section::kAnswer, "mail.example.com", 15, 60, "000a026d78c02d"},
      {Section::kAuthority, "example.com", 2, 86400, "026e73076578616d706c65036e657400"},
      {Section::kAdditional, "mx.mail.example.com", 1, 30, "c0000201"},
  };
  Record record;
  for (const Expected& e : expected) {
    ASSERT_EQ(walk.next(record), Step::kRecord);
    EXPECT_EQ(record.section, e.section);
    EXPECT_EQ(to_vector(record.owner.view()), flat(e.owner));
    EXPECT_EQ(record.type, e.type);
    EXPECT_EQ(record.rr_class, 1);
    EXPECT_EQ(record.ttl, e.ttl);
    EXPECT_EQ(to_vector(Bytes(message).subspan(record.rdata_offset, record.rdata_bytes)),
              from_hex(e.rdata_hex));
  }
  EXPECT_EQ(walk.next(record), Step::kDone);
  EXPECT_EQ(walk.next(record), Step::kDone);
}

TEST(MessageWalk, EveryCutAndEveryTrailingByteIsMalformed) {
  const WireBytes message = mx_response();
  ASSERT_EQ(walk(message), 4);
  for (size_t size = 0; size < message.size(); ++size)
    EXPECT_EQ(walk(WireBytes(message.begin(), message.begin() + static_cast<ptrdiff_t>(size))), -1)
        << size;
  EXPECT_EQ(walk(message + from_hex("00")), -1);
}

TEST(MessageWalk, CountsMustMatch) {
  WireBytes message = mx_response();
  message[11] = 2;  // ARCOUNT
  EXPECT_EQ(walk(message), -1);
  message[11] = 0;
  EXPECT_EQ(walk(message), -1);
  message[11] = 1;
  message[7] = 3;  // one record more in the answer: the additional one is missing in the end
  EXPECT_EQ(walk(message), -1);
}

TEST(MessageWalk, TakesExactlyOneQuestion) {
  EXPECT_EQ(walk(from_hex("1234 8180 0000 0000 0000 0000")), -1);
  EXPECT_EQ(walk(from_hex("1234 8180 0001 0000 0000 0000 00 0001 0001")), 0);
  EXPECT_EQ(walk(from_hex("1234 8180 0002 0000 0000 0000 00 0001 0001 00 0001 0001")), -1);
}

TEST(MessageWalk, EmptyRdataIsARecord) {
  // RFC 3597 §5 allows \# 0; APL and NULL may be empty too.
  EXPECT_EQ(walk(from_hex("1234 8180 0001 0001 0000 0000 00 002a 0001"
                          "00 002a 0001 00000000 0000")),
            1);
}

TEST(MessageWalk, RejectsMoreThan65535Bytes) {
  WireBytes message =
      from_hex("1234 8180 0001 0001 0000 0000 00 0010 0001 00 0010 0001 00000000 ffff");
  message.resize(message.size() + 0xffff);
  EXPECT_EQ(walk(message), -1);
}

}  // namespace
}  // namespace wirecache::dns

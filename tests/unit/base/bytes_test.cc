#include "lib/base/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace wirecache {
namespace {

TEST(Bytes, LoadsAndStoresNetworkOrderAtAnyAlignment) {
  std::array<uint8_t, 7> bytes = {0xff, 0x12, 0x34, 0x56, 0x78, 0xff, 0xff};
  EXPECT_EQ(load_be16(bytes.data() + 1), 0x1234);
  EXPECT_EQ(load_be32(bytes.data() + 1), 0x12345678u);
  store_be16(bytes.data() + 5, 0xabcd);
  store_be32(bytes.data() + 1, 0x01020304);
  EXPECT_EQ(bytes, (std::array<uint8_t, 7>{0xff, 1, 2, 3, 4, 0xab, 0xcd}));
}

TEST(Reader, ReadsEachWidthInOrder) {
  const std::array<uint8_t, 9> bytes = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09};
  Reader reader(bytes);
  uint8_t a;
  uint16_t b;
  uint32_t c;
  Bytes d;
  ASSERT_TRUE(reader.u8(a) && reader.u16(b) && reader.u32(c) && reader.bytes(1, d));
  EXPECT_EQ(a, 0x01);
  EXPECT_EQ(b, 0x0203);
  EXPECT_EQ(c, 0x04050607u);
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0], 0x08);
  EXPECT_EQ(reader.position(), 8u);
  EXPECT_EQ(reader.remaining(), 1u);
  ASSERT_TRUE(reader.skip(1));
  EXPECT_TRUE(reader.at_end());
}

TEST(Reader, FailsWholeAndStaysWhereItWas) {
  const std::array<uint8_t, 4> bytes = {1, 2, 3, 4};
  Reader reader(bytes, 3);
  uint16_t b;
  uint32_t c;
  Bytes d;
  EXPECT_FALSE(reader.u16(b));
  EXPECT_FALSE(reader.u32(c));
  EXPECT_FALSE(reader.bytes(2, d));
  EXPECT_FALSE(reader.skip(2));
  EXPECT_FALSE(reader.skip(SIZE_MAX));  // no wrap-around
  EXPECT_EQ(reader.position(), 3u);
  uint8_t a;
  ASSERT_TRUE(reader.u8(a));
  EXPECT_EQ(a, 4);
  EXPECT_FALSE(reader.u8(a));
}

TEST(Reader, AnEmptySpanIsAtItsEnd) {
  Reader reader(Bytes{});
  Bytes none;
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.bytes(0, none));
  EXPECT_FALSE(reader.skip(1));
}

TEST(Writer, WritesEachWidthInOrder) {
  std::array<uint8_t, 9> bytes{};
  const std::array<uint8_t, 2> tail = {0x08, 0x09};
  Writer writer(bytes);
  ASSERT_TRUE(writer.u8(0x01) && writer.u16(0x0203) && writer.u32(0x04050607) &&
              writer.bytes(tail));
  EXPECT_EQ(bytes, (std::array<uint8_t, 9>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(writer.remaining(), 0u);
}

TEST(Writer, FailsWholeAndWritesNothing) {
  std::array<uint8_t, 4> bytes{};
  const std::array<uint8_t, 2> two = {7, 7};
  Writer writer(bytes, 3);
  EXPECT_FALSE(writer.u16(0xffff));
  EXPECT_FALSE(writer.u32(0xffffffff));
  EXPECT_FALSE(writer.bytes(two));
  EXPECT_EQ(writer.position(), 3u);
  EXPECT_EQ(bytes, (std::array<uint8_t, 4>{}));
  EXPECT_TRUE(writer.u8(9));
  EXPECT_FALSE(writer.u8(9));
}

TEST(Writer, RewindTakesBack) {
  std::array<uint8_t, 4> bytes{};
  Writer writer(bytes);
  ASSERT_TRUE(writer.u8(1));
  const size_t mark = writer.position();
  ASSERT_TRUE(writer.u16(0xffff));
  writer.rewind(mark);
  ASSERT_TRUE(writer.u8(2));
  EXPECT_EQ(writer.position(), 2u);
  EXPECT_EQ(bytes[1], 2);
}

}  // namespace
}  // namespace wirecache

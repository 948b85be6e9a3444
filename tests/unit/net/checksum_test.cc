#include "lib/net/checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wirecache::net {
namespace {

// RFC 1071 §4.1, word by word as it stands there, in host order.
uint16_t naive_checksum(Bytes bytes) {
  uint32_t sum = 0;
  size_t i = 0;
  for (; i + 1 < bytes.size(); i += 2) sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  if (i < bytes.size()) sum += static_cast<uint32_t>(bytes[i] << 8);
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

uint16_t checksum(Bytes bytes) {
  return checksum_finish(checksum_add(bytes, 0));
}

// RFC 1071 §3: the sum of these words is 2ddf0, folded ddf2.
TEST(Checksum, ExampleOfRfc1071) {
  const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(checksum(bytes), static_cast<uint16_t>(~0xddf2));
}

TEST(Checksum, OddLastByteIsAHighByte) {
  const uint8_t bytes[] = {0x01, 0x02, 0x03};
  EXPECT_EQ(checksum(bytes), static_cast<uint16_t>(~(0x0102 + 0x0300)));
}

TEST(Checksum, NothingAndZeros) {
  EXPECT_EQ(checksum({}), 0xffff);
  EXPECT_EQ(checksum(std::vector<uint8_t>(40, 0)), 0xffff);
}

TEST(Checksum, AgreesWithTheReferenceAtEveryLengthAndAlignment) {
  std::mt19937 random(1071);
  std::vector<uint8_t> memory(320);
  for (uint8_t& byte : memory) byte = static_cast<uint8_t>(random());
  for (size_t alignment = 0; alignment < 16; ++alignment) {
    for (size_t length = 0; length <= 300; ++length) {
      const Bytes bytes(memory.data() + alignment, length);
      ASSERT_EQ(checksum(bytes), naive_checksum(bytes)) << alignment << " " << length;
    }
  }
}

// Carries out of every addition.
TEST(Checksum, AgreesWithTheReferenceOnAllOnes) {
  for (size_t length = 0; length <= 1500; ++length) {
    const std::vector<uint8_t> bytes(length, 0xff);
    ASSERT_EQ(checksum(bytes), naive_checksum(bytes)) << length;
  }
}

TEST(Checksum, AgreesWithTheReferenceOnSparseBytes) {
  for (const uint8_t value : {0x01, 0x7f, 0x80, 0xff}) {
    for (size_t at = 0; at < 67; ++at) {
      std::vector<uint8_t> bytes(67, 0);
      bytes[at] = value;
      ASSERT_EQ(checksum(bytes), naive_checksum(bytes));
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(~byte);
      ASSERT_EQ(checksum(bytes), naive_checksum(bytes));
    }
  }
}

// Parts of even length may be added one after the other, in any grouping (RFC 1071 §2 (A)).
TEST(Checksum, PartsAddUp) {
  std::mt19937 random(2);
  std::vector<uint8_t> bytes(201);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() | 0xf0);
  for (size_t cut = 0; cut <= 200; cut += 2) {
    uint64_t sum = checksum_add(Bytes(bytes).first(cut), 0);
    sum = checksum_add(Bytes(bytes).subspan(cut), sum);
    ASSERT_EQ(checksum_finish(sum), naive_checksum(bytes)) << cut;
  }
  EXPECT_EQ(checksum_finish(checksum_add(bytes, ~uint64_t{0})), naive_checksum(bytes));
}

// 65,535 bytes, the most that a UDP length can say, of the largest words.
TEST(Checksum, LongestDatagram) {
  const std::vector<uint8_t> bytes(65535, 0xfe);
  EXPECT_EQ(checksum(bytes), naive_checksum(bytes));
}

std::vector<uint8_t> pseudo_header(const IpAddress& source, const IpAddress& destination,
                                   uint16_t length) {
  std::vector<uint8_t> bytes(source.bytes.begin(), source.bytes.begin() + source.size());
  bytes.insert(bytes.end(), destination.bytes.begin(),
               destination.bytes.begin() + destination.size());
  const auto high = static_cast<uint8_t>(length >> 8);
  const auto low = static_cast<uint8_t>(length);
  // RFC 8200 §8.1: 32-bit length, three zeros, next header. RFC 768: zero, protocol, length.
  if (source.is_v6()) {
    bytes.insert(bytes.end(), {0, 0, high, low, 0, 0, 0, 17});
  } else {
    bytes.insert(bytes.end(), {0, 17, high, low});
  }
  return bytes;
}

TEST(UdpChecksum, IsTheReferenceOverPseudoHeaderAndDatagram) {
  const IpAddress sources[] = {*IpAddress::parse("192.0.2.17"), *IpAddress::parse("2001:db8::17")};
  const IpAddress targets[] = {*IpAddress::parse("198.51.100.5"), *IpAddress::parse("fe80::ff:5")};
  std::mt19937 random(768);
  for (size_t family = 0; family < 2; ++family) {
    for (size_t length = 8; length < 300; ++length) {
      std::vector<uint8_t> udp(length);
      for (uint8_t& byte : udp) byte = static_cast<uint8_t>(random());
      std::vector<uint8_t> all =
          pseudo_header(sources[family], targets[family], static_cast<uint16_t>(length));
      all.insert(all.end(), udp.begin(), udp.end());
      ASSERT_EQ(udp_checksum(udp, sources[family], targets[family]), naive_checksum(all));
    }
  }
}

}  // namespace
}  // namespace wirecache::net

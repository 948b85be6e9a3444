#include "lib/net/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <vector>

#include "lib/net/checksum.h"
#include "tests/unit/net/fixtures.h"

namespace wirecache::net {

// Found by gtest through the type: a readable name instead of a byte dump.
void PrintTo(const FrameFixture& fixture, std::ostream* out) {
  *out << fixture.name;
}

namespace {

class FrameFixtures : public testing::TestWithParam<FrameFixture> {};

TEST_P(FrameFixtures, Verdict) {
  const std::vector<uint8_t> frame = from_hex(GetParam().frame_hex);
  Frame parsed;
  EXPECT_EQ(parse_frame(frame, GetParam().checksum_hints(), parsed), GetParam().verdict);
}

TEST_P(FrameFixtures, Offsets) {
  const FrameFixture& fixture = GetParam();
  if (fixture.verdict != FrameVerdict::kUdp) return;
  const std::vector<uint8_t> frame = from_hex(fixture.frame_hex);
  Frame parsed;
  ASSERT_EQ(parse_frame(frame, fixture.checksum_hints(), parsed), FrameVerdict::kUdp);
  EXPECT_EQ(parsed.vlan_tags, fixture.vlan_tags);
  EXPECT_EQ(parsed.vlan_tci, fixture.vlan_tci);
  EXPECT_EQ(parsed.l3_offset, fixture.l3_offset);
  EXPECT_EQ(parsed.l4_offset, fixture.l4_offset);
  EXPECT_EQ(parsed.payload_offset, fixture.payload_offset);
  EXPECT_EQ(parsed.payload_bytes, fixture.payload_bytes);
}

// What an earlier frame left in `out` must not show.
TEST_P(FrameFixtures, ReusedFrameIsOverwritten) {
  const FrameFixture& fixture = GetParam();
  if (fixture.verdict != FrameVerdict::kUdp) return;
  Frame fresh;
  Frame reused;
  for (const FrameFixture& earlier : kFrameFixtures)
    (void)parse_frame(from_hex(earlier.frame_hex), earlier.checksum_hints(), reused);
  const std::vector<uint8_t> frame = from_hex(fixture.frame_hex);
  ASSERT_EQ(parse_frame(frame, fixture.checksum_hints(), fresh), FrameVerdict::kUdp);
  ASSERT_EQ(parse_frame(frame, fixture.checksum_hints(), reused), FrameVerdict::kUdp);
  EXPECT_EQ(fresh.source, reused.source);
  EXPECT_EQ(fresh.destination, reused.destination);
  EXPECT_EQ(fresh.vlan_tags, reused.vlan_tags);
  EXPECT_EQ(fresh.vlan_tci, reused.vlan_tci);
  EXPECT_EQ(fresh.l3_offset, reused.l3_offset);
}

TEST_P(FrameFixtures, ReplyFrame) {
  const FrameFixture& fixture = GetParam();
  if (fixture.verdict != FrameVerdict::kUdp) return;
  const std::vector<uint8_t> frame = from_hex(fixture.frame_hex);
  Frame parsed;
  ASSERT_EQ(parse_frame(frame, fixture.checksum_hints(), parsed), FrameVerdict::kUdp);

  const std::vector<uint8_t> payload = from_hex(fixture.reply_payload_hex);
  const std::vector<uint8_t> expected = from_hex(fixture.reply_frame_hex);
  std::vector<uint8_t> buffer(
      std::max({frame.size(), parsed.payload_offset + payload.size(), size_t{kMinFrameBytes}}),
      0xee);
  std::copy(frame.begin(), frame.end(), buffer.begin());
  std::copy(payload.begin(), payload.end(), buffer.begin() + parsed.payload_offset);
  const uint16_t length =
      make_reply_frame(buffer.data(), parsed, static_cast<uint16_t>(payload.size()));
  ASSERT_LE(length, buffer.size());
  buffer.resize(length);
  EXPECT_EQ(buffer, expected);
}

// A device sums up the datagram as it finds it, the pseudo-header's part standing in the field, and
// writes the complement there: the frame is then the one that scapy built.
TEST_P(FrameFixtures, ReplyWithChecksumLeftToTheDevice) {
  const FrameFixture& fixture = GetParam();
  if (fixture.verdict != FrameVerdict::kUdp) return;
  const std::vector<uint8_t> frame = from_hex(fixture.frame_hex);
  Frame parsed;
  ASSERT_EQ(parse_frame(frame, fixture.checksum_hints(), parsed), FrameVerdict::kUdp);
  const std::vector<uint8_t> payload = from_hex(fixture.reply_payload_hex);
  std::vector<uint8_t> buffer(frame.size() + payload.size() + kMinFrameBytes);
  std::copy(frame.begin(), frame.end(), buffer.begin());
  std::copy(payload.begin(), payload.end(), buffer.begin() + parsed.payload_offset);
  const auto payload_bytes = static_cast<uint16_t>(payload.size());
  buffer.resize(make_reply_frame(buffer.data(), parsed, payload_bytes, UdpChecksum::kDevice));
  const size_t udp = parsed.l3_offset + (parsed.v6() ? kIpv6Bytes : kIpv4Bytes);
  const Bytes datagram = Bytes(buffer).subspan(udp, kUdpBytes + payload.size());
  const uint16_t sum = checksum_finish(checksum_add(datagram, 0));
  store_be16(buffer.data() + udp + 6, sum == 0 ? 0xffff : sum);
  EXPECT_EQ(buffer, from_hex(fixture.reply_frame_hex));
}

// Each prefix stands in a heap block of exactly its size, so that ASan sees any read beyond it.
TEST_P(FrameFixtures, EveryTruncationIsJudgedWithinItsBytes) {
  const FrameFixture& fixture = GetParam();
  const std::vector<uint8_t> frame = from_hex(fixture.frame_hex);
  for (size_t size = 0; size < frame.size(); ++size) {
    const auto prefix = std::make_unique<uint8_t[]>(size);
    std::copy_n(frame.begin(), size, prefix.get());
    Frame parsed;
    const FrameVerdict verdict =
        parse_frame(Bytes(prefix.get(), size), fixture.checksum_hints(), parsed);
    const bool whole = fixture.verdict == FrameVerdict::kUdp && size >= fixture.ip_end;
    EXPECT_EQ(verdict == FrameVerdict::kUdp, whole) << size << " bytes";
    EXPECT_TRUE(verdict == FrameVerdict::kShortFrame || size >= kEthernetBytes) << size << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(All, FrameFixtures, testing::ValuesIn(kFrameFixtures),
                         [](const auto& info) { return info.param.name; });

const FrameFixture& fixture_named(std::string_view name) {
  return *std::find_if(std::begin(kFrameFixtures), std::end(kFrameFixtures),
                       [&](const FrameFixture& f) { return f.name == name; });
}

TEST(Frame, SaysWhoAskedWhom) {
  Frame v4;
  ASSERT_EQ(parse_frame(from_hex(fixture_named("ipv4").frame_hex), {}, v4), FrameVerdict::kUdp);
  EXPECT_EQ(v4.destination_mac.to_string(), "02:00:00:00:00:22");
  EXPECT_EQ(v4.source_mac.to_string(), "02:00:00:00:00:11");
  EXPECT_EQ(v4.source, IpAddress::parse("192.0.2.17"));
  EXPECT_EQ(v4.destination, IpAddress::parse("198.51.100.53"));
  EXPECT_EQ(v4.source_port, 40001);
  EXPECT_EQ(v4.destination_port, 53);

  Frame v6;
  ASSERT_EQ(parse_frame(from_hex(fixture_named("ipv6").frame_hex), {}, v6), FrameVerdict::kUdp);
  EXPECT_EQ(v6.source, IpAddress::parse("2001:db8:1::17"));
  EXPECT_EQ(v6.destination, IpAddress::parse("2001:db8:2::53"));
}

// MACs are known for every frame that has them, whatever the verdict.
TEST(Frame, MacsOfFramesForTheKernel) {
  Frame parsed;
  ASSERT_EQ(parse_frame(from_hex(fixture_named("arp_request").frame_hex), {}, parsed),
            FrameVerdict::kNotUdp);
  EXPECT_EQ(parsed.destination_mac.to_string(), "ff:ff:ff:ff:ff:ff");
  EXPECT_EQ(parsed.source_mac.to_string(), "02:00:00:00:00:11");
}

// A datagram of our own, written from nothing but headers and payload, equals scapy's frame.
TEST(WriteDatagram, EqualsTheReplyFramesOfTheFixtures) {
  for (const FrameFixture& fixture : kFrameFixtures) {
    if (fixture.verdict != FrameVerdict::kUdp) continue;
    const std::vector<uint8_t> expected = from_hex(fixture.reply_frame_hex);
    const std::vector<uint8_t> payload = from_hex(fixture.reply_payload_hex);
    Frame query;
    ASSERT_EQ(parse_frame(from_hex(fixture.frame_hex), fixture.checksum_hints(), query),
              FrameVerdict::kUdp);
    const DatagramHeaders headers{.source_mac = query.destination_mac,
                                  .destination_mac = query.source_mac,
                                  .source = query.destination,
                                  .destination = query.source,
                                  .source_port = query.destination_port,
                                  .destination_port = query.source_port,
                                  .vlan_tci = query.vlan_tci,
                                  .tagged = query.vlan_tags != 0};
    std::vector<uint8_t> buffer(std::max<size_t>(headers.bytes() + payload.size(), kMinFrameBytes),
                                0xee);
    std::copy(payload.begin(), payload.end(), buffer.begin() + headers.bytes());
    ASSERT_EQ(write_datagram(buffer.data(), headers, static_cast<uint16_t>(payload.size())),
              expected.size())
        << fixture.name;
    EXPECT_EQ(buffer, expected) << fixture.name;
  }
}

TEST(WriteDatagram, HeaderBytes) {
  DatagramHeaders headers;
  EXPECT_EQ(headers.bytes(), 14 + 20 + 8);
  headers.tagged = true;
  EXPECT_EQ(headers.bytes(), 14 + 4 + 20 + 8);
  headers.source.family = IpFamily::kV6;
  EXPECT_EQ(headers.bytes(), 14 + 4 + 40 + 8);
}

// Our own frames are read back as what they were made of, for every payload length.
TEST(WriteDatagram, EveryLengthIsReadBack) {
  for (const char* destination : {"192.0.2.1", "2001:db8::1"}) {
    DatagramHeaders headers;
    headers.source_mac.bytes = {2, 0, 0, 0, 0, 1};
    headers.destination_mac.bytes = {2, 0, 0, 0, 0, 2};
    headers.destination = *IpAddress::parse(destination);
    headers.source =
        *IpAddress::parse(headers.destination.is_v6() ? "2001:db8::5" : "198.51.100.5");
    headers.source_port = 12345;
    headers.destination_port = 53;
    for (uint16_t length = 0; length <= 1472; ++length) {
      std::vector<uint8_t> buffer(std::max<size_t>(headers.bytes() + length, kMinFrameBytes), 0xab);
      ASSERT_EQ(write_datagram(buffer.data(), headers, length), buffer.size());
      Frame parsed;
      ASSERT_EQ(parse_frame(buffer, {}, parsed), FrameVerdict::kUdp) << length;
      ASSERT_EQ(parsed.payload_bytes, length);
      ASSERT_EQ(parsed.destination, headers.destination);
    }
  }
}

}  // namespace
}  // namespace wirecache::net

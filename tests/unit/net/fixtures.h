// The packet fixtures: what came in, the verdict, and the reply frame that goes out, as built by
// scapy (make_fixtures.py). Plain constant data, for tests and benchmarks alike.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/net/frame.h"

namespace wirecache::net {

enum class FixtureHints : uint8_t { kUnverified, kIpVerified, kL4Verified };

struct FrameFixture {
  const char* name;
  FrameVerdict verdict;
  FixtureHints hints;
  std::string_view frame_hex;
  // With verdict kUdp only:
  uint16_t vlan_tags = 0;
  uint16_t vlan_tci = 0;
  uint16_t l3_offset = 0;
  uint16_t l4_offset = 0;
  uint16_t payload_offset = 0;
  uint16_t payload_bytes = 0;
  uint16_t ip_end = 0;  // where the IP packet ends and padding begins
  std::string_view reply_payload_hex = {};
  std::string_view reply_frame_hex = {};

  ChecksumHints checksum_hints() const {
    return {.ip_verified = hints == FixtureHints::kIpVerified,
            .l4_verified = hints == FixtureHints::kL4Verified};
  }
};

inline constexpr FrameFixture kFrameFixtures[] = {
#define FRAME(name, verdict, hints, frame) \
  FrameFixture{#name, FrameVerdict::verdict, FixtureHints::hints, frame},
#define DATAGRAM(name, hints, tags, tci, l3, l4, payload, bytes, end, frame, reply, reply_frame) \
  FrameFixture{#name,                                                                            \
               FrameVerdict::kUdp,                                                               \
               FixtureHints::hints,                                                              \
               frame,                                                                            \
               tags,                                                                             \
               tci,                                                                              \
               l3,                                                                               \
               l4,                                                                               \
               payload,                                                                          \
               bytes,                                                                            \
               end,                                                                              \
               reply,                                                                            \
               reply_frame},
#include "tests/unit/net/frame_fixtures.inc"
#undef FRAME
#undef DATAGRAM
};

inline std::vector<uint8_t> from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  return bytes;
}

}  // namespace wirecache::net

#include "lib/base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace wirecache {
namespace {

TEST(ChaCha20Block, Rfc8439Section232) {
  // Key 00..1f, counter 1, nonce 000000090000004a00000000.
  const std::array<uint32_t, 16> in = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
                                       0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
                                       0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c,
                                       0x00000001, 0x09000000, 0x4a000000, 0x00000000};
  const std::array<uint32_t, 16> expected = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3,
                                             0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                                             0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                             0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  std::array<uint32_t, 16> out{};
  chacha20_block(in, out);
  EXPECT_EQ(out, expected);
}

TEST(Random, YieldsTheKeyStreamInOrder) {
  // RFC 8439 appendix A.1, vectors 1 and 2: zero key and nonce, blocks 0 and 1; also the output of
  // `openssl enc -chacha20` with a zero key and IV.
  const std::array<uint32_t, 32> expected = {
      0xade0b876, 0x903df1a0, 0xe56a5d40, 0x28bd8653, 0xb819d2bd, 0x1aed8da0, 0xccef36a8,
      0xc70d778b, 0x7c5941da, 0x8d485751, 0x3fe02477, 0x374ad8b8, 0xf4b8436a, 0x1ca11815,
      0x69b687c3, 0x8665eeb2, 0xbee7079f, 0x7a385155, 0x7c97ba98, 0x0d082d73, 0xa0290fcb,
      0x6965e348, 0x3e53c612, 0xed7aee32, 0x7621b729, 0x434ee69c, 0xb03371d5, 0xd539d874,
      0x281fed31, 0x45fb0a51, 0x1f0ae1ac, 0x6f4d794b};
  Random random{Random::Key{}};
  for (const uint32_t word : expected) EXPECT_EQ(random.next_u32(), word);
}

TEST(Random, BelowStaysBelowAndReachesEveryValue) {
  Random random{Random::Key{1}};
  std::array<int, 7> seen{};
  for (int i = 0; i < 7'000; ++i) {
    const uint32_t value = random.below(7);
    ASSERT_LT(value, 7u);
    ++seen[value];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1'000, 200);  // above six standard deviations
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, KernelKeysDiffer) {
  Random a = Random::from_kernel();
  Random b = Random::from_kernel();
  std::array<uint32_t, 4> from_a{};
  std::array<uint32_t, 4> from_b{};
  for (uint32_t& word : from_a) word = a.next_u32();
  for (uint32_t& word : from_b) word = b.next_u32();
  EXPECT_NE(from_a, from_b);
}

}  // namespace
}  // namespace wirecache

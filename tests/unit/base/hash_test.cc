#include "lib/base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace wirecache {
namespace {

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(HashSecret, TheSameSeedRepeats) {
  const HashSecret a = HashSecret::from_seed(1);
  const HashSecret b = HashSecret::from_seed(1);
  for (const std::string& key : {std::string(), std::string("a"), std::string(300, 'x')})
    EXPECT_EQ(a.hash(bytes_of(key)), b.hash(bytes_of(key)));
}

TEST(HashSecret, SeedsAndRandomSecretsDiffer) {
  const std::string key = "\7example\3com";
  const std::set<uint64_t> hashes = {
      HashSecret::from_seed(1).hash(bytes_of(key)), HashSecret::from_seed(2).hash(bytes_of(key)),
      HashSecret::random().hash(bytes_of(key)), HashSecret::random().hash(bytes_of(key))};
  EXPECT_EQ(hashes.size(), 4u);
}

TEST(HashSecret, EveryByteOfTheKeyCounts) {
  const HashSecret secret = HashSecret::from_seed(3);
  std::string key(259, 'k');  // the longest key: a name of 255 bytes, type, flags and tag
  const uint64_t before = secret.hash(bytes_of(key));
  for (char& c : key) {
    c ^= 1;
    EXPECT_NE(secret.hash(bytes_of(key)), before);
    c ^= 1;
  }
}

TEST(OwnerOf, ComesFromTheTopBitsAndStaysBelowThePartitions) {
  EXPECT_EQ(owner_of(0, 4), 0u);
  EXPECT_EQ(owner_of(UINT64_MAX, 4), 3u);
  EXPECT_EQ(owner_of(0x4000000000000000, 4), 1u);
  EXPECT_EQ(owner_of(0x3fffffffffffffff, 4), 0u);
  EXPECT_EQ(owner_of(0xc000000000000000, 4), 3u);
  EXPECT_EQ(owner_of(UINT64_MAX, 1), 0u);
  EXPECT_EQ(owner_of(UINT64_MAX, 128), 127u);
  EXPECT_EQ(owner_of(0x00000000ffffffff, 128), 0u) << "the low bits have no say";
}

TEST(SignatureOf, IsTheLowHalf) {
  EXPECT_EQ(signature_of(0x1122334455667788), 0x55667788u);
}

TEST(OwnerOf, SpreadsKeysEvenly) {
  const HashSecret secret = HashSecret::from_seed(4);
  std::array<int, 3> keys_of{};
  for (int i = 0; i < 30'000; ++i) ++keys_of[owner_of(secret.hash(bytes_of(std::to_string(i))), 3)];
  for (const int keys : keys_of) EXPECT_NEAR(keys, 10'000, 500);  // six standard deviations
}

TEST(SignatureOf, StaysSpreadWithinOneOwner) {
  const HashSecret secret = HashSecret::from_seed(5);
  std::vector<uint32_t> signatures;
  for (int i = 0; i < 40'000; ++i) {
    const uint64_t hash = secret.hash(bytes_of(std::to_string(i)));
    if (owner_of(hash, 4) == 0) signatures.push_back(signature_of(hash));
  }
  // About 10,000 of 2^32 signatures: 0.01 pairs are expected to collide.
  std::sort(signatures.begin(), signatures.end());
  const auto repeated = std::unique(signatures.begin(), signatures.end());
  EXPECT_LE(signatures.end() - repeated, 1);
}

}  // namespace
}  // namespace wirecache

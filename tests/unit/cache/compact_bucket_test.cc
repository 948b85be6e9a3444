#include "lib/cache/compact_bucket.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

namespace wirecache::cache {
namespace {

constexpr uint32_t kAllSlots = (1u << CompactBucket::kSlots) - 1;

class CompactBucketTest : public testing::Test {
 protected:
  CompactBucketTest() {
    std::memset(static_cast<void*>(&bucket_), 0xa5, sizeof bucket_);  // what a slab had before
    bucket_.clear_all();
  }
  CompactBucket bucket_;
};

TEST_F(CompactBucketTest, IsEmptyWhenCleared) {
  EXPECT_EQ(bucket_.free_slots(), kAllSlots);
  EXPECT_EQ(bucket_.used_slots(), 0u);
  EXPECT_EQ(bucket_.match(0x1555), 0u);
}

TEST_F(CompactBucketTest, EachSlotHasItsOwnTagAndReference) {
  for (unsigned slot = 0; slot < CompactBucket::kSlots; ++slot) {
    bucket_.set(slot, 0x3fff - slot, EntryRef{0xfffffffe - slot});
    EXPECT_EQ(bucket_.free_slots(), kAllSlots & ~((2u << slot) - 1));
  }
  for (unsigned slot = 0; slot < CompactBucket::kSlots; ++slot) {
    EXPECT_EQ(bucket_.match(0x3fff - slot), 1u << slot);
    EXPECT_EQ(bucket_.tag(slot), 0x3fff - slot);
    EXPECT_EQ(bucket_.ref(slot), EntryRef{0xfffffffe - slot});
  }
  for (unsigned slot = 0; slot < CompactBucket::kSlots; ++slot) {
    bucket_.clear(slot);
    EXPECT_EQ(bucket_.free_slots(), (2u << slot) - 1);
    EXPECT_EQ(bucket_.match(0x3fff - slot), 0u);
  }
}

// Tags that differ in one bit, the lowest and the highest too, which a carry between lanes would
// confuse.
TEST_F(CompactBucketTest, MatchesLikeAComparisonSlotBySlot) {
  std::mt19937 random(1);
  std::array<uint32_t, CompactBucket::kSlots> tags{};
  const auto tag_near = [&](uint32_t tag) {
    return (random() % 2 == 0 ? tag : tag ^ 1u << random() % CompactBucket::kTagBits) & 0x3fff;
  };
  for (int round = 0; round < 20000; ++round) {
    const uint32_t wanted = round % 3 == 0 ? 1u << random() % 14 : random() & 0x3fff;
    const unsigned slot = random() % CompactBucket::kSlots;
    tags[slot] = tag_near(wanted);
    bucket_.set(slot, tags[slot], EntryRef{1});
    uint32_t expected = 0;
    for (unsigned i = 0; i < tags.size(); ++i) expected |= uint32_t{tags[i] == wanted} << i;
    ASSERT_EQ(bucket_.match(wanted), expected);
    const unsigned bit = random() % CompactBucket::kTagBits;
    uint32_t with_bit = 0;
    for (unsigned i = 0; i < tags.size(); ++i) with_bit |= (tags[i] >> bit & 1) << i;
    ASSERT_EQ(bucket_.slots_with(bit), with_bit);
    ASSERT_EQ(bucket_.tag(slot), tags[slot]);
  }
}

}  // namespace
}  // namespace wirecache::cache

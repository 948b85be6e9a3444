#include "lib/cache/segment_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "lib/cache/entry.h"
#include "tests/unit/cache/rcu_fixture.h"

namespace wirecache::cache {
namespace {

constexpr uint32_t kSegmentBytes = 128 << 10;

// `bytes` bytes with the length in the header, where the store looks for it, then `fill`.
std::vector<uint8_t> entry_of(uint16_t bytes, uint8_t fill) {
  std::vector<uint8_t> entry(bytes, fill);
  std::memcpy(entry.data() + 2, &bytes, sizeof bytes);
  return entry;
}

class SegmentStoreTest : public testing::Test {
 protected:
  std::unique_ptr<SegmentStore> make(uint32_t segments) {
    auto store = SegmentStore::create({.capacity_bytes = uint64_t{segments} * kSegmentBytes,
                                       .segment_bytes = kSegmentBytes,
                                       .rcu = rcu_.get()});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  RcuFixture rcu_;
};

TEST_F(SegmentStoreTest, RefusesTooFewSegmentsAndOddSizes) {
  EXPECT_FALSE(SegmentStore::create(
      {.capacity_bytes = 2 * kSegmentBytes, .segment_bytes = kSegmentBytes, .rcu = rcu_.get()}));
  EXPECT_FALSE(SegmentStore::create(
      {.capacity_bytes = 1 << 30, .segment_bytes = 64 << 10, .rcu = rcu_.get()}));
  EXPECT_FALSE(SegmentStore::create(
      {.capacity_bytes = 1 << 30, .segment_bytes = 200'000, .rcu = rcu_.get()}));
}

TEST_F(SegmentStoreTest, GivesBackEntriesInTheOrderOfInsertion) {
  auto store = make(3);
  const auto entry = entry_of(40'000, 1);  // three fit a segment
  std::vector<const uint8_t*> places;
  for (int i = 0; i < 9; ++i) places.push_back(store->append(entry));
  for (const uint8_t* place : places) {
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(std::memcmp(place, entry.data(), entry.size()), 0);
  }
  EXPECT_TRUE(store->is_eviction_due());
  EXPECT_EQ(store->used_bytes(), 9u * 40'000);
  EXPECT_EQ(store->append(entry), nullptr);
  for (int i = 0; i < 6; ++i) {  // the third segment is still the current one
    EXPECT_EQ(store->oldest(), places[i]);
    store->drop_oldest();
  }
  EXPECT_EQ(store->oldest(), nullptr);
}

TEST_F(SegmentStoreTest, ReusesASegmentOnlyAfterAllReadersReported) {
  auto store = make(3);
  const auto first = entry_of(60'000, 1);
  const auto second = entry_of(60'000, 2);
  const uint8_t* oldest = store->append(first);
  for (int i = 0; i < 5; ++i) ASSERT_NE(store->append(first), nullptr);
  store->drop_oldest();
  store->drop_oldest();

  EXPECT_EQ(store->append(second), nullptr);
  rcu_.quiescent(0);
  EXPECT_EQ(store->append(second), nullptr);  // reader 1 may still look
  EXPECT_EQ(std::memcmp(oldest, first.data(), first.size()), 0);
  EXPECT_EQ(store->used_bytes(), 6u * 60'000);
  rcu_.quiescent(1);
  EXPECT_EQ(store->append(second), oldest);
  EXPECT_EQ(store->used_bytes(), 5u * 60'000);
}

TEST_F(SegmentStoreTest, TakesBackTheLastEntry) {
  auto store = make(3);
  const auto entry = entry_of(100, 1);
  store->append(entry);
  const uint8_t* second = store->append(entry);
  store->take_back(entry);
  EXPECT_EQ(store->used_bytes(), 100u);
  EXPECT_EQ(store->append(entry), second);
}

TEST_F(SegmentStoreTest, ASealedSegmentCanBeEvicted) {
  auto store = make(3);
  store->seal();  // empty: nothing to seal
  EXPECT_EQ(store->oldest(), nullptr);
  const uint8_t* place = store->append(entry_of(100, 1));
  EXPECT_EQ(store->oldest(), nullptr);
  store->seal();
  EXPECT_EQ(store->oldest(), place);
}

}  // namespace
}  // namespace wirecache::cache

// What is rte_hash's own: slots that wait for readers, and a size that comes from the byte cap.
#include "lib/cache/hash_index.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "tests/unit/cache/index_fixture.h"

namespace wirecache::cache {
namespace {

using Status = IndexStatus;
constexpr uint64_t kEntryBytes = 116;

TEST(HashIndexSize, FourMillionEntriesCostAtMost150BytesEach) {
  // The smallest cap under which four million entries of the reference mix and their index fit.
  const uint64_t cap = uint64_t{4'000'000} * 150;
  const uint64_t slots = HashIndex::slots_for_capacity(cap);
  EXPECT_GE(slots, 4'000'000u);
  EXPECT_LE(4'000'000 * kEntryBytes + 16 * (slots + 1) + 12 * std::bit_ceil(slots), cap);
}

TEST(HashIndexSize, IsNeverJustAboveAPowerOfTwo) {
  for (uint64_t cap = 64u << 20; cap < (uint64_t{64} << 30); cap += cap / 50) {
    const uint64_t slots = HashIndex::slots_for_capacity(cap);
    const uint64_t rounded = std::bit_ceil(slots);
    EXPECT_TRUE(slots == rounded - 1 || slots * 100 > rounded * 53) << slots;
    // What the slots and their entries take is what there is.
    const uint64_t all = slots * (kEntryBytes + 16) + 12 * rounded;
    EXPECT_LE(all, cap);
    EXPECT_GT(all, cap / 100 * 87);
  }
}

class HashIndexTest : public testing::Test {
 protected:
  void insert(uint32_t number) {
    const NumberedKey key = fixture_.key(number);
    if (refs_.size() <= number) refs_.resize(number + 1);
    refs_[number] = fixture_.write(key.get(), number);
    ASSERT_EQ(index_->insert(key.get(), refs_[number]).status, Status::kInserted);
  }
  Status erase(uint32_t number) {
    return index_->erase_if(fixture_.key(number).get().hash, refs_[number]);
  }

  IndexFixture fixture_;
  std::unique_ptr<HashIndex> index_ = fixture_.make<HashIndex>();
  std::vector<EntryRef> refs_;
};

TEST_F(HashIndexTest, IsShortBeforeItIsFull) {
  uint32_t n = 0;
  while (!index_->is_short()) {
    insert(n++);
    ASSERT_LE(n, index_->capacity());
  }
  EXPECT_LT(n, index_->capacity());
  while (index_->size() < index_->capacity()) insert(n++);
  const NumberedKey key = fixture_.key(n);
  EXPECT_EQ(index_->insert(key.get(), fixture_.write(key.get(), n)).status, Status::kFull);
  const NumberedKey known = fixture_.key(0);
  EXPECT_EQ(index_->insert(known.get(), fixture_.write(known.get(), 1)).status, Status::kReplaced);
  for (uint32_t i = 1; i < n; ++i) ASSERT_NE(index_->find(fixture_.key(i).get()), nullptr);
}

TEST_F(HashIndexTest, AFullDeferQueueSaysBusyAndLeaksNothing) {
  const uint32_t count = index_->capacity();
  for (uint32_t n = 0; n < count; ++n) insert(n);
  uint32_t oldest = 0;
  uint32_t newest = count;
  for (int round = 0; round < 20; ++round) {
    // Reader 1 stays away: slots cannot go back.
    const uint32_t first = oldest;
    Status status = Status::kErased;
    while (status == Status::kErased) {
      status = erase(oldest);
      if (status == Status::kErased) ++oldest;
      fixture_.rcu().quiescent(0);
    }
    ASSERT_EQ(status, Status::kBusy);
    ASSERT_GE(oldest - first, 1000u);
    EXPECT_NE(index_->find(fixture_.key(oldest).get()), nullptr);  // nothing changed
    index_->maintain();
    EXPECT_EQ(erase(oldest), Status::kBusy);

    fixture_.poll(*index_);
    EXPECT_EQ(index_->size(), count - (oldest - first));
    while (index_->size() < count) insert(newest++);
  }
}

TEST_F(HashIndexTest, WhatWaitsForReadersTakesNothingFromTheCapacity) {
  const uint32_t count = index_->capacity();
  for (uint32_t n = 0; n < count; ++n) insert(n);
  for (uint32_t n = 0; n < 4000; ++n) {
    ASSERT_EQ(erase(n), Status::kErased);
    insert(count + n);
  }
}

TEST_F(HashIndexTest, RefusesATakenName) {
  auto twin = HashIndex::create({.name = "index_test",
                                 .space = &fixture_.space(),
                                 .supply = &fixture_.supply(),
                                 .rcu = fixture_.rcu().get(),
                                 .secret = &fixture_.secret()});
  ASSERT_FALSE(twin);
  EXPECT_NE(twin.error().message.find("index_test"), std::string::npos);
}

}  // namespace
}  // namespace wirecache::cache

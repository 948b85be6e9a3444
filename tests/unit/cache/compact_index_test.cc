// How the compact index grows, shrinks and fills.
#include "lib/cache/compact_index.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/cache/index_fixture.h"

namespace wirecache::cache {
namespace {

using Status = IndexStatus;
constexpr uint32_t kBucketsPerSlab = kTestSlabBytes / sizeof(CompactBucket);

class CompactIndexTest : public testing::Test {
 protected:
  // The keys of 0, 1, ... as far as they are inserted.
  Status insert_next() {
    const auto number = static_cast<uint32_t>(refs_.size());
    const NumberedKey key = fixture_.key(number);
    const EntryRef ref = fixture_.write(key.get(), number);
    const Status status = index_->insert(key.get(), ref).status;
    if (status == Status::kInserted) refs_.push_back(ref);
    return status;
  }
  void insert_up_to(uint32_t count) {
    while (refs_.size() < count) {
      ASSERT_EQ(insert_next(), Status::kInserted) << refs_.size();
      if (refs_.size() % 64 == 0) fixture_.supply().provision();
    }
  }
  void erase_down_to(uint32_t count) {
    for (; refs_.size() > count; refs_.pop_back()) {
      const auto number = static_cast<uint32_t>(refs_.size()) - 1;
      ASSERT_EQ(index_->erase_if(fixture_.key(number).get().hash, refs_[number]), Status::kErased);
    }
  }
  void expect_all_found() {
    for (uint32_t n = 0; n < refs_.size(); ++n) {
      const uint8_t* entry = index_->find(fixture_.key(n).get());
      ASSERT_NE(entry, nullptr) << n << " of " << refs_.size();
      ASSERT_EQ(version_of(entry), n);
    }
  }
  double load() const {
    return static_cast<double>(index_->size()) / index_->bucket_count() / CompactBucket::kSlots;
  }

  IndexFixture fixture_;
  std::unique_ptr<CompactIndex> index_ = fixture_.make<CompactIndex>();
  std::vector<EntryRef> refs_;
};

// At every number of entries, not only below powers of two; all of them found at sizes around those
// at which depths and tags change.
TEST_F(CompactIndexTest, IsAsFullAtEveryNumberOfEntries) {
  for (uint32_t count = 1000; count < 200000; count += count / 7) {
    insert_up_to(count);
    EXPECT_GT(load(), 0.79) << count;
    EXPECT_LT(load(), 0.81) << count;
    expect_all_found();
  }
  EXPECT_EQ(index_->memory_bytes(),
            (index_->bucket_count() + kBucketsPerSlab - 1) / kBucketsPerSlab * kTestSlabBytes);
}

TEST_F(CompactIndexTest, ShrinksAsFarAsItsEntriesAllow) {
  insert_up_to(100000);
  for (uint32_t count = 90000; count > 300; count -= count / 5) {
    erase_down_to(count);
    while (index_->release_memory()) {
    }
    EXPECT_GT(load(), 0.90) << count;
    expect_all_found();
    EXPECT_EQ(index_->size(), count);
  }
  // And grows again in the same memory or other.
  insert_up_to(50000);
  EXPECT_GT(load(), 0.79);
  expect_all_found();
}

TEST_F(CompactIndexTest, ASlabGoesBackWhenReadersHaveMovedOn) {
  insert_up_to(100000);
  const uint64_t memory_bytes = index_->memory_bytes();
  ASSERT_GE(memory_bytes, 8u * kTestSlabBytes);
  fixture_.poll(*index_);
  erase_down_to(1000);
  while (index_->release_memory()) {
  }
  for (int i = 0; i < 10; ++i) {  // reader 1 is away
    fixture_.rcu().quiescent(0);
    index_->maintain();
  }
  EXPECT_EQ(index_->memory_bytes(), memory_bytes);
  const uint64_t held = fixture_.supply().held_bytes();
  for (int i = 0; i < 40; ++i) fixture_.poll(*index_);
  EXPECT_EQ(index_->memory_bytes(), kTestSlabBytes);
  EXPECT_EQ(fixture_.supply().held_bytes(), held - (memory_bytes - kTestSlabBytes));
  expect_all_found();
}

TEST_F(CompactIndexTest, DoesNotGrowWhileMoreIsHeldThanTheCapAllows) {
  insert_up_to(40000);
  fixture_.supply().set_capacity(kTestSlabBytes);
  const uint32_t buckets = index_->bucket_count();
  for (int i = 0; i < 500; ++i) static_cast<void>(insert_next());
  EXPECT_EQ(index_->bucket_count(), buckets);
}

class FullCompactIndexTest : public testing::TestWithParam<unsigned> {};

// Without more memory: the load it says it is short at is reached before anything fails, and after
// the first failure what was there is there.
TEST_P(FullCompactIndexTest, IsShortBeforeItIsFull) {
  const unsigned slabs = GetParam();
  IndexFixture fixture(uint64_t{slabs} * kTestSlabBytes);
  auto index = fixture.make<CompactIndex>();
  uint32_t count = 0;
  uint32_t short_at = 0;
  std::vector<EntryRef> refs;
  for (;; ++count) {
    fixture.supply().provision();
    const NumberedKey key = fixture.key(count);
    refs.push_back(fixture.write(key.get(), count));
    if (index->insert(key.get(), refs.back()).status == Status::kFull) break;
    if (short_at == 0 && index->is_short()) short_at = count;
  }
  const double slots = double{kBucketsPerSlab} * slabs * CompactBucket::kSlots;
  EXPECT_EQ(index->bucket_count(), kBucketsPerSlab * slabs);
  EXPECT_GT(short_at, 0.92 * slots);
  EXPECT_GT(count, 0.94 * slots);
  for (uint32_t n = 0; n < count; ++n) {
    const uint8_t* entry = index->find(fixture.key(n).get());
    ASSERT_NE(entry, nullptr);
    ASSERT_EQ(version_of(entry), n);
  }
  // One that leaves makes room again.
  ASSERT_EQ(index->erase_if(fixture.key(0).get().hash, refs[0]), Status::kErased);
  unsigned inserted = 0;
  for (uint32_t n = count; n < count + 50; ++n) {
    const NumberedKey key = fixture.key(n);
    const EntryRef ref = fixture.write(key.get(), n);
    if (index->insert(key.get(), ref).status == Status::kInserted) ++inserted;
  }
  EXPECT_GE(inserted, 1u);
}

// A power of two of buckets, and between two of them, where half of the buckets have twice the keys
// of the rest by their first address.
INSTANTIATE_TEST_SUITE_P(Slabs, FullCompactIndexTest, testing::Values(1, 2, 3, 5, 6, 7, 11));

TEST(CompactIndexMemory, NeedsASlabToBeginWith) {
  IndexFixture fixture(kTestSlabBytes / 2);
  fixture.supply().provision();
  EXPECT_FALSE(CompactIndex::create({.name = "poor",
                                     .space = &fixture.space(),
                                     .supply = &fixture.supply(),
                                     .rcu = fixture.rcu().get(),
                                     .secret = &fixture.secret()}));
}

}  // namespace
}  // namespace wirecache::cache

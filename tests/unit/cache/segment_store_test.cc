#include "lib/cache/segment_store.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/unit/cache/hand_made_entry.h"
#include "tests/unit/cache/rcu_fixture.h"
#include "tests/unit/cache/store_support.h"

namespace wirecache::cache {
namespace {

constexpr uint32_t kSegmentBytes = 64 << 10;
constexpr uint32_t kSlabBytes = 4 * kSegmentBytes;
constexpr uint32_t kNow = 1000;
constexpr size_t kEntryBytes = 8000;
constexpr unsigned kPerSegment = kSegmentBytes / kEntryBytes;

class SegmentStoreTest : public testing::Test {
 protected:
  void make(uint32_t slabs, uint32_t stale_retention_sec = 0, unsigned unit_shift = 0) {
    memory_ = make_slab_memory(kSlabBytes);
    supply_ = std::make_unique<SlabSupply>(*memory_, uint64_t{slabs} * kSlabBytes);
    space_ = std::make_unique<EntrySpace>(kSlabBytes, slabs, unit_shift);
    store_ = std::make_unique<SegmentStore>(
        SegmentStore::Options{.segment_bytes = kSegmentBytes,
                              .stale_retention_sec = stale_retention_sec,
                              .rcu = rcu_.get()},
        *space_, *supply_);
    turn(kNow);
  }
  void turn(uint32_t now) {
    now_ = now;
    supply_->provision();
    rcu_.all_quiescent();
    store_->maintain(now_);
  }
  // Enough turns to look at every segment.
  void turns(uint32_t now) {
    for (int i = 0; i < 256; ++i) turn(now);
  }
  std::vector<uint8_t> entry(size_t bytes, uint8_t fill, uint32_t lifetime_sec) {
    const std::vector<uint8_t> name = {1, 'a', 0};
    const Key key = buffer_.make(secret_, name, 1, dns::CdBit::kClear, 0);
    const size_t header = entry_of(key, {}, now_, lifetime_sec).size();
    return entry_of(key, std::vector<uint8_t>(bytes - header, fill), now_, lifetime_sec);
  }
  EntryRef append(uint8_t fill, uint32_t lifetime_sec = 300,
                  Residence residence = Residence::kProbation, size_t bytes = kEntryBytes) {
    supply_->provision();
    return store_->append(
        entry(bytes, fill, lifetime_sec),
        {.residence = residence, .popularity = 2, .now_sec = now_, .remaining_sec = lifetime_sec});
  }
  // Fills one segment; the first of its entries.
  EntryRef fill_segment(uint32_t lifetime_sec, Residence residence) {
    const EntryRef first = append(0, lifetime_sec, residence);
    for (unsigned i = 1; i < kPerSegment; ++i) append(0, lifetime_sec, residence);
    return first;
  }
  EntryRef next_leaving() {
    std::vector<EntryRef> one(1);
    return store_->leaving_entries(one) == 1 ? one[0] : kNoEntry;
  }
  // Empties whole segments, as a partition that finds nothing worth keeping.
  void empty_segments(unsigned segments) {
    for (unsigned i = 0; i < segments * kPerSegment; ++i) {
      const EntryRef ref = next_leaving();
      if (ref == kNoEntry) return;
      store_->pass_leaving(ref);
    }
  }

  RcuFixture rcu_;
  HashSecret secret_ = HashSecret::from_seed(1);
  KeyBuffer buffer_;
  uint32_t now_ = kNow;
  std::unique_ptr<SlabMemory> memory_;
  std::unique_ptr<SlabSupply> supply_;
  std::unique_ptr<EntrySpace> space_;
  std::unique_ptr<SegmentStore> store_;
};

TEST_F(SegmentStoreTest, KeepsTheBytesAndThePopularityThatItIsTold) {
  make(16);
  const auto original = entry(333, 7, 300);
  const EntryRef ref =
      store_->append(original, {.popularity = 3, .now_sec = now_, .remaining_sec = 300});
  ASSERT_NE(ref, kNoEntry);
  const uint8_t* kept = space_->at(ref);
  EXPECT_EQ(EntryView(kept).popularity(), 3);
  EXPECT_FALSE(EntryView(kept).is_in_main());
  EXPECT_TRUE(EntryView(space_->at(append(1, 300, Residence::kMain))).is_in_main());
  EXPECT_TRUE(std::equal(original.begin() + 1, original.end(), kept + 1));
}

TEST_F(SegmentStoreTest, EntriesOfOneGroupStandBehindEachOther) {
  make(16);
  const EntryRef first = append(1, 300);
  const EntryRef second = append(2, 400);  // both from 256 to 511 seconds
  EXPECT_EQ(space_->at(second), space_->at(first) + kEntryBytes);
  EXPECT_EQ(store_->used_bytes(), 2 * kEntryBytes);
}

TEST_F(SegmentStoreTest, EntriesOfOtherTtlsStandApart) {
  make(256);  // with few segments, several octaves share one
  std::set<uint32_t> segments;
  for (const uint32_t ttl : {1, 2, 4, 30, 60, 300, 3600, 86400}) {
    segments.insert(static_cast<uint32_t>(append(1, ttl)) / kSegmentBytes);
  }
  EXPECT_EQ(segments.size(), 8u);
  EXPECT_NE(static_cast<uint32_t>(append(1, 300, Residence::kMain)) / kSegmentBytes,
            static_cast<uint32_t>(append(1, 300, Residence::kProbation)) / kSegmentBytes);
}

TEST_F(SegmentStoreTest, TakenBackEntriesLeaveNoTrace) {
  make(16);
  const EntryRef kept = append(1);
  const EntryRef taken = append(2);
  store_->take_back(taken);
  EXPECT_EQ(store_->used_bytes(), kEntryBytes);
  EXPECT_EQ(append(3), taken);
  EXPECT_EQ(space_->at(kept)[kEntryBytes - 1], 1);
}

TEST_F(SegmentStoreTest, UnitsOfSeveralBytesKeepReferencesWhole) {
  make(16, 0, 3);
  const EntryRef first = append(1, 300, Residence::kProbation, 1001);
  const EntryRef second = append(2, 300, Residence::kProbation, 1001);
  EXPECT_EQ(static_cast<uint32_t>(second) - static_cast<uint32_t>(first), 1008u / 8);
  EXPECT_EQ(space_->at(second)[1000], 2);
}

TEST_F(SegmentStoreTest, GrowsOnlyAsItIsFilled) {
  make(32);
  const uint64_t reserve = supply_->reserve() * uint64_t{kSlabBytes};
  EXPECT_LE(supply_->held_bytes(), 4 * kSlabBytes + reserve);
  for (unsigned i = 0; i < 30 * kPerSegment; ++i) ASSERT_NE(append(1), kNoEntry);
  EXPECT_GE(supply_->held_bytes(), 8 * kSlabBytes);
  EXPECT_LE(supply_->held_bytes(), 11 * kSlabBytes + reserve);
}

TEST_F(SegmentStoreTest, WhatIsNewLeavesBeforeWhatWasAskedFor) {
  make(16);
  const EntryRef main = fill_segment(300, Residence::kMain);
  const EntryRef probation = fill_segment(300, Residence::kProbation);
  EXPECT_FALSE(store_->is_eviction_due());
  EXPECT_EQ(next_leaving(), probation) << "although it came later";
  empty_segments(1);
  EXPECT_EQ(next_leaving(), main);
}

// Probation holds a tenth of the segments: below that the oldest of main are in turn.
TEST_F(SegmentStoreTest, MainLeavesWhileProbationIsSmall) {
  make(16);
  const EntryRef oldest = fill_segment(300, Residence::kMain);
  for (int i = 0; i < 18; ++i) fill_segment(300, Residence::kMain);
  fill_segment(300, Residence::kProbation);
  EXPECT_EQ(next_leaving(), oldest);
}

TEST_F(SegmentStoreTest, ExpiredSegmentsLeaveFirstAndAtOnceWithoutRetention) {
  make(256);
  fill_segment(3600, Residence::kProbation);
  const EntryRef brief = fill_segment(10, Residence::kMain);
  turns(kNow + 9);
  EXPECT_FALSE(store_->is_eviction_due());
  turns(kNow + 10);
  EXPECT_TRUE(store_->is_eviction_due());
  EXPECT_EQ(next_leaving(), brief);
}

TEST_F(SegmentStoreTest, StaleSegmentsStayForTheirRetentionButLeaveFirst) {
  make(256, 100);
  fill_segment(3600, Residence::kProbation);
  const EntryRef brief = fill_segment(10, Residence::kMain);
  turns(kNow + 109);
  EXPECT_FALSE(store_->is_eviction_due());
  turns(kNow + 110);
  EXPECT_TRUE(store_->is_eviction_due());
  EXPECT_EQ(next_leaving(), brief);
}

TEST_F(SegmentStoreTest, EvictionIsDueWhenFewSegmentsAreFree) {
  make(8);  // 32 segments
  unsigned filled = 0;
  while (!store_->is_eviction_due()) {
    ASSERT_NE(append(1), kNoEntry);
    if (++filled % kPerSegment == 0) turn(kNow);
    ASSERT_LT(filled, 33 * kPerSegment);
  }
  EXPECT_GE(filled, 28 * kPerSegment);
}

TEST_F(SegmentStoreTest, TheLastFreeSegmentIsForCopies) {
  make(8);
  while (append(1) != kNoEntry) turn(kNow);
  EXPECT_NE(append(1, 300, Residence::kMain), kNoEntry);
}

TEST_F(SegmentStoreTest, EmptiedSegmentsAreReusedOnlyWhenReadersHaveMovedOn) {
  make(8);
  while (append(9) != kNoEntry) turn(kNow);
  const uint8_t* held = space_->at(next_leaving());
  empty_segments(1);
  for (int i = 0; i < 10; ++i) {
    rcu_.quiescent(0);
    store_->maintain(kNow);
    EXPECT_EQ(append(1), kNoEntry);
    EXPECT_EQ(held[kEntryBytes - 1], 9);
  }
  rcu_.quiescent(1);
  store_->maintain(kNow);
  EXPECT_NE(append(1), kNoEntry);
  while (append(1, 300, Residence::kMain) != kNoEntry) continue;
  EXPECT_EQ(held[kEntryBytes - 1], 1);
}

TEST_F(SegmentStoreTest, AWithdrawnSlabGoesBackOnceItIsEmpty) {
  make(8);
  while (append(9) != kNoEntry) turn(kNow);
  ASSERT_EQ(supply_->held_bytes(), 8 * kSlabBytes);
  supply_->set_capacity(7 * kSlabBytes);
  const EntryRef oldest = EntryRef{0};
  store_->withdraw_slab();
  EXPECT_TRUE(store_->is_withdrawing());
  EXPECT_TRUE(store_->is_eviction_due());
  EXPECT_EQ(next_leaving(), oldest);
  for (int i = 0; i < 4; ++i) {
    empty_segments(1);
    turn(kNow);
  }
  turn(kNow);
  EXPECT_FALSE(store_->is_withdrawing());
  EXPECT_EQ(supply_->held_bytes(), 7 * kSlabBytes);
  EXPECT_EQ(store_->segments(), 28u);
}

// What is being emptied, open or expired may stand in the slab as well.
TEST_F(SegmentStoreTest, AWithdrawnSlabTakesItsOpenSegmentsAlong) {
  make(16);
  append(1, 300);
  append(1, 300, Residence::kMain);
  for (int i = 0; i < 60; ++i) fill_segment(100'000, Residence::kMain);
  store_->withdraw_slab();
  for (int i = 0; i < 200 && store_->is_withdrawing(); ++i) {
    empty_segments(1);
    turn(kNow);
  }
  EXPECT_FALSE(store_->is_withdrawing());
  EXPECT_NE(append(2, 300), kNoEntry);
}

TEST_F(SegmentStoreTest, TheLargestEntryFitsASegment) {
  make(8);
  EXPECT_NE(append(1, 300, Residence::kProbation, kMaxEntryBytes), kNoEntry);
}

}  // namespace
}  // namespace wirecache::cache

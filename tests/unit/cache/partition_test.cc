#include "lib/cache/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "tests/support/sanitizer.h"
#include "tests/unit/cache/hand_made_entry.h"
#include "tests/unit/cache/rcu_fixture.h"
#include "tests/unit/cache/store_support.h"

namespace wirecache::cache {
namespace {

constexpr uint16_t kTypeA = 1;
constexpr uint32_t kNow = 1000;
constexpr uint32_t kLong = 86400;
constexpr uint64_t kVersions = kIsSanitized ? 60'000 : 300'000;

// Both indexes stand under the same partition and pass the same tests.
template <typename IndexType>
class PartitionTest : public testing::Test {
 protected:
  using Part = BasicPartition<IndexType>;

  void make(uint64_t capacity_bytes, uint32_t stale_retention_sec = 0) {
    memory_ = make_slab_memory(PartitionLayout::for_capacity(capacity_bytes).slab_bytes);
    auto partition = Part::create({.name = "partition_test",
                                   .capacity_bytes = capacity_bytes,
                                   .stale_retention_sec = stale_retention_sec,
                                   .memory = memory_.get(),
                                   .rcu = rcu_.get(),
                                   .secret = &secret_,
                                   .stats = &stats_});
    ASSERT_TRUE(partition) << partition.error().message;
    partition_ = std::move(*partition);
    poll();
  }
  // The key of the name "<number>.", with CD and tag varied as well; borrows from buffer_.
  Key key_of(uint32_t number) {
    const std::string label = std::to_string(number);
    std::vector<uint8_t> name = {static_cast<uint8_t>(label.size())};
    name.insert(name.end(), label.begin(), label.end());
    name.push_back(0);
    return buffer_.make(secret_, name, kTypeA,
                        number % 2 == 1 ? dns::CdBit::kSet : dns::CdBit::kClear,
                        static_cast<uint8_t>(number % 3));
  }
  InsertStatus insert(uint32_t number, Bytes payload, uint32_t lifetime_sec = kLong) {
    const Key key = key_of(number);
    return partition_->insert(key, entry_of(key, payload, now_, lifetime_sec), now_);
  }
  // What was kept under the number, empty without an entry.
  Bytes find(uint32_t number) {
    const Key key = key_of(number);
    const uint8_t* entry = partition_->find(key);
    return entry == nullptr ? Bytes{} : EntryView(entry).records(key.name.size());
  }
  void ask(uint32_t number) {
    const uint8_t* entry = partition_->find(key_of(number));
    if (entry != nullptr) EntryView(entry).note_asked();
  }
  void poll(int turns = 1) {
    for (int i = 0; i < turns; ++i) {
      partition_->provision();
      rcu_.all_quiescent();
      partition_->maintain(now_);
    }
  }
  // A recognizable payload.
  static std::vector<uint8_t> payload_of(uint64_t version, size_t bytes) {
    std::vector<uint8_t> payload(bytes, static_cast<uint8_t>(version));
    std::memcpy(payload.data(), &version, std::min(bytes, sizeof version));
    return payload;
  }
  // New names until everything has been replaced `rounds` times.
  void flood(uint32_t& number, uint32_t names, uint32_t lifetime_sec = kLong) {
    for (const uint32_t end = number + names; number < end; ++number) {
      insert(number, payload_of(number, 100), lifetime_sec);
      if (number % 16 == 0) poll();
    }
  }
  uint64_t count(stats::Cache what) const { return stats_.cache[what].value(); }

  RcuFixture rcu_;
  HashSecret secret_ = HashSecret::from_seed(1);
  KeyBuffer buffer_;
  stats::WorkerStats stats_;
  uint32_t now_ = kNow;
  std::unique_ptr<SlabMemory> memory_;
  std::unique_ptr<Part> partition_;
};

// What is written beside the index is the same for both: a sanitizer sees it once.
using Indexes = std::conditional_t<kIsSanitized, testing::Types<CompactIndex>,
                                   testing::Types<CompactIndex, HashIndex>>;
TYPED_TEST_SUITE(PartitionTest, Indexes);

TYPED_TEST(PartitionTest, FindsWhatWasInsertedAndTheNewestOfIt) {
  this->make(4 << 20);
  EXPECT_TRUE(this->find(1).empty());
  EXPECT_EQ(this->insert(1, this->payload_of(11, 20)), InsertStatus::kInserted);
  EXPECT_EQ(this->insert(2, this->payload_of(22, 20)), InsertStatus::kInserted);
  EXPECT_TRUE(std::ranges::equal(this->find(1), this->payload_of(11, 20)));
  EXPECT_EQ(this->insert(1, this->payload_of(33, 30)), InsertStatus::kReplaced);
  EXPECT_TRUE(std::ranges::equal(this->find(1), this->payload_of(33, 30)));
  EXPECT_TRUE(std::ranges::equal(this->find(2), this->payload_of(22, 20)));
  EXPECT_EQ(this->partition_->entry_count(), 2u);
}

TYPED_TEST(PartitionTest, ABurstFindsAcrossPartitions) {
  this->make(4 << 20);
  auto other = TestFixture::Part::create({.name = "other",
                                          .capacity_bytes = 4 << 20,
                                          .memory = this->memory_.get(),
                                          .rcu = this->rcu_.get(),
                                          .secret = &this->secret_,
                                          .stats = &this->stats_});
  ASSERT_TRUE(other) << other.error().message;
  constexpr size_t kKeys = 64;
  std::vector<KeyBuffer> buffers(kKeys);
  std::vector<Key> keys;
  std::vector<typename TestFixture::Part::Query> queries;
  for (size_t i = 0; i < kKeys; ++i) {
    const std::vector<uint8_t> name = {1, static_cast<uint8_t>(i + 1), 0};
    keys.push_back(buffers[i].make(this->secret_, name, kTypeA, dns::CdBit::kClear, 0));
  }
  for (size_t i = 0; i < kKeys; ++i) {
    auto& owner = i % 2 == 0 ? *this->partition_ : **other;
    if (i % 3 != 0) owner.insert(keys[i], entry_of(keys[i], {}, kNow, kLong), kNow);
    queries.push_back(owner.query(keys[i]));
  }
  std::array<const uint8_t*, kKeys> entries;
  TestFixture::Part::find_burst(queries, entries.data());
  for (size_t i = 0; i < kKeys; ++i) {
    ASSERT_EQ(entries[i] != nullptr, i % 3 != 0) << i;
    EXPECT_TRUE(entries[i] == nullptr || EntryView(entries[i]).matches(keys[i]));
  }
}

// Many rounds through the memory: what is found is always the last that was inserted; the accounts
// agree.
TYPED_TEST(PartitionTest, AgreesWithAPlainMapOverManyRounds) {
  this->make(2 << 20);
  std::unordered_map<uint32_t, uint64_t> model;
  std::mt19937 random(7);
  uint64_t rejected = 0;
  uint64_t found = 0;
  for (uint64_t version = 1; version <= kVersions; ++version) {
    const uint32_t number = random() % 30'000;
    const size_t bytes = version % 1000 == 0 ? 30'000 : 8 + random() % 200;
    const uint32_t lifetime = version % 5 == 0 ? kLong : 1 + random() % 100;
    if (this->insert(number, this->payload_of(version, bytes), lifetime) ==
        InsertStatus::kRejected) {
      ++rejected;
    } else {
      model[number] = version;
    }
    if (version % 16 == 0) this->poll();
    if (version % 1000 == 0) ++this->now_;
    for (int i = 0; i < 4; ++i) {
      const uint32_t asked = random() % 30'000;
      const Bytes payload = this->find(asked);
      if (payload.empty()) continue;
      ++found;
      if (i == 0) this->ask(asked);
      uint64_t filed;
      std::memcpy(&filed, payload.data(), sizeof filed);
      ASSERT_EQ(filed, model.at(asked));
      ASSERT_EQ(payload.back(), payload.size() > 8 ? static_cast<uint8_t>(filed) : payload.back())
          << "overwritten";
    }
  }
  EXPECT_EQ(rejected, 0u);
  EXPECT_GT(found, kVersions / 3);
  EXPECT_EQ(this->count(stats::Cache::kInserted),
            this->partition_->entry_count() + this->count(stats::Cache::kEvicted));
  EXPECT_LE(this->partition_->memory_bytes(), 2u << 20);
}

TYPED_TEST(PartitionTest, StaysWithinItsCapAndUsesIt) {
  this->make(8 << 20);
  uint32_t number = 0;
  this->flood(number, 200'000);
  EXPECT_EQ(this->count(stats::Cache::kRejected), 0u);
  EXPECT_LE(this->partition_->memory_bytes(), 8u << 20);
  EXPECT_GE(this->partition_->memory_bytes(), 7u << 20);
  // Entries of 120 bytes and their place in the index.
  EXPECT_GE(this->partition_->entry_count(), (8u << 20) / 180);
  EXPECT_FALSE(this->find(number - 1).empty());
  EXPECT_TRUE(this->find(0).empty());
}

TYPED_TEST(PartitionTest, WhatIsAskedForOutlivesAFlood) {
  this->make(8 << 20);
  uint32_t first = 0;
  this->flood(first, 5'000);
  uint32_t next = 1'000'000;
  for (int round = 0; round < 40; ++round) {
    for (uint32_t number = 0; number < 5'000; number += 10) this->ask(number);
    this->flood(next, 5'000);
  }
  unsigned popular = 0;
  unsigned others = 0;
  for (uint32_t number = 0; number < 5'000; ++number) {
    const bool kept = !this->find(number).empty();
    (number % 10 == 0 ? popular : others) += kept ? 1 : 0;
  }
  EXPECT_GE(popular, 495u);
  EXPECT_EQ(others, 0u);
}

TYPED_TEST(PartitionTest, PopularityOutlivesARefresh) {
  this->make(4 << 20);
  this->insert(1, this->payload_of(1, 20));
  for (int i = 0; i < 5; ++i) this->ask(1);
  this->insert(1, this->payload_of(2, 20));
  const Key key = this->key_of(1);
  EXPECT_EQ(EntryView(this->partition_->find(key)).popularity(), kMaxPopularity);
}

TYPED_TEST(PartitionTest, ExpiredEntriesMakeRoomBeforeFreshOnes) {
  this->make(8 << 20);
  uint32_t number = 0;
  this->flood(number, 20'000, 10);
  const uint32_t fresh = number;
  this->flood(number, 20'000, kLong);
  this->now_ += 20;
  this->flood(number, 15'000, kLong);
  for (uint32_t i = fresh; i < fresh + 20'000; ++i) ASSERT_FALSE(this->find(i).empty()) << i;
  EXPECT_TRUE(this->find(0).empty());
}

TYPED_TEST(PartitionTest, StaleEntriesStayWhileNothingFreshWantsTheMemory) {
  this->make(8 << 20, 86400);
  uint32_t number = 0;
  this->flood(number, 10'000, 10);
  this->now_ += 3600;
  this->poll(2000);
  EXPECT_FALSE(this->find(0).empty());
  EXPECT_FALSE(EntryView(this->partition_->find(this->key_of(0))).fresh(this->now_));
  this->now_ += 86400;
  this->poll(4000);
  EXPECT_TRUE(this->find(0).empty()) << "past its retention";
  EXPECT_EQ(this->partition_->entry_count(), 0u);
}

TYPED_TEST(PartitionTest, AReaderThatStaysAwayStopsReuseAndLosesNothing) {
  this->make(1 << 20);
  uint32_t number = 0;
  this->flood(number, 500);
  const uint8_t* held = this->partition_->find(this->key_of(0));
  const std::vector<uint8_t> before(held, held + 100);
  // Reader 1 has `held` and does not report; the owner goes on.
  unsigned rejected = 0;
  for (; number < 30'000; ++number) {
    if (this->insert(number, this->payload_of(number, 100)) == InsertStatus::kRejected) ++rejected;
    this->rcu_.quiescent(0);
    this->partition_->provision();
    this->partition_->maintain(this->now_);
    ASSERT_TRUE(std::equal(before.begin(), before.end(), held));
  }
  EXPECT_GT(rejected, 15'000u);
  EXPECT_EQ(this->count(stats::Cache::kRejected), rejected);
  EXPECT_TRUE(this->find(0).empty()) << "it left the index, not the memory";

  // Once it has moved on everything works again.
  this->poll(1000);
  for (const uint32_t end = number + 20'000; number < end; ++number) {
    ASSERT_EQ(this->insert(number, this->payload_of(number, 100)), InsertStatus::kInserted);
    if (number % 16 == 0) this->poll();
  }
  for (uint32_t i = number - 300; i < number; ++i) ASSERT_FALSE(this->find(i).empty());
}

// After large entries small ones: the index needs what the segments have.
TYPED_TEST(PartitionTest, TheIndexGetsItsShareWhenEntriesBecomeSmall) {
  this->make(8 << 20);
  uint32_t number = 0;
  for (; number < 20'000; ++number) {
    this->insert(number, this->payload_of(number, 2000));
    if (number % 16 == 0) this->poll();
  }
  for (const uint32_t end = number + 400'000; number < end; ++number) {
    this->insert(number, this->payload_of(number, 10));
    if (number % 16 == 0) this->poll();
  }
  EXPECT_LE(this->partition_->memory_bytes(), 8u << 20);
  EXPECT_LE(this->count(stats::Cache::kRejected), 400u);
  if (std::is_same_v<TypeParam, CompactIndex>) {
    // Entries of 26 bytes or so, and 7 in the index.
    EXPECT_GE(this->partition_->entry_count(), (8u << 20) / 45);
  }
}

TYPED_TEST(PartitionTest, ALoweredCapGivesMemoryBack) {
  this->make(16 << 20);
  uint32_t number = 0;
  this->flood(number, 200'000);
  ASSERT_GE(this->partition_->memory_bytes(), 15u << 20);
  this->partition_->set_capacity(8 << 20);
  this->poll(10'000);
  EXPECT_LE(this->partition_->memory_bytes(), 8u << 20);
  EXPECT_GE(this->partition_->entry_count(), 20'000u);
  this->flood(number, 30'000);
  EXPECT_LE(this->partition_->memory_bytes(), 8u << 20);
  EXPECT_FALSE(this->find(number - 1).empty());
  this->partition_->set_capacity(16 << 20);
  this->flood(number, 200'000);
  EXPECT_GE(this->partition_->memory_bytes(), 15u << 20);
}

// Within 3%, while it grows, at its cap and after it was lowered. rte_hash's memory is EAL's, which
// may have been in the process before.
TYPED_TEST(PartitionTest, SaysWhatTheProcessShows) {
  if (!std::is_same_v<TypeParam, CompactIndex>) GTEST_SKIP() << "its memory comes from EAL's heap";
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer's shadow is in the process too";
  const uint64_t before = resident_bytes();
  this->make(48 << 20);
  uint32_t number = 0;
  for (const uint64_t capacity : {48u << 20, 48u << 20, 24u << 20}) {
    this->partition_->set_capacity(capacity);
    this->flood(number, 250'000);
    this->poll(10'000);
    const auto shown = static_cast<double>(resident_bytes() - before);
    const auto said = static_cast<double>(this->partition_->memory_bytes());
    EXPECT_NEAR(shown / said, 1, 0.03);
  }
}

TYPED_TEST(PartitionTest, EntriesOfTheLargestSizeFit) {
  this->make(2 << 20);
  for (uint32_t number = 0; number < 50; ++number) {
    const Key key = this->key_of(number);
    const size_t payload = kMaxEntryBytes - entry_of(key, {}, kNow, kLong).size();
    EXPECT_EQ(this->insert(number, this->payload_of(number, payload)), InsertStatus::kInserted);
    this->poll(10);
    EXPECT_FALSE(this->find(number).empty());
  }
}

TYPED_TEST(PartitionTest, RefusesACapacityBelowItsLeast) {
  const auto memory = make_slab_memory(64 << 10);
  auto partition = TestFixture::Part::create({.name = "small",
                                              .capacity_bytes = 1 << 19,
                                              .memory = memory.get(),
                                              .rcu = this->rcu_.get(),
                                              .secret = &this->secret_,
                                              .stats = &this->stats_});
  ASSERT_FALSE(partition);
  EXPECT_EQ(partition.error().message,
            "small: a cache of 524288 bytes is too small; the least is 1048576");
}

}  // namespace
}  // namespace wirecache::cache

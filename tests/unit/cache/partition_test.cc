#include "lib/cache/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/unit/cache/rcu_fixture.h"

namespace wirecache::cache {
namespace {

using InsertStatus = Partition::InsertStatus;
constexpr uint32_t kSegmentBytes = 128 << 10;
constexpr uint16_t kTypeA = 1;

// An entry in the layout of entry.h, with `payload` where RRset blocks would stand.
std::vector<uint8_t> entry_of(const Key& key, Bytes payload) {
  std::vector<uint8_t> entry(kEntryHeaderBytes + key.name.size() + payload.size());
  const auto bytes = static_cast<uint16_t>(entry.size());
  entry[1] = key.checking_disabled ? kEntryCd : 0;
  std::memcpy(&entry[2], &bytes, 2);
  entry[11] = static_cast<uint8_t>(key.name.size());
  std::memcpy(&entry[12], &key.type, 2);
  entry[14] = key.tag;
  std::copy(key.name.begin(), key.name.end(), entry.begin() + kEntryHeaderBytes);
  std::copy(payload.begin(), payload.end(),
            entry.begin() + kEntryHeaderBytes + static_cast<std::ptrdiff_t>(key.name.size()));
  return entry;
}

class PartitionTest : public testing::Test {
 protected:
  void make(uint64_t segments) {
    auto partition = Partition::create({.name = "partition_test",
                                        .capacity_bytes = segments * kSegmentBytes,
                                        .segment_bytes = kSegmentBytes,
                                        .rcu = rcu_.get(),
                                        .secret = &secret_,
                                        .stats = &stats_});
    ASSERT_TRUE(partition) << partition.error().message;
    partition_ = std::move(*partition);
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
  InsertStatus insert(uint32_t number, Bytes payload) {
    const Key key = key_of(number);
    return partition_->insert(key.hash, entry_of(key, payload));
  }
  // The payload filed for the number; nullptr where there is no entry of its key.
  const uint8_t* find(uint32_t number) {
    const Key key = key_of(number);
    const uint8_t* entry = partition_->find(key.hash);
    return entry != nullptr && EntryView(entry).matches(key) ? EntryView(entry).blocks().data()
                                                             : nullptr;
  }
  uint64_t count(stats::Cache event) const { return stats_.cache[event].value(); }
  // What a worker does once a poll.
  void poll() {
    rcu_.all_quiescent();
    partition_->maintain();
  }

  RcuFixture rcu_;
  HashSecret secret_ = HashSecret::from_seed(1);
  stats::WorkerStats stats_;
  KeyBuffer buffer_;
  std::unique_ptr<Partition> partition_;
};

std::vector<uint8_t> payload_of(uint64_t version, size_t bytes) {
  std::vector<uint8_t> payload(std::max<size_t>(bytes, 9), static_cast<uint8_t>(version));
  std::memcpy(payload.data(), &version, 8);
  return payload;
}

TEST_F(PartitionTest, InsertsFindsAndReplaces) {
  make(3);
  EXPECT_EQ(insert(1, payload_of(10, 8)), InsertStatus::kInserted);
  EXPECT_EQ(insert(2, payload_of(20, 8)), InsertStatus::kInserted);
  EXPECT_EQ(insert(1, payload_of(11, 8)), InsertStatus::kReplaced);
  EXPECT_EQ(*find(1), 11);
  EXPECT_EQ(*find(2), 20);
  EXPECT_EQ(find(3), nullptr);
  EXPECT_EQ(partition_->entry_count(), 2u);
  EXPECT_EQ(count(stats::Cache::kInserted), 2u);
  EXPECT_EQ(count(stats::Cache::kReplaced), 1u);
  EXPECT_EQ(stats_.cache_entries.value(), 2u);
  EXPECT_EQ(stats_.cache_bytes.value(), 3 * (16u + 3 + 9));
}

// Many rounds through the segments: what is found is always the last that was inserted; the
// accounts agree.
TEST_F(PartitionTest, AgreesWithAPlainMapOverManyCycles) {
  make(6);
  std::unordered_map<uint32_t, uint64_t> model;
  std::mt19937 random(7);
  uint64_t rejected = 0;
  uint64_t found = 0;
  for (uint64_t version = 1; version <= 300'000; ++version) {
    const uint32_t number = random() % 20'000;
    const size_t bytes = version % 1000 == 0 ? 30'000 : 8 + random() % 200;
    if (insert(number, payload_of(version, bytes)) == InsertStatus::kRejected) {
      ++rejected;
    } else {
      model[number] = version;
    }
    if (version % 16 == 0) poll();
    for (int i = 0; i < 4; ++i) {
      const uint32_t asked = random() % 20'000;
      const uint8_t* payload = find(asked);
      if (payload == nullptr) continue;
      ++found;
      uint64_t filed;
      std::memcpy(&filed, payload, sizeof filed);
      ASSERT_EQ(filed, model.at(asked));
      ASSERT_EQ(payload[8], static_cast<uint8_t>(filed)) << "overwritten";
    }
  }
  EXPECT_EQ(rejected, 0u);
  EXPECT_GT(found, 100'000u);
  EXPECT_GT(count(stats::Cache::kEvicted), 200'000u);
  EXPECT_EQ(count(stats::Cache::kInserted),
            partition_->entry_count() + count(stats::Cache::kEvicted));
  EXPECT_LE(stats_.cache_bytes.value(), 6u * kSegmentBytes);
  EXPECT_GT(stats_.cache_bytes.value(), 3u * kSegmentBytes);
}

TEST_F(PartitionTest, TheNewestEntriesStay) {
  make(4);
  for (uint32_t number = 0; number < 10'000; ++number) {
    ASSERT_EQ(insert(number, payload_of(number, 100)), InsertStatus::kInserted);
    if (number % 16 == 0) poll();
  }
  // A segment holds about 1,070: one is full, one half full, at the least.
  for (uint32_t number = 8'500; number < 10'000; ++number) ASSERT_NE(find(number), nullptr);
  EXPECT_EQ(find(0), nullptr);
}

TEST_F(PartitionTest, AReaderThatStaysAwayStopsReuseAndLosesNothing) {
  make(3);
  uint32_t number = 0;
  for (; number < 500; ++number) insert(number, payload_of(number, 100));
  const uint8_t* held = find(0);
  const std::vector<uint8_t> before(held, held + 100);
  // Reader 1 has `held` and does not report; the owner goes on.
  unsigned rejected = 0;
  for (; number < 20'000; ++number) {
    if (insert(number, payload_of(number, 100)) == InsertStatus::kRejected) ++rejected;
    rcu_.quiescent(0);
    partition_->maintain();
    ASSERT_TRUE(std::equal(before.begin(), before.end(), held));
  }
  EXPECT_GT(rejected, 15'000u);
  EXPECT_EQ(count(stats::Cache::kRejected), rejected);
  EXPECT_EQ(find(0), nullptr);  // it left the index, not the memory

  // Once it has moved on everything works again.
  for (int i = 0; i < 100; ++i) poll();
  for (const uint32_t end = number + 20'000; number < end; ++number) {
    ASSERT_EQ(insert(number, payload_of(number, 100)), InsertStatus::kInserted);
    if (number % 16 == 0) poll();
  }
  for (uint32_t i = number - 500; i < number; ++i) ASSERT_NE(find(i), nullptr);
}

// Entries far below 96 bytes: the index is short before the segments are, and entries leave for its
// sake.
TEST_F(PartitionTest, AShortIndexMakesRoomAsWell) {
  make(16);
  uint32_t rejected = 0;
  for (uint32_t number = 0; number < 300'000; ++number) {
    if (insert(number, payload_of(number, 8)) == InsertStatus::kRejected) ++rejected;
    if (number % 16 == 0) poll();
  }
  EXPECT_EQ(rejected, 0u);
  const uint64_t slots = 16 * kSegmentBytes / 96;
  EXPECT_LE(partition_->entry_count(), slots);
  EXPECT_GE(partition_->entry_count(), slots / 2);
  EXPECT_NE(find(299'999), nullptr);
}

// All entries in the one current segment fill the index: it is sealed, or no insertion would ever
// succeed.
TEST_F(PartitionTest, AnIndexFullOfOneSegmentRecovers) {
  make(3);
  const uint64_t slots = 3 * kSegmentBytes / 96;
  uint32_t rejected = 0;
  for (uint32_t number = 0; number < 50'000; ++number) {
    const Key key = key_of(number % 10'000);
    if (partition_->insert(key.hash, entry_of(key, {})) == InsertStatus::kRejected) ++rejected;
    if (number % 16 == 0) poll();
  }
  EXPECT_EQ(rejected, 0u);
  EXPECT_LE(partition_->entry_count(), slots);
}

TEST_F(PartitionTest, EntriesOfTheLargestSizeFit) {
  make(3);
  for (uint32_t number = 0; number < 50; ++number) {
    const Key key = key_of(number);
    const size_t payload = kMaxEntryBytes - kEntryHeaderBytes - key.name.size();
    EXPECT_EQ(insert(number, payload_of(number, payload)), InsertStatus::kInserted);
    for (int i = 0; i < 3; ++i) poll();
    EXPECT_NE(find(number), nullptr);
  }
}

TEST_F(PartitionTest, RefusesACapacityBelowThreeSegments) {
  auto partition = Partition::create({.name = "small",
                                      .capacity_bytes = 2 * kSegmentBytes,
                                      .segment_bytes = kSegmentBytes,
                                      .rcu = rcu_.get(),
                                      .secret = &secret_,
                                      .stats = &stats_});
  ASSERT_FALSE(partition);
  EXPECT_EQ(partition.error().message.find("small: "), 0u);
}

}  // namespace
}  // namespace wirecache::cache

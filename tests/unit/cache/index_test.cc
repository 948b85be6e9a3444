// What the seam asks of every index.
#include "lib/cache/index.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "tests/unit/cache/index_fixture.h"

namespace wirecache::cache {
namespace {

using Status = IndexStatus;

template <typename Index>
class IndexTest : public testing::Test {
 protected:
  Status insert(Index& index, uint32_t number, uint32_t version) {
    const NumberedKey key = fixture_.key(number);
    const EntryRef ref = fixture_.write(key.get(), version);
    const IndexInserted inserted = index.insert(key.get(), ref);
    if (inserted.status == Status::kInserted) {
      EXPECT_EQ(inserted.replaced, kNoEntry);
    } else if (inserted.status == Status::kReplaced) {
      EXPECT_EQ(inserted.replaced, refs_[number]);
    }
    if (inserted.status != Status::kFull) refs_[number] = ref;
    return inserted.status;
  }
  Status erase(Index& index, uint32_t number) {
    return index.erase_if(fixture_.key(number).get().hash, refs_[number]);
  }
  // The version of a key's entry, 0 where there is none.
  uint32_t find(const Index& index, uint32_t number) {
    const uint8_t* entry = index.find(fixture_.key(number).get());
    return entry != nullptr ? version_of(entry) : 0;
  }

  IndexFixture fixture_;
  std::unordered_map<uint32_t, EntryRef> refs_;
  std::mt19937_64 random_{20240229};
};

using Indexes = testing::Types<HashIndex, CompactIndex>;
TYPED_TEST_SUITE(IndexTest, Indexes);

TYPED_TEST(IndexTest, FindsWhatWasInsertedAndNothingElse) {
  auto index = this->fixture_.template make<TypeParam>();
  for (uint32_t n = 1; n <= 1000; ++n) EXPECT_EQ(this->insert(*index, n, n), Status::kInserted);
  EXPECT_EQ(index->size(), 1000u);
  for (uint32_t n = 1; n <= 1000; ++n) EXPECT_EQ(this->find(*index, n), n);
  for (uint32_t n = 1001; n <= 2000; ++n) EXPECT_EQ(this->find(*index, n), 0u);
}

TYPED_TEST(IndexTest, FindsABurstOverSeveralPartitions) {
  std::array<std::unique_ptr<TypeParam>, 3> indexes;
  for (size_t i = 0; i < 3; ++i) {
    indexes[i] = this->fixture_.template make<TypeParam>("partition" + std::to_string(i));
  }
  constexpr size_t kKeys = kMaxIndexBurst;
  std::vector<std::unique_ptr<NumberedKey>> keys;
  std::vector<IndexQuery<TypeParam>> queries;
  for (uint32_t n = 0; n < kKeys; ++n) {
    keys.push_back(std::make_unique<NumberedKey>(this->fixture_.secret(), n));
    TypeParam& index = *indexes[n % 3];
    if (n % 4 != 0) {
      ASSERT_EQ(this->insert(index, n, n), Status::kInserted);
    }
    queries.push_back({&index, &keys.back()->get()});
  }
  uint8_t other = 0;
  for (size_t burst : {size_t{0}, size_t{1}, size_t{31}, size_t{32}, kKeys}) {
    std::array<const uint8_t*, kKeys + 1> entries;
    entries.fill(&other);
    TypeParam::find_burst(std::span(queries).first(burst), entries.data());
    for (size_t i = 0; i < burst; ++i) {
      if (i % 4 == 0) {
        EXPECT_EQ(entries[i], nullptr);
      } else {
        ASSERT_NE(entries[i], nullptr);
        EXPECT_EQ(version_of(entries[i]), i);
      }
    }
    EXPECT_EQ(entries[burst], &other);
  }
}

TYPED_TEST(IndexTest, AKeyThatSharesTheHashOfAnotherIsNotFound) {
  auto index = this->fixture_.template make<TypeParam>();
  ASSERT_EQ(this->insert(*index, 1, 1), Status::kInserted);
  const NumberedKey one = this->fixture_.key(1);
  const NumberedKey two = this->fixture_.key(2);
  Key forged = two.get();
  forged.hash = one.get().hash;
  EXPECT_EQ(index->find(forged), nullptr);
  const IndexQuery<TypeParam> query{index.get(), &forged};
  const uint8_t* entry = nullptr;
  TypeParam::find_burst({&query, 1}, &entry);
  EXPECT_EQ(entry, nullptr);
}

TYPED_TEST(IndexTest, ASecondInsertionReplaces) {
  auto index = this->fixture_.template make<TypeParam>();
  EXPECT_EQ(this->insert(*index, 7, 1), Status::kInserted);
  EXPECT_EQ(this->insert(*index, 7, 2), Status::kReplaced);
  EXPECT_EQ(this->find(*index, 7), 2u);
  EXPECT_EQ(index->size(), 1u);
}

TYPED_TEST(IndexTest, ErasesOnlyTheEntryThatIsFiled) {
  auto index = this->fixture_.template make<TypeParam>();
  this->insert(*index, 7, 1);
  const EntryRef old = this->refs_[7];
  this->insert(*index, 7, 2);
  const uint64_t hash = this->fixture_.key(7).get().hash;
  EXPECT_EQ(index->erase_if(hash, old), Status::kNotFound);
  EXPECT_EQ(index->erase_if(this->fixture_.key(8).get().hash, this->refs_[7]), Status::kNotFound);
  EXPECT_EQ(this->find(*index, 7), 2u);
  EXPECT_EQ(index->erase_if(hash, this->refs_[7]), Status::kErased);
  EXPECT_EQ(this->find(*index, 7), 0u);
  EXPECT_EQ(index->erase_if(hash, this->refs_[7]), Status::kNotFound);
  EXPECT_EQ(index->size(), 0u);
}

TYPED_TEST(IndexTest, MovesOnlyTheEntryThatIsFiled) {
  auto index = this->fixture_.template make<TypeParam>();
  this->insert(*index, 7, 1);
  const NumberedKey key = this->fixture_.key(7);
  const EntryRef moved = this->fixture_.write(key.get(), 2);
  EXPECT_EQ(index->move(key.get().hash, moved, moved), Status::kNotFound);
  EXPECT_EQ(index->move(this->fixture_.key(8).get().hash, this->refs_[7], moved),
            Status::kNotFound);
  EXPECT_EQ(index->move(key.get().hash, this->refs_[7], moved), Status::kMoved);
  EXPECT_EQ(this->find(*index, 7), 2u);
  EXPECT_EQ(index->size(), 1u);
  EXPECT_EQ(index->erase_if(key.get().hash, this->refs_[7]), Status::kNotFound);
  EXPECT_EQ(index->erase_if(key.get().hash, moved), Status::kErased);
}

// All have the same buckets and the same tag: the index is full for them when those are, and only
// for them.
TYPED_TEST(IndexTest, KeysThatShareTheirBucketsEndInFull) {
  auto index = this->fixture_.template make<TypeParam>();
  constexpr uint32_t kKeys = 100;
  std::vector<std::unique_ptr<NumberedKey>> names;
  std::vector<Key> keys;
  std::vector<EntryRef> refs;
  uint32_t inserted = 0;
  for (uint32_t n = 0; n < kKeys; ++n) {
    names.push_back(std::make_unique<NumberedKey>(this->fixture_.secret(), n));
    keys.push_back(names.back()->get());
    keys.back().hash = uint64_t{n} << 42 | 0x15512345678;
    refs.push_back(this->fixture_.write(keys.back(), n + 1));
    const Status status = index->insert(keys.back(), refs.back()).status;
    ASSERT_TRUE(status == Status::kInserted || status == Status::kFull);
    if (status == Status::kInserted) ++inserted;
  }
  constexpr bool kIsCompact = std::is_same_v<TypeParam, CompactIndex>;
  EXPECT_EQ(inserted, kIsCompact ? 2 * CompactBucket::kSlots : 16u);
  EXPECT_EQ(index->size(), inserted);
  for (uint32_t n = 0; n < kKeys; ++n) EXPECT_EQ(index->find(keys[n]) != nullptr, n < inserted);
  EXPECT_EQ(this->insert(*index, 1000, 1), Status::kInserted);

  EXPECT_EQ(index->erase_if(keys[3].hash, refs[3]), Status::kErased);
  this->fixture_.poll(*index);
  EXPECT_EQ(index->insert(keys[99], refs[99]).status, Status::kInserted);
  EXPECT_EQ(index->find(keys[3]), nullptr);
  EXPECT_NE(index->find(keys[99]), nullptr);
}

// One thread: every answer is the model's.
TYPED_TEST(IndexTest, RandomOperationsGiveWhatAMapGives) {
  auto index = this->fixture_.template make<TypeParam>();
  std::unordered_map<uint32_t, uint32_t> model;
  constexpr uint32_t kKeys = 12000;
  for (uint32_t step = 1; step <= 200000; ++step) {
    // In turns more comes than goes, and the other way round.
    const bool fills = step / 25000 % 2 == 0;
    const auto number = static_cast<uint32_t>(this->random_() % kKeys);
    const unsigned choice = this->random_() % 8;
    if (choice < (fills ? 4 : 1)) {
      const Status expected = model.contains(number) ? Status::kReplaced : Status::kInserted;
      ASSERT_EQ(this->insert(*index, number, step), expected) << step;
      model[number] = step;
    } else if (choice < 5) {
      const Status expected = model.contains(number) ? Status::kErased : Status::kNotFound;
      ASSERT_EQ(this->erase(*index, number), expected) << step;
      model.erase(number);
    } else if (choice == 5 && model.contains(number)) {
      const NumberedKey key = this->fixture_.key(number);
      const EntryRef to = this->fixture_.write(key.get(), step);
      ASSERT_EQ(index->move(key.get().hash, this->refs_[number], to), Status::kMoved);
      this->refs_[number] = to;
      model[number] = step;
    } else {
      ASSERT_EQ(this->find(*index, number), model.contains(number) ? model[number] : 0) << step;
    }
    if (step % 32 == 0) this->fixture_.poll(*index);
    if (!fills && step % 100 == 0) index->release_memory();
  }
  EXPECT_EQ(index->size(), model.size());
  for (uint32_t n = 0; n < kKeys; ++n) {
    ASSERT_EQ(this->find(*index, n), model.contains(n) ? model[n] : 0);
  }
}

// Ten times as many entries as fit come and go while a reader stays away again and again: nothing
// is lost for good.
TYPED_TEST(IndexTest, EntriesThatComeAndGoLeaveNothingBehind) {
  auto index = this->fixture_.template make<TypeParam>();
  constexpr uint32_t kAlive = 9000;
  for (uint32_t n = 0; n < kAlive; ++n) {
    ASSERT_EQ(this->insert(*index, n, n), Status::kInserted);
    if (n % 32 == 0) this->fixture_.poll(*index);
  }
  const uint64_t memory_bytes = index->memory_bytes();
  uint32_t oldest = 0;
  uint32_t newest = kAlive;
  unsigned busy = 0;
  while (newest < 10 * kAlive) {
    if (this->erase(*index, oldest) == Status::kBusy) {
      ++busy;
      this->fixture_.poll(*index);  // the reader is back
      continue;
    }
    ++oldest;
    ASSERT_EQ(this->insert(*index, newest, newest), Status::kInserted);
    ++newest;
    this->fixture_.rcu().quiescent(0);
    index->maintain();
  }
  EXPECT_EQ(busy > 0, (std::is_same_v<TypeParam, HashIndex>));
  EXPECT_EQ(index->size(), kAlive);
  EXPECT_EQ(index->memory_bytes(), memory_bytes);
  for (uint32_t n = oldest; n < newest; ++n) ASSERT_EQ(this->find(*index, n), n);
  for (uint32_t n = 0; n < oldest; ++n) ASSERT_EQ(this->find(*index, n), 0u);
}

}  // namespace
}  // namespace wirecache::cache

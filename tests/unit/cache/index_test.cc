#include "lib/cache/index.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "tests/unit/cache/rcu_fixture.h"

namespace wirecache::cache {
namespace {

using Status = Index::Status;

// Addresses to file: nobody looks at the bytes.
const uint8_t* address(uint64_t n) {
  return reinterpret_cast<const uint8_t*>(n * 8 + 8);
}

class IndexTest : public testing::Test {
 protected:
  std::unique_ptr<Index> make(uint32_t entries) {
    auto index = Index::create({.name = "index_test", .entries = entries, .rcu = rcu_.get()});
    EXPECT_TRUE(index) << index.error().message;
    return std::move(*index);
  }
  std::vector<uint64_t> hashes(size_t count) {
    std::vector<uint64_t> all(count);
    for (uint64_t& hash : all) hash = random_();
    return all;
  }

  RcuFixture rcu_;
  std::mt19937_64 random_{20240229};
};

TEST_F(IndexTest, FindsWhatWasInsertedAndNothingElse) {
  auto index = make(1000);
  const auto known = hashes(100);
  for (size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(index->insert(known[i], address(i)), Status::kInserted);
  }
  EXPECT_EQ(index->size(), 100u);
  for (size_t i = 0; i < known.size(); ++i) EXPECT_EQ(index->find(known[i]), address(i));
  for (uint64_t unknown : hashes(100)) EXPECT_EQ(index->find(unknown), nullptr);
}

TEST_F(IndexTest, FindsABurstOfKnownAndUnknownHashes) {
  auto index = make(1000);
  auto all = hashes(Index::kMaxBurst);
  for (size_t i = 0; i < all.size(); i += 3) index->insert(all[i], address(i));
  for (size_t burst : {size_t{0}, size_t{1}, size_t{31}, Index::kMaxBurst}) {
    std::array<const uint8_t*, Index::kMaxBurst + 1> entries;
    entries.fill(address(999));
    index->find_bulk(std::span(all).first(burst), entries.data());
    for (size_t i = 0; i < burst; ++i) EXPECT_EQ(entries[i], i % 3 == 0 ? address(i) : nullptr);
    EXPECT_EQ(entries[burst], address(999));
  }
}

TEST_F(IndexTest, HashesThatShareTheSignatureAreToldApart) {
  auto index = make(1000);
  for (uint64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(index->insert(i << 32 | 0x12345678, address(i)), Status::kInserted);
  }
  for (uint64_t i = 0; i < 12; ++i) EXPECT_EQ(index->find(i << 32 | 0x12345678), address(i));
}

TEST_F(IndexTest, ASecondInsertionReplaces) {
  auto index = make(1000);
  EXPECT_EQ(index->insert(7, address(1)), Status::kInserted);
  EXPECT_EQ(index->insert(7, address(2)), Status::kReplaced);
  EXPECT_EQ(index->find(7), address(2));
  EXPECT_EQ(index->size(), 1u);
}

TEST_F(IndexTest, ErasesOnlyTheEntryThatIsFiled) {
  auto index = make(1000);
  index->insert(7, address(1));
  index->insert(7, address(2));
  EXPECT_EQ(index->erase_if(7, address(1)), Status::kNotFound);
  EXPECT_EQ(index->erase_if(8, address(2)), Status::kNotFound);
  EXPECT_EQ(index->find(7), address(2));
  EXPECT_EQ(index->erase_if(7, address(2)), Status::kErased);
  EXPECT_EQ(index->find(7), nullptr);
  EXPECT_EQ(index->size(), 0u);
}

// Below, at and above powers of two, where rte_hash has the least and the most room to spare.
TEST_F(IndexTest, TheWholeCapacityFits) {
  for (uint32_t entries : {1u, 1024u, 4096u, 60000u, 61440u, 65536u, 126976u}) {
    auto index = make(entries);
    const auto all = hashes(entries);
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(index->insert(all[i], address(i)), Status::kInserted) << i << " of " << entries;
    }
    EXPECT_EQ(index->insert(random_(), address(0)), Status::kFull);
    EXPECT_EQ(index->insert(all[0], address(1)), Status::kReplaced);
  }
}

TEST_F(IndexTest, AFullDeferQueueSaysBusyAndLeaksNothing) {
  constexpr uint32_t kEntries = 20000;
  auto index = make(kEntries);
  auto all = hashes(kEntries);
  for (size_t i = 0; i < all.size(); ++i) index->insert(all[i], address(i));
  for (int round = 0; round < 20; ++round) {
    // Reader 1 stays away: slots cannot go back.
    size_t erased = 0;
    Status status = Status::kErased;
    while (erased < all.size() && status == Status::kErased) {
      status = index->erase_if(all[erased], address(erased));
      if (status == Status::kErased) ++erased;
      rcu_.quiescent(0);
    }
    ASSERT_EQ(status, Status::kBusy);
    ASSERT_GE(erased, 1000u);
    EXPECT_EQ(index->find(all[erased]), address(erased));  // nothing changed
    index->reclaim();
    EXPECT_EQ(index->erase_if(all[erased], address(erased)), Status::kBusy);

    rcu_.all_quiescent();
    index->reclaim();
    EXPECT_EQ(index->size(), kEntries - erased);
    for (size_t i = 0; i < erased; ++i) {
      all[i] = random_();
      ASSERT_EQ(index->insert(all[i], address(i)), Status::kInserted);
    }
    ASSERT_EQ(index->insert(random_(), address(0)), Status::kFull);
  }
}

TEST_F(IndexTest, WhatWaitsForReadersTakesNothingFromTheCapacity) {
  auto index = make(2048);
  auto all = hashes(2048);
  for (size_t i = 0; i < all.size(); ++i) index->insert(all[i], address(i));
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(index->erase_if(all[i], address(i)), Status::kErased);
    ASSERT_EQ(index->insert(random_(), address(i)), Status::kInserted);
  }
}

TEST_F(IndexTest, RefusesImpossibleSizesAndTakenNames) {
  EXPECT_FALSE(Index::create({.name = "empty", .entries = 0, .rcu = rcu_.get()}));
  EXPECT_FALSE(Index::create({.name = "huge", .entries = 1u << 30, .rcu = rcu_.get()}));
  auto index = make(1000);
  auto twin = Index::create({.name = "index_test", .entries = 1000, .rcu = rcu_.get()});
  ASSERT_FALSE(twin);
  EXPECT_NE(twin.error().message.find("index_test"), std::string::npos);
}

}  // namespace
}  // namespace wirecache::cache

#include "lib/cache/slab_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "lib/cache/slab_supply.h"
#include "tests/unit/cache/store_support.h"

namespace wirecache::cache {
namespace {

constexpr uint64_t kSlab = 2u << 20;

TEST(SlabMemory, RefusesASizeThatIsNoPowerOfTwo) {
  const auto memory = SlabMemory::create({.slab_bytes = 100000});
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().message,
            "slab size 100000 is not a power of two of at least 65536 bytes");
}

TEST(SlabMemory, SlabsCostWhatTheyHoldAndGoBackToTheSystem) {
  const auto memory = make_slab_memory(kSlab);
  std::vector<uint8_t*> slabs(64);
  const uint64_t before = resident_bytes();
  for (uint8_t*& slab : slabs) {
    slab = memory->allocate();
    ASSERT_NE(slab, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slab) % kSlab, 0u);
    ASSERT_TRUE(memory->populate(slab, 0, kSlab));
  }
  const uint64_t grown = resident_bytes() - before;
  EXPECT_GE(grown, 64 * kSlab * 99 / 100);
  EXPECT_LE(grown, 64 * kSlab * 101 / 100);
  for (uint8_t* slab : slabs) memory->free(slab);
  EXPECT_LE(resident_bytes(), before + kSlab);
}

TEST(SlabMemory, SmallSlabsAreExactToo) {
  constexpr uint64_t kSmall = 64u << 10;
  const auto memory = make_slab_memory(kSmall);
  std::vector<uint8_t*> slabs(512);
  const uint64_t before = resident_bytes();
  for (uint8_t*& slab : slabs) {
    slab = memory->allocate();
    ASSERT_NE(slab, nullptr);
    ASSERT_TRUE(memory->populate(slab, 0, kSmall));
  }
  const uint64_t grown = resident_bytes() - before;
  EXPECT_GE(grown, 512 * kSmall * 99 / 100);
  EXPECT_LE(grown, 512 * kSmall * 102 / 100);
  for (uint8_t* slab : slabs) memory->free(slab);
  EXPECT_LE(resident_bytes(), before + (1u << 20));
}

TEST(SlabMemory, WhatIsNotPopulatedCostsNothing) {
  const auto memory = make_slab_memory(64u << 20);
  const uint64_t before = resident_bytes();
  uint8_t* slab = memory->allocate();
  ASSERT_NE(slab, nullptr);
  EXPECT_LE(resident_bytes(), before + (1u << 20));
  ASSERT_TRUE(memory->populate(slab, kSlab, kSlab));
  EXPECT_GE(resident_bytes(), before + kSlab / 2);
  EXPECT_LE(resident_bytes(), before + kSlab + (1u << 20));
  memory->free(slab);
}

TEST(SlabMemory, SlabsOfSeveralArenasDoNotMix) {
  const auto one = make_slab_memory(kSlab);
  const auto other = make_slab_memory(kSlab);
  uint8_t* a = one->allocate();
  uint8_t* b = other->allocate();
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_TRUE(a + kSlab <= b || b + kSlab <= a);
  one->free(a);
  ASSERT_TRUE(other->populate(b, 0, kSlab));
  other->free(b);
}

TEST(SlabSupply, BringsSlabsInReachWithinTheCap) {
  const auto memory = make_slab_memory(kSlab);
  SlabSupply supply(*memory, 3 * kSlab);
  EXPECT_EQ(supply.take(), nullptr);
  for (int turn = 0; turn < 20; ++turn) supply.provision();
  EXPECT_EQ(supply.held_bytes(), supply.reserve() * kSlab);
  std::vector<uint8_t*> taken;
  for (int turn = 0; turn < 20; ++turn) {
    if (uint8_t* slab = supply.take(); slab != nullptr) taken.push_back(slab);
    supply.provision();
  }
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(supply.held_bytes(), 3 * kSlab);
  EXPECT_TRUE(supply.is_at_cap());
  for (uint8_t* slab : taken) EXPECT_TRUE(supply.give_back(slab));
}

TEST(SlabSupply, LoweredCapIsOverUntilSlabsWereGivenBack) {
  const auto memory = make_slab_memory(kSlab);
  SlabSupply supply(*memory, 4 * kSlab);
  std::vector<uint8_t*> taken;
  for (int turn = 0; turn < 20; ++turn) {
    supply.provision();
    if (uint8_t* slab = supply.take(); slab != nullptr) taken.push_back(slab);
  }
  ASSERT_EQ(taken.size(), 4u);
  supply.set_capacity(2 * kSlab);
  EXPECT_TRUE(supply.is_over_cap());
  EXPECT_TRUE(supply.give_back(taken[0]));
  EXPECT_TRUE(supply.is_over_cap());
  EXPECT_TRUE(supply.give_back(taken[1]));
  EXPECT_FALSE(supply.is_over_cap()) << "what is on its way back counts as given";
  const uint64_t before = resident_bytes();
  supply.provision();
  EXPECT_EQ(supply.held_bytes(), 2 * kSlab);
  EXPECT_LE(resident_bytes(), before - 2 * kSlab + (1u << 20));
  EXPECT_EQ(supply.take(), nullptr);
  for (size_t i = 2; i < taken.size(); ++i) EXPECT_TRUE(supply.give_back(taken[i]));
}

TEST(SlabSupply, ALargeSlabIsBroughtInOverSeveralTurns) {
  const auto memory = make_slab_memory(8 * kSlab);
  SlabSupply supply(*memory, 8 * kSlab);
  supply.provision();
  EXPECT_EQ(supply.take(), nullptr) << "main would stand still for all of it";
  uint8_t* slab = nullptr;
  for (int turn = 0; turn < 16 && slab == nullptr; ++turn) {
    supply.provision();
    slab = supply.take();
  }
  ASSERT_NE(slab, nullptr);
  EXPECT_TRUE(supply.give_back(slab));
}

}  // namespace
}  // namespace wirecache::cache

// What tests of the indexes share: keys by number, entries of them in slabs, and an index of either
// kind over that memory.
//
// One thread, which is owner and main at once, except where a test says otherwise.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/cache/compact_index.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/hash_index.h"
#include "lib/cache/slab_memory.h"
#include "tests/unit/cache/numbered_key.h"
#include "tests/unit/cache/rcu_fixture.h"

namespace wirecache::cache {

constexpr uint32_t kTestSlabBytes = 64u << 10;
constexpr uint32_t kTestSlabs = 2048;
// For the largest test entry.
constexpr uint32_t kTestCellBytes = 64;

// The entry of an upstream's answer to the key: one address, which holds `version`.
inline std::vector<uint8_t> versioned_entry(const Key& key, uint32_t version) {
  std::vector<uint8_t> message = {0, 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0};
  message.insert(message.end(), key.name.begin(), key.name.end());
  const std::array<uint8_t, 20> rest = {0,
                                        1,
                                        0,
                                        1,
                                        0xc0,
                                        12,
                                        0,
                                        1,
                                        0,
                                        1,
                                        0,
                                        0,
                                        0x0e,
                                        0x10,
                                        0,
                                        4,
                                        static_cast<uint8_t>(version >> 24),
                                        static_cast<uint8_t>(version >> 16),
                                        static_cast<uint8_t>(version >> 8),
                                        static_cast<uint8_t>(version)};
  message.insert(message.end(), rest.begin(), rest.end());
  std::array<uint8_t, 512> scratch;
  const Encoded encoded = encode_answer(key, message, {}, scratch);
  EXPECT_EQ(encoded.status, EncodeStatus::kKeep);
  EXPECT_LE(encoded.size_bytes, kTestCellBytes);
  return {scratch.begin(), scratch.begin() + encoded.size_bytes};
}

// The address is the last thing in the entry.
inline uint32_t version_of(const uint8_t* entry) {
  return load_be32(entry + EntryView(entry).size_bytes() - 4);
}

class IndexFixture {
 public:
  explicit IndexFixture(uint64_t capacity_bytes = uint64_t{kTestSlabs} * kTestSlabBytes)
      : memory_(std::move(
            *SlabMemory::create({.slab_bytes = kTestSlabBytes, .huge_pages = HugePages::kNever}))),
        supply_(*memory_, capacity_bytes),
        space_(kTestSlabBytes, kTestSlabs, 0) {}

  template <typename Index>
  std::unique_ptr<Index> make(const std::string& name = "index_test", rte_rcu_qsbr* rcu = nullptr,
                              uint64_t capacity_bytes = 0) {
    supply_.provision();
    auto index = Index::create({.name = name,
                                .capacity_bytes = capacity_bytes,
                                .space = &space_,
                                .supply = &supply_,
                                .rcu = rcu != nullptr ? rcu : rcu_.get(),
                                .secret = &secret_});
    EXPECT_TRUE(index) << index.error().message;
    return std::move(*index);
  }

  NumberedKey key(uint32_t number) const { return {secret_, number}; }
  // Memory for one entry, whose slab comes from a supply that the index does not see.
  EntryRef new_cell() {
    if (cells_ % kCellsPerSlab == 0) {
      slabs_.push_back(std::make_unique<uint8_t[]>(kTestSlabBytes));
      space_.set_slab(static_cast<uint32_t>(slabs_.size()) - 1, slabs_.back().get());
    }
    const uint32_t cell = cells_++;
    return space_.ref(cell / kCellsPerSlab, cell % kCellsPerSlab * kTestCellBytes);
  }
  uint8_t* cell(EntryRef ref) { return const_cast<uint8_t*>(space_.at(ref)); }
  EntryRef write(const Key& key, uint32_t version) {
    const EntryRef ref = new_cell();
    const auto entry = versioned_entry(key, version);
    std::memcpy(cell(ref), entry.data(), entry.size());
    return ref;
  }
  // What a worker and main do once a poll.
  template <typename Index>
  void poll(Index& index) {
    supply_.provision();
    rcu_.all_quiescent();
    index.maintain();
  }

  RcuFixture& rcu() { return rcu_; }
  SlabSupply& supply() { return supply_; }
  const EntrySpace& space() const { return space_; }
  const HashSecret& secret() const { return secret_; }

 private:
  static constexpr uint32_t kCellsPerSlab = kTestSlabBytes / kTestCellBytes;

  RcuFixture rcu_;
  HashSecret secret_ = HashSecret::from_seed(20261130);
  std::unique_ptr<SlabMemory> memory_;
  SlabSupply supply_;
  EntrySpace space_;
  std::vector<std::unique_ptr<uint8_t[]>> slabs_;
  uint32_t cells_ = 0;
};

}  // namespace wirecache::cache

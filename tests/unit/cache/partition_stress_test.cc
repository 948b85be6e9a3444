// A partition with its owner, three readers and main, each a thread, at full speed in little
// memory: entries are inserted, replaced, marked, copied by eviction, expired and overwritten while
// others read them, and the cap goes up and down.
//
// Each entry's records are one version number, over and over. What readers check: an answer is an
// entry of the key that was asked for, whole, of a version not older than the last that was kept
// when the look-up began, and that had been made. Absent is allowed. Under ThreadSanitizer the same
// finds what is not ordered.
//
// WIRECACHE_STRESS_OPERATIONS: how many insertions the owner makes (default 80,000).
#include <gtest/gtest.h>
#include <rte_rcu_qsbr.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "lib/cache/partition.h"
#include "tests/unit/cache/hand_made_entry.h"
#include "tests/unit/cache/numbered_key.h"
#include "tests/unit/cache/rcu_fixture.h"
#include "tests/unit/cache/store_support.h"
#include "tests/unit/cache/stress_support.h"

namespace wirecache::cache {
namespace {

constexpr uint32_t kKeys = 20'000;
constexpr unsigned kReaders = 3;
constexpr unsigned kOwner = kReaders;  // its number in the RCU variable
constexpr uint64_t kCapacityBytes = 2 << 20;
constexpr uint32_t kStartSec = 1000;

// What the owner tells readers beside the partition itself, by key.
struct Shared {
  std::atomic<bool> done{false};
  std::array<std::atomic<uint32_t>, kKeys> kept{};  // version of the last insertion that succeeded
  std::array<std::atomic<uint32_t>, kKeys> made{};  // of the last one that was begun
};

template <typename IndexType>
class PartitionStress : public testing::Test {
 protected:
  using Part = BasicPartition<IndexType>;

  PartitionStress()
      : memory_(make_slab_memory(PartitionLayout::for_capacity(kCapacityBytes).slab_bytes)) {
    auto partition = Part::create({.name = "stress",
                                   .capacity_bytes = kCapacityBytes,
                                   .memory = memory_.get(),
                                   .rcu = rcu_.get(),
                                   .secret = &secret_,
                                   .stats = &stats_});
    EXPECT_TRUE(partition) << partition.error().message;
    partition_ = std::move(*partition);
  }
  void own() {
    std::mt19937 random(1);
    uint32_t now_sec = kStartSec;
    for (uint32_t version = 1; version <= operations(); ++version) {
      insert(static_cast<uint32_t>(random() % kKeys), version, now_sec, random());
      if (version % 16 == 0) {
        rte_rcu_qsbr_quiescent(rcu_.get(), kOwner);
        partition_->maintain(now_sec);
      }
      if (version % 4096 == 0) ++now_sec;
      if (version % 256 == 0) std::this_thread::yield();
    }
    shared_->done.store(true, std::memory_order_release);
    rte_rcu_qsbr_thread_offline(rcu_.get(), kOwner);
  }

  void insert(uint32_t number, uint32_t version, uint32_t now_sec, uint32_t chance) {
    const NumberedKey key(secret_, number);
    std::vector<uint8_t> payload(4 * (2 + chance % 60));
    for (size_t at = 0; at < payload.size(); at += 4) store_be32(&payload[at], version);
    const uint32_t lifetime_sec = 1 + chance / 64 % 300;
    shared_->made[number].store(version, std::memory_order_relaxed);
    const InsertStatus status =
        partition_->insert(key.get(), entry_of(key.get(), payload, now_sec, lifetime_sec), now_sec);
    if (status != InsertStatus::kRejected) {
      shared_->kept[number].store(version, std::memory_order_release);
    }
  }

  void provide() {
    for (unsigned turn = 0; !shared_->done.load(std::memory_order_acquire); ++turn) {
      partition_->provision();
      if (turn % 64 == 0) partition_->set_capacity(kCapacityBytes >> (turn / 64 & 1));
      std::this_thread::yield();
    }
  }

  // Returns how many entries it found; adds what was wrong with them.
  void read(unsigned reader, uint64_t& found, uint64_t& wrong) {
    std::mt19937 random(reader + 2);
    while (!shared_->done.load(std::memory_order_acquire)) {
      for (int i = 0; i < 16; ++i) {
        // Some keys are asked for far more often.
        const uint32_t range = random() % 2 == 0 ? kKeys : kKeys / 50;
        look_up(static_cast<uint32_t>(random() % range), found, wrong);
      }
      rte_rcu_qsbr_quiescent(rcu_.get(), reader);
    }
    rte_rcu_qsbr_thread_offline(rcu_.get(), reader);
  }

  void look_up(uint32_t number, uint64_t& found, uint64_t& wrong) {
    const NumberedKey key(secret_, number);
    const uint32_t kept = shared_->kept[number].load(std::memory_order_acquire);
    const auto query = partition_->query(key.get());
    const uint8_t* bytes = nullptr;
    Part::find_burst({&query, 1}, &bytes);
    if (bytes == nullptr) return;
    ++found;
    const EntryView entry(bytes);
    entry.note_asked();
    const Bytes payload = entry.records(key.get().name.size());
    const uint32_t version = load_be32(payload.data());
    bool is_right = entry.matches(key.get()) && version >= kept &&
                    version <= shared_->made[number].load(std::memory_order_relaxed);
    for (size_t at = 0; at < payload.size(); at += 4) {
      is_right &= load_be32(payload.data() + at) == version;
    }
    wrong += is_right ? 0 : 1;
  }

  HashSecret secret_ = HashSecret::from_seed(1);
  stats::WorkerStats stats_;
  RcuFixture rcu_{kReaders + 1};
  std::unique_ptr<SlabMemory> memory_;
  std::unique_ptr<Part> partition_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
};

using Indexes = testing::Types<CompactIndex, HashIndex>;
TYPED_TEST_SUITE(PartitionStress, Indexes);

TYPED_TEST(PartitionStress, ReadersGetWholeEntriesOfTheirKeyOrNothing) {
  std::array<uint64_t, kReaders> found{};
  std::array<uint64_t, kReaders> wrong{};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kReaders; ++i) {
    threads.emplace_back([this, i, &found, &wrong] { this->read(i, found[i], wrong[i]); });
  }
  threads.emplace_back([this] { this->provide(); });
  this->own();
  for (std::thread& thread : threads) thread.join();
  for (unsigned i = 0; i < kReaders; ++i) {
    EXPECT_GT(found[i], 100u);
    EXPECT_EQ(wrong[i], 0u);
  }
  EXPECT_GT(this->stats_.cache[stats::Cache::kEvicted].value(), 1000u);
  EXPECT_GT(this->stats_.cache[stats::Cache::kReplaced].value(), 1000u);
}

}  // namespace
}  // namespace wirecache::cache

// One writer and several readers at full speed, on few keys, so that they meet all the time.
//
// The writer inserts, replaces, moves and erases at random, reuses the memory of entries as soon as
// readers have moved on, and grows and shrinks the index. Each entry holds a version. What readers
// check: an answer is an entry of the key that was asked for, of a version that was the key's when
// the look-up began or became it since; and where the writer did nothing during a look-up, the
// answer is exactly the model's. Under ThreadSanitizer the same finds what is not ordered.
//
// WIRECACHE_STRESS_OPERATIONS: how many operations the writer does (default 80,000).
#include <gtest/gtest.h>
#include <rte_rcu_qsbr.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/cache/index_fixture.h"
#include "tests/unit/cache/stress_support.h"

namespace wirecache::cache {
namespace {

constexpr uint32_t kKeys = 6000;
constexpr unsigned kReaders = 3;
constexpr unsigned kWriter = kReaders;  // its number in the RCU variable

// What the writer tells readers beside the index itself.
struct Shared {
  std::atomic<uint64_t> sequence{0};  // odd while the writer is at work
  std::atomic<bool> done{false};
  // The version of each key, 0 where it has no entry.
  std::array<std::atomic<uint32_t>, kKeys> current{};
  // The highest version that each key had.
  std::array<std::atomic<uint32_t>, kKeys> latest{};
};

struct Outcome {
  uint64_t found = 0;
  uint64_t absent = 0;
  uint64_t undisturbed = 0;
  uint64_t wrong_key = 0;
  uint64_t wrong_version = 0;
  uint64_t not_the_models = 0;
};

template <typename Index>
class Writer {
 public:
  Writer(IndexFixture& fixture, Index& index, RcuFixture& rcu, Shared& shared)
      : fixture_(fixture), index_(index), rcu_(rcu.get()), shared_(shared), refs_(kKeys, kNoEntry) {
    for (uint32_t n = 0; n < 4 * kKeys; ++n) free_.push_back(fixture.new_cell());
  }

  void run(uint32_t operations) {
    for (uint32_t i = 1; i <= operations; ++i) {
      shared_.sequence.store(2 * i - 1, std::memory_order_relaxed);
      // In turns more comes than goes, and the other way round.
      step(i, i / 20000 % 2 == 0);
      shared_.sequence.store(2 * i, std::memory_order_release);
      // So that readers also meet an index at rest, where there are fewer processors than threads.
      if (i % 256 == 0) std::this_thread::yield();
    }
    shared_.done.store(true, std::memory_order_release);
    rte_rcu_qsbr_thread_offline(rcu_, kWriter);
  }

 private:
  struct Retired {
    uint64_t token;
    EntryRef ref;
  };

  void step(uint32_t version, bool fills) {
    const auto number = static_cast<uint32_t>(random_() % kKeys);
    const unsigned choice = random_() % 8;
    if (choice < (fills ? 5 : 1)) {
      insert(number, version);
    } else if (choice < 6) {
      erase(number);
    } else {
      move(number, version);
    }
    if (version % 32 == 0) {
      rte_rcu_qsbr_quiescent(rcu_, kWriter);
      fixture_.supply().provision();
      index_.maintain();
      reclaim();
    }
    if (!fills && version % 8 == 0) index_.release_memory();
  }

  // A cell with a new entry, kNoEntry where all wait for readers.
  EntryRef write(const Key& key, uint32_t version) {
    if (free_.empty()) return kNoEntry;
    const EntryRef ref = free_.front();
    free_.pop_front();
    const auto entry = versioned_entry(key, version);
    std::memcpy(fixture_.cell(ref), entry.data(), entry.size());
    return ref;
  }
  void retire(EntryRef ref) { retired_.push_back({rte_rcu_qsbr_start(rcu_), ref}); }
  void reclaim() {
    while (!retired_.empty() && rte_rcu_qsbr_check(rcu_, retired_.front().token, 0) == 1) {
      free_.push_back(retired_.front().ref);
      retired_.pop_front();
    }
  }
  void publish(uint32_t number, uint32_t version) {
    shared_.current[number].store(version, std::memory_order_release);
  }

  void insert(uint32_t number, uint32_t version) {
    const NumberedKey key = fixture_.key(number);
    const EntryRef ref = write(key.get(), version);
    if (ref == kNoEntry) return;
    shared_.latest[number].store(version, std::memory_order_relaxed);
    const IndexInserted inserted = index_.insert(key.get(), ref);
    ASSERT_EQ(inserted.status,
              refs_[number] == kNoEntry ? IndexStatus::kInserted : IndexStatus::kReplaced);
    ASSERT_EQ(inserted.replaced, refs_[number]);
    publish(number, version);
    if (refs_[number] != kNoEntry) retire(refs_[number]);
    refs_[number] = ref;
  }
  void erase(uint32_t number) {
    const NumberedKey key = fixture_.key(number);
    const IndexStatus status = index_.erase_if(key.get().hash, refs_[number]);
    if (status == IndexStatus::kBusy) return;
    if (refs_[number] == kNoEntry) return;
    ASSERT_EQ(status, IndexStatus::kErased);
    publish(number, 0);
    retire(refs_[number]);
    refs_[number] = kNoEntry;
  }
  void move(uint32_t number, uint32_t version) {
    if (refs_[number] == kNoEntry) return;
    const NumberedKey key = fixture_.key(number);
    const EntryRef ref = write(key.get(), version);
    if (ref == kNoEntry) return;
    shared_.latest[number].store(version, std::memory_order_relaxed);
    ASSERT_EQ(index_.move(key.get().hash, refs_[number], ref), IndexStatus::kMoved);
    publish(number, version);
    retire(refs_[number]);
    refs_[number] = ref;
  }

  IndexFixture& fixture_;
  Index& index_;
  rte_rcu_qsbr* rcu_;
  Shared& shared_;
  std::mt19937 random_{1};
  std::vector<EntryRef> refs_;
  std::deque<EntryRef> free_;
  std::deque<Retired> retired_;
};

template <typename Index>
class Reader {
 public:
  Reader(const IndexFixture& fixture, const Index& index, Shared& shared, unsigned number)
      : index_(index), shared_(shared), number_(number), random_(number + 2) {
    for (uint32_t n = 0; n < kKeys; ++n) {
      keys_.push_back(std::make_unique<NumberedKey>(fixture.secret(), n));
    }
  }

  void run(rte_rcu_qsbr* rcu) {
    while (!shared_.done.load(std::memory_order_acquire)) {
      burst(1 + random_() % 8);
      single(static_cast<uint32_t>(random_() % kKeys));
      rte_rcu_qsbr_quiescent(rcu, number_);
    }
    rte_rcu_qsbr_thread_offline(rcu, number_);
  }
  const Outcome& outcome() const { return outcome_; }

 private:
  static constexpr size_t kMost = 8;

  void burst(size_t count) {
    std::array<uint32_t, kMost> numbers;
    std::array<uint32_t, kMost> before;
    std::array<IndexQuery<Index>, kMost> queries;
    std::array<const uint8_t*, kMost> entries;
    const uint64_t sequence = shared_.sequence.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<uint32_t>(random_() % kKeys);
      before[i] = shared_.current[numbers[i]].load(std::memory_order_acquire);
      queries[i] = {&index_, &keys_[numbers[i]]->get()};
    }
    Index::find_burst(std::span(queries).first(count), entries.data());
    const bool undisturbed = is_undisturbed(sequence);
    for (size_t i = 0; i < count; ++i) judge(numbers[i], before[i], entries[i], undisturbed);
  }
  void single(uint32_t number) {
    const uint64_t sequence = shared_.sequence.load(std::memory_order_acquire);
    const uint32_t before = shared_.current[number].load(std::memory_order_acquire);
    const uint8_t* entry = index_.find(keys_[number]->get());
    judge(number, before, entry, is_undisturbed(sequence));
  }
  bool is_undisturbed(uint64_t sequence) const {
    return sequence % 2 == 0 && shared_.sequence.load(std::memory_order_acquire) == sequence;
  }
  void judge(uint32_t number, uint32_t before, const uint8_t* entry, bool undisturbed) {
    uint32_t version = 0;
    if (entry == nullptr) {
      ++outcome_.absent;
    } else {
      ++outcome_.found;
      version = version_of(entry);
      if (!EntryView(entry).matches(keys_[number]->get())) ++outcome_.wrong_key;
      if (version < before || version > shared_.latest[number].load(std::memory_order_relaxed)) {
        ++outcome_.wrong_version;
      }
    }
    if (!undisturbed) return;
    ++outcome_.undisturbed;
    if (version != before) ++outcome_.not_the_models;
  }

  const Index& index_;
  Shared& shared_;
  unsigned number_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<NumberedKey>> keys_;
  Outcome outcome_;
};

template <typename Index>
class IndexStress : public testing::Test {};
using Indexes = testing::Types<CompactIndex, HashIndex>;
TYPED_TEST_SUITE(IndexStress, Indexes);

TYPED_TEST(IndexStress, ReadersGetTheKeysEntryOrNothing) {
  IndexFixture fixture;
  RcuFixture rcu(kReaders + 1);
  const auto shared = std::make_unique<Shared>();
  auto index = fixture.make<TypeParam>("stress", rcu.get());
  std::vector<std::unique_ptr<Reader<TypeParam>>> readers;
  for (unsigned i = 0; i < kReaders; ++i) {
    readers.push_back(std::make_unique<Reader<TypeParam>>(fixture, *index, *shared, i));
  }
  std::vector<std::thread> threads;
  for (auto& reader : readers) threads.emplace_back([&] { reader->run(rcu.get()); });
  Writer<TypeParam>(fixture, *index, rcu, *shared).run(operations());
  for (std::thread& thread : threads) thread.join();

  uint64_t found = 0;
  uint64_t undisturbed = 0;
  for (const auto& reader : readers) {
    const Outcome& outcome = reader->outcome();
    EXPECT_EQ(outcome.wrong_key, 0u);
    EXPECT_EQ(outcome.wrong_version, 0u);
    EXPECT_EQ(outcome.not_the_models, 0u);
    found += outcome.found;
    undisturbed += outcome.undisturbed;
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(undisturbed, 1000u);
  for (uint32_t n = 0; n < kKeys; ++n) {
    const uint8_t* entry = index->find(fixture.key(n).get());
    ASSERT_EQ(entry != nullptr ? version_of(entry) : 0, shared->current[n].load());
  }
}

}  // namespace
}  // namespace wirecache::cache

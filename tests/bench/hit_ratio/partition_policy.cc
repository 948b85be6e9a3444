#include "tests/bench/hit_ratio/partition_policy.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lib/cache/partition.h"
#include "tests/unit/cache/hand_made_entry.h"
#include "tests/unit/cache/numbered_key.h"
#include "tests/unit/cache/rcu_fixture.h"

namespace wirecache::bench {
namespace {

constexpr uint32_t kStartSec = 1000;
constexpr unsigned kRequestsPerPoll = 8;

template <typename Index>
class PartitionPolicy : public Policy {
 public:
  explicit PartitionPolicy(uint64_t capacity_bytes) {
    const auto layout = cache::PartitionLayout::for_capacity(capacity_bytes);
    memory_ = std::move(*cache::SlabMemory::create(
        {.slab_bytes = layout.slab_bytes, .huge_pages = cache::HugePages::kNever}));
    static unsigned made = 0;
    auto partition =
        cache::BasicPartition<Index>::create({.name = "policy" + std::to_string(made++),
                                              .capacity_bytes = capacity_bytes,
                                              .memory = memory_.get(),
                                              .rcu = rcu_.get(),
                                              .secret = &secret_,
                                              .stats = stats_.get()});
    if (!partition) {
      std::fprintf(stderr, "hit_ratio: %s\n", partition.error().message.c_str());
      std::abort();
    }
    partition_ = std::move(*partition);
  }

  Lookup get(NameId name, uint32_t now_sec) override {
    poll(now_sec);
    const cache::NumberedKey numbered(secret_, name);
    const uint8_t* found = partition_->find(numbered.get());
    if (found == nullptr) return Lookup::kMiss;
    const cache::EntryView entry(found);
    entry.note_asked();
    return entry.fresh(kStartSec + now_sec) ? Lookup::kHit : Lookup::kMiss;
  }

  void put(const Request& request) override {
    poll(request.now_sec);
    const cache::NumberedKey numbered(secret_, request.name);
    const cache::Key& key = numbered.get();
    const std::vector<uint8_t> payload(request.bytes - cache::kHandMadeHeadBytes - key.name.size());
    const uint32_t now_sec = kStartSec + request.now_sec;
    std::vector<uint8_t> entry = cache::entry_of(key, payload, now_sec, request.ttl_sec);
    if (request.kind == AnswerKind::kNegative) {
      constexpr auto kOutcome = static_cast<unsigned>(cache::EntryOutcome::kNxDomain);
      entry[1] |= static_cast<uint8_t>(kOutcome << cache::kEntryChoiceShift);
    }
    partition_->insert(key, entry, now_sec);
    names_ = std::max(names_, request.name + 1);
  }

  uint64_t live_bytes(uint32_t now_sec) const override {
    uint64_t bytes = 0;
    for (NameId name = 0; name < names_; ++name) {
      const cache::NumberedKey numbered(secret_, name);
      const uint8_t* found = partition_->find(numbered.get());
      if (found == nullptr) continue;
      const cache::EntryView entry(found);
      if (entry.fresh(kStartSec + now_sec)) bytes += entry.size_bytes();
    }
    return bytes;
  }

 private:
  // What worker and main do between requests.
  void poll(uint32_t now_sec) {
    if (++requests_ % kRequestsPerPoll != 0) return;
    partition_->provision();
    rcu_.all_quiescent();
    partition_->maintain(kStartSec + now_sec);
  }

  cache::RcuFixture rcu_;
  HashSecret secret_ = HashSecret::from_seed(1);
  std::unique_ptr<stats::WorkerStats> stats_ = std::make_unique<stats::WorkerStats>();
  std::unique_ptr<cache::SlabMemory> memory_;
  std::unique_ptr<cache::BasicPartition<Index>> partition_;
  NameId names_ = 0;
  uint64_t requests_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_partition_policy(uint64_t capacity_bytes, const std::string& index) {
  if (index == "rte_hash") {
    return std::make_unique<PartitionPolicy<cache::HashIndex>>(capacity_bytes);
  }
  return std::make_unique<PartitionPolicy<cache::CompactIndex>>(capacity_bytes);
}

}  // namespace wirecache::bench

// The two indexes alone: insertions, look-ups in bursts of 32 over all partitions, and memory.
//
//   index_bench compact|rte_hash ENTRIES PARTITIONS
//
// Entries stand 116 bytes apart (the reference mix's average), names have 18 bytes. Prints one JSON
// object. Look-ups are the median of five passes; a look-up ends with the whole key compared.
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_rcu_qsbr.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lib/cache/compact_index.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/hash_index.h"
#include "lib/cache/partition.h"
#include "lib/cache/slab_memory.h"

namespace wirecache::cache {
namespace {

constexpr uint32_t kEntryBytes = 116;
constexpr size_t kNameBytes = 18;
constexpr size_t kBurst = 32;
constexpr size_t kLookups = size_t{1} << 20;
constexpr unsigned kPasses = 5;

using Name = std::array<uint8_t, kNameBytes>;

Name name_of(uint32_t number) {
  Name name = {8, 0, 0, 0, 0, 0, 0, 0, 0, 3, 'n', 'e', 't', 3, 'o', 'r', 'g', 0};
  for (unsigned i = 0; i < 8; ++i) name[i + 1] = "0123456789abcdef"[number >> (28 - 4 * i) & 15];
  return name;
}

// Of this thread, so that what else runs on the machine is not counted.
double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// VmRSS and HugetlbPages of the process.
uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  uint64_t kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:") || line.starts_with("HugetlbPages:")) {
      kib += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    }
  }
  return kib * 1024;
}

struct Item {
  uint64_t hash;
  EntryRef ref;
};

template <typename Index>
struct Part {
  std::unique_ptr<SlabSupply> supply;
  std::unique_ptr<EntrySpace> space;
  std::unique_ptr<Index> index;
  std::vector<Item> items;
  uint32_t slabs = 0;
};

// One look-up as a worker has it: the name stands in the packet.
struct Question {
  Name name;
  uint32_t partition;
  uint64_t hash;
};

template <typename Index>
class Bench {
 public:
  Bench(uint32_t entries, uint32_t partitions)
      : entries_(entries),
        capacity_bytes_(uint64_t{entries} * 150 / partitions),
        slab_bytes_(PartitionLayout::for_capacity(capacity_bytes_).slab_bytes),
        memory_(std::move(*SlabMemory::create({.slab_bytes = slab_bytes_}))),
        partitions_(partitions) {
    rcu_ = static_cast<rte_rcu_qsbr*>(
        rte_zmalloc("rcu", rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE));
    rte_rcu_qsbr_init(rcu_, 1);
    rte_rcu_qsbr_thread_register(rcu_, 0);
    rte_rcu_qsbr_thread_online(rcu_, 0);
    const uint32_t most_slabs = static_cast<uint32_t>(2 * capacity_bytes_ / slab_bytes_) + 8;
    for (auto& partition : partitions_) {
      partition.supply = std::make_unique<SlabSupply>(*memory_, 4 * capacity_bytes_);
      partition.space = std::make_unique<EntrySpace>(
          slab_bytes_, most_slabs, EntrySpace::unit_shift_for(2 * capacity_bytes_));
    }
    for (uint32_t n = 0; n < entries; ++n) write_entry(n);
  }

  void run(std::string_view kind) {
    const uint64_t resident = resident_bytes();
    make_indexes();
    const double inserts_per_sec = insert_all();
    const uint64_t grown = resident_bytes() - resident;
    uint64_t said = 0;
    for (const auto& partition : partitions_) said += partition.index->memory_bytes();
    const double uniform = look_up([&] { return static_cast<uint32_t>(random_() % entries_); });
    const double zipf = look_up([&] { return zipf_rank(); });
    std::printf(
        "{\"index\": \"%.*s\", \"entries\": %u, \"filed\": %u, \"partitions\": %zu, "
        "\"inserts_per_sec\": %.0f, \"burst_ns_uniform\": %.1f, \"burst_ns_zipf\": %.1f, "
        "\"index_bytes_per_entry\": %.2f, \"resident_growth_per_entry\": %.2f}\n",
        static_cast<int>(kind.size()), kind.data(), entries_, filed_, partitions_.size(),
        inserts_per_sec, uniform, zipf, static_cast<double>(said) / filed_,
        static_cast<double>(grown) / filed_);
  }

 private:
  uint8_t* take(SlabSupply& supply) {
    uint8_t* slab = supply.take();
    while (slab == nullptr) {
      supply.provision();
      slab = supply.take();
    }
    return slab;
  }
  void write_entry(uint32_t number) {
    const Name name = name_of(number);
    const Key key = keys_.make(secret_, name, 1, dns::CdBit::kClear, 0);
    auto& partition = partitions_[owner_of(key.hash, static_cast<uint32_t>(partitions_.size()))];
    const auto place = static_cast<uint32_t>(partition.items.size());
    const uint32_t per_slab = slab_bytes_ / kEntryBytes;
    if (place % per_slab == 0) {
      partition.space->set_slab(partition.slabs++, take(*partition.supply));
    }
    const EntryRef ref = partition.space->ref(place / per_slab, place % per_slab * kEntryBytes);
    std::array<uint8_t, 12 + kNameBytes + 20> message = {0, 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0};
    std::memcpy(&message[12], name.data(), kNameBytes);
    constexpr std::array<uint8_t, 20> kRest = {0, 1, 0,  1,  0xc0, 12, 0,  1, 0, 1,
                                               0, 0, 14, 16, 0,    4,  10, 0, 0, 1};
    std::memcpy(&message[12 + kNameBytes], kRest.data(), kRest.size());
    std::array<uint8_t, 256> scratch;
    const Encoded encoded = encode_answer(key, message, {}, scratch);
    std::memcpy(const_cast<uint8_t*>(partition.space->at(ref)), scratch.data(), encoded.size_bytes);
    partition.items.push_back({key.hash, ref});
  }
  void make_indexes() {
    unsigned number = 0;
    for (auto& partition : partitions_) {
      constexpr unsigned kTurns = 64;  // until the reserve is full
      for (unsigned turn = 0; turn < kTurns; ++turn) partition.supply->provision();
      auto index = Index::create({.name = "bench" + std::to_string(number++),
                                  .capacity_bytes = capacity_bytes_,
                                  .space = partition.space.get(),
                                  .supply = partition.supply.get(),
                                  .rcu = rcu_,
                                  .secret = &secret_});
      if (!index) {
        std::fprintf(stderr, "%s\n", index.error().message.c_str());
        std::exit(1);
      }
      partition.index = std::move(*index);
    }
  }
  double insert_all() {
    constexpr size_t kAhead = 8;
    double passed = 0;
    for (auto& partition : partitions_) {
      const auto& items = partition.items;
      const double begin = seconds();
      for (size_t i = 0; i < items.size(); ++i) {
        if (i + kAhead < items.size()) partition.index->prefetch(items[i + kAhead].hash);
        const EntryView view(partition.space->at(items[i].ref));
        const Key key{view.name(), 1, false, 0, items[i].hash};
        if (partition.index->insert(key, items[i].ref).status == IndexStatus::kInserted) ++filed_;
        if (i % kBurst == 0) {
          partition.supply->provision();
          partition.index->maintain();
        }
      }
      passed += seconds() - begin;
    }
    return filed_ / passed;
  }
  // Ranks of a Zipf distribution with exponent 1, by the inverse of its integral.
  uint32_t zipf_rank() {
    const double u = std::uniform_real_distribution<double>(0, 1)(random_);
    return static_cast<uint32_t>(std::pow(static_cast<double>(entries_), u)) - 1;
  }
  template <typename Draw>
  double look_up(Draw draw) {
    std::vector<Question> questions(kLookups);
    for (Question& question : questions) {
      question.name = name_of(draw());
      question.hash = keys_.make(secret_, question.name, 1, dns::CdBit::kClear, 0).hash;
      question.partition = owner_of(question.hash, static_cast<uint32_t>(partitions_.size()));
    }
    std::array<double, kPasses> passes;
    for (double& pass : passes) {
      const double begin = seconds();
      for (size_t i = 0; i < kLookups; i += kBurst) look_up_burst(&questions[i]);
      pass = (seconds() - begin) * 1e9 / kLookups;
    }
    std::sort(passes.begin(), passes.end());
    return passes[kPasses / 2];
  }
  void look_up_burst(const Question* questions) {
    std::array<Key, kBurst> keys;
    std::array<IndexQuery<Index>, kBurst> queries;
    std::array<const uint8_t*, kBurst> entries;
    for (size_t i = 0; i < kBurst; ++i) {
      keys[i] = {questions[i].name, 1, false, 0, questions[i].hash};
      queries[i] = {partitions_[questions[i].partition].index.get(), &keys[i]};
    }
    Index::find_burst(queries, entries.data());
    for (const uint8_t* entry : entries) found_ += entry != nullptr ? 1 : 0;
  }

  uint32_t entries_;
  uint64_t capacity_bytes_;
  uint32_t slab_bytes_;
  HashSecret secret_ = HashSecret::from_seed(4);
  KeyBuffer keys_;
  std::unique_ptr<SlabMemory> memory_;
  std::vector<Part<Index>> partitions_;
  rte_rcu_qsbr* rcu_ = nullptr;
  std::mt19937_64 random_{5};
  uint32_t filed_ = 0;
  uint64_t found_ = 0;
};

// Transparent huge pages for DPDK's heap too: slabs have them.
void make_heap_huge() {
  rte_memseg_list_walk(
      [](const rte_memseg_list* list, void*) {
        return madvise(list->base_va, list->len, MADV_HUGEPAGE) == 0 ? 0 : -1;
      },
      nullptr);
}

int run(int argc, char** argv) {
  const std::string_view kind = argc == 4 ? argv[1] : "";
  if (kind != "compact" && kind != "rte_hash") {
    std::fprintf(stderr, "usage: index_bench compact|rte_hash ENTRIES PARTITIONS\n");
    return 2;
  }
  const auto entries = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const auto partitions = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  std::array<const char*, 10> arguments = {"index_bench",    "--no-huge",
                                           "--no-pci",       "-m",
                                           "2048",           "--no-shconf",
                                           "--lcores",       "0@0",
                                           "--no-telemetry", "--log-level=lib.*:error"};
  if (rte_eal_init(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data())) < 0) {
    return 1;
  }
  make_heap_huge();
  if (kind == "compact") {
    Bench<CompactIndex>(entries, partitions).run(kind);
  } else {
    Bench<HashIndex>(entries, partitions).run(kind);
  }
  return 0;
}

}  // namespace
}  // namespace wirecache::cache

int main(int argc, char** argv) {
  return wirecache::cache::run(argc, argv);
}

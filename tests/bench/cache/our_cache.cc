#include "tests/bench/cache/our_cache.h"

#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "lib/base/hash.h"
#include "lib/cache/compact_index.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/hash_index.h"
#include "lib/cache/partition.h"
#include "lib/cache/slab_memory.h"
#include "lib/stats/worker_stats.h"
#include "tests/bench/cache/process_memory.h"

namespace wirecache::bench {
namespace {

constexpr size_t kBurst = 32;  // of a worker
constexpr size_t kAhead = 4;   // finished entries whose place is made warm
constexpr cache::ReplyOptions kReply{.udp_size = kReplyLimit, .max_reply_bytes = kReplyLimit};

// The question that an upstream's message answers.
struct Asked {
  Bytes name;
  uint16_t type;
};
Asked asked_by(Bytes message) {
  const size_t name_bytes = dns::flat_name_length(message.subspan(dns::kHeaderBytes));
  const Bytes name = message.subspan(dns::kHeaderBytes, name_bytes);
  return {name, load_be16(name.data() + name_bytes)};
}

struct RteFree {
  void operator()(void* p) const { rte_free(p); }
};

template <typename Index>
class PartitionCache : public OurCache {
 public:
  using Partition = cache::BasicPartition<Index>;

  static std::unique_ptr<OurCache> create(const OurOptions& options) {
    static unsigned made = 0;
    std::unique_ptr<PartitionCache> cache(new PartitionCache);
    const auto layout = cache::PartitionLayout::for_capacity(options.capacity_bytes);
    auto memory = cache::SlabMemory::create({.slab_bytes = layout.slab_bytes,
                                             .numa_node = -1,
                                             .huge_pages = options.pages == Pages::kHuge
                                                               ? cache::HugePages::kWhereFree
                                                               : cache::HugePages::kNever});
    if (!memory) return refuse(memory.error());
    cache->memory_ = std::move(*memory);
    auto partition = Partition::create({.name = "bench" + std::to_string(made++),
                                        .capacity_bytes = options.capacity_bytes,
                                        .memory = cache->memory_.get(),
                                        .numa_node = -1,
                                        .rcu = cache->rcu_.get(),
                                        .secret = &cache->secret_,
                                        .stats = cache->stats_.get()});
    if (!partition) return refuse(partition.error());
    cache->partition_ = std::move(*partition);
    return cache;
  }

  void insert(std::span<const Message> messages, uint32_t now_sec) override {
    now_sec_ = now_sec;
    for (size_t i = 0; i < messages.size(); ++i) {
      insert_one(messages[i], now_sec);
      if (i % kBurst == kBurst - 1) end_burst(kOwner);
    }
    end_burst(kOwner);
  }

  void prepare(std::span<const Message> messages, uint32_t now_sec) override {
    now_sec_ = now_sec;
    prepared_.clear();
    // An entry is shorter than its message.
    size_t most_bytes = 0;
    for (const Message& message : messages) most_bytes += message.size;
    entries_.resize(most_bytes);
    size_t used = 0;
    for (const Message& message : messages) {
      const MutableBytes place = MutableBytes(entries_).subspan(used);
      cache::KeyBuffer buffer;
      const cache::Key key = key_of(message, buffer);
      const cache::Encoded encoded = encode(key, message, now_sec, place);
      if (encoded.status != cache::EncodeStatus::kKeep) continue;
      // The name in the entry stays.
      cache::Key kept = key;
      kept.name = cache::EntryView(place.data()).name();
      prepared_.push_back({kept, place.first(encoded.size_bytes)});
      used += encoded.size_bytes;
    }
  }
  void insert_prepared() override {
    for (size_t i = 0; i < prepared_.size(); ++i) {
      if (i + kAhead < prepared_.size()) partition_->prefetch(prepared_[i + kAhead].key);
      partition_->insert(prepared_[i].key, prepared_[i].entry, now_sec_);
      if (i % kBurst == kBurst - 1) end_burst(kOwner);
    }
    end_burst(kOwner);
  }

  unsigned answer_bursts(std::span<Packet> packets, uint32_t now_sec) override {
    return answer_as(kOwner, packets, now_sec);
  }
  unsigned answer_as(unsigned reader, std::span<Packet> packets, uint32_t now_sec) override {
    unsigned answered = 0;
    for (size_t first = 0; first < packets.size(); first += kBurst) {
      answered +=
          answer_burst(packets.subspan(first, std::min(kBurst, packets.size() - first)), now_sec);
      rte_rcu_qsbr_quiescent(rcu_.get(), reader);
    }
    return answered;
  }

  unsigned answer_each(std::span<Packet> packets, uint32_t now_sec) override {
    unsigned answered = 0;
    uint16_t last_bytes = 0;
    for (size_t i = 0; i < packets.size(); ++i) {
      Packet& packet = packets[after_reply(i, last_bytes)];
      cache::KeyBuffer buffer;
      const cache::Key key = key_of(packet, buffer);
      answered += answer(packet, partition_->find(key), now_sec) ? 1 : 0;
      last_bytes = packet.reply_bytes;
    }
    rte_rcu_qsbr_quiescent(rcu_.get(), kOwner);
    return answered;
  }

  uint64_t count_fresh(std::span<const Question> questions, uint32_t now_sec) override {
    uint64_t count = 0;
    for (const Question& question : questions) {
      cache::KeyBuffer buffer;
      const cache::Key key =
          buffer.make(secret_, question.name(), question.type, dns::CdBit::kClear, kTag);
      const uint8_t* found = partition_->find(key);
      count += found != nullptr && cache::EntryView(found).fresh(now_sec) ? 1 : 0;
    }
    rte_rcu_qsbr_quiescent(rcu_.get(), kOwner);
    return count;
  }

  uint64_t bytes_allocated_by_main() const override { return allocated_by_main_; }

  void join(unsigned reader) override {
    rte_rcu_qsbr_thread_register(rcu_.get(), reader);
    rte_rcu_qsbr_thread_online(rcu_.get(), reader);
  }
  void leave(unsigned reader) override {
    rte_rcu_qsbr_thread_offline(rcu_.get(), reader);
    rte_rcu_qsbr_thread_unregister(rcu_.get(), reader);
  }

 private:
  static constexpr uint8_t kTag = 0;
  struct Prepared {
    cache::Key key;
    Bytes entry;
  };

  PartitionCache()
      : rcu_(static_cast<rte_rcu_qsbr*>(
            rte_zmalloc("bench", rte_rcu_qsbr_get_memsize(kReaders), RTE_CACHE_LINE_SIZE))) {
    rte_rcu_qsbr_init(rcu_.get(), kReaders);
    join(kOwner);
  }

  cache::Key key_of(const Message& message, cache::KeyBuffer& buffer) const {
    const Asked asked = asked_by(message.bytes());
    return buffer.make(secret_, asked.name, asked.type, dns::CdBit::kClear, kTag);
  }
  cache::Key key_of(const Packet& packet, cache::KeyBuffer& buffer) const {
    const Bytes name(packet.message.data() + dns::kHeaderBytes, packet.query.qname_bytes);
    return buffer.make(secret_, name, packet.query.qtype, packet.query.cd_bit(), kTag);
  }
  static cache::Encoded encode(const cache::Key& key, const Message& message, uint32_t now_sec,
                               MutableBytes scratch) {
    return cache::encode_answer(key, message.bytes(), {.now_sec = now_sec}, scratch);
  }

  void insert_one(const Message& message, uint32_t now_sec) {
    cache::KeyBuffer buffer;
    const cache::Key key = key_of(message, buffer);
    partition_->prefetch(key);
    const cache::Encoded encoded = encode(key, message, now_sec, scratch_);
    if (encoded.status != cache::EncodeStatus::kKeep) return;
    partition_->insert(key, Bytes(scratch_).first(encoded.size_bytes), now_sec);
  }

  void end_burst(unsigned reader) {
    const uint64_t before = jemalloc_allocated_bytes();
    partition_->provision();
    allocated_by_main_ += jemalloc_allocated_bytes() - before;
    rte_rcu_qsbr_quiescent(rcu_.get(), reader);
    partition_->maintain(now_sec_);
  }

  unsigned answer_burst(std::span<Packet> packets, uint32_t now_sec) {
    std::array<cache::KeyBuffer, kBurst> buffers;
    std::array<cache::Key, kBurst> keys;
    std::array<typename Partition::Query, kBurst> queries;
    std::array<const uint8_t*, kBurst> found;
    for (size_t i = 0; i < packets.size(); ++i) {
      keys[i] = key_of(packets[i], buffers[i]);
      queries[i] = partition_->query(keys[i]);
    }
    Partition::find_burst(std::span(queries).first(packets.size()), found.data());
    unsigned answered = 0;
    for (size_t i = 0; i < packets.size(); ++i)
      answered += answer(packets[i], found[i], now_sec) ? 1 : 0;
    return answered;
  }

  static bool answer(Packet& packet, const uint8_t* found, uint32_t now_sec) {
    packet.reply_bytes = 0;
    if (found == nullptr) return false;
    const cache::EntryView entry(found);
    entry.note_asked();
    if (!entry.fresh(now_sec)) return false;
    cache::ReplyOptions options = kReply;
    options.now_sec = now_sec;
    packet.reply_bytes = cache::build_reply(entry, packet.query, options, packet.message).bytes;
    return packet.reply_bytes != 0;
  }

  static std::unique_ptr<OurCache> refuse(const Error& error) {
    std::fprintf(stderr, "bench_cache: %s\n", error.message.c_str());
    return nullptr;
  }

  std::unique_ptr<rte_rcu_qsbr, RteFree> rcu_;
  HashSecret secret_ = HashSecret::from_seed(1);
  std::unique_ptr<stats::WorkerStats> stats_ = std::make_unique<stats::WorkerStats>();
  std::unique_ptr<cache::SlabMemory> memory_;
  std::unique_ptr<Partition> partition_;
  uint32_t now_sec_ = 0;
  uint64_t allocated_by_main_ = 0;
  std::vector<uint8_t> scratch_ = std::vector<uint8_t>(cache::kMaxEntryBytes);
  std::vector<uint8_t> entries_;
  std::vector<Prepared> prepared_;
};

}  // namespace

bool start_eal(Pages pages, unsigned cpu, uint64_t memory_mb) {
  std::vector<std::string> arguments = {"bench_cache", "--lcores",       "0@" + std::to_string(cpu),
                                        "--no-pci",    "--iova-mode=va", "--no-telemetry",
                                        "--log-level", "lib.*:error"};
  if (pages == Pages::kHuge) {
    arguments.emplace_back("--in-memory");
  } else {
    arguments.insert(arguments.end(),
                     {"--no-huge", "--no-shconf", "-m", std::to_string(memory_mb)});
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) >= 0;
}

std::vector<std::string> our_indexes() {
  return {"compact", "rte_hash"};
}

std::unique_ptr<OurCache> make_our_cache(const OurOptions& options) {
  if (options.index == "rte_hash") return PartitionCache<cache::HashIndex>::create(options);
  return PartitionCache<cache::CompactIndex>::create(options);
}

}  // namespace wirecache::bench

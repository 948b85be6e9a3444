#include "tests/bench/cache/sharing.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/bench/cache/measure.h"

namespace wirecache::bench {
namespace {

constexpr uint32_t kNowSec = 1'000'000;
constexpr unsigned kReader = 1;

bool pin_to(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0) return true;
  std::fprintf(stderr, "bench_cache: cannot run on CPU %u\n", cpu);
  return false;
}

// Inserts from its construction to its end.
class Writer {
 public:
  Writer(OurCache& cache, std::span<const Message> messages, unsigned cpu)
      : thread_([this, &cache, messages, cpu] { run(cache, messages, cpu); }) {
    while (!is_running_.load()) std::this_thread::yield();
  }
  ~Writer() { stop(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  double stop() {
    is_stopping_.store(true);
    if (thread_.joinable()) thread_.join();
    return inserts_per_sec_;
  }
  bool is_pinned() const { return is_pinned_; }

 private:
  void run(OurCache& cache, std::span<const Message> messages, unsigned cpu) {
    is_pinned_ = pin_to(cpu);
    cache.prepare(messages, kNowSec);
    is_running_.store(true);
    const auto start = std::chrono::steady_clock::now();
    uint64_t rounds = 0;
    for (; !is_stopping_.load(std::memory_order_relaxed); ++rounds) cache.insert_prepared();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    inserts_per_sec_ = static_cast<double>(rounds * messages.size()) / taken.count();
  }

  std::atomic<bool> is_running_{false};
  std::atomic<bool> is_stopping_{false};
  bool is_pinned_ = false;
  double inserts_per_sec_ = 0;
  std::thread thread_;
};

// The cache as a reader beside its owner sees it.
class ReadOnly : public Subject {
 public:
  explicit ReadOnly(OurCache& cache) : cache_(cache) { cache_.join(kReader); }
  ~ReadOnly() override { cache_.leave(kReader); }

  unsigned answer_bursts(std::span<Packet> packets, uint32_t now_sec) override {
    return cache_.answer_as(kReader, packets, now_sec);
  }
  void insert(std::span<const Message>, uint32_t) override {}
  void prepare(std::span<const Message>, uint32_t) override {}
  void insert_prepared() override {}
  unsigned answer_each(std::span<Packet>, uint32_t) override { return 0; }
  uint64_t count_fresh(std::span<const Question>, uint32_t) override { return 0; }

 private:
  OurCache& cache_;
};

struct Messages {
  std::vector<uint8_t> bytes;
  std::vector<Message> messages;
};

Messages make_messages(const ReferenceMix& mix, uint64_t entries) {
  Messages out;
  std::vector<uint8_t> one(ReferenceMix::kMostMessageBytes);
  std::vector<uint16_t> sizes;
  for (uint64_t i = 0; i < entries; ++i) {
    sizes.push_back(mix.write_answer(i, one.data()));
    out.bytes.insert(out.bytes.end(), one.begin(), one.begin() + sizes.back());
  }
  const uint8_t* place = out.bytes.data();
  for (const uint16_t size : sizes) {
    out.messages.push_back({place, size});
    place += size;
  }
  return out;
}

}  // namespace

bool measure_sharing(const ReferenceMix& mix, const SharingOptions& options, SharingResult& out) {
  const Messages messages = make_messages(mix, options.entries);
  const auto written = make_our_cache(options.cache);
  const auto apart = make_our_cache(options.cache);
  if (written == nullptr || apart == nullptr || !pin_to(options.reader_cpu)) return false;
  written->insert(messages.messages, kNowSec);
  apart->insert(messages.messages, kNowSec);

  const auto measure = [&](OurCache& read, double& inserts_per_sec) {
    ReadOnly reader(read);
    Writer writer(*written, messages.messages, options.writer_cpu);
    const LookupResult result =
        look_up(reader, mix, options.entries, options.lookups, Lookup::kBursts, kNowSec);
    inserts_per_sec = writer.stop();
    if (!writer.is_pinned()) inserts_per_sec = 0;
    return result;
  };
  const LookupResult with_writer = measure(*written, out.shared_inserts_per_sec);
  const LookupResult without = measure(*apart, out.apart_inserts_per_sec);
  out.shared_lookup_ns = with_writer.ns;
  out.shared_answered_share = with_writer.answered_share;
  out.apart_lookup_ns = without.ns;
  out.apart_answered_share = without.answered_share;
  return out.shared_inserts_per_sec > 0 && out.apart_inserts_per_sec > 0;
}

}  // namespace wirecache::bench

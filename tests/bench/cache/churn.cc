#include "tests/bench/cache/churn.h"

#include <algorithm>
#include <array>

#include "tests/bench/cache/cpu_timer.h"
#include "tests/bench/cache/measure.h"

namespace wirecache::bench {
namespace {

constexpr uint64_t kTimesCapacity = 10;
constexpr uint64_t kChurnSeed = 0xc42;
static_assert(2 * PacketBatch::kMost <= MessageBatch::kMost);

class Churn {
 public:
  Churn(Subject& subject, const ReferenceMix& mix, const ChurnOptions& options)
      : subject_(subject),
        options_(options),
        packets_(mix),
        messages_(mix),
        hot_(std::max<uint64_t>(1, options.entries / 10)),
        next_new_(options.entries),
        main_before_(subject.bytes_allocated_by_main()) {}

  ChurnResult run() {
    const uint64_t total = kTimesCapacity * options_.entries;
    while (result_.inserted < total) {
      now_sec_ = options_.start_sec +
                 static_cast<uint32_t>(result_.inserted * options_.duration_sec / total);
      is_warm_ = result_.inserted >= total / 2;
      round();
    }
    result_.bytes_allocated_by_main = subject_.bytes_allocated_by_main() - main_before_;
    result_.inserts_per_sec =
        static_cast<double>(result_.inserted) * 1e9 / insertion_timer_.total_ns();
    return result_;
  }
  uint64_t end_of_questions() const { return next_new_; }
  uint32_t now_sec() const { return now_sec_; }

 private:
  void round() {
    messages_.clear();
    ask();
    for (size_t i = 0; i < PacketBatch::kMost; ++i) messages_.add(next_new_++);
    insert();
  }

  void ask() {
    std::array<uint64_t, PacketBatch::kMost> asked;
    packets_.clear();
    for (uint64_t& index : asked) {
      index = draw_hot();
      packets_.add(index);
    }
    const Allocated before = allocated_by_owner();
    result_.answered += subject_.answer_bursts(packets_.packets(), now_sec_);
    if (is_warm_) add_growth(result_.allocated_by_lookups, before);
    result_.asked += asked.size();
    for (size_t i = 0; i < asked.size(); ++i) {
      if (packets_.packets()[i].reply_bytes == 0) messages_.add(asked[i]);
    }
  }

  void insert() {
    const Allocated before = allocated_by_owner();
    insertion_timer_.start();
    subject_.insert(messages_.messages(), now_sec_);
    insertion_timer_.stop();
    if (is_warm_) add_growth(result_.allocated_by_insertions, before);
    result_.inserted += messages_.messages().size();
  }

  Allocated allocated_by_owner() const {
    Allocated out = allocated();
    out.jemalloc_bytes -= subject_.bytes_allocated_by_main();
    return out;
  }
  void add_growth(Allocated& sum, const Allocated& before) const {
    const Allocated now = allocated_by_owner();
    sum.jemalloc_bytes += now.jemalloc_bytes - before.jemalloc_bytes;
    sum.dpdk_pieces += now.dpdk_pieces - before.dpdk_pieces;
  }

  // The cube of a uniform number: the first thousandth of the questions is asked a tenth of the
  // time.
  uint64_t draw_hot() {
    const double u = static_cast<double>(draw_.next() >> 11) * 0x1p-53;
    return static_cast<uint64_t>(u * u * u * static_cast<double>(hot_));
  }

  Subject& subject_;
  ChurnOptions options_;
  PacketBatch packets_;
  MessageBatch messages_;
  uint64_t hot_;
  uint64_t next_new_;
  uint64_t main_before_;
  uint32_t now_sec_ = 0;
  bool is_warm_ = false;
  Draw draw_{kChurnSeed};
  CpuTimer insertion_timer_;
  ChurnResult result_;
};

}  // namespace

ChurnResult churn(Subject& subject, const ReferenceMix& mix, const ChurnOptions& options) {
  Churn churn(subject, mix, options);
  ChurnResult result = churn.run();
  result.live_entries = count_fresh(subject, mix, 0, churn.end_of_questions(), churn.now_sec());
  return result;
}

}  // namespace wirecache::bench

// What numbers are kept in: plain counters of one writer, arrays of them by enumerator, histograms.
//
// Thread: written by one thread alone with relaxed load and store (no locked instruction); read by
// any thread at any time. Nothing orders two counters, so a reader sees each as of some moment.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wirecache::stats {

class Counter {
 public:
  void add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// One counter for each enumerator; the enumeration ends with kCount.
template <typename Enum>
class CounterArray {
 public:
  static constexpr size_t kSize = static_cast<size_t>(Enum::kCount);
  Counter& operator[](Enum e) { return counters_[static_cast<size_t>(e)]; }
  const Counter& operator[](Enum e) const { return counters_[static_cast<size_t>(e)]; }
  uint64_t sum() const {
    uint64_t total = 0;
    for (const Counter& c : counters_) total += c.value();
    return total;
  }

 private:
  std::array<Counter, kSize> counters_;
};

// Latency in powers of two: bucket i counts values with 2^(i-1) < ns <= 2^i, the last all above.
class Histogram {
 public:
  static constexpr size_t kBuckets = 36;  // up to 2^34 ns = 17 s, then +Inf

  // `count` values of `ns` nanoseconds each.
  void record(uint64_t ns, uint64_t count = 1) {
    const size_t width = ns <= 1 ? 0 : static_cast<size_t>(std::bit_width(ns - 1));
    buckets_[width < kBuckets ? width : kBuckets - 1].add(count);
    sum_ns_.add(ns * count);
  }
  uint64_t bucket(size_t i) const { return buckets_[i].value(); }
  uint64_t sum_ns() const { return sum_ns_.value(); }

 private:
  std::array<Counter, kBuckets> buckets_;
  Counter sum_ns_;
};

}  // namespace wirecache::stats

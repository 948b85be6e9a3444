// The calling thread's processor time: what others do on the machine does not count, page faults
// do.
//
// Invariant: what reading the clock costs is measured once and taken off. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

namespace wirecache::bench {

class CpuTimer {
 public:
  void start() { start_ns_ = now_ns(); }
  void stop() { total_ns_ += std::max<int64_t>(0, now_ns() - start_ns_ - overhead_ns()); }
  double total_ns() const { return static_cast<double>(total_ns_); }

 private:
  static int64_t now_ns() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  }
  static int64_t overhead_ns() {
    static const int64_t overhead = [] {
      std::array<int64_t, 101> costs;
      for (int64_t& cost : costs) {
        const int64_t start = now_ns();
        cost = now_ns() - start;
      }
      std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
      return costs[costs.size() / 2];
    }();
    return overhead;
  }

  int64_t start_ns_ = 0;
  int64_t total_ns_ = 0;
};

}  // namespace wirecache::bench

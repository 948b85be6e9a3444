// Time in the data plane: the time-stamp counter, read once a burst and passed down.
//
// TscTime is ticks, TscClock knows how many there are in a second and turns them into the units
// that the layers want. Simulated time in tests is the same value, made up.
#pragma once

#include <compare>
#include <cstdint>

namespace wirecache {

struct TscTime {
  uint64_t ticks = 0;
  friend auto operator<=>(const TscTime&, const TscTime&) = default;
};

class TscClock {
 public:
  // `hz`: ticks a second (rte_get_tsc_hz() in the program, any number in tests).
  explicit TscClock(uint64_t hz) : hz_(hz) {}

  uint64_t hz() const { return hz_; }
  // Whole seconds since the counter's zero; entries' ages are differences of these.
  uint32_t seconds(TscTime t) const { return static_cast<uint32_t>(t.ticks / hz_); }
  uint64_t ticks_from_us(uint64_t us) const { return us * hz_ / 1'000'000; }
  // 0 where `to` is before `from`: rounds of different cores may overlap.
  uint64_t ns_between(TscTime from, TscTime to) const {
    if (to < from) return 0;
    const uint64_t d = to.ticks - from.ticks;
    return d / hz_ * 1'000'000'000 + d % hz_ * 1'000'000'000 / hz_;
  }

 private:
  uint64_t hz_;
};

}  // namespace wirecache

// The random numbers of the traces: SplitMix64 (Steele, Lea, Flood 2014), the same on every machine
// for the same seed, so that every policy sees the same trace. Nothing here needs to be secret.
// Thread: a SplitMix64 belongs to one thread.
#pragma once

#include <cstdint>

namespace wirecache::bench {

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound), up to a bias of bound / 2^32; bound is at least 1.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }
  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace wirecache::bench

// Ranks drawn by Zipf's law: rank k of n has a probability proportional to k^-exponent.
//
// Rejection-inversion (Hörmann, Derflinger: "Rejection-inversion to generate variates from monotone
// discrete distributions", 1996): exact, no table, about one draw a sample, any exponent above 0.
// Thread: read-only once made; the random numbers are the caller's.
#pragma once

#include <cstdint>

#include "tests/bench/hit_ratio/random.h"

namespace wirecache::bench {

class Zipf {
 public:
  // `ranks` is at least 1, `exponent` above 0.
  Zipf(uint32_t ranks, double exponent);

  // A rank from 1 (the most popular) to `ranks`.
  uint32_t sample(SplitMix64& random) const;

 private:
  double density(double x) const;
  double integral(double x) const;
  double inverse_integral(double x) const;

  double ranks_;
  double exponent_;
  double lowest_;
  double highest_;
  double accept_within_;
};

}  // namespace wirecache::bench

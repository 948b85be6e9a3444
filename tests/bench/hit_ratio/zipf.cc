#include "tests/bench/hit_ratio/zipf.h"

#include <algorithm>
#include <cmath>

namespace wirecache::bench {

namespace {

// expm1(x) / x and log1p(x) / x, which are 1 at 0: the integral of 1/x as that of x^-exponent.
double expm1_over(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}
double log1p_over(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}

}  // namespace

Zipf::Zipf(uint32_t ranks, double exponent) : ranks_(ranks), exponent_(exponent) {
  lowest_ = integral(1.5) - 1;
  highest_ = integral(ranks_ + 0.5);
  accept_within_ = 2 - inverse_integral(integral(2.5) - density(2));
}

double Zipf::density(double x) const {
  return std::exp(-exponent_ * std::log(x));
}

double Zipf::integral(double x) const {
  const double log_x = std::log(x);
  return expm1_over((1 - exponent_) * log_x) * log_x;
}

double Zipf::inverse_integral(double x) const {
  return std::exp(log1p_over(std::max(-1.0, x * (1 - exponent_))) * x);
}

uint32_t Zipf::sample(SplitMix64& random) const {
  for (;;) {
    const double area = highest_ + random.unit() * (lowest_ - highest_);
    const double x = inverse_integral(area);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, ranks_);
    if (rank - x <= accept_within_ || area >= integral(rank + 0.5) - density(rank)) {
      return static_cast<uint32_t>(rank);
    }
  }
}

}  // namespace wirecache::bench

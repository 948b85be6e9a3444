#include "lib/base/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace wirecache {
namespace {

void quarter_round(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  a += b;
  d = std::rotl(d ^ a, 16);
  c += d;
  b = std::rotl(b ^ c, 12);
  a += b;
  d = std::rotl(d ^ a, 8);
  c += d;
  b = std::rotl(b ^ c, 7);
}

}  // namespace

void kernel_random(MutableBytes out) {
  size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t n = getrandom(out.data() + filled, out.size() - filled, 0);
    if (n > 0) {
      filled += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      std::perror("wirecached: getrandom");
      std::abort();
    }
  }
}

void chacha20_block(const std::array<uint32_t, 16>& in, std::array<uint32_t, 16>& out) {
  std::array<uint32_t, 16> x = in;
  for (int round = 0; round < 10; ++round) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
  for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] + in[i];
}

Random Random::from_kernel() {
  Key key;
  kernel_random(key);
  return Random(key);
}

Random::Random(const Key& key) : state_{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574} {
  for (size_t i = 0; i < 8; ++i) {
    uint32_t word;
    std::memcpy(&word, key.data() + 4 * i, sizeof word);
    state_[4 + i] = word;
  }
}

void Random::refill() {
  chacha20_block(state_, block_);
  // 64-bit block counter in words 12 and 13: never repeats within the life of a process.
  if (++state_[12] == 0) ++state_[13];
  used_ = 0;
}

uint32_t Random::next_u32() {
  if (used_ == block_.size()) refill();
  const uint32_t value = block_[used_];
  block_[used_++] = 0;
  return value;
}

uint32_t Random::below(uint32_t bound) {
  return static_cast<uint32_t>((static_cast<uint64_t>(next_u32()) * bound) >> 32);
}

}  // namespace wirecache

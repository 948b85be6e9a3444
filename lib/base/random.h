// Unpredictable numbers for query IDs and source ports (RFC 5452 §9.2, §10), without a system call
// per number: ChaCha20 (RFC 8439 §2.3) keyed once by the kernel.
//
// Invariant: a byte of key stream is used once and wiped from the buffer.
// Thread: a Random belongs to one worker.
#pragma once

#include <array>
#include <cstdint>

#include "lib/base/bytes.h"

namespace wirecache {

// Fills `out` from getrandom(2); aborts the process if the kernel has no randomness to give.
void kernel_random(MutableBytes out);

class Random {
 public:
  using Key = std::array<uint8_t, 32>;

  static Random from_kernel();
  explicit Random(const Key& key);

  uint32_t next_u32();
  uint16_t next_u16() { return static_cast<uint16_t>(next_u32()); }
  // Uniform in [0, bound); bound is at least 1.
  uint32_t below(uint32_t bound);

 private:
  void refill();

  std::array<uint32_t, 16> state_;
  std::array<uint32_t, 16> block_{};
  uint32_t used_ = 16;
};

// One ChaCha20 block (RFC 8439 §2.3), exposed for the RFC's test vector.
void chacha20_block(const std::array<uint32_t, 16>& in, std::array<uint32_t, 16>& out);

}  // namespace wirecache

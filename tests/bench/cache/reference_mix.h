// The reference mix: as many different questions as one likes, and an upstream's answer to each.
//
// 56% A, 25% AAAA, 19% TXT; 1 to 4 records; a TXT record is one string of 64 to 224 random bytes.
// Names are random letters and digits under three top-level domains, 13 to 23 bytes on the wire, 18
// on average. TTLs run from 1 second to 1 day (kTtls in the source); half of them have aged in the
// upstream's own cache.
//
// Invariant: everything follows from the seed and the question's index; no two indices below
// kMostQuestions have the same name. Plain value; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "lib/base/bytes.h"

namespace wirecache::bench {

struct Question {
  std::array<uint8_t, 24> name_bytes;
  uint8_t name_size = 0;
  uint16_t type = 0;

  Bytes name() const { return {name_bytes.data(), name_size}; }
};

class ReferenceMix {
 public:
  static constexpr uint64_t kMostQuestions = 1u << 30;
  static constexpr size_t kMostMessageBytes = 1152;
  static constexpr size_t kMostQueryBytes = 64;

  explicit ReferenceMix(uint64_t seed) : seed_(seed) {}

  Question question(uint64_t index) const;
  uint32_t ttl_sec(uint64_t index) const;
  // Bytes of names and record data that an entry for it has to keep.
  uint32_t payload_bytes(uint64_t index) const;

  // The upstream's whole message, owners compressed, with an OPT at its end; returns its length.
  // `out` has at least kMostMessageBytes.
  uint16_t write_answer(uint64_t index, uint8_t* out) const;
  // A client's query with RD and an OPT of 1,232 bytes; `out` has at least kMostQueryBytes.
  uint16_t write_query(uint64_t index, uint8_t* out) const;

 private:
  uint64_t seed_;
};

// A fast generator of numbers (splitmix64), the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(((next() >> 32) * uint64_t{bound}) >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace wirecache::bench

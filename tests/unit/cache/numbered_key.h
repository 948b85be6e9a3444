// Keys by number, for tests and benchmarks.
#pragma once

#include <array>
#include <cstdint>

#include "lib/cache/key.h"

namespace wirecache::cache {

// The key of the name "<number in 8 hexadecimal digits>." and type A; a plain value.
class NumberedKey {
 public:
  NumberedKey(const HashSecret& secret, uint32_t number) {
    std::array<uint8_t, 10> name{8};
    for (unsigned i = 0; i < 8; ++i) name[i + 1] = "0123456789abcdef"[number >> (28 - 4 * i) & 15];
    key_ = buffer_.make(secret, name, 1, dns::CdBit::kClear, 0);
  }
  NumberedKey(const NumberedKey&) = delete;
  NumberedKey& operator=(const NumberedKey&) = delete;
  const Key& get() const { return key_; }

 private:
  KeyBuffer buffer_;
  Key key_;
};

}  // namespace wirecache::cache

// Wire bytes in tests, written as hexadecimal text or as text with DNS label lengths.
// Invariant: what is no hexadecimal digit or space fails the test that wrote it (std::abort).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"

namespace wirecache::dns {

using WireBytes = std::vector<uint8_t>;

inline WireBytes from_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  WireBytes out;
  for (size_t i = 0; i < digits.size(); i += 2) {
    char* end = nullptr;
    const std::string pair = digits.substr(i, 2);
    out.push_back(static_cast<uint8_t>(std::strtoul(pair.c_str(), &end, 16)));
    if (end != pair.c_str() + 2) std::abort();
  }
  return out;
}

// "www.example.com" as a flat name; "" is the root. Any bytes but dots.
inline WireBytes flat(std::string_view text) {
  WireBytes out;
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find('.'));
    out.push_back(static_cast<uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
    text.remove_prefix(label.size() == text.size() ? label.size() : label.size() + 1);
  }
  out.push_back(0);
  return out;
}

inline WireBytes operator+(WireBytes left, const WireBytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline WireBytes to_vector(Bytes bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace wirecache::dns

// Byte spans, unaligned big-endian loads and stores, and the bounds-checked cursors through which
// all untrusted bytes are read.
//
// Invariant: a Reader or Writer never touches a byte outside the span it was made with; each
// operation either succeeds whole or fails and leaves the position where it was.
// Plain values: one thread at a time, no ownership of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace wirecache {

using Bytes = std::span<const uint8_t>;
using MutableBytes = std::span<uint8_t>;

inline uint16_t load_be16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
inline uint32_t load_be32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline void store_be16(uint8_t* p, uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_be32(uint8_t* p, uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}

class Reader {
 public:
  explicit Reader(Bytes bytes, size_t position = 0) : bytes_(bytes), position_(position) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ == bytes_.size(); }

  [[nodiscard]] bool skip(size_t n) {
    if (n > remaining()) return false;
    position_ += n;
    return true;
  }
  [[nodiscard]] bool u8(uint8_t& out) {
    if (remaining() < 1) return false;
    out = bytes_[position_++];
    return true;
  }
  [[nodiscard]] bool u16(uint16_t& out) {
    if (remaining() < 2) return false;
    out = load_be16(bytes_.data() + position_);
    position_ += 2;
    return true;
  }
  [[nodiscard]] bool u32(uint32_t& out) {
    if (remaining() < 4) return false;
    out = load_be32(bytes_.data() + position_);
    position_ += 4;
    return true;
  }
  [[nodiscard]] bool bytes(size_t n, Bytes& out) {
    if (n > remaining()) return false;
    out = bytes_.subspan(position_, n);
    position_ += n;
    return true;
  }

 private:
  Bytes bytes_;
  size_t position_;  // never above bytes_.size()
};

class Writer {
 public:
  explicit Writer(MutableBytes bytes, size_t position = 0) : bytes_(bytes), position_(position) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  // Takes back what was written since `position` (which an earlier position() returned).
  void rewind(size_t position) { position_ = position; }
  uint8_t* data() { return bytes_.data(); }

  [[nodiscard]] bool u8(uint8_t v) {
    if (remaining() < 1) return false;
    bytes_[position_++] = v;
    return true;
  }
  [[nodiscard]] bool u16(uint16_t v) {
    if (remaining() < 2) return false;
    store_be16(bytes_.data() + position_, v);
    position_ += 2;
    return true;
  }
  [[nodiscard]] bool u32(uint32_t v) {
    if (remaining() < 4) return false;
    store_be32(bytes_.data() + position_, v);
    position_ += 4;
    return true;
  }
  [[nodiscard]] bool bytes(Bytes in) {
    if (in.size() > remaining()) return false;
    if (!in.empty()) std::memcpy(bytes_.data() + position_, in.data(), in.size());
    position_ += in.size();
    return true;
  }
  // The next `n` bytes, for the caller to fill in; nullptr where there are fewer.
  [[nodiscard]] uint8_t* take(size_t n) {
    if (n > remaining()) return nullptr;
    position_ += n;
    return bytes_.data() + position_ - n;
  }

 private:
  MutableBytes bytes_;
  size_t position_;  // never above bytes_.size()
};

}  // namespace wirecache

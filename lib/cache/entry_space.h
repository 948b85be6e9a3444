// The memory in which a partition's entries stand, as the index and readers see it: slabs of one
// size, and a 32-bit reference that says where in them an entry starts.
//
// A reference counts units of 1 << unit_shift bytes from the start of slab 0, as if the slabs stood
// behind each other. The unit is 1 byte up to 4 GiB of entries and doubles with each doubling
// beyond, so that a reference stays 4 bytes whatever the partition's size.
//
//   reference << unit_shift:   | slab number | offset in the slab |
//
// Invariant: a slab's address is stored before any reference into it is published (by a release
// store in the index), and taken away only when every reader has moved on since the last such
// reference left the index. Written by the partition's owner; at() may be called by any reader.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace wirecache::cache {

enum class EntryRef : uint32_t {};
inline constexpr EntryRef kNoEntry{0xffffffff};

class EntrySpace {
 public:
  // `slab_bytes` is a power of two; `most_slabs` of them can be held at once.
  EntrySpace(uint32_t slab_bytes, uint32_t most_slabs, unsigned unit_shift);

  const uint8_t* at(EntryRef ref) const {
    const uint64_t offset = static_cast<uint64_t>(ref) << unit_shift_;
    return slabs_[offset >> slab_shift_].load(std::memory_order_relaxed) + (offset & slab_mask_);
  }

  // Owner.
  uint8_t* slab(uint32_t number) const { return slabs_[number].load(std::memory_order_relaxed); }
  void set_slab(uint32_t number, uint8_t* memory) {
    slabs_[number].store(memory, std::memory_order_relaxed);
  }
  EntryRef ref(uint32_t number, uint32_t offset) const {
    return EntryRef{
        static_cast<uint32_t>(((uint64_t{number} << slab_shift_) + offset) >> unit_shift_)};
  }
  uint32_t slab_bytes() const { return static_cast<uint32_t>(slab_mask_ + 1); }
  uint32_t most_slabs() const { return most_slabs_; }
  uint32_t unit_bytes() const { return 1u << unit_shift_; }

  // The smallest unit in which references reach all of `bytes`.
  static unsigned unit_shift_for(uint64_t bytes);

 private:
  std::unique_ptr<std::atomic<uint8_t*>[]> slabs_;
  unsigned slab_shift_;
  unsigned unit_shift_;
  uint64_t slab_mask_;
  uint32_t most_slabs_;
};

}  // namespace wirecache::cache

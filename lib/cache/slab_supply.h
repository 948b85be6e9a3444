// Slabs on their way between who may make system calls and who may not: main takes them from the
// node's memory (slab_memory.h) and puts them in reach of a partition's owner, and takes back those
// that the owner gives up.
//
// Invariant: a slab is in one place only: with the supply (in reach or given back) or with the
// owner. held_bytes() counts both, so it is what the partition costs. Two threads: the owner calls
// take() and give_back(), main calls provision(); none waits for the other. Where there is no main
// (tests, benchmarks) one thread may call all.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace wirecache::cache {

class SlabMemory;

class SlabSupply {
 public:
  // Slabs in reach of an owner that grows.
  uint32_t reserve() const { return reserve_; }

  // `memory` outlives the supply; slabs have memory.slab_bytes().
  SlabSupply(SlabMemory& memory, uint64_t capacity_bytes);
  ~SlabSupply();
  SlabSupply(const SlabSupply&) = delete;
  SlabSupply& operator=(const SlabSupply&) = delete;

  // Owner. A slab of zeroes or of what was there before, nullptr where none is in reach.
  uint8_t* take();
  // Owner. No reader may look at it any more. False: ask again after main's next turn.
  [[nodiscard]] bool give_back(uint8_t* slab);
  // Owner. Gives back a slab that is in reach; false: there is none, or ask again.
  [[nodiscard]] bool return_unused();
  // Owner. More is held than the cap allows, what was given back not counted: give back.
  bool is_over_cap() const;
  // Owner. The cap does not allow another slab.
  bool is_at_cap() const { return held_bytes() + slab_bytes_ > capacity_bytes(); }

  // Main. Sets the cap; the owner follows in its own time.
  void set_capacity(uint64_t bytes);
  // Main, at each of its turns: releases what was given back and fills the reserve as far as the
  // cap allows, a bounded number of bytes a turn, so that main's other work does not wait.
  void provision();
  // Main, when the owner is no more: what it had goes back at once.
  void release(uint8_t* slab);

  uint64_t capacity_bytes() const { return capacity_bytes_.load(std::memory_order_relaxed); }
  uint64_t held_bytes() const;
  uint32_t slab_bytes() const { return slab_bytes_; }

 private:
  static constexpr uint32_t kRing = 64;  // a power of two
  // One producer, one consumer; numbers rise for ever.
  struct Ring {
    std::array<uint8_t*, kRing> slabs;
    alignas(64) std::atomic<uint32_t> head{0};  // next to be written
    alignas(64) std::atomic<uint32_t> tail{0};  // next to be read
  };
  static constexpr uint32_t kBytesPerTurn = 2u << 20;
  static bool push(Ring& ring, uint8_t* slab);
  static uint8_t* pop(Ring& ring);
  bool wants_slab() const;
  uint32_t returned_slabs() const;  // on their way back; owner
  uint32_t fill(uint32_t budget);

  SlabMemory& memory_;
  uint32_t slab_bytes_;
  uint32_t reserve_;
  std::atomic<uint64_t> capacity_bytes_;
  std::atomic<uint64_t> held_slabs_{0};
  uint8_t* filling_ = nullptr;  // not wholly in memory yet
  uint32_t filled_bytes_ = 0;
  Ring ready_;
  Ring returned_;
};

}  // namespace wirecache::cache

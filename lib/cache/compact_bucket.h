// One bucket of the compact index: eleven slots in one cache line.
//
//   bytes  0-7    tags 0-3 of 14 bits each, and 8 bits of tag 10
//          8-15   tags 4-7, and the other 6 bits of tag 10
//         16-19   tags 8 and 9
//         20-63   11 references of 32 bits
//
// Tag 0 is an empty slot. All tags are compared at once, as lanes of a word.
//
// Who may do what when: the owner stores the reference first and the tag after it, both with
// release; a reader loads the tag first and the reference after it, both with acquire. So a reader
// that sees a tag gets the reference of that time or a later one, and the entry behind it whole.
// Where the slot was given to another key in between, the entry tells by its key. Tag 10 is written
// by two stores: half of it matches nothing, or something that the entry's key refutes.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "lib/cache/entry_space.h"

namespace wirecache::cache {

class alignas(64) CompactBucket {
 public:
  static constexpr unsigned kSlots = 11;
  static constexpr unsigned kTagBits = 14;

  // Any thread. Bit i: slot i has this tag.
  uint32_t match(uint32_t tag) const {
    const uint64_t low = load(words_[0]);
    const uint64_t high = load(words_[1]);
    const uint64_t pattern = tag * kEachLane;
    const uint32_t last = static_cast<uint32_t>(low >> kLaneBits | high >> kLaneBits << 8);
    return zero_lanes(low ^ pattern) | zero_lanes(high ^ pattern) << 4 |
           (zero_lanes(load(word_) ^ pattern) & 3) << 8 | static_cast<uint32_t>(last == tag) << 10;
  }
  EntryRef ref(unsigned slot) const { return EntryRef{load(refs_[slot])}; }

  // The first of some slots, which are not none.
  static unsigned first_of(uint32_t slots) { return static_cast<unsigned>(__builtin_ctz(slots)); }

  // Owner.
  uint32_t free_slots() const { return match(0); }
  uint32_t used_slots() const { return ~free_slots() & ((1u << kSlots) - 1); }
  // Those whose tag has this bit.
  uint32_t slots_with(unsigned tag_bit) const {
    return gather(words_[0] >> tag_bit) | gather(words_[1] >> tag_bit) << 4 |
           (gather(uint64_t{word_} >> tag_bit) & 3) << 8 | (tag(kSlots - 1) >> tag_bit & 1) << 10;
  }
  uint32_t tag(unsigned slot) const {
    constexpr uint64_t kTag = (1u << kTagBits) - 1;
    if (slot < 8) return words_[slot / 4] >> slot % 4 * kTagBits & kTag;
    if (slot < 10) return word_ >> (slot - 8) * kTagBits & kTag;
    return static_cast<uint32_t>(words_[0] >> kLaneBits | words_[1] >> kLaneBits << 8);
  }
  void set(unsigned slot, uint32_t tag, EntryRef entry) {
    set_ref(slot, entry);
    set_tag(slot, tag);
  }
  void set_ref(unsigned slot, EntryRef entry) { store(refs_[slot], static_cast<uint32_t>(entry)); }
  void set_tag(unsigned slot, uint32_t tag) {
    constexpr uint64_t kTag = (1u << kTagBits) - 1;
    if (slot < 8) {
      uint64_t& word = words_[slot / 4];
      const unsigned shift = slot % 4 * kTagBits;
      store(word, (word & ~(kTag << shift)) | uint64_t{tag} << shift);
    } else if (slot < 10) {
      const unsigned shift = (slot - 8) * kTagBits;
      store(word_, (word_ & ~static_cast<uint32_t>(kTag << shift)) | tag << shift);
    } else {
      store(words_[0], (words_[0] & kLanes) | uint64_t{tag} << kLaneBits);
      store(words_[1], (words_[1] & kLanes) | uint64_t{tag >> 8} << kLaneBits);
    }
  }
  void clear(unsigned slot) { set_tag(slot, 0); }
  void clear_all() {
    store(words_[0], uint64_t{0});
    store(words_[1], uint64_t{0});
    store(word_, uint32_t{0});
  }

 private:
  static constexpr unsigned kLaneBits = 4 * kTagBits;
  static constexpr uint64_t kLanes = (uint64_t{1} << kLaneBits) - 1;
  static constexpr uint64_t kEachLane =
      1 | uint64_t{1} << kTagBits | uint64_t{1} << 2 * kTagBits | uint64_t{1} << 3 * kTagBits;

  // Bit i: lane i is zero. No carry leaves a lane.
  static uint32_t zero_lanes(uint64_t lanes) {
    constexpr uint64_t kLowBits = kEachLane * ((1u << (kTagBits - 1)) - 1);
    const uint64_t top_bits = ~(((lanes & kLowBits) + kLowBits) | lanes);
    return gather(top_bits >> (kTagBits - 1));
  }
  // The lowest bit of each lane, side by side: the product has lane i's at bit 42 + i, and no two
  // of its terms at one place.
  static uint32_t gather(uint64_t lanes) {
    constexpr unsigned kTop = 3 * kTagBits;
    constexpr uint64_t kTogether = uint64_t{1} << kTop | uint64_t{1} << (kTop + 1 - kTagBits) |
                                   uint64_t{1} << (kTop + 2 - 2 * kTagBits) | uint64_t{1} << 3;
    return static_cast<uint32_t>((lanes & kEachLane) * kTogether >> kTop) & 0xf;
  }
  template <typename T>
  static T load(const T& word) {
    return std::atomic_ref<T>(const_cast<T&>(word)).load(std::memory_order_acquire);
  }
  template <typename T>
  static void store(T& word, T value) {
    std::atomic_ref<T>(word).store(value, std::memory_order_release);
  }

  uint64_t words_[2];
  uint32_t word_;
  uint32_t refs_[kSlots];
};
static_assert(sizeof(CompactBucket) == 64);

}  // namespace wirecache::cache

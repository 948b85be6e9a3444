// What a segment store knows of its segments, and lists that run through it.
//
// A segment is the unit of eviction: a part of a slab, filled from its start and emptied whole.
// Plain values of the store's owner.
#pragma once

#include <cstdint>
#include <vector>

namespace wirecache::cache {

enum class SegmentId : uint32_t {};
inline constexpr SegmentId kNoSegment{0xffffffff};

// Where an entry stands: among the new ones, which leave soon unless they are asked for, or among
// those that have been.
enum class Residence : uint8_t { kProbation, kMain };
inline constexpr unsigned kResidences = 2;

struct Segment {
  enum class State : uint8_t {
    kAbsent,     // its slab is not there
    kFree,       // in the free list
    kFilled,     // has entries; may be open for more
    kExpired,    // none of its entries is fresh
    kRetired,    // emptied; readers may still look at it
    kWithdrawn,  // emptied, and its slab is to be given back
  };

  uint64_t token = 0;  // of the RCU variable, once it is emptied
  uint32_t used_bytes = 0;
  uint32_t latest_expiry_sec = 0;  // of its entries
  SegmentId next = kNoSegment;
  SegmentId before = kNoSegment;
  State state = State::kAbsent;
  Residence residence = Residence::kProbation;
  uint8_t group = 0;  // of TTLs
};

class SegmentTable {
 public:
  explicit SegmentTable(uint32_t segments) : segments_(segments) {}
  Segment& operator[](SegmentId id) { return segments_[static_cast<uint32_t>(id)]; }
  const Segment& operator[](SegmentId id) const { return segments_[static_cast<uint32_t>(id)]; }
  uint32_t size() const { return static_cast<uint32_t>(segments_.size()); }

 private:
  std::vector<Segment> segments_;
};

// First in, first out; a segment is in one list at most.
class SegmentList {
 public:
  explicit SegmentList(SegmentTable& table) : table_(table) {}

  SegmentId first() const { return first_; }
  uint32_t count() const { return count_; }

  void push(SegmentId id) {
    table_[id].before = last_;
    table_[id].next = kNoSegment;
    (last_ == kNoSegment ? first_ : table_[last_].next) = id;
    last_ = id;
    ++count_;
  }
  void remove(SegmentId id) {
    const Segment& segment = table_[id];
    (segment.before == kNoSegment ? first_ : table_[segment.before].next) = segment.next;
    (segment.next == kNoSegment ? last_ : table_[segment.next].before) = segment.before;
    --count_;
  }

 private:
  SegmentTable& table_;
  SegmentId first_ = kNoSegment;
  SegmentId last_ = kNoSegment;
  uint32_t count_ = 0;
};

}  // namespace wirecache::cache

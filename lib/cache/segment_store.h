// The bytes of a partition's entries: segments of one size, filled in order of insertion and reused
// first in, first out.
//
// Segments stand in a ring and are numbered for ever upwards; a number's place is number % count:
//
//     freed_ ........ evicting_ ........ current_ ........ freed_ + count
//     | readers may    | full; the oldest  | being  | free
//     | still look at  | entry is next to  | filled |
//     | these          | leave the index   |        |
//
// Invariant: bytes that a reader may have found are never written again before every reader
// registered in the RCU variable has reported quiescence after the last entry of their segment left
// the index. Written by one thread, the partition's owner; it never waits. The store knows nothing
// of the index: its caller takes entries out of that before it drops them here.
//
// All memory is taken when the store is made, because a worker must not make system calls (pages
// that are never touched cost nothing). It comes from a jemalloc arena of the store's own; extent
// hooks, huge pages and growth on demand come with the cache engine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/expected.h"

struct rte_rcu_qsbr;

namespace wirecache::cache {

class SegmentStore {
 public:
  struct Options {
    uint64_t capacity_bytes = 0;  // at least kFewestSegments segments
    uint32_t segment_bytes = 0;   // at least 128 KiB, a power of two
    rte_rcu_qsbr* rcu = nullptr;
  };
  // One is filled, one free, one being emptied.
  static constexpr uint32_t kFewestSegments = 3;

  static Expected<std::unique_ptr<SegmentStore>> create(const Options& options);
  ~SegmentStore();
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;

  // Copies `entry` behind the last one. nullptr: no segment is free now, or none is large enough.
  const uint8_t* append(Bytes entry);
  // Takes back the last append(), whose entry nobody has seen.
  void take_back(Bytes entry);
  // Ends the current segment although it has room, so that its entries can be evicted. Does nothing
  // where it is empty or none is free.
  void seal();

  // The oldest entry outside the current segment, nullptr where there is none.
  const uint8_t* oldest() const;
  // It has left the index; on to the next.
  void drop_oldest();
  // Whether entries must leave: at most one segment is free or waits for its readers, and the
  // oldest is not emptied twice as far as the current one is filled (so that it is in time for its
  // readers too).
  bool is_eviction_due() const {
    return count_ - (current_ - evicting_ + 1) <= 1 &&
           evicted_bytes_ < 2 * uint64_t{segments_[current_ % count_].used};
  }
  // Gives back emptied segments whose readers have moved on.
  void reclaim();

  // Written in segments that are not free.
  uint64_t used_bytes() const { return used_bytes_; }

 private:
  struct Segment {
    uint64_t token = 0;  // of the RCU variable, once it is emptied
    uint32_t used = 0;
  };

  SegmentStore(const Options& options, unsigned arena, uint8_t* memory, uint32_t count);
  Segment& segment(uint64_t number) { return segments_[number % count_]; }
  uint8_t* bytes_of(uint64_t number) const { return memory_ + number % count_ * segment_bytes_; }
  bool advance();

  unsigned arena_;
  uint8_t* memory_;
  uint64_t count_;
  uint32_t segment_bytes_;
  rte_rcu_qsbr* rcu_;
  std::vector<Segment> segments_;
  uint64_t freed_ = 0;
  uint64_t evicting_ = 0;
  uint64_t current_ = 0;
  uint32_t evicted_bytes_ = 0;  // of segment evicting_
  uint64_t used_bytes_ = 0;
};

}  // namespace wirecache::cache

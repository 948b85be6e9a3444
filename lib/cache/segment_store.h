// The bytes of a partition's entries: a log of segments, grouped by when their entries expire and
// emptied by popularity.
//
// In the manner of Segcache (Yang et al., NSDI 2021), entries of like TTL share a segment, so that
// a segment expires whole; in that of S3-FIFO (Yang et al., SOSP 2023), new entries stand on
// probation and leave first, unless they were asked for, and those that were stand apart:
//
//              insert                     asked for: copied             asked for again: copied
//     free ──────────▶ probation (FIFO) ──────────────────▶ main (FIFO) ──┐
//      ▲                │ open: one segment a TTL group     │ ▲           │
//      │                ▼                                   ▼ └───────────┘
//      │◀─ readers ── retired ◀── emptied ◀── expired (stale: kept till memory is wanted)
//          moved on
//
// A segment is emptied when segments run short: of the expired ones first, else the oldest on
// probation while these hold more than their share, else the oldest of main. Its entries are handed
// to the partition one by one, which takes them out of the index or copies them.
//
// Measured (tools/bench cache --quick: a million names, 1,000 ordinary requests a second, 10% of
// their bytes, everything the partition takes included; hit ratios in percent):
//
//                     LRU    FIFO   S3-FIFO  this
//     Zipf 0.9        57.3   54.7   59.8     60.0
//       and a scan    40.0   37.7   44.4     44.0
//       and a flood   24.8   23.2   29.1     29.7
//     Zipf 1.1        83.0   82.1   83.5     83.5
//       and a scan    60.3   58.9   61.9     61.9
//       and a flood   39.1   37.9   40.9     41.5
//
// Invariant: bytes that a reader may have found are not written again before every reader
// registered in the RCU variable has reported quiescence after the last entry of their segment left
// the index. Written by one thread, the partition's owner; it never waits, allocates or makes a
// system call: slabs come and go through the SlabSupply. The store knows nothing of the index.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/base/bytes.h"
#include "lib/cache/entry_space.h"
#include "lib/cache/segment_list.h"
#include "lib/cache/slab_supply.h"

struct rte_rcu_qsbr;

namespace wirecache::cache {

class SegmentStore {
 public:
  struct Options {
    uint32_t segment_bytes = 0;        // a power of two of at least 64 KiB; at most a slab
    uint32_t stale_retention_sec = 0;  // how long expired entries stay while memory allows; 0: none
    rte_rcu_qsbr* rcu = nullptr;
  };
  // Some are filled, one is emptied, some are free.
  static constexpr uint32_t kFewestSegments = 8;

  SegmentStore(const Options& options, EntrySpace& space, SlabSupply& supply);
  // Main, when no reader is left.
  ~SegmentStore();
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;

  struct Place {
    Residence residence = Residence::kProbation;
    uint8_t popularity = 0;
    uint32_t now_sec = 0;
    uint32_t remaining_sec = 0;  // to live
  };
  // Copies `entry`, but for its popularity, behind the last one of its group. kNoEntry: no segment
  // is free now.
  EntryRef append(Bytes entry, const Place& place);
  // Takes back the last append() to its segment, whose entry nobody has seen.
  void take_back(EntryRef ref);

  // Looks whether a few further segments have expired, brings slabs in, and gives back emptied
  // segments whose readers have moved on.
  void maintain(uint32_t now_sec);
  // Whether entries must leave, so that what comes next finds a segment or another its slab.
  bool is_eviction_due() const;
  // Few segments are left: more must leave than a poll would like to pay for.
  bool is_eviction_urgent() const { return free_.count() <= reserve_ / 2; }
  // Empties a slab (the one with the oldest entries) and gives it back, for another use or because
  // the cap is lower.
  void withdraw_slab();
  bool is_withdrawing() const { return withdrawn_slab_ != kNoSlab; }

  // The next entries, at most one span of them, of the segment that is being emptied, oldest first;
  // 0 where nothing is to be emptied. They stay the next ones until they are passed.
  size_t leaving_entries(std::span<EntryRef> entries);
  // The first of leaving_entries() has left the index or was copied.
  void pass_leaving(EntryRef entry);
  // Written in segments that are not free.
  uint64_t used_bytes() const { return used_bytes_; }
  uint32_t segments() const { return segments_; }

 private:
  static constexpr unsigned kMostGroups = 40;        // of TTLs: one an octave, up to 7 days
  static constexpr unsigned kProbationPercent = 10;  // of segments
  static constexpr unsigned kChecksPerTurn = 4;
  static constexpr uint32_t kNoSlab = 0xffffffff;

  unsigned group_of(uint32_t remaining_sec) const;
  SegmentId open_segment(const Place& place, unsigned group);
  void close(SegmentId id);
  bool take_slab();
  void find_expired(uint32_t now_sec);
  bool is_expired_due() const;
  void reclaim();
  void release(SegmentId id);
  void give_slab_back();

  bool choose_leaving();
  SegmentId next_to_leave() const;
  SegmentId next_withdrawn() const;
  void retire_leaving();

  SegmentId segment_of(EntryRef ref) const;
  SegmentId segment_of_slab(uint32_t slab, uint32_t number) const {
    return SegmentId{(slab << slab_shift_) + number};
  }
  uint32_t slab_of(SegmentId id) const { return static_cast<uint32_t>(id) >> slab_shift_; }
  // An entry takes whole units, so that the next one has a reference.
  uint32_t whole_units(uint32_t bytes) const {
    return (bytes + space_.unit_bytes() - 1) & ~(space_.unit_bytes() - 1);
  }
  uint8_t* bytes_of(SegmentId id) const;
  EntryRef ref_of(SegmentId id, uint32_t offset) const;

  EntrySpace& space_;
  SlabSupply& supply_;
  rte_rcu_qsbr* rcu_;
  uint32_t segment_bytes_;
  uint32_t stale_retention_sec_;
  unsigned segment_shift_;
  unsigned slab_shift_;  // of a segment's number
  uint32_t segments_per_slab_;
  unsigned groups_;
  SegmentTable table_;
  uint32_t reserve_;  // so many are to be free, or soon

  SegmentList free_{table_};
  SegmentList probation_{table_};
  SegmentList main_{table_};
  SegmentList expired_{table_};
  SegmentList retired_{table_};
  std::array<std::array<SegmentId, kMostGroups>, kResidences> open_;

  SegmentId leaving_ = kNoSegment;
  uint32_t left_bytes_ = 0;  // of it
  uint32_t withdrawn_slab_ = kNoSlab;
  uint32_t checked_ = 0;  // segments looked at for expiry, for ever upwards
  uint32_t now_sec_ = 0;
  uint32_t segments_ = 0;  // that are there
  uint64_t used_bytes_ = 0;
};

}  // namespace wirecache::cache

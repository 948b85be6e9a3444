#include "lib/cache/segment_store.h"

#include <rte_rcu_qsbr.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lib/cache/entry.h"

namespace wirecache::cache {
namespace {

using State = Segment::State;

// A small store cannot have an open segment for each group, nor many free ones.
constexpr uint32_t kSegmentsPerGroup = 32;
constexpr uint32_t kSegmentsPerReserved = 32;
constexpr uint32_t kFewestReserved = 3;
constexpr uint32_t kMostReserved = 8;

// Where the group's next entry will stand.
void prefetch_for_write(const uint8_t* place) {
  constexpr int kWrite = 1;
  constexpr size_t kLine = 64;
  constexpr size_t kUsualEntryBytes = 2 * kLine;
  for (size_t at = 0; at <= kUsualEntryBytes; at += kLine) __builtin_prefetch(place + at, kWrite);
}

bool is_past(uint32_t when_sec, uint32_t now_sec) {
  return static_cast<int32_t>(when_sec - now_sec) <= 0;
}

}  // namespace

SegmentStore::SegmentStore(const Options& options, EntrySpace& space, SlabSupply& supply)
    : space_(space),
      supply_(supply),
      rcu_(options.rcu),
      segment_bytes_(options.segment_bytes),
      stale_retention_sec_(options.stale_retention_sec),
      segment_shift_(static_cast<unsigned>(std::countr_zero(options.segment_bytes))),
      slab_shift_(static_cast<unsigned>(std::countr_zero(space.slab_bytes())) - segment_shift_),
      segments_per_slab_(1u << slab_shift_),
      groups_(
          std::clamp(space.most_slabs() * segments_per_slab_ / kSegmentsPerGroup, 1u, kMostGroups)),
      table_(space.most_slabs() * segments_per_slab_),
      reserve_(std::clamp(table_.size() / kSegmentsPerReserved, kFewestReserved, kMostReserved)) {
  for (auto& by_group : open_) by_group.fill(kNoSegment);
}

SegmentStore::~SegmentStore() {
  for (uint32_t slab = 0; slab < space_.most_slabs(); ++slab) {
    if (uint8_t* memory = space_.slab(slab); memory != nullptr) supply_.release(memory);
  }
}

// One group for each half octave of seconds, or several in one where there are few segments.
unsigned SegmentStore::group_of(uint32_t remaining_sec) const {
  const uint32_t sec = std::max(remaining_sec, 1u);
  const auto octave = static_cast<unsigned>(std::bit_width(sec) - 1);
  const unsigned second_half = octave == 0 ? 0 : sec >> (octave - 1) & 1;
  return std::min(2 * octave + second_half, kMostGroups - 1) * groups_ / kMostGroups;
}

EntryRef SegmentStore::append(Bytes entry, const Place& place) {
  const auto bytes = static_cast<uint32_t>(entry.size());
  if (bytes > segment_bytes_) return kNoEntry;
  const unsigned group = group_of(place.remaining_sec);
  SegmentId id = open_[static_cast<size_t>(place.residence)][group];
  if (id == kNoSegment || bytes > segment_bytes_ - table_[id].used_bytes) {
    id = open_segment(place, group);
    if (id == kNoSegment) return kNoEntry;
  }
  Segment& segment = table_[id];
  const uint32_t offset = segment.used_bytes;
  uint8_t* place_of_entry = bytes_of(id) + offset;
  // Readers may be marking the original at this moment.
  std::memcpy(place_of_entry + 1, entry.data() + 1, bytes - 1);
  prefetch_for_write(place_of_entry + bytes);
  const bool is_main = place.residence == Residence::kMain;
  place_of_entry[0] = static_cast<uint8_t>(place.popularity | (is_main ? kStateMain : 0));
  segment.used_bytes = offset + whole_units(bytes);
  used_bytes_ += segment.used_bytes - offset;
  const uint32_t expires_sec = place.now_sec + place.remaining_sec;
  if (offset == 0 || is_past(segment.latest_expiry_sec, expires_sec)) {
    segment.latest_expiry_sec = expires_sec;
  }
  return ref_of(id, offset);
}

void SegmentStore::take_back(EntryRef ref) {
  Segment& segment = table_[segment_of(ref)];
  const auto offset = static_cast<uint32_t>(space_.at(ref) - bytes_of(segment_of(ref)));
  used_bytes_ -= segment.used_bytes - offset;
  segment.used_bytes = offset;
}

// Copies of what has been asked for have the last free segments for themselves.
SegmentId SegmentStore::open_segment(const Place& place, unsigned group) {
  while (free_.count() <= reserve_ && take_slab()) continue;
  const uint32_t kept = place.residence == Residence::kMain ? 0 : reserve_ / 3;
  if (free_.count() <= kept) return kNoSegment;
  const SegmentId id = free_.first();
  free_.remove(id);
  Segment& segment = table_[id];
  segment.used_bytes = 0;
  segment.state = State::kFilled;
  segment.residence = place.residence;
  segment.group = static_cast<uint8_t>(group);
  (place.residence == Residence::kMain ? main_ : probation_).push(id);
  open_[static_cast<size_t>(place.residence)][group] = id;
  return id;
}

void SegmentStore::close(SegmentId id) {
  SegmentId& open = open_[static_cast<size_t>(table_[id].residence)][table_[id].group];
  if (open == id) open = kNoSegment;
}

void SegmentStore::maintain(uint32_t now_sec) {
  now_sec_ = now_sec;
  reclaim();
  find_expired(now_sec);
  while (free_.count() <= reserve_ && take_slab()) continue;
  if (withdrawn_slab_ != kNoSlab) give_slab_back();
}

// False: none is in reach.
bool SegmentStore::take_slab() {
  if (withdrawn_slab_ != kNoSlab || supply_.is_over_cap()) return false;
  uint32_t slab = 0;
  while (slab < space_.most_slabs() && space_.slab(slab) != nullptr) ++slab;
  if (slab == space_.most_slabs()) return false;
  uint8_t* memory = supply_.take();
  if (memory == nullptr) return false;
  space_.set_slab(slab, memory);
  for (uint32_t i = 0; i < segments_per_slab_; ++i) {
    const SegmentId id = segment_of_slab(slab, i);
    table_[id].state = State::kFree;
    free_.push(id);
  }
  segments_ += segments_per_slab_;
  return true;
}

void SegmentStore::find_expired(uint32_t now_sec) {
  for (unsigned i = 0; i < kChecksPerTurn; ++i) {
    const SegmentId id{checked_++ % table_.size()};
    Segment& segment = table_[id];
    if (segment.state != State::kFilled || id == leaving_ || segment.used_bytes == 0 ||
        !is_past(segment.latest_expiry_sec, now_sec)) {
      continue;
    }
    close(id);
    (segment.residence == Residence::kMain ? main_ : probation_).remove(id);
    segment.state = State::kExpired;
    expired_.push(id);
  }
}

bool SegmentStore::is_expired_due() const {
  return expired_.count() != 0 &&
         is_past(table_[expired_.first()].latest_expiry_sec + stale_retention_sec_, now_sec_);
}

bool SegmentStore::is_eviction_due() const {
  // While memory may still come, entries leave only where it is late.
  const uint32_t wanted = supply_.is_at_cap() ? reserve_ : reserve_ / 2;
  return leaving_ != kNoSegment || free_.count() + retired_.count() < wanted || is_expired_due() ||
         (withdrawn_slab_ != kNoSlab && next_withdrawn() != kNoSegment);
}

void SegmentStore::reclaim() {
  constexpr int kDoNotWait = 0;
  while (retired_.count() != 0) {
    const SegmentId id = retired_.first();
    if (rte_rcu_qsbr_check(rcu_, table_[id].token, kDoNotWait) != 1) return;
    retired_.remove(id);
    release(id);
  }
}

void SegmentStore::release(SegmentId id) {
  Segment& segment = table_[id];
  used_bytes_ -= segment.used_bytes;
  segment.used_bytes = 0;
  if (slab_of(id) == withdrawn_slab_) {
    segment.state = State::kWithdrawn;
  } else {
    segment.state = State::kFree;
    free_.push(id);
  }
}

void SegmentStore::withdraw_slab() {
  if (withdrawn_slab_ != kNoSlab || segments_ < segments_per_slab_ + kFewestSegments) return;
  const SegmentId oldest = next_to_leave();
  if (oldest == kNoSegment) return;
  withdrawn_slab_ = slab_of(oldest);
  for (uint32_t i = 0; i < segments_per_slab_; ++i) {
    const SegmentId id = segment_of_slab(withdrawn_slab_, i);
    if (table_[id].state == State::kFree) {
      free_.remove(id);
      table_[id].state = State::kWithdrawn;
    } else if (table_[id].state == State::kFilled) {
      close(id);
    }
  }
}

// Once all of its segments are emptied and no reader looks at them.
void SegmentStore::give_slab_back() {
  for (uint32_t i = 0; i < segments_per_slab_; ++i) {
    if (table_[segment_of_slab(withdrawn_slab_, i)].state != State::kWithdrawn) return;
  }
  if (!supply_.give_back(space_.slab(withdrawn_slab_))) return;
  space_.set_slab(withdrawn_slab_, nullptr);
  for (uint32_t i = 0; i < segments_per_slab_; ++i) {
    table_[segment_of_slab(withdrawn_slab_, i)].state = State::kAbsent;
  }
  segments_ -= segments_per_slab_;
  withdrawn_slab_ = kNoSlab;
}

size_t SegmentStore::leaving_entries(std::span<EntryRef> entries) {
  if (leaving_ == kNoSegment && !choose_leaving()) return 0;
  const uint8_t* bytes = bytes_of(leaving_);
  const uint32_t end = table_[leaving_].used_bytes;
  size_t count = 0;
  for (uint32_t at = left_bytes_; at < end && count < entries.size();) {
    entries[count++] = ref_of(leaving_, at);
    at += whole_units(EntryView(bytes + at).size_bytes());
  }
  return count;
}

void SegmentStore::pass_leaving(EntryRef entry) {
  left_bytes_ += whole_units(EntryView(space_.at(entry)).size_bytes());
  if (left_bytes_ >= table_[leaving_].used_bytes) retire_leaving();
}

bool SegmentStore::choose_leaving() {
  const SegmentId id = next_to_leave();
  if (id == kNoSegment) return false;
  Segment& segment = table_[id];
  if (segment.state == State::kExpired) {
    expired_.remove(id);
  } else {
    close(id);
    (segment.residence == Residence::kMain ? main_ : probation_).remove(id);
  }
  leaving_ = id;
  left_bytes_ = 0;
  if (segment.used_bytes == 0) retire_leaving();
  return leaving_ != kNoSegment;
}

SegmentId SegmentStore::next_to_leave() const {
  const SegmentId withdrawn = withdrawn_slab_ == kNoSlab ? kNoSegment : next_withdrawn();
  if (withdrawn != kNoSegment) return withdrawn;
  if (expired_.count() != 0) return expired_.first();
  const bool probation_is_large =
      probation_.count() * 100 > (probation_.count() + main_.count()) * kProbationPercent;
  if (main_.count() == 0 || probation_is_large) return probation_.first();
  return main_.first();
}

SegmentId SegmentStore::next_withdrawn() const {
  for (uint32_t i = 0; i < segments_per_slab_; ++i) {
    const SegmentId id = segment_of_slab(withdrawn_slab_, i);
    const State state = table_[id].state;
    if (id != leaving_ && (state == State::kFilled || state == State::kExpired)) return id;
  }
  return kNoSegment;
}

void SegmentStore::retire_leaving() {
  Segment& segment = table_[leaving_];
  segment.state = State::kRetired;
  segment.token = rte_rcu_qsbr_start(rcu_);
  retired_.push(leaving_);
  leaving_ = kNoSegment;
}

SegmentId SegmentStore::segment_of(EntryRef ref) const {
  const uint64_t offset = static_cast<uint64_t>(ref) * space_.unit_bytes();
  return SegmentId{static_cast<uint32_t>(offset >> segment_shift_)};
}

uint8_t* SegmentStore::bytes_of(SegmentId id) const {
  const uint32_t in_slab = static_cast<uint32_t>(id) & (segments_per_slab_ - 1);
  return space_.slab(slab_of(id)) + (size_t{in_slab} << segment_shift_);
}

EntryRef SegmentStore::ref_of(SegmentId id, uint32_t offset) const {
  const uint32_t in_slab = static_cast<uint32_t>(id) & (segments_per_slab_ - 1);
  return space_.ref(slab_of(id), (in_slab << segment_shift_) + offset);
}

}  // namespace wirecache::cache

#include "lib/cache/segment_store.h"

#include <jemalloc/jemalloc.h>
#include <rte_rcu_qsbr.h>

#include <bit>
#include <cstring>
#include <string>

#include "lib/cache/entry.h"

namespace wirecache::cache {
namespace {

constexpr size_t kAlignment = 2u << 20;  // a huge page
constexpr uint32_t kSmallestSegmentBytes = 128u << 10;

void destroy_arena(unsigned arena) {
  const std::string name = "arena." + std::to_string(arena) + ".destroy";
  mallctl(name.c_str(), nullptr, nullptr, nullptr, 0);
}

}  // namespace

Expected<std::unique_ptr<SegmentStore>> SegmentStore::create(const Options& options) {
  if (options.segment_bytes < kSmallestSegmentBytes ||
      !std::has_single_bit(options.segment_bytes)) {
    return fail("segment size " + std::to_string(options.segment_bytes) +
                " is not a power of two of at least 131072 bytes");
  }
  const uint64_t count = options.capacity_bytes / options.segment_bytes;
  if (count < kFewestSegments || count > UINT32_MAX) {
    return fail("a cache of " + std::to_string(options.capacity_bytes) +
                " bytes cannot be cut into at least 3 segments of " +
                std::to_string(options.segment_bytes));
  }
  unsigned arena = 0;
  size_t arena_size = sizeof arena;
  if (mallctl("arenas.create", &arena, &arena_size, nullptr, 0) != 0) {
    return fail("no memory arena for the cache");
  }
  void* memory = mallocx(count * options.segment_bytes,
                         MALLOCX_ARENA(arena) | MALLOCX_ALIGN(kAlignment) | MALLOCX_TCACHE_NONE);
  if (memory == nullptr) {
    destroy_arena(arena);
    return fail("no memory for a cache of " + std::to_string(options.capacity_bytes) + " bytes");
  }
  return std::unique_ptr<SegmentStore>(new SegmentStore(
      options, arena, static_cast<uint8_t*>(memory), static_cast<uint32_t>(count)));
}

SegmentStore::SegmentStore(const Options& options, unsigned arena, uint8_t* memory, uint32_t count)
    : arena_(arena),
      memory_(memory),
      count_(count),
      segment_bytes_(options.segment_bytes),
      rcu_(options.rcu),
      segments_(count) {}

SegmentStore::~SegmentStore() {
  dallocx(memory_, MALLOCX_ARENA(arena_) | MALLOCX_TCACHE_NONE);
  destroy_arena(arena_);
}

const uint8_t* SegmentStore::append(Bytes entry) {
  if (entry.size() > segment_bytes_) return nullptr;
  if (entry.size() > segment_bytes_ - segment(current_).used && !advance()) return nullptr;
  Segment& current = segment(current_);
  uint8_t* place = bytes_of(current_) + current.used;
  std::memcpy(place, entry.data(), entry.size());
  current.used += static_cast<uint32_t>(entry.size());
  used_bytes_ += entry.size();
  return place;
}

void SegmentStore::take_back(Bytes entry) {
  segment(current_).used -= static_cast<uint32_t>(entry.size());
  used_bytes_ -= entry.size();
}

void SegmentStore::seal() {
  if (segment(current_).used != 0) advance();
}

// Begins the next segment; false where none is free.
bool SegmentStore::advance() {
  reclaim();
  if (current_ + 1 - freed_ == count_) return false;
  ++current_;
  segment(current_).used = 0;
  return true;
}

const uint8_t* SegmentStore::oldest() const {
  return evicting_ == current_ ? nullptr : bytes_of(evicting_) + evicted_bytes_;
}

void SegmentStore::drop_oldest() {
  Segment& evicting = segment(evicting_);
  evicted_bytes_ += EntryView(oldest()).size_bytes();
  if (evicted_bytes_ < evicting.used) return;
  evicting.token = rte_rcu_qsbr_start(rcu_);
  ++evicting_;
  evicted_bytes_ = 0;
}

void SegmentStore::reclaim() {
  constexpr int kDoNotWait = 0;
  while (freed_ != evicting_) {
    Segment& emptied = segment(freed_);
    if (rte_rcu_qsbr_check(rcu_, emptied.token, kDoNotWait) != 1) return;
    used_bytes_ -= emptied.used;
    ++freed_;
  }
}

}  // namespace wirecache::cache

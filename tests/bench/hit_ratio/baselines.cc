#include "tests/bench/hit_ratio/baselines.h"

#include <algorithm>

namespace wirecache::bench {

namespace {

constexpr uint8_t kMostAsked = 3;

}  // namespace

Lookup Lru::get(NameId name, uint32_t now_sec) {
  const auto slot = entries_.find(name);
  if (slot == EntryQueues::kNone || now_sec >= entries_[slot].expires_sec) {
    return Lookup::kMiss;
  }
  entries_.move(slot, 0);
  return Lookup::kHit;
}

void Lru::put(const Request& request) {
  if (const auto slot = entries_.find(request.name); slot != EntryQueues::kNone) {
    entries_.remove(slot);
  }
  while (entries_.bytes(0) + request.bytes > capacity_bytes_) {
    entries_.remove(entries_.oldest(0));
  }
  entries_.add(0, request);
}

Lookup Fifo::get(NameId name, uint32_t now_sec) {
  const auto slot = entries_.find(name);
  return slot != EntryQueues::kNone && now_sec < entries_[slot].expires_sec ? Lookup::kHit
                                                                            : Lookup::kMiss;
}

void Fifo::put(const Request& request) {
  if (const auto slot = entries_.find(request.name); slot != EntryQueues::kNone) {
    entries_.remove(slot);
  }
  while (entries_.bytes(0) + request.bytes > capacity_bytes_) {
    entries_.remove(entries_.oldest(0));
  }
  entries_.add(0, request);
}

Lookup S3Fifo::get(NameId name, uint32_t now_sec) {
  const auto slot = entries_.find(name);
  if (slot == EntryQueues::kNone || now_sec >= entries_[slot].expires_sec) {
    return Lookup::kMiss;
  }
  auto& entry = entries_[slot];
  entry.asked = std::min<uint8_t>(entry.asked + 1, kMostAsked);
  return Lookup::kHit;
}

void S3Fifo::put(const Request& request) {
  if (const auto slot = entries_.find(request.name); slot != EntryQueues::kNone) {
    auto& entry = entries_[slot];
    entry.asked = std::min<uint8_t>(entry.asked + 1, kMostAsked);
    entries_.replace(slot, request);
    while (entries_.bytes(kSmall) + entries_.bytes(kMain) > capacity_bytes_) {
      evict();
    }
    return;
  }
  while (entries_.bytes(kSmall) + entries_.bytes(kMain) + request.bytes > capacity_bytes_) {
    evict();
  }
  entries_.add(recall(request.name) ? kMain : kSmall, request);
}

void S3Fifo::evict() {
  if (entries_.bytes(kSmall) >= small_bytes_ || entries_.oldest(kMain) == EntryQueues::kNone) {
    evict_small();
  } else {
    evict_main();
  }
}

void S3Fifo::evict_small() {
  while (entries_.oldest(kSmall) != EntryQueues::kNone) {
    const auto slot = entries_.oldest(kSmall);
    auto& entry = entries_[slot];
    if (entry.asked <= 1) {
      remember(entry.name, entry.bytes);
      entries_.remove(slot);
      return;
    }
    entry.asked = 0;
    entries_.move(slot, kMain);
    if (entries_.bytes(kMain) > capacity_bytes_ - small_bytes_) {
      evict_main();
    }
  }
}

void S3Fifo::evict_main() {
  // Ends: every round takes one from a counter.
  for (;;) {
    const auto slot = entries_.oldest(kMain);
    auto& entry = entries_[slot];
    if (entry.asked == 0) {
      entries_.remove(slot);
      return;
    }
    --entry.asked;
    entries_.move(slot, kMain);
  }
}

void S3Fifo::remember(NameId name, uint32_t bytes) {
  if (name >= ghost_stamps_.size()) {
    ghost_stamps_.resize(std::max<size_t>(name + 1, 2 * ghost_stamps_.size()));
  }
  ghost_stamps_[name] = ++last_stamp_;
  ghosts_.push_back({name, bytes, last_stamp_});
  ghost_bytes_ += bytes;
  while (ghost_bytes_ > capacity_bytes_ - small_bytes_) {
    const Ghost& oldest = ghosts_.front();
    if (ghost_stamps_[oldest.name] == oldest.stamp) {
      ghost_stamps_[oldest.name] = 0;
    }
    ghost_bytes_ -= oldest.bytes;
    ghosts_.pop_front();
  }
}

bool S3Fifo::recall(NameId name) {
  if (name >= ghost_stamps_.size() || ghost_stamps_[name] == 0) {
    return false;
  }
  // Its place in the queue passes with time.
  ghost_stamps_[name] = 0;
  return true;
}

}  // namespace wirecache::bench

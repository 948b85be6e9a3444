#include "tests/bench/hit_ratio/entry_queues.h"

#include <algorithm>

namespace wirecache::bench {

void EntryQueues::add(unsigned queue, const Request& request) {
  Slot slot = static_cast<Slot>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  entries_[slot] = {.name = request.name,
                    .bytes = request.bytes,
                    .expires_sec = request.now_sec + request.ttl_sec,
                    .asked = 0,
                    .queue = 0,
                    .newer = kNone,
                    .older = kNone};
  if (request.name >= slots_.size()) {
    slots_.resize(std::max<size_t>(request.name + 1, 2 * slots_.size()), kNone);
  }
  slots_[request.name] = slot;
  link(slot, queue);
}

void EntryQueues::replace(Slot slot, const Request& request) {
  Entry& entry = entries_[slot];
  queues_[entry.queue].bytes += uint64_t{request.bytes} - entry.bytes;
  entry.bytes = request.bytes;
  entry.expires_sec = request.now_sec + request.ttl_sec;
}

void EntryQueues::move(Slot slot, unsigned queue) {
  unlink(slot);
  link(slot, queue);
}

void EntryQueues::remove(Slot slot) {
  unlink(slot);
  slots_[entries_[slot].name] = kNone;
  entries_[slot].expires_sec = 0;
  free_.push_back(slot);
}

uint64_t EntryQueues::live_bytes(uint32_t now_sec) const {
  uint64_t bytes = 0;
  for (const Entry& entry : entries_) {
    bytes += now_sec < entry.expires_sec ? entry.bytes : 0;
  }
  return bytes;
}

void EntryQueues::link(Slot slot, unsigned queue) {
  Queue& into = queues_[queue];
  Entry& entry = entries_[slot];
  entry.queue = static_cast<uint8_t>(queue);
  entry.older = into.newest;
  entry.newer = kNone;
  (into.newest != kNone ? entries_[into.newest].newer : into.oldest) = slot;
  into.newest = slot;
  into.bytes += entry.bytes;
}

void EntryQueues::unlink(Slot slot) {
  const Entry& entry = entries_[slot];
  Queue& from = queues_[entry.queue];
  (entry.newer != kNone ? entries_[entry.newer].older : from.newest) = entry.older;
  (entry.older != kNone ? entries_[entry.older].newer : from.oldest) = entry.newer;
  from.bytes -= entry.bytes;
}

}  // namespace wirecache::bench

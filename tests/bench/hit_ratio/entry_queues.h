// Entries in queues, as the baselines keep them: each name has at most one entry, which stands in
// one of a few first-in, first-out queues.
//
// Bytes are those of the entries alone: the baselines pay nothing for links, keys or rounding.
// Thread: belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/hit_ratio/trace.h"

namespace wirecache::bench {

class EntryQueues {
 public:
  using Slot = uint32_t;
  static constexpr Slot kNone = 0;

  struct Entry {
    NameId name;
    uint32_t bytes;
    uint32_t expires_sec;
    uint8_t asked;  // free for the policy; 0 in a new entry
    uint8_t queue;
    Slot newer;
    Slot older;
  };

  explicit EntryQueues(unsigned queues) : queues_(queues), entries_(1) {}

  Slot find(NameId name) const { return name < slots_.size() ? slots_[name] : kNone; }
  Entry& operator[](Slot slot) { return entries_[slot]; }
  // The entry that has stood longest in `queue`.
  Slot oldest(unsigned queue) const { return queues_[queue].oldest; }
  uint64_t bytes(unsigned queue) const { return queues_[queue].bytes; }
  uint64_t live_bytes(uint32_t now_sec) const;

  // Behind the newest of `queue`. The name has no entry yet.
  void add(unsigned queue, const Request& request);
  // The same name's answer anew, in its place.
  void replace(Slot slot, const Request& request);
  // To the newest end of `queue`.
  void move(Slot slot, unsigned queue);
  void remove(Slot slot);

 private:
  struct Queue {
    Slot oldest = kNone;
    Slot newest = kNone;
    uint64_t bytes = 0;
  };

  void link(Slot slot, unsigned queue);
  void unlink(Slot slot);

  std::vector<Queue> queues_;
  std::vector<Entry> entries_;  // slot 0 stays unused
  std::vector<Slot> free_;
  std::vector<Slot> slots_;  // by name
};

}  // namespace wirecache::bench

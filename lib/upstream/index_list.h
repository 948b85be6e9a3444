// A doubly linked list of slots in an array, by 32-bit index: timers of one length are a FIFO list,
// so that starting, stopping and expiring one are constant-time steps without allocation.
//
// Invariant: an element is in at most one list through the same Links member. Owner: one worker.
#pragma once

#include <cstdint>

namespace wirecache::upstream {

inline constexpr uint32_t kNoIndex = UINT32_MAX;

struct Links {
  uint32_t previous = kNoIndex;
  uint32_t next = kNoIndex;
};

// `Element` is the array's type, `kLinks` the member of it that this list uses.
template <typename Element, Links Element::*kLinks>
class IndexList {
 public:
  uint32_t front() const { return head_; }
  bool empty() const { return head_ == kNoIndex; }

  void push_back(Element* elements, uint32_t index) {
    Links& links = elements[index].*kLinks;
    links.previous = tail_;
    links.next = kNoIndex;
    if (tail_ == kNoIndex) {
      head_ = index;
    } else {
      (elements[tail_].*kLinks).next = index;
    }
    tail_ = index;
  }

  void remove(Element* elements, uint32_t index) {
    Links& links = elements[index].*kLinks;
    if (links.previous == kNoIndex) {
      head_ = links.next;
    } else {
      (elements[links.previous].*kLinks).next = links.next;
    }
    if (links.next == kNoIndex) {
      tail_ = links.previous;
    } else {
      (elements[links.next].*kLinks).previous = links.previous;
    }
    links = Links{};
  }

 private:
  uint32_t head_ = kNoIndex;
  uint32_t tail_ = kNoIndex;
};

}  // namespace wirecache::upstream

#include "lib/cache/slab_supply.h"

#include <algorithm>
#include <utility>

#include "lib/cache/slab_memory.h"

namespace wirecache::cache {

namespace {

// An owner that keeps a million entries a second goes through 2 MiB within 16 ms.
constexpr uint32_t kReserveBytes = 2u << 20;
constexpr uint32_t kFewestReserved = 1;
constexpr uint32_t kMostReserved = 8;

}  // namespace

SlabSupply::SlabSupply(SlabMemory& memory, uint64_t capacity_bytes)
    : memory_(memory),
      slab_bytes_(memory.slab_bytes()),
      reserve_(std::clamp(kReserveBytes / slab_bytes_, kFewestReserved, kMostReserved)),
      capacity_bytes_(capacity_bytes) {}

SlabSupply::~SlabSupply() {
  if (filling_ != nullptr) memory_.free(filling_);
  while (uint8_t* slab = pop(ready_)) memory_.free(slab);
  while (uint8_t* slab = pop(returned_)) memory_.free(slab);
}

bool SlabSupply::push(Ring& ring, uint8_t* slab) {
  const uint32_t head = ring.head.load(std::memory_order_relaxed);
  if (head - ring.tail.load(std::memory_order_acquire) == kRing) return false;
  ring.slabs[head % kRing] = slab;
  ring.head.store(head + 1, std::memory_order_release);
  return true;
}

uint8_t* SlabSupply::pop(Ring& ring) {
  const uint32_t tail = ring.tail.load(std::memory_order_relaxed);
  if (ring.head.load(std::memory_order_acquire) == tail) return nullptr;
  uint8_t* slab = ring.slabs[tail % kRing];
  ring.tail.store(tail + 1, std::memory_order_release);
  return slab;
}

uint8_t* SlabSupply::take() {
  return pop(ready_);
}

bool SlabSupply::give_back(uint8_t* slab) {
  return push(returned_, slab);
}

bool SlabSupply::return_unused() {
  if (returned_slabs() == kRing) return false;
  uint8_t* slab = take();
  return slab != nullptr && give_back(slab);
}

uint32_t SlabSupply::returned_slabs() const {
  return returned_.head.load(std::memory_order_relaxed) -
         returned_.tail.load(std::memory_order_acquire);
}

bool SlabSupply::is_over_cap() const {
  return held_bytes() > capacity_bytes() + uint64_t{returned_slabs()} * slab_bytes_;
}

uint64_t SlabSupply::held_bytes() const {
  return held_slabs_.load(std::memory_order_relaxed) * slab_bytes_;
}

void SlabSupply::set_capacity(uint64_t bytes) {
  capacity_bytes_.store(bytes, std::memory_order_relaxed);
}

void SlabSupply::provision() {
  while (uint8_t* slab = pop(returned_)) release(slab);
  for (uint32_t budget = kBytesPerTurn; budget != 0 && wants_slab();) budget -= fill(budget);
}

bool SlabSupply::wants_slab() const {
  const uint32_t ready =
      ready_.head.load(std::memory_order_relaxed) - ready_.tail.load(std::memory_order_relaxed);
  const uint64_t next = filling_ != nullptr ? 0 : slab_bytes_;
  return ready < reserve_ && held_bytes() + next <= capacity_bytes();
}

// Brings the slab that is on its way further into memory; what of the budget it took.
uint32_t SlabSupply::fill(uint32_t budget) {
  if (filling_ == nullptr) {
    filling_ = memory_.allocate();
    if (filling_ == nullptr) return budget;
    filled_bytes_ = 0;
    held_slabs_.fetch_add(1, std::memory_order_relaxed);
  }
  const uint32_t bytes = std::min(budget, slab_bytes_ - filled_bytes_);
  if (!memory_.populate(filling_, filled_bytes_, bytes)) {
    release(std::exchange(filling_, nullptr));
    return budget;
  }
  filled_bytes_ += bytes;
  if (filled_bytes_ == slab_bytes_)
    static_cast<void>(push(ready_, std::exchange(filling_, nullptr)));
  return bytes;
}

void SlabSupply::release(uint8_t* slab) {
  memory_.free(slab);
  held_slabs_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace wirecache::cache

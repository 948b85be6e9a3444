#include "lib/port/node_memory.h"

#include <jemalloc/jemalloc.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstddef>

namespace wirecache::port {
namespace {

constexpr int kMaskBits = sizeof(unsigned long) * CHAR_BIT;

void set_policy(int policy, unsigned long nodes) {
  (void)syscall(SYS_set_mempolicy, policy, nodes == 0 ? nullptr : &nodes, kMaskBits);
}

// The thread's cache holds memory of the arena that it had.
void use_thread_cache(bool enabled) {
  mallctl("thread.tcache.enabled", nullptr, nullptr, &enabled, sizeof enabled);
}

}  // namespace

// The policy decides for pages that are touched for the first time; an arena of the scope's own, so
// that they are, for the thread's has pages of other nodes.
NodeMemory::NodeMemory(int numa_node) {
  if (numa_node < 0 || numa_node >= kMaskBits - 1) return;
  set_policy(MPOL_PREFERRED, 1ul << numa_node);
  unsigned own = 0;
  size_t size = sizeof own;
  if (mallctl("arenas.create", &own, &size, nullptr, 0) != 0) return;
  use_thread_cache(false);
  switched_ = mallctl("thread.arena", &arena_, &size, &own, sizeof own) == 0;
  if (!switched_) use_thread_cache(true);
}

NodeMemory::~NodeMemory() {
  if (switched_) {
    mallctl("thread.arena", nullptr, nullptr, &arena_, sizeof arena_);
    use_thread_cache(true);
  }
  set_policy(MPOL_DEFAULT, 0);
}

}  // namespace wirecache::port

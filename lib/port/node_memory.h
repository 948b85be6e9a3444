// A scope in which what the calling thread allocates lies on a NUMA node: workers' buffers, pending
// questions and counters as well as what DPDK is told a node for.
//
// Invariant: the thread allocates as before when the scope ends; what was allocated stays where it
// is. Where the kernel or the allocator does not play along (no NUMA, a sanitizer's allocator),
// memory lies where it is touched first. Main only, while it builds a node's parts.
#pragma once

namespace wirecache::port {

class NodeMemory {
 public:
  explicit NodeMemory(int numa_node);
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

 private:
  bool switched_ = false;  // to an arena of the scope's own
  unsigned arena_ = 0;     // that the thread had before
};

}  // namespace wirecache::port

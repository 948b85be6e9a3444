// The real pipeline under hostile packets: what went in, what came out by every way there is.
//
// Two workers or more in this process over ring ethdevs (tests/support/rig.h), on simulated time.
// The upstream knows every name and has no records and no SOA, an answer that is never kept: the
// cache stays empty and each packet meets the same state. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/hostile/packet_file.h"
#include "tests/support/rig.h"

namespace wirecache::hostile {

// Everything that left the appliance, as bytes.
struct Output {
  std::vector<Wire> replies;   // frames to clients
  std::vector<Wire> upstream;  // DNS messages to upstreams
  std::vector<Wire> punted;    // frames to the kernel
};

class Pipeline {
 public:
  // `labels` are those of the packets' verdicts.
  Pipeline(const testing::RigOptions& options, const std::vector<std::string>& labels);

  void inject(const Wire& frame, unsigned queue) { rig_.inject_frame(frame, 0, queue); }
  // Lets the workers work and the upstream answer until all is still.
  Output settle();
  // How often each label has been counted until now.
  std::vector<uint64_t> counts() const;
  // What is not as it has to be at rest, "" where nothing is: accounting equations, waiters and
  // pending questions, buffers, ring slots, kept entries, events that no verdict stands for.
  std::string leaks();
  // A query that misses, and is answered from the cache when asked again; "" where that works.
  std::string answers_still();

  testing::Rig& rig() { return rig_; }
  unsigned queues() const { return queues_; }

 private:
  void collect(Output& out, std::vector<testing::Sent>& asked);
  std::vector<unsigned> ring_room();

  testing::Rig rig_;
  unsigned queues_;
  std::vector<std::vector<const stats::Counter*>> counters_;  // [label][worker]
  std::vector<unsigned> room_at_start_;
  unsigned answers_ = 0;
};

}  // namespace wirecache::hostile

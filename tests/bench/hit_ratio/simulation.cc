#include "tests/bench/hit_ratio/simulation.h"

namespace wirecache::bench {

TraceCounts run_trace(const TraceOptions& options, uint64_t requests,
                      std::span<Contestant> contestants) {
  TraceCounts run;
  run.outcomes.resize(contestants.size());
  Trace trace(options);
  uint32_t now_sec = 0;
  for (uint64_t i = 0; i < requests; ++i) {
    const Request request = trace.next();
    const uint64_t counts = i >= requests / 2 ? 1 : 0;
    now_sec = request.now_sec;
    run.requests += counts;
    run.ordinary += request.name < options.names ? counts : 0;
    for (size_t j = 0; j < contestants.size(); ++j) {
      Policy& policy = *contestants[j].policy;
      if (policy.get(request.name, request.now_sec) == Lookup::kHit) {
        run.outcomes[j].hits += counts;
      } else {
        policy.put(request);
      }
    }
  }
  for (size_t j = 0; j < contestants.size(); ++j) {
    run.outcomes[j].live_bytes = contestants[j].policy->live_bytes(now_sec);
  }
  return run;
}

uint64_t live_bytes_after_churn(const ChurnOptions& options, Policy& policy) {
  uint64_t bytes = 0;
  uint32_t now_sec = 0;
  for (NameId name = 0; bytes < options.rounds * options.capacity_bytes; ++name) {
    const Answer answer = answer_of(name);
    now_sec = static_cast<uint32_t>(bytes * options.capacity_sec / options.capacity_bytes);
    policy.put({name, now_sec, answer.bytes, answer.ttl_sec, answer.kind});
    bytes += answer.bytes;
  }
  return policy.live_bytes(now_sec);
}

uint64_t footprint_bytes(uint32_t names) {
  uint64_t bytes = 0;
  for (NameId name = 0; name < names; ++name) {
    bytes += answer_of(name).bytes;
  }
  return bytes;
}

}  // namespace wirecache::bench

#include "tests/hostile/pipeline.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "lib/worker/handover.h"

namespace wirecache::hostile {
namespace {

using stats::WorkerStats;
using testing::Rig;
using testing::Sent;

constexpr unsigned kServicePort = 53;
// A miss goes to its owner, and the answer to the question's owner: one round each, and one over.
constexpr unsigned kRounds = 3;

// Where the label's enumerator stands in the list of names; the list's length if it does not.
template <size_t kSize>
size_t place_of(std::string_view label, const stats::Name (&names)[kSize]) {
  return static_cast<size_t>(
      std::find_if(std::begin(names), std::end(names),
                   [&](const stats::Name& name) { return name.label == label; }) -
      std::begin(names));
}

// The counter that a label of verdict.py names; nullptr: none.
const stats::Counter* counter_of(const WorkerStats& stats, std::string_view label) {
  constexpr std::string_view kDrop = "drop ";
  if (label == "punt") return &stats.ports[0].punted;
  if (label.starts_with(kDrop)) {
    const size_t drop = place_of(label.substr(kDrop.size()), stats::kDropNames);
    return drop == std::size(stats::kDropNames) ? nullptr
                                                : &stats.drops[static_cast<stats::Drop>(drop)];
  }
  const size_t outcome = place_of(label, stats::kOutcomeNames);
  return outcome == std::size(stats::kOutcomeNames)
             ? nullptr
             : &stats.outcomes[static_cast<stats::Outcome>(outcome)];
}

}  // namespace

Pipeline::Pipeline(const testing::RigOptions& options, const std::vector<std::string>& labels)
    : rig_(options),
      queues_(options.queues.empty() ? options.workers : options.queues[0]),
      room_at_start_(ring_room()) {
  for (const std::string& label : labels) {
    auto& counters = counters_.emplace_back();
    for (unsigned id = 0; id < options.workers; ++id) {
      const stats::Counter* counter = counter_of(rig_.node().stats(id), label);
      if (counter != nullptr) counters.push_back(counter);
    }
  }
}

Output Pipeline::settle() {
  Output out;
  std::vector<Sent> asked;
  rig_.poll(kRounds);
  collect(out, asked);
  if (asked.empty()) return out;
  for (const Sent& query : asked)
    rig_.answer(query, testing::make_answer(query.message, {}), answers_++ % queues_);
  rig_.poll(kRounds);
  collect(out, asked);
  return out;
}

// Replies leave from the service port, queries to upstreams from one of the data plane's range.
void Pipeline::collect(Output& out, std::vector<Sent>& asked) {
  asked.clear();
  for (Sent& sent : rig_.sent()) {
    if (sent.headers.source_port == kServicePort) {
      out.replies.push_back(std::move(sent.frame));
    } else {
      out.upstream.push_back(sent.message);
      asked.push_back(std::move(sent));
    }
  }
  for (Wire& frame : rig_.punted()) out.punted.push_back(std::move(frame));
}

std::vector<uint64_t> Pipeline::counts() const {
  std::vector<uint64_t> counts;
  counts.reserve(counters_.size());
  for (const auto& of_workers : counters_) {
    uint64_t sum = 0;
    for (const stats::Counter* counter : of_workers) sum += counter->value();
    counts.push_back(sum);
  }
  return counts;
}

std::vector<unsigned> Pipeline::ring_room() {
  std::vector<unsigned> room;
  worker::HandoverRings& rings = rig_.node().rings();
  for (unsigned from = 0; from < rings.lcores(); ++from) {
    for (unsigned to = 0; to < rings.lcores(); ++to) {
      if (from != to) room.push_back(rings.room(from, to));
    }
  }
  return room;
}

std::string Pipeline::leaks() {
  std::string wrong = rig_.accounting();
  const auto demand_none = [&wrong](uint64_t count, std::string_view what) {
    if (count != 0) wrong += std::to_string(count) + " " + std::string(what) + "\n";
  };
  demand_none(rig_.sum(&WorkerStats::waiting), "clients still wait");
  demand_none(rig_.sum(&WorkerStats::pending), "questions are still pending");
  demand_none(rig_.sum(&WorkerStats::cache_entries), "entries kept");
  demand_none(rig_.mbufs_in_use(), "buffers not given back");
  demand_none(rig_.outcome(stats::Outcome::kOverload), "queries found no waiter, query or ring");
  demand_none(rig_.upstream(stats::Upstream::kUnreachable), "upstream queries could not be sent");
  if (ring_room() != room_at_start_) wrong += "ring slots are not free again\n";
  uint64_t labelled = 0;
  for (const uint64_t count : counts()) labelled += count;
  const uint64_t received =
      rig_.sum(&WorkerStats::received) - rig_.sum(&WorkerStats::upstream_answers_taken);
  if (labelled != received)
    wrong += std::to_string(received) + " packets, but " + std::to_string(labelled) + " verdicts\n";
  return wrong;
}

std::string Pipeline::answers_still() {
  const std::string name = "still.example";
  for (unsigned queue = 0; queue < queues_; ++queue) {
    testing::Client client;
    client.on_queue = queue;
    rig_.ask(testing::make_query({.name = name}), client);
    rig_.poll(kRounds);
    Rig::Traffic traffic = rig_.traffic();
    if (queue == 0) {
      if (traffic.upstream.size() != 1) return "the upstream is not asked";
      const Sent& query = traffic.upstream[0];
      rig_.answer(query,
                  testing::make_answer(query.message, {.answer = {testing::a_record(name, 300)}}));
      rig_.poll(kRounds);
      traffic = rig_.traffic();
    }
    if (traffic.replies.size() != 1 || testing::answers_of(traffic.replies[0].message) != 1)
      return "no answer by queue " + std::to_string(queue);
  }
  return "";
}

}  // namespace wirecache::hostile

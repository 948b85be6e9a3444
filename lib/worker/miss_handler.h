// The owner's side of a miss: joins or starts the question, sends its tries, takes its answer into
// the cache and answers everybody who waits (SEMANTICS "Upstream queries", "Upstream answers").
//
// Invariant: each client query given to miss() is answered, dropped under a counted reason, or
// waits, and none waits beyond the deadline. Owner: one worker, for the keys of its own partition.
// Takes the mbufs that it is given. begin_round() first in each round: it sets the time and the
// snapshot that the round uses.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <memory>

#include "lib/cache/entry_codec.h"
#include "lib/config/config.h"
#include "lib/upstream/failure_cache.h"
#include "lib/upstream/resolver.h"
#include "lib/upstream/upstream_query.h"
#include "lib/worker/node.h"
#include "lib/worker/packet.h"
#include "lib/worker/transmitter.h"

namespace wirecache::worker {

class MissHandler {
 public:
  MissHandler(Node& node, unsigned worker, std::unique_ptr<upstream::Resolver> resolver,
              Transmitter& transmitter);

  void begin_round(const Snapshot* snapshot, TscTime now);
  // A client's query whose key is ours and that was not found.
  void miss(Packet& packet);
  // A datagram to a source port of ours.
  void answer(Packet& packet);
  // An ICMP error about a datagram from a source port of ours.
  void unreachable(Packet& packet);
  // Time-outs and deadlines, a bounded number a round.
  void tick();

 private:
  // What a question's waiters are told: an entry, or no records with rcode and flags.
  struct Result {
    const uint8_t* entry = nullptr;
    dns::Rcode rcode = dns::Rcode::kNoError;
    uint16_t flags = 0;
  };

  // How many waiters are told at once: what the round has room for, the rest in later rounds from
  // the cache; or all, where the result is not kept anywhere.
  enum class Pace : uint8_t { kAsRoundAllows, kAllAtOnce };

  bool answer_without_asking(Packet& packet);
  void start(upstream::Pending& pending, rte_mbuf* reuse);
  void act(upstream::Pending& pending, upstream::Resolver::TryStatus status, rte_mbuf* reuse);
  void transmit_query(const upstream::Pending& pending, rte_mbuf* mbuf);
  upstream::Pending* waiting_for(const Packet& packet);
  bool came_from_server(const upstream::Pending& pending, const Packet& packet) const;
  void take_answer(upstream::Pending& pending, const upstream::JudgedAnswer& judged, Bytes message);
  void count_answer(const upstream::Pending& pending);
  void take_usable(upstream::Pending& pending, Bytes message);
  void server_failed(upstream::Pending& pending, dns::Rcode rcode);
  void fail(upstream::Pending& pending, dns::Rcode rcode);
  bool keep(const cache::Key& key, Bytes entry);
  void finish(upstream::Pending& pending, const Result& result, Pace pace);
  void tell_waiters(upstream::Pending& pending, const Result& result, Pace pace);
  Result stored_result(const upstream::Pending& pending) const;
  void answer_waiter(const upstream::Pending& pending, const upstream::Waiter& waiter,
                     const Result& result);
  cache::ReplyOptions reply_options() const;

  Node& node_;
  cache::Partition& partition_;
  stats::WorkerStats& stats_;
  Transmitter& transmitter_;
  std::unique_ptr<upstream::Resolver> resolver_;
  upstream::FailureCache failures_;
  int sends_left_ = 0;  // answers and queries that this round may still send
  const Snapshot* snapshot_ = nullptr;
  TscTime now_;
  uint32_t now_sec_ = 0;
  std::unique_ptr<std::array<uint8_t, cache::kMaxEntryBytes>> scratch_;
};

// Whether the entry found for a client's key, nullptr without one, answers it now.
bool serves(const uint8_t* entry, dns::DoBit dnssec, uint32_t now_sec);

}  // namespace wirecache::worker

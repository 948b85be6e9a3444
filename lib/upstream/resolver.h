// Asking upstream, for one worker: which question goes to which server, when it is tried again, and
// who waits for it. It decides; the worker moves the packets.
//
// Invariants: a question is asked at most three times of one server (RFC 9520 §3.1); each try has a
// fresh random ID and source port out of this worker's own share of the range (RFC 5452 §9), and an
// earlier try's answer no longer matches; every waiter is handed back by its question's deadline.
// Owner: one worker. Time is passed in. Nothing is allocated after creation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/expected.h"
#include "lib/base/random.h"
#include "lib/cache/key.h"
#include "lib/config/config.h"
#include "lib/stats/worker_stats.h"
#include "lib/upstream/pending.h"
#include "lib/upstream/server_route.h"
#include "lib/upstream/waiter.h"

namespace wirecache::upstream {

inline constexpr unsigned kMaxTriesPerServer = 3;

// The worker whose share of the source ports `port` is; the range starts at `first`.
inline unsigned worker_of_source_port(uint16_t port, uint16_t first, unsigned workers) {
  return static_cast<unsigned>(port - first) % workers;
}

struct ResolverOptions {
  std::string name;  // unique in the process
  unsigned worker = 0;
  unsigned workers = 1;
  int numa_node = 0;
  TscClock clock{1};
  config::UpstreamConfig upstream;
  Random random;  // from_kernel() in the program
  stats::WorkerStats* stats = nullptr;
};

class Resolver {
 public:
  static Expected<std::unique_ptr<Resolver>> create(ResolverOptions options);

  enum class AskStatus : uint8_t { kJoined, kStarted, kOverload };
  struct Asked {
    AskStatus status;
    Pending* pending;  // kStarted: to be given to next_try()
    Waiter* waiter;    // to be filled by the caller; nullptr on kOverload
  };
  // Puts a client behind the question `key`, which is started if nobody asks it yet. A DO=1 client
  // does not join a DO=0 question; the other way round it does.
  Asked ask(const cache::Key& key, dns::DoBit dnssec, TscTime now);

  // Chooses server, ID and source port of the next try and starts its timer.
  enum class TryStatus : uint8_t {
    kSend,       // send write_query() to servers[pending.server]
    kHold,       // no server can be reached now: the timer is running, call again when it expires
    kExhausted,  // all tries are used: finish with pending.last_rcode
  };
  TryStatus next_try(Pending& pending, const RouteTable& routes, TscTime now);

  // The question to which an answer for this port and ID belongs; nullptr: nobody waits for it.
  Pending* match(uint16_t source_port, uint16_t id) { return table_->match(source_port, id); }

  // Notes that pending.server answered; with kFailed it is not asked this question again.
  enum class Verdict : uint8_t { kAnswered, kFailed };
  void note_answer(Pending& pending, Verdict verdict, dns::Rcode rcode);
  // Notes that the network said that the try under way cannot arrive: its server is not asked this
  // question again, and passed over for a while as after time-outs.
  void note_unreachable(Pending& pending, TscTime now);
  // Asks the same server again without EDNS (RFC 6891 §6.2.2): kSend or kExhausted.
  TryStatus retry_without_edns(Pending& pending, const RouteTable& routes, TscTime now);

  // The next question whose deadline has passed / whose try has timed out; nullptr when there is
  // none. The caller finishes it or calls next_try(), so that calling again makes progress.
  Pending* next_expired(TscTime now);
  Pending* next_timed_out(TscTime now);

  // Whether anybody still waits for the question, and by which port the next answer leaves.
  bool has_waiter(const Pending& pending) const { return pending.first_waiter != kNoIndex; }
  uint8_t next_port(const Pending& pending) { return waiters_[pending.first_waiter].port_index; }
  // Takes the next waiter off the question, which has one.
  Waiter take_waiter(Pending& pending);
  // The question has its result: it can be neither joined nor answered any more.
  void close(Pending& pending) { table_->close(pending); }
  // The first closed question that was not forgotten; nullptr if there is none.
  Pending* first_closed() { return table_->first_closed(); }
  // Forgets a closed question; its waiters must have been taken.
  void forget(Pending& pending) { table_->remove(pending); }

  uint32_t waiting() const { return waiters_.in_use(); }
  uint32_t pending() const { return table_->in_use(); }

 private:
  struct ServerHealth {
    uint32_t timeouts_in_a_row = 0;
    TscTime down_until;
  };

  Resolver(ResolverOptions options, std::unique_ptr<PendingTable> table);
  bool may_ask(const Pending& pending, size_t server) const;
  // The server for the next try; servers.count if none is usable, or all are used up.
  size_t choose_server(const Pending& pending, const RouteTable& routes, TscTime now) const;
  bool tries_left(const Pending& pending, const RouteTable& routes) const;
  void note_failure(Pending& pending, dns::Rcode rcode);
  // An event of the server that is asked.
  void count(const Pending& pending, stats::Upstream event) {
    stats_->servers[pending.server].events[event].add();
  }
  TryStatus start_try(Pending& pending, size_t server, const RouteTable& routes, TscTime now);

  std::unique_ptr<PendingTable> table_;
  WaiterPool waiters_;
  Random random_;
  uint64_t try_ticks_;
  uint64_t deadline_ticks_;
  uint64_t down_ticks_;
  uint16_t first_port_;  // of this worker's share
  uint16_t port_step_;
  uint16_t port_count_;
  std::array<ServerHealth, config::kMaxServers> health_{};
  stats::WorkerStats* stats_;
};

}  // namespace wirecache::upstream

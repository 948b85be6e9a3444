#include "lib/upstream/resolver.h"

#include <bit>
#include <utility>

namespace wirecache::upstream {
namespace {

// A server is passed over for this long after so many time-outs in a row, while another can be
// asked.
constexpr uint32_t kTimeoutsUntilDown = 5;
constexpr uint64_t kDownUs = 2'000'000;
// Draws of (port, ID) until one is free: with the table's bound far below ports × IDs one does it.
constexpr int kMaxDraws = 8;

}  // namespace

Expected<std::unique_ptr<Resolver>> Resolver::create(ResolverOptions options) {
  auto table = PendingTable::create(options.name, options.upstream.max_pending, options.numa_node);
  if (!table) return Unexpected(std::move(table.error()));
  return std::unique_ptr<Resolver>(new Resolver(std::move(options), std::move(*table)));
}

Resolver::Resolver(ResolverOptions options, std::unique_ptr<PendingTable> table)
    : table_(std::move(table)),
      waiters_(options.upstream.max_waiting),
      random_(std::move(options.random)),
      try_ticks_(options.clock.ticks_from_us(options.upstream.try_timeout_ms * 1000ull)),
      deadline_ticks_(options.clock.ticks_from_us(options.upstream.deadline_ms * 1000ull)),
      down_ticks_(options.clock.ticks_from_us(kDownUs)),
      first_port_(static_cast<uint16_t>(options.upstream.first_source_port + options.worker)),
      port_step_(static_cast<uint16_t>(options.workers)),
      port_count_(static_cast<uint16_t>(
          (options.upstream.last_source_port - first_port_) / port_step_ + 1)),
      stats_(options.stats) {}

Resolver::Asked Resolver::ask(const cache::Key& key, dns::DoBit dnssec, TscTime now) {
  Pending* pending = table_->find(key, dns::DoBit::kSet);
  if (pending == nullptr && dnssec == dns::DoBit::kClear)
    pending = table_->find(key, dns::DoBit::kClear);
  const uint32_t waiter = waiters_.take();
  if (waiter == kNoIndex) return {AskStatus::kOverload, nullptr, nullptr};
  const AskStatus status = pending != nullptr ? AskStatus::kJoined : AskStatus::kStarted;
  if (pending == nullptr) pending = table_->add(key, dnssec, now);
  if (pending == nullptr) {
    waiters_.give_back(waiter);
    return {AskStatus::kOverload, nullptr, nullptr};
  }
  waiters_[waiter].next = pending->first_waiter;
  pending->first_waiter = waiter;
  return {status, pending, &waiters_[waiter]};
}

bool Resolver::may_ask(const Pending& pending, size_t server) const {
  return (pending.servers_done >> server & 1) == 0 && pending.asked[server] < kMaxTriesPerServer;
}

bool Resolver::tries_left(const Pending& pending, const RouteTable& routes) const {
  for (size_t server = 0; server < routes.count; ++server) {
    if (may_ask(pending, server)) return true;
  }
  return false;
}

// The server asked least often for this question, in the order of configuration; one that is down
// only where no other is left.
size_t Resolver::choose_server(const Pending& pending, const RouteTable& routes,
                               TscTime now) const {
  size_t best = routes.count;
  bool best_down = false;
  for (size_t server = 0; server < routes.count; ++server) {
    if (!routes.servers[server].usable || !may_ask(pending, server)) continue;
    const bool down = now < health_[server].down_until;
    const bool better = best == routes.count || (best_down && !down) ||
                        (best_down == down && pending.asked[server] < pending.asked[best]);
    if (!better) continue;
    best = server;
    best_down = down;
  }
  return best;
}

Resolver::TryStatus Resolver::next_try(Pending& pending, const RouteTable& routes, TscTime now) {
  table_->forget_try(pending);
  table_->stop_try_timer(pending);
  if (!tries_left(pending, routes)) {
    // What one server said is the answer only where all have said so.
    const bool all_said_so = std::popcount(pending.servers_done) == static_cast<int>(routes.count);
    if (!all_said_so) pending.last_rcode = dns::Rcode::kServFail;
    return TryStatus::kExhausted;
  }
  pending.edns = true;  // only the server that rejected it is asked without
  const size_t server = choose_server(pending, routes, now);
  if (server < routes.count) return start_try(pending, server, routes, now);
  stats_->upstream[stats::Upstream::kUnreachable].add();
  pending.try_started = now;
  table_->start_try_timer(pending);
  return TryStatus::kHold;
}

Resolver::TryStatus Resolver::start_try(Pending& pending, size_t server, const RouteTable& routes,
                                        TscTime now) {
  bool filed = false;
  for (int draw = 0; draw < kMaxDraws && !filed; ++draw) {
    const auto port = static_cast<uint16_t>(first_port_ + random_.below(port_count_) * port_step_);
    filed = table_->file_try(pending, port, random_.next_u16());
  }
  pending.try_started = now;
  if (!filed) {
    stats_->servers[server].events[stats::Upstream::kUnreachable].add();
    table_->start_try_timer(pending);
    return TryStatus::kHold;
  }
  pending.server = static_cast<uint8_t>(server);
  pending.source = routes.servers[server].source;
  ++pending.asked[server];
  // The last try has all the time until the deadline.
  if (tries_left(pending, routes)) table_->start_try_timer(pending);
  return TryStatus::kSend;
}

Resolver::TryStatus Resolver::retry_without_edns(Pending& pending, const RouteTable& routes,
                                                 TscTime now) {
  pending.edns = false;
  const size_t server = pending.server;
  table_->forget_try(pending);
  table_->stop_try_timer(pending);
  if (!may_ask(pending, server) || !routes.servers[server].usable)
    return next_try(pending, routes, now);
  return start_try(pending, server, routes, now);
}

void Resolver::note_answer(Pending& pending, Verdict verdict, dns::Rcode rcode) {
  health_[pending.server] = ServerHealth{};
  if (verdict == Verdict::kAnswered) return;
  note_failure(pending, rcode);
  count(pending, stats::Upstream::kFailure);
}

void Resolver::note_unreachable(Pending& pending, TscTime now) {
  health_[pending.server].down_until = TscTime{now.ticks + down_ticks_};
  note_failure(pending, dns::Rcode::kServFail);
  count(pending, stats::Upstream::kIcmpUnreachable);
}

void Resolver::note_failure(Pending& pending, dns::Rcode rcode) {
  const bool agrees = pending.servers_done == 0 || pending.last_rcode == rcode;
  pending.last_rcode = agrees ? rcode : dns::Rcode::kServFail;
  pending.servers_done |= 1u << pending.server;
}

Pending* Resolver::next_expired(TscTime now) {
  Pending* pending = table_->oldest();
  if (pending == nullptr || now.ticks - pending->started.ticks < deadline_ticks_) return nullptr;
  if (pending->source_port != 0) count(*pending, stats::Upstream::kTimeout);
  return pending;
}

Pending* Resolver::next_timed_out(TscTime now) {
  Pending* pending = table_->oldest_try();
  if (pending == nullptr || now.ticks - pending->try_started.ticks < try_ticks_) return nullptr;
  if (pending->source_port != 0) {
    count(*pending, stats::Upstream::kTimeout);
    ServerHealth& health = health_[pending->server];
    if (++health.timeouts_in_a_row >= kTimeoutsUntilDown)
      health.down_until = TscTime{now.ticks + down_ticks_};
  }
  return pending;
}

Waiter Resolver::take_waiter(Pending& pending) {
  const uint32_t index = pending.first_waiter;
  const Waiter waiter = waiters_[index];
  pending.first_waiter = waiter.next;
  waiters_.give_back(index);
  return waiter;
}

}  // namespace wirecache::upstream

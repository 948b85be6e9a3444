#include "lib/worker/miss_handler.h"

#include <rte_mempool.h>

#include <utility>

#include "lib/dns/reply.h"

namespace wirecache::worker {
namespace {

using cache::EncodeStatus;
using upstream::AnswerKind;
using upstream::Pending;
using upstream::Resolver;
using upstream::Waiter;

// Waiters told and queries sent in one round at most, and expiries looked at: so that neither a
// popular name nor an outage holds up the hits for longer than a receive queue lasts, or overruns a
// transmit queue.
constexpr int kMaxSendsPerRound = 256;
constexpr int kMaxExpiriesPerRound = 64;

// Rcodes of a server that clients are told; all others become SERVFAIL.
dns::Rcode failure_for_clients(dns::Rcode rcode) {
  return rcode == dns::Rcode::kRefused || rcode == dns::Rcode::kNotImp ? rcode
                                                                       : dns::Rcode::kServFail;
}

}  // namespace

bool serves(const uint8_t* entry, dns::DoBit dnssec, uint32_t now_sec) {
  if (entry == nullptr) return false;
  const cache::EntryView view(entry);
  return view.fresh(now_sec) &&
         (dnssec == dns::DoBit::kClear || (view.flags() & cache::kEntryFetchedWithDo) != 0);
}

MissHandler::MissHandler(Node& node, unsigned worker, std::unique_ptr<Resolver> resolver,
                         Transmitter& transmitter)
    : node_(node),
      partition_(node.partition(worker)),
      stats_(node.stats(worker)),
      transmitter_(transmitter),
      resolver_(std::move(resolver)),
      failures_(node.cache_config().failure_ttl_sec),
      scratch_(std::make_unique<std::array<uint8_t, cache::kMaxEntryBytes>>()) {}

void MissHandler::begin_round(const Snapshot* snapshot, TscTime now) {
  snapshot_ = snapshot;
  now_ = now;
  now_sec_ = node_.clock().seconds(now);
  sends_left_ = kMaxSendsPerRound;
}

cache::ReplyOptions MissHandler::reply_options() const {
  return {now_sec_, snapshot_->edns.udp_size, snapshot_->edns.max_reply_bytes};
}

// Its answer may have come while the packet was in the ring; or the question failed a moment ago.
bool MissHandler::answer_without_asking(Packet& packet) {
  const dns::Query& query = packet.query;
  const cache::Key& key = packet.key;
  const uint8_t* entry = partition_.find(key);
  if (serves(entry, query.edns.do_bit(), now_sec_)) {
    const cache::EntryView view(entry);
    const auto reply = cache::build_reply(view, query, reply_options(), packet.reply_room());
    stats_.outcomes[stats::Outcome::kMiss].add();
    stats_.miss_latency.record(node_.clock().ns_between(packet.arrived, now_));
    transmitter_.reply(packet, reply.bytes, view.rcode());
    return true;
  }
  const auto failure = failures_.find(key.hash, now_sec_);
  if (!failure) return false;
  stats_.outcomes[stats::Outcome::kHit].add();
  stats_.hit_latency.record(node_.clock().ns_between(packet.arrived, now_));
  const size_t bytes =
      dns::write_empty_reply(packet.reply_room(), query, *failure, 0, snapshot_->edns.udp_size);
  transmitter_.reply(packet, static_cast<uint16_t>(bytes), *failure);
  return true;
}

void MissHandler::miss(Packet& packet) {
  const dns::Query& query = packet.query;
  if (answer_without_asking(packet)) return;
  const Resolver::Asked asked = resolver_->ask(packet.key, query.edns.do_bit(), now_);
  if (asked.status == Resolver::AskStatus::kOverload) {
    stats_.outcomes[stats::Outcome::kOverload].add();
    const size_t bytes = dns::write_empty_reply(packet.reply_room(), query, dns::Rcode::kServFail,
                                                0, snapshot_->edns.udp_size);
    transmitter_.reply(packet, static_cast<uint16_t>(bytes), dns::Rcode::kServFail);
    return;
  }
  stats_.outcomes[stats::Outcome::kMiss].add();
  fill_waiter(*asked.waiter, packet.frame, query, packet.question_name());
  asked.waiter->arrived = packet.arrived;
  asked.waiter->port_index = packet.port_index;
  if (asked.status == Resolver::AskStatus::kStarted) {
    start(*asked.pending, packet.mbuf);
  } else {
    rte_pktmbuf_free(packet.mbuf);
  }
}

// The client's packet becomes the query's.
void MissHandler::start(Pending& pending, rte_mbuf* reuse) {
  rte_pktmbuf_reset(reuse);
  act(pending, resolver_->next_try(pending, snapshot_->routes, now_), reuse);
}

void MissHandler::act(Pending& pending, Resolver::TryStatus status, rte_mbuf* reuse) {
  if (status == Resolver::TryStatus::kSend) {
    transmit_query(pending, reuse != nullptr ? reuse : rte_pktmbuf_alloc(node_.pool()));
    return;
  }
  rte_pktmbuf_free(reuse);
  if (status == Resolver::TryStatus::kExhausted) fail(pending, pending.last_rcode);
}

void MissHandler::transmit_query(const Pending& pending, rte_mbuf* mbuf) {
  if (mbuf == nullptr) {  // the try's timer runs: it will be sent again
    stats_.servers[pending.server].events[stats::Upstream::kUnreachable].add();
    return;
  }
  --sends_left_;
  const upstream::ServerRoute& route = snapshot_->routes.servers[pending.server];
  net::DatagramHeaders headers;
  headers.destination_mac = route.next_hop;
  headers.source = route.source;
  headers.destination = route.address;
  headers.source_port = pending.source_port;
  headers.destination_port = route.port;

  auto* frame = rte_pktmbuf_mtod(mbuf, uint8_t*);
  const uint16_t offset = headers.bytes();
  const MutableBytes room(frame + offset,
                          static_cast<size_t>(mbuf->buf_len - mbuf->data_off - offset));
  const size_t bytes = write_query(pending, snapshot_->edns.udp_size, room);
  transmitter_.send_datagram(mbuf, headers, static_cast<uint16_t>(bytes), route.port_index,
                             tag_of_query_to(pending.server));
}

// Queries go out untagged: an answer with a tag comes from another network. By which port it comes
// is the network's choice: with gateways the way back may be another one.
bool MissHandler::came_from_server(const Pending& pending, const Packet& packet) const {
  const upstream::ServerRoute& route = snapshot_->routes.servers[pending.server];
  const net::Frame& frame = packet.frame;
  return frame.source == route.address && frame.source_port == route.port &&
         frame.destination == pending.source && frame.vlan_tags == 0;
}

// The question whose try `packet` answers, or tells of; nullptr, counted: none.
Pending* MissHandler::waiting_for(const Packet& packet) {
  const Bytes message = packet.message();
  Pending* pending =
      message.size() < sizeof(uint16_t)
          ? nullptr
          : resolver_->match(packet.frame.destination_port, load_be16(message.data()));
  if (pending == nullptr) {
    stats_.drops[stats::Drop::kUpstreamUnmatched].add();
  } else if (!came_from_server(*pending, packet)) {
    stats_.drops[stats::Drop::kUpstreamMismatch].add();
    return nullptr;
  }
  return pending;
}

void MissHandler::answer(Packet& packet) {
  if (Pending* pending = waiting_for(packet); pending != nullptr) {
    const Bytes message = packet.message();
    take_answer(*pending, upstream::judge_answer(*pending, message), message);
  }
  rte_pktmbuf_free(packet.mbuf);
}

// Believed only with the query's ID and port, which whoever forges it has to guess as for an answer
// (RFC 5927 §4 asks to check what the error quotes).
void MissHandler::unreachable(Packet& packet) {
  Pending* pending = waiting_for(packet);
  rte_pktmbuf_free(packet.mbuf);
  if (pending == nullptr) return;
  resolver_->note_unreachable(*pending, now_);
  act(*pending, resolver_->next_try(*pending, snapshot_->routes, now_), nullptr);
}

void MissHandler::take_answer(Pending& pending, const upstream::JudgedAnswer& judged,
                              Bytes message) {
  if (judged.kind == AnswerKind::kMismatch) {
    stats_.drops[stats::Drop::kUpstreamMismatch].add();
    return;
  }
  if (judged.kind == AnswerKind::kMalformed) {
    stats_.drops[stats::Drop::kUpstreamMalformed].add();
    return;
  }
  if (judged.kind == AnswerKind::kUsable) {
    take_usable(pending, message);
    return;
  }
  count_answer(pending);
  if (judged.kind == AnswerKind::kTruncated) {
    stats_.servers[pending.server].events[stats::Upstream::kTruncated].add();
    resolver_->note_answer(pending, Resolver::Verdict::kAnswered, judged.rcode);
    failures_.forget(pending.hash);
    finish(pending, {nullptr, judged.rcode, dns::kFlagTc}, Pace::kAsRoundAllows);
  } else if (judged.kind == AnswerKind::kNoEdns) {
    act(pending, resolver_->retry_without_edns(pending, snapshot_->routes, now_), nullptr);
  } else {
    server_failed(pending, judged.rcode);
  }
}

void MissHandler::count_answer(const Pending& pending) {
  stats::ServerStats& server = stats_.servers[pending.server];
  server.events[stats::Upstream::kAnswerTaken].add();
  server.latency.record(node_.clock().ns_between(pending.try_started, now_));
}

void MissHandler::take_usable(Pending& pending, Bytes message) {
  cache::EncodeOptions options;
  options.min_ttl_sec = snapshot_->cache.min_ttl_sec;
  options.max_ttl_sec = snapshot_->cache.max_ttl_sec;
  options.max_negative_ttl_sec = snapshot_->cache.max_negative_ttl_sec;
  options.now_sec = now_sec_;
  options.fetched_with_do = pending.dnssec == dns::DoBit::kSet && pending.edns;
  options.keep_ad = snapshot_->routes.servers[pending.server].trust_ad;
  const cache::Key key = pending.key();
  partition_.prefetch(key);
  const cache::Encoded encoded = cache::encode_answer(key, message, options, *scratch_);
  if (encoded.status == EncodeStatus::kMalformed) {
    stats_.drops[stats::Drop::kUpstreamMalformed].add();
    return;
  }
  count_answer(pending);
  if (encoded.status == EncodeStatus::kReferral || encoded.status == EncodeStatus::kTooLarge) {
    server_failed(pending, dns::Rcode::kServFail);
    return;
  }
  resolver_->note_answer(pending, Resolver::Verdict::kAnswered, dns::Rcode::kNoError);
  failures_.forget(key.hash);
  const bool kept =
      encoded.status == EncodeStatus::kKeep && keep(key, {scratch_->data(), encoded.size_bytes});
  finish(pending, {scratch_->data(), cache::EntryView(scratch_->data()).rcode(), 0},
         kept ? Pace::kAsRoundAllows : Pace::kAllAtOnce);
}

void MissHandler::server_failed(Pending& pending, dns::Rcode rcode) {
  resolver_->note_answer(pending, Resolver::Verdict::kFailed, rcode);
  act(pending, resolver_->next_try(pending, snapshot_->routes, now_), nullptr);
}

void MissHandler::fail(Pending& pending, dns::Rcode rcode) {
  stats_.upstream[stats::Upstream::kGaveUp].add();
  const dns::Rcode told = failure_for_clients(rcode);
  failures_.add(pending.hash, told, now_sec_);
  finish(pending, {nullptr, told, 0}, Pace::kAsRoundAllows);
}

// What was fetched without DO does not displace what was fetched with it.
bool MissHandler::keep(const cache::Key& key, Bytes entry) {
  const uint8_t* found = partition_.find(key);
  const bool with_do = (cache::EntryView(entry.data()).flags() & cache::kEntryFetchedWithDo) != 0;
  if (!with_do && serves(found, dns::DoBit::kSet, now_sec_)) return true;
  return partition_.insert(key, entry, now_sec_) != cache::InsertStatus::kRejected;
}

void MissHandler::finish(Pending& pending, const Result& result, Pace pace) {
  // For those who are told in a later round: should the entry be gone by then, it was a failure.
  pending.last_rcode = result.entry != nullptr ? dns::Rcode::kServFail : result.rcode;
  pending.result_flags = result.flags;
  resolver_->close(pending);
  tell_waiters(pending, result, pace);
}

void MissHandler::tell_waiters(Pending& pending, const Result& result, Pace pace) {
  while (resolver_->has_waiter(pending)) {
    const bool room = sends_left_ > 0 && transmitter_.has_room(resolver_->next_port(pending));
    if (!room && pace == Pace::kAsRoundAllows) return;
    --sends_left_;
    answer_waiter(pending, resolver_->take_waiter(pending), result);
  }
  resolver_->forget(pending);
}

// Entries are looked up anew in each round: the one of the round before may have moved.
MissHandler::Result MissHandler::stored_result(const Pending& pending) const {
  const uint8_t* entry = partition_.find(pending.key());
  const bool asked_for_entry = pending.result_flags == 0;
  if (asked_for_entry && serves(entry, dns::DoBit::kClear, now_sec_))
    return {entry, cache::EntryView(entry).rcode(), 0};
  return {nullptr, pending.last_rcode, pending.result_flags};
}

void MissHandler::answer_waiter(const Pending& pending, const Waiter& waiter,
                                const Result& result) {
  stats_.miss_latency.record(node_.clock().ns_between(waiter.arrived, now_));
  rte_mbuf* mbuf = rte_pktmbuf_alloc(node_.pool());
  if (mbuf == nullptr) {
    stats_.query_drops[stats::QueryDrop::kNoMbuf].add();
    return;
  }
  const net::DatagramHeaders headers = reply_headers_of(waiter);
  auto* frame = rte_pktmbuf_mtod(mbuf, uint8_t*);
  uint8_t* message = frame + headers.bytes();
  const MutableBytes room(message,
                          static_cast<size_t>(mbuf->buf_len - mbuf->data_off - headers.bytes()));

  const dns::Query query = query_of(waiter, pending.name_bytes, pending.type);
  restore_case(waiter, pending.name_view(), message + dns::kHeaderBytes);
  uint8_t* type = message + dns::kHeaderBytes + pending.name_bytes;
  store_be16(type, pending.type);
  store_be16(type + 2, query.qclass);
  const size_t bytes =
      result.entry != nullptr
          ? cache::build_reply(cache::EntryView(result.entry), query, reply_options(), room).bytes
          : dns::write_empty_reply(room, query, result.rcode, result.flags,
                                   snapshot_->edns.udp_size);
  transmitter_.send_datagram(mbuf, headers, static_cast<uint16_t>(bytes), waiter.port_index,
                             tag_of(result.rcode));
}

void MissHandler::tick() {
  while (Pending* closed = resolver_->first_closed()) {
    tell_waiters(*closed, stored_result(*closed), Pace::kAsRoundAllows);
    if (resolver_->first_closed() == closed) break;  // no room for more in this round
  }
  for (int i = 0; i < kMaxExpiriesPerRound && sends_left_ > 0; ++i) {
    Pending* pending = resolver_->next_expired(now_);
    if (pending == nullptr) break;
    fail(*pending, dns::Rcode::kServFail);
  }
  for (int i = 0; i < kMaxExpiriesPerRound && sends_left_ > 0; ++i) {
    if (!transmitter_.has_room_everywhere()) break;
    Pending* pending = resolver_->next_timed_out(now_);
    if (pending == nullptr) break;
    act(*pending, resolver_->next_try(*pending, snapshot_->routes, now_), nullptr);
  }
  stats_.waiting.set(resolver_->waiting());
  stats_.pending.set(resolver_->pending());
}

}  // namespace wirecache::worker

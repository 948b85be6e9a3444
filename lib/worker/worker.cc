#include "lib/worker/worker.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include <time.h>

#include <utility>

#include "lib/dns/reply.h"

namespace wirecache::worker {

using dns::QueryStatus;
using stats::Drop;
using stats::Malformed;
using stats::Outcome;

Expected<std::unique_ptr<Worker>> Worker::create(Node& node, const WorkerOptions& options) {
  upstream::ResolverOptions resolver{
      .name = node.name() + "-q" + std::to_string(options.id),
      .worker = options.id,
      .workers = node.workers(),
      .numa_node = node.numa_node(),
      .clock = node.clock(),
      .upstream = options.upstream,
      .random = options.random,
      .stats = &node.stats(options.id),
  };
  auto made = upstream::Resolver::create(std::move(resolver));
  if (!made) return Unexpected(std::move(made.error()));
  return std::unique_ptr<Worker>(new Worker(node, options.id, std::move(*made)));
}

Worker::Worker(Node& node, unsigned id, std::unique_ptr<upstream::Resolver> resolver)
    : node_(node),
      id_(id),
      stats_(node.stats(id_)),
      transmitter_(node, id_),
      misses_(node, id_, std::move(resolver), transmitter_) {}

void Worker::go_online() {
  rte_rcu_qsbr_thread_register(node_.rcu(), id_);
  rte_rcu_qsbr_thread_online(node_.rcu(), id_);
}

void Worker::go_offline() {
  rte_rcu_qsbr_thread_offline(node_.rcu(), id_);
  rte_rcu_qsbr_thread_unregister(node_.rcu(), id_);
}

// An idle CPU is given up by a short sleep, not by sched_yield(): a task that does nothing but
// yield starves others on kernels that charge each yield a whole slice (seen on Linux 6.18).
void Worker::run(config::IdlePolicy idle) {
  constexpr unsigned kEmptyPolls = 32;
  constexpr timespec kNap{0, 10'000};
  go_online();
  unsigned empty_polls = 0;
  while (node_.phase() != Phase::kStopped) {
    empty_polls = poll(TscTime{rte_rdtsc()}) ? 0 : empty_polls + 1;
    if (idle == config::IdlePolicy::kYield && empty_polls >= kEmptyPolls) nanosleep(&kNap, nullptr);
  }
  go_offline();
}

bool Worker::poll(TscTime now) {
  begin_round(now);
  bool busy = false;
  for (const QueueRef queue : node_.plan().polled[id_]) busy |= receive(queue);
  busy |= receive_handovers();
  misses_.tick();
  transmitter_.flush();
  node_.partition(id_).maintain(now_sec_);
  return busy;
}

// Nothing of an earlier round is referred to any more: entries and snapshot may go.
void Worker::begin_round(TscTime now) {
  rte_rcu_qsbr_quiescent(node_.rcu(), id_);
  if (hits_in_round_ != 0) {
    stats_.hit_latency.record(node_.clock().ns_between(now_, now), hits_in_round_);
    hits_in_round_ = 0;
  }
  snapshot_ = node_.snapshot();
  draining_ = node_.phase() != Phase::kRunning;
  now_ = now;
  now_sec_ = node_.clock().seconds(now);
  misses_.begin_round(snapshot_, now);
  stats_.polls.add();
}

bool Worker::receive(QueueRef queue) {
  std::array<rte_mbuf*, kBurstPackets> mbufs;
  const PortRef& port = node_.ports()[queue.port_index];
  const uint16_t count = rte_eth_rx_burst(port.ethdev_id, queue.queue, mbufs.data(), port.burst);
  if (count == 0) return false;
  stats_.ports[queue.port_index].received.add(count);
  begin_burst();
  classify_burst(mbufs.data(), count, queue.port_index);
  parse_burst();
  if (port.spread == PortRef::Spread::kToOwner) hand_to_owners();
  look_up_burst();
  answer_burst();
  return true;
}

void Worker::begin_burst() {
  queries_.count = 0;
  lookups_.count = 0;
}

// What is not a client's query leaves here: to main, to an answer's owner, or dropped.
void Worker::classify_burst(rte_mbuf** mbufs, uint16_t count, uint8_t port_index) {
  for (uint16_t i = 0; i < count; ++i) rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void*));
  for (uint16_t i = 0; i < count; ++i) {
    Packet& packet = packets_[i];
    packet.take(mbufs[i]);
    packet.arrived = now_;
    packet.port_index = port_index;
    const Classified what = classify(*snapshot_, node_.ports()[port_index], packet);
    switch (what.kind) {
      case PacketKind::kClientQuery:
        queries_.add(packet);
        break;
      case PacketKind::kUpstreamAnswer:
        hand_answer(packet, HandoverKind::kAnswer);
        break;
      case PacketKind::kUnreachable:
        hand_answer(packet, HandoverKind::kUnreachable);
        break;
      case PacketKind::kPunt:
        punt(packet);
        break;
      case PacketKind::kUrgentPunt:
        punt_urgent(packet);
        break;
      case PacketKind::kDrop:
        drop(packet, what.drop);
        break;
    }
  }
}

// What needs no look-up is answered here; the rest gets its key.
void Worker::parse_burst() {
  for (uint16_t i = 0; i < queries_.count; ++i) {
    Packet& packet = *queries_.packets[i];
    const QueryStatus status = dns::parse_query(packet.message(), packet.query);
    if (drop_if_silent(packet, status) || !admit(packet)) continue;
    if (status != QueryStatus::kOk) {
      answer_unlooked(packet, status);
      continue;
    }
    make_key(packet);
    lookups_.add(packet);
  }
}

void Worker::make_key(Packet& packet) {
  packet.key = packet.key_bytes.make(node_.secret(), packet.question_name(), packet.query.qtype,
                                     packet.query.cd_bit(), 0);
}

// RSS in software. What finds its ring full is looked up here, as every worker may.
void Worker::hand_to_owners() {
  uint16_t kept = 0;
  for (uint16_t i = 0; i < lookups_.count; ++i) {
    Packet& packet = *lookups_.packets[i];
    const uint32_t owner = owner_of(packet.key.hash, node_.workers());
    if (owner != id_ && hand(packet, HandoverKind::kLookup, owner)) {
      stats_.handed_to_owner.add();
    } else {
      lookups_.packets[kept++] = &packet;
    }
  }
  lookups_.count = kept;
}

// One look-up for the whole burst, whichever partitions own its keys.
void Worker::look_up_burst() {
  const uint16_t count = lookups_.count;
  std::array<cache::Partition::Query, kBurstPackets> queries;
  std::array<const uint8_t*, kBurstPackets> found;
  static_assert(kBurstPackets <= cache::Partition::kMaxBurst);
  for (uint16_t i = 0; i < count; ++i) {
    const cache::Key& key = lookups_.packets[i]->key;
    queries[i] = node_.partition(owner_of(key.hash, node_.workers())).query(key);
  }
  cache::Partition::find_burst({queries.data(), count}, found.data());
  for (uint16_t i = 0; i < count; ++i) lookups_.packets[i]->entry = found[i];
}

void Worker::answer_burst() {
  for (uint16_t i = 0; i < lookups_.count; ++i) {
    Packet& packet = *lookups_.packets[i];
    // What has expired as well: it will be fetched again, and was worth keeping.
    if (packet.entry != nullptr) cache::EntryView(packet.entry).note_asked();
    if (serves(packet.entry, packet.query.edns.do_bit(), now_sec_)) {
      answer_hit(packet);
    } else if (packet.query.rd()) {
      hand_miss(packet);
    } else {
      refuse(packet);
    }
  }
}

// Messages that must not be answered (an answer could loop).
bool Worker::drop_if_silent(Packet& packet, QueryStatus status) {
  if (status == QueryStatus::kDropShort) {
    stats_.malformed[Malformed::kShort].add();
    drop(packet, Drop::kShortMessage);
  } else if (status == QueryStatus::kDropResponse) {
    stats_.malformed[Malformed::kResponse].add();
    drop(packet, Drop::kUnwantedResponse);
  } else {
    return false;
  }
  return true;
}

// Counts the packet as a client's query, unless it is turned away here.
bool Worker::admit(Packet& packet) {
  if (draining_) {
    drop(packet, Drop::kStopping);
    return false;
  }
  const bool allowed = snapshot_->clients.allows(packet.frame.source);
  if (!allowed && snapshot_->refuse == config::RefuseAction::kDrop) {
    drop(packet, Drop::kClientRefused);
    return false;
  }
  const bool v6 = packet.frame.source.is_v6();
  stats_.count_query(packet.port_index, v6 ? stats::Family::kIpv6 : stats::Family::kIpv4,
                     packet.query.qtype);
  if (!allowed) refuse(packet);
  return allowed;
}

void Worker::answer_unlooked(Packet& packet, QueryStatus status) {
  switch (status) {
    case QueryStatus::kNotImp:
      return answer_malformed(packet, Malformed::kNotImp, dns::Rcode::kNotImp);
    case QueryStatus::kBadVers:
      return answer_malformed(packet, Malformed::kBadVers, dns::Rcode::kBadVers);
    case QueryStatus::kAny: {
      stats_.outcomes[Outcome::kLocal].add();
      const size_t bytes =
          dns::write_any_reply(packet.reply_room(), packet.query, snapshot_->edns.udp_size);
      transmitter_.reply(packet, static_cast<uint16_t>(bytes), dns::Rcode::kNoError);
      return;
    }
    case QueryStatus::kRefusedClass:
      return refuse_kind(packet, Malformed::kClass);
    case QueryStatus::kRefusedType:
      return refuse_kind(packet, Malformed::kMetaType);
    case QueryStatus::kChaos:
      return refuse_kind(packet, Malformed::kChaos);
    case QueryStatus::kSigned:
      return refuse_kind(packet, Malformed::kSigned);
    default:
      return answer_malformed(packet, Malformed::kFormErr, dns::Rcode::kFormErr);
  }
}

void Worker::answer_malformed(Packet& packet, Malformed kind, dns::Rcode rcode) {
  stats_.malformed[kind].add();
  stats_.outcomes[Outcome::kMalformed].add();
  reply_empty(packet, rcode);
}

void Worker::refuse_kind(Packet& packet, Malformed kind) {
  stats_.malformed[kind].add();
  refuse(packet);
}

void Worker::refuse(Packet& packet) {
  stats_.outcomes[Outcome::kRefused].add();
  reply_empty(packet, dns::Rcode::kRefused);
}

void Worker::reply_empty(Packet& packet, dns::Rcode rcode) {
  const size_t bytes =
      dns::write_empty_reply(packet.reply_room(), packet.query, rcode, 0, snapshot_->edns.udp_size);
  transmitter_.reply(packet, static_cast<uint16_t>(bytes), rcode);
}

void Worker::answer_hit(Packet& packet) {
  const cache::EntryView entry(packet.entry);
  const cache::ReplyOptions options{now_sec_, snapshot_->edns.udp_size,
                                    snapshot_->edns.max_reply_bytes, rotation_};
  rotation_ += node_.cache_config().rotate_addresses ? 1 : 0;
  const auto reply = cache::build_reply(entry, packet.query, options, packet.reply_room());
  stats_.outcomes[Outcome::kHit].add();
  ++hits_in_round_;
  transmitter_.reply(packet, reply.bytes, entry.rcode());
}

void Worker::hand_miss(Packet& packet) {
  const uint32_t owner = owner_of(packet.key.hash, node_.workers());
  if (owner == id_) {
    misses_.miss(packet);
    return;
  }
  if (hand(packet, HandoverKind::kMiss, owner)) {
    stats_.handed_to_owner.add();
    return;
  }
  stats_.outcomes[Outcome::kOverload].add();
  reply_empty(packet, dns::Rcode::kServFail);
}

// Gives the packet away, unless the ring is full.
bool Worker::hand(Packet& packet, HandoverKind kind, unsigned to) {
  Handover& handover = handover_of(packet.mbuf);
  handover.kind = kind;
  handover.port_index = packet.port_index;
  handover.arrived = packet.arrived;
  handover.query = packet.query;
  handover.frame = packet.frame;
  return node_.rings().push(id_, to, packet.mbuf);
}

void Worker::hand_answer(Packet& packet, HandoverKind kind) {
  const unsigned owner = upstream::worker_of_source_port(
      packet.frame.destination_port, snapshot_->first_source_port, node_.workers());
  if (owner != id_) {
    if (!hand(packet, kind, owner)) drop(packet, Drop::kHandoverRingFull);
  } else if (kind == HandoverKind::kAnswer) {
    misses_.answer(packet);
  } else {
    misses_.unreachable(packet);
  }
}

void Worker::punt(Packet& packet) {
  Handover& handover = handover_of(packet.mbuf);
  handover.kind = HandoverKind::kPunt;
  handover.port_index = packet.port_index;
  if (node_.rings().push(id_, node_.main_lcore(), packet.mbuf)) {
    stats_.ports[packet.port_index].punted.add();
  } else {
    drop(packet, Drop::kPuntRingFull);
  }
}

void Worker::punt_urgent(Packet& packet) {
  Handover& handover = handover_of(packet.mbuf);
  handover.kind = HandoverKind::kPunt;
  handover.port_index = packet.port_index;
  if (!node_.rings().push_urgent(id_, packet.mbuf)) return drop(packet, Drop::kPuntRingFull);
  stats_.ports[packet.port_index].punted.add();
  stats_.urgent_punts.add();
}

void Worker::drop(Packet& packet, Drop reason) {
  rte_pktmbuf_free(packet.mbuf);
  stats_.drops[reason].add();
}

// More than one burst of each: a worker may send for several that have no queue of their own.
bool Worker::receive_handovers() {
  constexpr int kMaxBursts = 8;
  bool busy = false;
  for (unsigned from = 0; from < node_.rings().lcores(); ++from) {
    if (from == id_) continue;
    std::array<rte_mbuf*, kBurstPackets> mbufs;
    unsigned count = kBurstPackets;
    for (int i = 0; i < kMaxBursts && count == kBurstPackets; ++i) {
      count = node_.rings().pop(from, id_, mbufs.data(), kBurstPackets);
      if (count != 0) take_handovers(mbufs.data(), count);
      busy |= count != 0;
    }
  }
  return busy;
}

// Queries among them go through the same stages as a received burst.
void Worker::take_handovers(rte_mbuf** mbufs, unsigned count) {
  begin_burst();
  for (unsigned i = 0; i < count; ++i) {
    const Handover& handover = handover_of(mbufs[i]);
    if (handover.kind == HandoverKind::kTransmit) {
      transmitter_.send(mbufs[i], handover.port_index, handover.tag);
      continue;
    }
    Packet& packet = packets_[i];
    packet.take(mbufs[i]);
    packet.port_index = handover.port_index;
    packet.arrived = handover.arrived;
    packet.frame = handover.frame;
    packet.query = handover.query;
    take_handover(packet);
  }
  parse_burst();
  look_up_burst();
  answer_burst();
}

void Worker::take_handover(Packet& packet) {
  switch (handover_of(packet.mbuf).kind) {
    case HandoverKind::kQuery:
      stats_.from_stream.add();
      queries_.add(packet);
      break;
    case HandoverKind::kLookup:
      make_key(packet);
      lookups_.add(packet);
      break;
    case HandoverKind::kMiss:
      make_key(packet);
      misses_.miss(packet);
      break;
    case HandoverKind::kAnswer:
      misses_.answer(packet);
      break;
    case HandoverKind::kUnreachable:
      misses_.unreachable(packet);
      break;
    case HandoverKind::kPunt:  // main's alone
    case HandoverKind::kTransmit:
      rte_pktmbuf_free(packet.mbuf);
      break;
  }
}

}  // namespace wirecache::worker

#include "tests/support/rig.h"

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace wirecache::testing {
namespace {

// A rig that can't be built is a broken test environment, not a test result.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "rig: %s\n", what);
  std::abort();
}

std::string unique_name() {
  static unsigned count = 0;
  return "r" + std::to_string(count++);
}

void free_ring(rte_ring* ring) {
  void* mbuf = nullptr;
  while (rte_ring_dequeue(ring, &mbuf) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(mbuf));
  rte_ring_free(ring);
}

IpAddress address(const char* text) {
  return *IpAddress::parse(text);
}

}  // namespace

config::Config RigOptions::default_config() {
  config::Config config;
  config.listen.addresses = {address("10.0.0.1"), address("fd00::1")};
  config.clients.allow = {*IpPrefix::parse("10.0.0.0/8"), *IpPrefix::parse("fd00::/8")};
  config.upstream.servers = {{address("10.0.0.2"), 53, false}, {address("10.0.0.3"), 53, false}};
  config.upstream.max_pending = 256;
  config.upstream.max_waiting = 512;
  config.cache.memory_mb = 16;
  return config;
}

Rig::Rig(const RigOptions& options) : options_(options), name_(unique_name()) {
  if (options_.queues.empty()) options_.queues = {static_cast<uint16_t>(options_.workers)};
  pool_ = rte_pktmbuf_pool_create(name_.c_str(), options_.mbufs, 0, worker::kHandoverBytes,
                                  RTE_MBUF_DEFAULT_BUF_SIZE, 0);
  require(pool_ != nullptr, "no mbuf pool");
  for (const uint16_t queues : options_.queues) add_port(queues);

  worker::NodeOptions node;
  node.name = name_;
  node.workers = options_.workers;
  node.clock = TscClock(kTicksPerMs * 1000);
  node.secret = HashSecret::from_seed(1);
  node.pool = pool_;
  node.ports = ports_;
  node.cache = options_.config.cache;
  auto made = worker::Node::create(std::move(node));
  require(made.has_value(), "no node");
  node_ = std::move(*made);
  publish();
  for (unsigned id = 0; id < options_.workers; ++id) {
    Random::Key key{};
    key[0] = static_cast<uint8_t>(id + 1);
    auto worker = worker::Worker::create(*node_, {id, options_.config.upstream, Random(key)});
    require(worker.has_value(), "no worker");
    workers_.push_back(std::move(*worker));
    workers_.back()->go_online();
  }
}

Rig::~Rig() {
  for (auto& worker : workers_) worker->go_offline();
  workers_.clear();
  node_.reset();
  for (const worker::PortRef& port : ports_) {
    rte_eth_dev_stop(port.ethdev_id);
    rte_eth_dev_close(port.ethdev_id);
  }
  for (auto* side : {&rx_, &tx_}) {
    for (auto& rings : *side) {
      for (rte_ring* ring : rings) free_ring(ring);
    }
  }
  rte_mempool_free(pool_);
}

void Rig::add_port(uint16_t receive_queues) {
  const std::string name = name_ + "p" + std::to_string(ports_.size());
  const auto transmit_queues =
      static_cast<uint16_t>(receive_queues + options_.more_transmit_queues);
  const auto make_rings = [&](const std::string& side, uint16_t queues) {
    std::vector<rte_ring*> rings;
    for (uint16_t queue = 0; queue < queues; ++queue) {
      const std::string ring = name + side + std::to_string(queue);
      rings.push_back(rte_ring_create(ring.c_str(), 1024, 0, RING_F_SP_ENQ | RING_F_SC_DEQ));
      require(rings.back() != nullptr, "no ring");
    }
    return rings;
  };
  rx_.push_back(make_rings("r", receive_queues));
  tx_.push_back(make_rings("t", transmit_queues));
  const int port = rte_eth_from_rings(name.c_str(), rx_.back().data(), receive_queues,
                                      tx_.back().data(), transmit_queues, 0);
  require(port >= 0, "no ring port");
  const auto id = static_cast<uint16_t>(port);
  rte_eth_conf conf{};
  require(rte_eth_dev_configure(id, receive_queues, transmit_queues, &conf) == 0, "configure");
  for (uint16_t queue = 0; queue < receive_queues; ++queue)
    require(rte_eth_rx_queue_setup(id, queue, 0, 0, nullptr, pool_) == 0, "rx queue");
  for (uint16_t queue = 0; queue < transmit_queues; ++queue)
    require(rte_eth_tx_queue_setup(id, queue, 0, 0, nullptr) == 0, "tx queue");
  require(rte_eth_dev_start(id) == 0, "start");
  worker::PortRef ref;
  ref.ethdev_id = id;
  ref.queues = {receive_queues, transmit_queues};
  ref.mac = MacAddress{{0x02, 0, 0, 0, 1, static_cast<uint8_t>(ports_.size())}};
  ref.spread = options_.spread;
  ports_.push_back(ref);
}

void Rig::publish() {
  auto snapshot = std::make_unique<worker::Snapshot>(options_.config);
  for (const config::UpstreamServer& server : options_.config.upstream.servers) {
    upstream::ServerRoute& route = snapshot->routes.servers[snapshot->routes.count++];
    route.address = server.address;
    route.port = server.port;
    route.trust_ad = server.trust_ad;
    route.source = address(server.address.is_v6() ? "fd00::1" : "10.0.0.1");
    route.next_hop = MacAddress{{0x02, 0, 0, 0, 2, server.address.bytes[3]}};
    route.usable = servers_usable_;
  }
  snapshot->routes.sources = {address("10.0.0.1"), address("fd00::1")};
  // Workers are registered but on this thread: let none of them hold the old one.
  for (unsigned id = 0; id < workers_.size(); ++id) rte_rcu_qsbr_thread_offline(node_->rcu(), id);
  node_->publish(std::move(snapshot));
  for (unsigned id = 0; id < workers_.size(); ++id) rte_rcu_qsbr_thread_online(node_->rcu(), id);
}

void Rig::set_servers_usable(bool usable) {
  servers_usable_ = usable;
  publish();
}

void Rig::inject_frame(const Wire& frame, unsigned port, unsigned queue) {
  rte_mbuf* mbuf = rte_pktmbuf_alloc(pool_);
  require(mbuf != nullptr, "pool is empty");
  char* room = rte_pktmbuf_append(mbuf, static_cast<uint16_t>(frame.size()));
  require(room != nullptr, "frame too large");
  std::copy(frame.begin(), frame.end(), reinterpret_cast<uint8_t*>(room));
  require(rte_ring_enqueue(rx_[port][queue], mbuf) == 0, "receive ring full");
}

Wire Rig::client_frame(const Wire& message, const Client& client) const {
  net::DatagramHeaders headers;
  headers.source_mac = client.mac;
  headers.destination_mac = port_mac(client.on_port);
  headers.source = client.address;
  headers.destination = client.server;
  headers.source_port = client.port;
  headers.destination_port = options_.config.listen.port;
  headers.tagged = client.vlan >= 0;
  headers.vlan_tci = static_cast<uint16_t>(client.vlan < 0 ? 0 : client.vlan);
  Wire frame(headers.bytes() + message.size() + net::kMinFrameBytes);
  std::copy(message.begin(), message.end(), frame.begin() + headers.bytes());
  frame.resize(net::write_datagram(frame.data(), headers, static_cast<uint16_t>(message.size())));
  return frame;
}

void Rig::ask(const Wire& message, const Client& client) {
  inject_frame(client_frame(message, client), client.on_port, client.on_queue);
}

void Rig::poll(unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    node_->provision_cache();
    for (auto& worker : workers_) worker->poll(now_);
  }
}

Sent Rig::take_apart(rte_mbuf* mbuf) {
  const auto* data = rte_pktmbuf_mtod(mbuf, const uint8_t*);
  Sent sent;
  sent.frame.assign(data, data + rte_pktmbuf_data_len(mbuf));
  rte_pktmbuf_free(mbuf);
  if (net::parse_frame(sent.frame, {}, sent.headers) == net::FrameVerdict::kUdp) {
    const auto start = sent.frame.begin() + sent.headers.payload_offset;
    sent.message.assign(start, start + sent.headers.payload_bytes);
  }
  return sent;
}

std::vector<Sent> Rig::sent() {
  std::vector<Sent> all;
  for (auto& rings : tx_) {
    for (rte_ring* ring : rings) {
      void* object = nullptr;
      while (rte_ring_dequeue(ring, &object) == 0)
        all.push_back(take_apart(static_cast<rte_mbuf*>(object)));
    }
  }
  return all;
}

void Rig::ask_by_stream(const Wire& message, const Client& client, unsigned worker) {
  const Wire frame = client_frame(message, client);
  rte_mbuf* mbuf = rte_pktmbuf_alloc(pool_);
  require(mbuf != nullptr, "pool is empty");
  char* room = rte_pktmbuf_append(mbuf, static_cast<uint16_t>(frame.size()));
  std::copy(frame.begin(), frame.end(), reinterpret_cast<uint8_t*>(room));
  worker::Handover& handover = worker::handover_of(mbuf);
  handover.kind = worker::HandoverKind::kQuery;
  handover.port_index = node_->stream_port();
  handover.arrived = now_;
  require(net::parse_frame(frame, {}, handover.frame) == net::FrameVerdict::kUdp, "a datagram");
  require(node_->rings().push(node_->main_lcore(), worker, mbuf), "main's ring is full");
}

std::vector<Sent> Rig::stream_replies() {
  std::vector<Sent> replies;
  for (unsigned id = 0; id < node_->workers(); ++id) {
    rte_mbuf* mbuf = nullptr;
    while (node_->rings().pop(id, node_->main_lcore(), &mbuf, 1) == 1) {
      const worker::Handover& handover = worker::handover_of(mbuf);
      require(handover.kind == worker::HandoverKind::kTransmit &&
                  handover.port_index == node_->stream_port(),
              "a reply for the stream service");
      replies.push_back(take_apart(mbuf));
    }
  }
  return replies;
}

std::vector<Wire> Rig::punted() {
  std::vector<Wire> frames;
  const unsigned main = node_->main_lcore();
  rte_mbuf* mbuf = nullptr;
  for (unsigned id = 0; id < node_->workers(); ++id) {
    while (node_->rings().pop_urgent(id, &mbuf, 1) == 1) frames.push_back(take_apart(mbuf).frame);
  }
  for (unsigned id = 0; id < node_->workers(); ++id) {
    while (node_->rings().pop(id, main, &mbuf, 1) == 1) {
      require(worker::handover_of(mbuf).kind == worker::HandoverKind::kPunt, "a punted frame");
      frames.push_back(take_apart(mbuf).frame);
    }
  }
  return frames;
}

Rig::Traffic Rig::traffic() {
  Traffic traffic;
  for (Sent& sent : sent()) {
    const bool to_server = sent.headers.destination_port == 53;
    (to_server ? traffic.upstream : traffic.replies).push_back(std::move(sent));
  }
  return traffic;
}

Wire Rig::answer_frame(const Sent& query, const Wire& message) const {
  net::DatagramHeaders headers;
  headers.source_mac = query.headers.destination_mac;
  headers.destination_mac = query.headers.source_mac;
  headers.source = query.headers.destination;
  headers.destination = query.headers.source;
  headers.source_port = query.headers.destination_port;
  headers.destination_port = query.headers.source_port;
  Wire frame(headers.bytes() + message.size() + net::kMinFrameBytes);
  std::copy(message.begin(), message.end(), frame.begin() + headers.bytes());
  frame.resize(net::write_datagram(frame.data(), headers, static_cast<uint16_t>(message.size())));
  return frame;
}

void Rig::answer(const Sent& query, const Wire& message, unsigned queue) {
  inject_frame(answer_frame(query, message), 0, queue);
}

void Rig::discard_sent() {
  for (auto& rings : tx_) {
    for (rte_ring* ring : rings) {
      void* object = nullptr;
      while (rte_ring_dequeue(ring, &object) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(object));
    }
  }
}

bool Rig::turn_into_answer(rte_mbuf* mbuf) {
  auto* data = rte_pktmbuf_mtod(mbuf, uint8_t*);
  net::Frame frame;
  const Bytes bytes(data, rte_pktmbuf_data_len(mbuf));
  if (net::parse_frame(bytes, {}, frame) != net::FrameVerdict::kUdp) return false;
  if (frame.destination_port != 53) return false;
  uint8_t* message = data + frame.payload_offset;
  message[2] |= 0x80;
  message[11] = 0;  // the OPT goes
  const uint16_t length =
      net::make_reply_frame(data, frame, static_cast<uint16_t>(frame.payload_bytes - 11));
  mbuf->data_len = length;
  mbuf->pkt_len = length;
  return true;
}

void Rig::answer_all_in_place() {
  unsigned count = 0;
  for (rte_ring* ring : tx_[0]) {
    void* object = nullptr;
    while (rte_ring_dequeue(ring, &object) == 0) {
      auto* mbuf = static_cast<rte_mbuf*>(object);
      const bool answered =
          count++ % 2 == 0 && turn_into_answer(mbuf) && rte_ring_enqueue(rx_[0][0], mbuf) == 0;
      if (!answered) rte_pktmbuf_free(mbuf);
    }
  }
}

uint64_t Rig::sum(const stats::Counter stats::WorkerStats::*counter) const {
  uint64_t total = 0;
  for (unsigned id = 0; id < options_.workers; ++id) total += (node_->stats(id).*counter).value();
  return total;
}

uint64_t Rig::sum(uint64_t (stats::WorkerStats::*sum_of_worker)() const) const {
  uint64_t total = 0;
  for (unsigned id = 0; id < options_.workers; ++id) total += (node_->stats(id).*sum_of_worker)();
  return total;
}

uint64_t Rig::outcome(stats::Outcome outcome) const {
  uint64_t total = 0;
  for (unsigned id = 0; id < options_.workers; ++id)
    total += node_->stats(id).outcomes[outcome].value();
  return total;
}

uint64_t Rig::drops(stats::Drop drop) const {
  uint64_t total = 0;
  for (unsigned id = 0; id < options_.workers; ++id) total += node_->stats(id).drops[drop].value();
  return total;
}

uint64_t Rig::upstream(stats::Upstream event) const {
  uint64_t total = 0;
  for (unsigned id = 0; id < options_.workers; ++id)
    total += node_->stats(id).upstream_total(event);
  return total;
}

uint64_t Rig::responses() const {
  uint64_t total = 0;
  for (unsigned id = 0; id < options_.workers; ++id) {
    for (const stats::Counter& counter : node_->stats(id).responses) total += counter.value();
  }
  return total;
}

std::string Rig::accounting() const {
  uint64_t received = 0, icmp = 0, queries = 0, taken = 0, dropped = 0, punted = 0, query_drops = 0,
           waiting = 0, outcomes = 0;
  for (unsigned id = 0; id < options_.workers; ++id) {
    const stats::WorkerStats& stats = node_->stats(id);
    received += stats.received() + stats.from_stream.value();
    icmp += stats.icmp_taken();
    queries += stats.client_queries();
    taken += stats.upstream_answers_taken();
    dropped += stats.drops.sum();
    punted += stats.punted();
    query_drops += stats.query_drops.sum();
    waiting += stats.waiting.value();
    outcomes += stats.outcomes.sum();
  }
  std::string wrong;
  if (received != queries + taken + icmp + dropped + punted)
    wrong += "received " + std::to_string(received) + " != queries " + std::to_string(queries) +
             " + taken " + std::to_string(taken) + " + ICMP errors " + std::to_string(icmp) +
             " + dropped " + std::to_string(dropped) + " + punted " + std::to_string(punted) + "\n";
  if (queries != responses() + query_drops + waiting)
    wrong += "queries " + std::to_string(queries) + " != responses " + std::to_string(responses()) +
             " + dropped " + std::to_string(query_drops) + " + waiting " + std::to_string(waiting) +
             "\n";
  if (queries != outcomes)
    wrong +=
        "queries " + std::to_string(queries) + " != outcomes " + std::to_string(outcomes) + "\n";
  return wrong;
}

}  // namespace wirecache::testing

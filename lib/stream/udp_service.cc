#include "lib/stream/udp_service.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "lib/net/frame.h"
#include "lib/worker/handover.h"

namespace wirecache::stream {
namespace {

using stats::StreamQueryDrop;
using stats::StreamReplyDrop;

// The kernel has checked what it delivered, and a worker what it made; neither crossed a wire.
constexpr net::ChecksumHints kVerified{.ip_verified = true, .l4_verified = true};

// kBadSource: loopback, which is no source on a wire but one here.
bool is_datagram(net::FrameVerdict verdict) {
  return verdict == net::FrameVerdict::kUdp || verdict == net::FrameVerdict::kBadSource;
}

}  // namespace

UdpService::UdpService(worker::Node& node, stats::StreamStats& stats)
    : node_(node),
      stats_(stats),
      sockets_([this](const Endpoint& local, const Endpoint& client, Bytes message) {
        receive(local, client, message);
      }),
      frame_room_bytes_(rte_pktmbuf_data_room_size(node.pool()) - RTE_PKTMBUF_HEADROOM) {}

Expected<std::unique_ptr<UdpService>> UdpService::start(worker::Node& node,
                                                        const config::ListenConfig& listen,
                                                        stats::StreamStats& stats) {
  std::unique_ptr<UdpService> service(new UdpService(node, stats));
  const auto name = [&](const IpAddress& address) {
    return Endpoint{address, listen.port}.to_string();
  };
  for (const IpAddress& address : listen.addresses) {
    if (auto opened = service->sockets_.open(address, listen.port); !opened)
      return fail("cannot listen on " + name(address) + ": " + opened.error().message);
  }
  if (!listen.loopback) return service;
  for (const char* text : {"127.0.0.1", "::1"}) {
    const IpAddress address = *IpAddress::parse(text);
    if (service->sockets_.is_local({address, listen.port})) continue;
    if (auto opened = service->sockets_.open(address, listen.port); !opened)
      service->warnings_.push_back("not listening on " + name(address) + ": " +
                                   opened.error().message);
  }
  return service;
}

bool UdpService::poll(TscTime now) {
  now_ = now;
  const uint64_t before = stats_.received.value();
  sockets_.poll();
  return stats_.received.value() != before;
}

void UdpService::receive(const Endpoint& local, const Endpoint& client, Bytes message) {
  stats_.received.add();
  // A query that pretends to come from one of our sockets would have us answer ourselves.
  if (!may_be_answered(client) || sockets_.is_local(client)) {
    stats_.query_drops[StreamQueryDrop::kBadSource].add();
    return;
  }
  rte_mbuf* mbuf = make_query(local, client, message);
  if (mbuf == nullptr) return;
  const unsigned worker = next_worker_;
  next_worker_ = (next_worker_ + 1) % node_.workers();
  if (node_.rings().push(node_.main_lcore(), worker, mbuf)) {
    stats_.queries.add();
    return;
  }
  rte_pktmbuf_free(mbuf);
  stats_.query_drops[StreamQueryDrop::kRingFull].add();
}

// A frame as if it had come from the wire; null: dropped and counted.
rte_mbuf* UdpService::make_query(const Endpoint& local, const Endpoint& client, Bytes message) {
  const net::DatagramHeaders headers{
      .source_mac = mac_from_scope(client.scope_id),
      .destination_mac = {},
      .source = client.address,
      .destination = local.address,
      .source_port = client.port,
      .destination_port = local.port,
  };
  const size_t needed = std::max<size_t>(headers.bytes() + message.size(), net::kMinFrameBytes);
  if (message.size() > UdpSockets::kMaxMessageBytes || needed > frame_room_bytes_) {
    stats_.query_drops[StreamQueryDrop::kTooLarge].add();
    return nullptr;
  }
  rte_mbuf* mbuf = rte_pktmbuf_alloc(node_.pool());
  if (mbuf == nullptr) {
    stats_.query_drops[StreamQueryDrop::kNoMbuf].add();
    return nullptr;
  }
  auto* data = rte_pktmbuf_mtod(mbuf, uint8_t*);
  std::memcpy(data + headers.bytes(), message.data(), message.size());
  const uint16_t bytes = net::write_datagram(data, headers, static_cast<uint16_t>(message.size()));
  mbuf->data_len = bytes;
  mbuf->pkt_len = bytes;
  worker::Handover& handover = worker::handover_of(mbuf);
  handover.kind = worker::HandoverKind::kQuery;
  handover.port_index = node_.stream_port();
  handover.arrived = now_;
  net::parse_frame({data, bytes}, kVerified, handover.frame);
  return mbuf;
}

void UdpService::reply(rte_mbuf* mbuf) {
  stats_.replies.add();
  net::Frame frame;
  const auto* data = rte_pktmbuf_mtod(mbuf, const uint8_t*);
  const Bytes bytes(data, rte_pktmbuf_data_len(mbuf));
  if (is_datagram(net::parse_frame(bytes, kVerified, frame))) {
    send(frame, bytes.subspan(frame.payload_offset, frame.payload_bytes));
  } else {
    stats_.reply_drops[StreamReplyDrop::kMalformed].add();
  }
  rte_pktmbuf_free(mbuf);
}

void UdpService::send(const net::Frame& frame, Bytes message) {
  const Endpoint local{frame.source, frame.source_port};
  const Endpoint client{frame.destination, frame.destination_port,
                        scope_from_mac(frame.destination_mac)};
  switch (sockets_.send(local, client, message)) {
    case UdpSockets::SendStatus::kSent:
      stats_.sent.add();
      return;
    case UdpSockets::SendStatus::kNoSocket:
      stats_.reply_drops[StreamReplyDrop::kNoSocket].add();
      return;
    case UdpSockets::SendStatus::kFailed:
      stats_.reply_drops[StreamReplyDrop::kSendFailed].add();
      return;
  }
}

}  // namespace wirecache::stream

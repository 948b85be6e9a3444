#include "lib/stream/udp_service.h"

#include <gtest/gtest.h>

#include <iterator>

#include "lib/worker/handover.h"
#include "tests/support/rig.h"
#include "tests/unit/stream/client_sockets.h"

namespace wirecache::stream {
namespace {

using stats::StreamQueryDrop;
using stats::StreamReplyDrop;
using testing::Rig;
using worker::Handover;
using worker::HandoverKind;

// A name and a help text for every enumerator.
static_assert(std::size(stats::kStreamQueryDropNames) ==
              stats::CounterArray<StreamQueryDrop>::kSize);
static_assert(std::size(stats::kStreamReplyDropNames) ==
              stats::CounterArray<StreamReplyDrop>::kSize);

constexpr uint16_t kPort = 53;
constexpr TscTime kNow{77};

// The test plays the two workers: it takes what main hands them, and hands replies back.
class UdpServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { WC_NEEDS_STREAM_NETWORK(); }
  void TearDown() override {
    service_.reset();
    EXPECT_EQ(rig_.mbufs_in_use(), 0u);
    EXPECT_EQ(stats_.received.value(), stats_.queries.value() + stats_.query_drops.sum());
    EXPECT_EQ(stats_.replies.value(), stats_.sent.value() + stats_.reply_drops.sum());
  }

  static config::ListenConfig default_listen() {
    config::ListenConfig listen;
    for (const char* address : {"10.9.0.1", "fd09::1", "fe80::9:1"})
      listen.addresses.push_back(*IpAddress::parse(address));
    listen.port = kPort;
    return listen;
  }
  void start(const config::ListenConfig& listen = default_listen()) {
    auto started = UdpService::start(rig_.node(), listen, stats_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    service_ = std::move(*started);
  }
  // Polls until as many datagrams came as there were in all.
  bool received(uint64_t in_all) {
    return poll_until([this] { service_->poll(kNow); },
                      [&] { return stats_.received.value() >= in_all; });
  }
  // The next query in the ring to a worker; null: none.
  rte_mbuf* taken_by(unsigned worker) {
    rte_mbuf* mbuf = nullptr;
    rig_.node().rings().pop(rig_.node().main_lcore(), worker, &mbuf, 1);
    return mbuf;
  }
  // Turns a query into a reply, as a worker does, and gives it to the service.
  void reply(rte_mbuf* mbuf, const Wire& message) {
    const net::Frame frame = worker::handover_of(mbuf).frame;
    auto* data = rte_pktmbuf_mtod(mbuf, uint8_t*);
    std::ranges::copy(message, data + frame.payload_offset);
    const uint16_t bytes =
        net::make_reply_frame(data, frame, static_cast<uint16_t>(message.size()));
    mbuf->data_len = bytes;
    mbuf->pkt_len = bytes;
    service_->reply(mbuf);
  }
  rte_mbuf* make_frame(const net::DatagramHeaders& headers, const Wire& message) {
    rte_mbuf* mbuf = rte_pktmbuf_alloc(rig_.pool());
    auto* data = rte_pktmbuf_mtod(mbuf, uint8_t*);
    std::ranges::copy(message, data + headers.bytes());
    const uint16_t bytes =
        net::write_datagram(data, headers, static_cast<uint16_t>(message.size()));
    mbuf->data_len = bytes;
    mbuf->pkt_len = bytes;
    return mbuf;
  }
  uint64_t dropped(StreamQueryDrop reason) const { return stats_.query_drops[reason].value(); }
  uint64_t dropped(StreamReplyDrop reason) const { return stats_.reply_drops[reason].value(); }

  Rig rig_{{.workers = 2}};
  stats::StreamStats stats_;
  std::unique_ptr<UdpService> service_;
};

Wire a_query() {
  return testing::make_query({});
}

TEST_F(UdpServiceTest, ADatagramBecomesAFrameFromItsClient) {
  start();
  for (const char* address : {"10.9.0.1", "fd09::1"}) {
    const ClientSocket client(endpoint(address, kPort));
    ASSERT_TRUE(client.send(a_query()));
    ASSERT_TRUE(received(stats_.received.value() + 1));
    rte_mbuf* mbuf = taken_by(0);
    if (mbuf == nullptr) mbuf = taken_by(1);
    ASSERT_NE(mbuf, nullptr);
    const Handover& handover = worker::handover_of(mbuf);
    EXPECT_EQ(handover.kind, HandoverKind::kQuery);
    EXPECT_EQ(handover.port_index, rig_.node().stream_port());
    EXPECT_EQ(handover.arrived, kNow);
    // The frame is a right one: checksums and lengths are judged here.
    net::Frame frame;
    const Bytes bytes(rte_pktmbuf_mtod(mbuf, const uint8_t*), rte_pktmbuf_data_len(mbuf));
    ASSERT_EQ(net::parse_frame(bytes, {}, frame), net::FrameVerdict::kUdp);
    for (const net::Frame& f : {frame, handover.frame}) {
      EXPECT_EQ((Endpoint{f.source, f.source_port}.to_string()), client.own().to_string());
      EXPECT_EQ((Endpoint{f.destination, f.destination_port}.to_string()),
                endpoint(address, kPort).to_string());
      EXPECT_EQ(f.vlan_tags, 0);
      const Bytes message = bytes.subspan(f.payload_offset, f.payload_bytes);
      EXPECT_EQ(Wire(message.begin(), message.end()), a_query());
    }
    rte_pktmbuf_free(mbuf);
  }
  EXPECT_EQ(stats_.queries.value(), 2u);
}

TEST_F(UdpServiceTest, ARepliesPayloadGoesBackToTheClient) {
  start();
  uint64_t asked = 0;
  for (const char* address : {"10.9.0.1", "fd09::1", "127.0.0.1", "::1"}) {
    const ClientSocket client(endpoint(address, kPort));
    const ClientSocket another(endpoint(address, kPort));
    ASSERT_TRUE(client.send(a_query()));
    ASSERT_TRUE(another.send(a_query()));
    ASSERT_TRUE(received(asked += 2));
    const Wire answers[] = {{1, 2, 3}, Wire(1232, 9)};
    rte_mbuf* first = taken_by(0);
    rte_mbuf* second = taken_by(1);
    ASSERT_TRUE(first != nullptr && second != nullptr) << address;
    reply(second, answers[1]);
    reply(first, answers[0]);
    EXPECT_EQ(client.receive(), answers[0]) << address;
    EXPECT_EQ(another.receive(), answers[1]) << address;
  }
  EXPECT_EQ(stats_.sent.value(), asked);
}

TEST_F(UdpServiceTest, ALinkLocalClientIsAnsweredOnItsLink) {
  start();
  const InPeerNamespace inside;
  const ClientSocket client(endpoint("fe80::9:1", kPort, if_nametoindex("vb")));
  ASSERT_TRUE(client.send(a_query()));
  ASSERT_TRUE(received(1));
  rte_mbuf* mbuf = taken_by(0);
  ASSERT_NE(mbuf, nullptr);
  reply(mbuf, {8});
  EXPECT_EQ(client.receive(), Wire{8});
}

// Reassembled by the kernel: 3,000 bytes do not cross the veth in one piece, nor fit a buffer.
TEST_F(UdpServiceTest, WhatNoBufferHoldsIsDropped) {
  start();
  const InPeerNamespace inside;
  const ClientSocket client(endpoint("10.9.0.1", kPort));
  ASSERT_TRUE(client.send(Wire(3000)));
  ASSERT_TRUE(client.send(Wire(1600)));
  ASSERT_TRUE(received(2));
  EXPECT_EQ(dropped(StreamQueryDrop::kTooLarge), 1u);
  rte_mbuf* mbuf = taken_by(0);
  ASSERT_NE(mbuf, nullptr);
  EXPECT_EQ(worker::handover_of(mbuf).frame.payload_bytes, 1600);
  rte_pktmbuf_free(mbuf);
}

TEST_F(UdpServiceTest, AnEmptyDatagramIsTheWorkersToJudge) {
  start();
  const ClientSocket client(endpoint("127.0.0.1", kPort));
  ASSERT_TRUE(client.send({}));
  ASSERT_TRUE(received(1));
  rte_mbuf* mbuf = taken_by(0);
  ASSERT_NE(mbuf, nullptr);
  EXPECT_EQ(worker::handover_of(mbuf).frame.payload_bytes, 0);
  EXPECT_EQ(rte_pktmbuf_data_len(mbuf), net::kMinFrameBytes);
  rte_pktmbuf_free(mbuf);
}

TEST_F(UdpServiceTest, WorkersTakeTurns) {
  start();
  const ClientSocket client(endpoint("127.0.0.1", kPort));
  for (uint8_t i = 0; i < 6; ++i) ASSERT_TRUE(client.send({i}));
  ASSERT_TRUE(received(6));
  for (uint8_t i = 0; i < 6; ++i) {
    rte_mbuf* mbuf = taken_by(i % 2);
    ASSERT_NE(mbuf, nullptr);
    const uint16_t at = worker::handover_of(mbuf).frame.payload_offset;
    EXPECT_EQ(*rte_pktmbuf_mtod_offset(mbuf, uint8_t*, at), i);
    rte_pktmbuf_free(mbuf);
  }
}

TEST_F(UdpServiceTest, PollSaysWhetherThereWasAnything) {
  start();
  EXPECT_FALSE(service_->poll(kNow));
  const ClientSocket client(endpoint("127.0.0.1", kPort));
  ASSERT_TRUE(client.send(a_query()));
  EXPECT_TRUE(poll_until([] {}, [this] { return service_->poll(kNow); }));
  EXPECT_FALSE(service_->poll(kNow));
  rte_pktmbuf_free(taken_by(0));
}

TEST_F(UdpServiceTest, AFullRingDropsAndFrees) {
  start();
  const uint64_t room = worker::HandoverRings::slots(3) * 2;
  const ClientSocket client(endpoint("127.0.0.1", kPort));
  for (uint64_t i = 1; i <= room + 4; ++i) {
    ASSERT_TRUE(client.send({1}));
    ASSERT_TRUE(received(i));
  }
  EXPECT_EQ(stats_.queries.value(), room);
  EXPECT_EQ(dropped(StreamQueryDrop::kRingFull), 4u);
  EXPECT_EQ(rig_.mbufs_in_use(), room);
  for (unsigned worker = 0; worker < 2; ++worker) {
    while (rte_mbuf* mbuf = taken_by(worker)) rte_pktmbuf_free(mbuf);
  }
}

TEST_F(UdpServiceTest, WithoutBuffersQueriesAreDroppedAndReadOn) {
  start();
  std::vector<rte_mbuf*> all;
  while (rte_mbuf* mbuf = rte_pktmbuf_alloc(rig_.pool())) all.push_back(mbuf);
  const ClientSocket client(endpoint("127.0.0.1", kPort));
  ASSERT_TRUE(client.send({1}));
  ASSERT_TRUE(received(1));
  EXPECT_EQ(dropped(StreamQueryDrop::kNoMbuf), 1u);
  for (rte_mbuf* mbuf : all) rte_pktmbuf_free(mbuf);
  ASSERT_TRUE(client.send({2}));
  ASSERT_TRUE(received(2));
  EXPECT_EQ(stats_.queries.value(), 1u);
  rte_pktmbuf_free(taken_by(0));
}

// Sends an IPv4 datagram with any source port over loopback.
void send_raw(uint16_t source_port) {
  const net::DatagramHeaders headers{
      .source_mac = {},
      .destination_mac = {},
      .source = *IpAddress::parse("127.0.0.1"),
      .destination = *IpAddress::parse("127.0.0.1"),
      .source_port = source_port,
      .destination_port = kPort,
  };
  std::array<uint8_t, 128> frame{};
  const uint16_t bytes = headers.bytes() + 12;
  net::write_datagram(frame.data(), headers, 12);
  const int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
  SocketName to(endpoint("127.0.0.1", 0));
  EXPECT_EQ(sendto(fd, frame.data() + net::kEthernetBytes, bytes - net::kEthernetBytes, 0, to.get(),
                   to.bytes()),
            bytes - net::kEthernetBytes);
  close(fd);
}

TEST_F(UdpServiceTest, SourcesThatNoReplyMayGoTo) {
  start();
  send_raw(0);
  ASSERT_TRUE(received(1));
  EXPECT_EQ(dropped(StreamQueryDrop::kBadSource), 1u);
  send_raw(kPort);  // our own socket: an answer would come back as a query
  ASSERT_TRUE(received(2));
  EXPECT_EQ(dropped(StreamQueryDrop::kBadSource), 2u);
  send_raw(4000);
  ASSERT_TRUE(received(3));
  EXPECT_EQ(stats_.queries.value(), 1u);
  rte_pktmbuf_free(taken_by(0));
}

TEST_F(UdpServiceTest, RepliesThatCannotBeSent) {
  start();
  net::DatagramHeaders headers{
      .source_mac = {},
      .destination_mac = {},
      .source = *IpAddress::parse("10.9.0.1"),
      .destination = *IpAddress::parse("10.9.0.255"),  // broadcast: the kernel does not take it
      .source_port = kPort,
      .destination_port = 4000,
  };
  service_->reply(make_frame(headers, {1}));
  EXPECT_EQ(dropped(StreamReplyDrop::kSendFailed), 1u);
  headers.source = *IpAddress::parse("10.9.0.2");
  service_->reply(make_frame(headers, {1}));
  EXPECT_EQ(dropped(StreamReplyDrop::kNoSocket), 1u);
  headers.source = *IpAddress::parse("10.9.0.1");
  headers.source_port = 54;
  service_->reply(make_frame(headers, {1}));
  EXPECT_EQ(dropped(StreamReplyDrop::kNoSocket), 2u);
  rte_mbuf* cut = make_frame(headers, {1});
  cut->data_len = 30;
  service_->reply(cut);
  EXPECT_EQ(dropped(StreamReplyDrop::kMalformed), 1u);
}

TEST_F(UdpServiceTest, OtherAddressesStayFree) {
  ASSERT_TRUE(control::run("ip addr replace 10.9.0.77/24 dev va"));
  start();
  for (const char* address : {"10.9.0.77", "127.0.0.53"})
    EXPECT_TRUE(BoundSocket(endpoint(address, kPort)).bound()) << address;
  for (const char* address : {"10.9.0.1", "fd09::1", "127.0.0.1", "::1"})
    EXPECT_FALSE(BoundSocket(endpoint(address, kPort)).bound()) << address;
}

TEST_F(UdpServiceTest, ATakenLoopbackAddressIsAWarning) {
  const BoundSocket other(endpoint("127.0.0.1", kPort));
  start();
  EXPECT_EQ(service_->warnings(),
            std::vector<std::string>{"not listening on 127.0.0.1:53: Address already in use"});
  const ClientSocket client(endpoint("::1", kPort));
  ASSERT_TRUE(client.send({1}));
  ASSERT_TRUE(received(1));
  rte_pktmbuf_free(taken_by(0));
}

TEST_F(UdpServiceTest, LoopbackOnlyWhereItIsWantedAndOnce) {
  config::ListenConfig listen = default_listen();
  listen.loopback = false;
  start(listen);
  EXPECT_TRUE(BoundSocket(endpoint("127.0.0.1", kPort)).bound());
  EXPECT_TRUE(BoundSocket(endpoint("::1", kPort)).bound());
  listen.loopback = true;
  listen.addresses.push_back(*IpAddress::parse("127.0.0.1"));
  service_.reset();
  start(listen);
  EXPECT_TRUE(service_->warnings().empty());
}

TEST_F(UdpServiceTest, AListenAddressThatCannotBeBoundIsAnError) {
  const BoundSocket other(endpoint("fd09::1", kPort));
  const auto taken = UdpService::start(rig_.node(), default_listen(), stats_);
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().message, "cannot listen on [fd09::1]:53: Address already in use");
  config::ListenConfig absent;
  absent.addresses = {*IpAddress::parse("192.0.2.1")};
  const auto nowhere = UdpService::start(rig_.node(), absent, stats_);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().message,
            "cannot listen on 192.0.2.1:53: Cannot assign requested address");
}

}  // namespace
}  // namespace wirecache::stream

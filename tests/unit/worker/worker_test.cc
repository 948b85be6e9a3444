// A client's query through the whole pipeline: hits, misses and what is answered without a look-up.
#include "lib/worker/worker.h"

#include <gtest/gtest.h>

#include "tests/support/rig.h"

namespace wirecache::worker {
namespace {

using stats::Drop;
using stats::Outcome;
using testing::a_record;
using testing::Client;
using testing::QuerySpec;
using testing::Rig;
using testing::RigOptions;
using testing::Sent;
using testing::Wire;

class WorkerTest : public ::testing::Test {
 protected:
  // Asks, lets the upstream answer with one A record, and returns the reply.
  Wire prime(Rig& rig, const QuerySpec& spec = {}, uint32_t ttl = 300) {
    rig.ask(testing::make_query(spec));
    rig.poll();
    auto traffic = rig.traffic();
    EXPECT_EQ(traffic.upstream.size(), 1u);
    if (traffic.upstream.empty()) return {};
    rig.answer(traffic.upstream[0], testing::make_answer(traffic.upstream[0].message,
                                                         {.answer = {a_record(spec.name, ttl)}}));
    rig.poll();
    auto replies = rig.traffic().replies;
    EXPECT_EQ(replies.size(), 1u);
    return replies.empty() ? Wire{} : replies[0].message;
  }

  Wire ask(Rig& rig, const Wire& query, const Client& client = {}) {
    rig.ask(query, client);
    rig.poll();
    auto replies = rig.traffic().replies;
    EXPECT_EQ(replies.size(), 1u);
    return replies.empty() ? Wire{} : replies[0].message;
  }
};

TEST_F(WorkerTest, MissGoesUpstreamAndSecondQueryIsAHit) {
  Rig rig;
  const Wire first = prime(rig);
  EXPECT_EQ(testing::rcode_of(first), 0u);
  EXPECT_EQ(testing::answers_of(first), 1u);
  EXPECT_EQ(rig.outcome(Outcome::kMiss), 1u);
  const Wire second = ask(rig, testing::make_query({.id = 0x4321}));
  EXPECT_EQ(testing::get16(second, 0), 0x4321u);
  EXPECT_EQ(testing::answers_of(second), 1u);
  EXPECT_EQ(rig.outcome(Outcome::kHit), 1u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

// The frame of the reply: everything turned round, on the VLAN that the query came by.
TEST_F(WorkerTest, RepliesGoBackTheWayTheQueryCame) {
  Rig rig;
  prime(rig);
  Client client;
  client.vlan = 100;
  client.port = 12345;
  rig.ask(testing::make_query({}), client);
  rig.poll();
  const auto replies = rig.traffic().replies;
  ASSERT_EQ(replies.size(), 1u);
  const net::Frame& headers = replies[0].headers;
  EXPECT_EQ(headers.destination_mac, client.mac);
  EXPECT_EQ(headers.source_mac, rig.port_mac());
  EXPECT_EQ(headers.vlan_tags, 1);
  EXPECT_EQ(headers.vlan_tci, 100);
  EXPECT_EQ(headers.source, client.server);
  EXPECT_EQ(headers.destination, client.address);
  EXPECT_EQ(headers.source_port, 53);
  EXPECT_EQ(headers.destination_port, 12345);
}

// The same for clients that had to wait, whose packets are long gone.
TEST_F(WorkerTest, WaitersAreAnsweredTheWayTheyCameWithTheirOwnSpelling) {
  Rig rig;
  Client tagged;
  tagged.vlan = 0x2000 | 7;
  Client six;
  six.address = *IpAddress::parse("fd00::77");
  six.server = *IpAddress::parse("fd00::1");
  six.port = 2000;
  const Wire upper = testing::make_query({.name = "WWW.Example.com", .id = 1});
  const Wire lower = testing::make_query({.name = "www.eXAMPLE.com", .id = 2, .udp_size = -1});
  rig.ask(upper, tagged);
  rig.ask(lower, six);
  rig.poll();
  auto upstream = rig.traffic().upstream;
  ASSERT_EQ(upstream.size(), 1u) << "one question for both";
  rig.answer(upstream[0], testing::make_answer(upstream[0].message,
                                               {.answer = {a_record("www.example.com", 60)}}));
  rig.poll();
  auto replies = rig.traffic().replies;
  ASSERT_EQ(replies.size(), 2u);
  std::sort(replies.begin(), replies.end(),
            [](const Sent& a, const Sent& b) { return a.message[1] < b.message[1]; });
  const auto question = [](const Wire& w) { return Wire(w.begin() + 12, w.begin() + 33); };
  EXPECT_EQ(question(replies[0].message), question(upper));
  EXPECT_EQ(question(replies[1].message), question(lower));
  EXPECT_EQ(replies[0].headers.vlan_tci, 0x2000 | 7);
  EXPECT_EQ(replies[0].headers.destination_mac, tagged.mac);
  EXPECT_EQ(replies[1].headers.destination, six.address);
  EXPECT_EQ(replies[1].headers.destination_port, 2000);
  EXPECT_EQ(testing::get16(replies[0].message, 10), 1u) << "OPT for the one that sent one";
  EXPECT_EQ(testing::get16(replies[1].message, 10), 0u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

// RFC 2181 §8, RFC 1035 §3.2.1: TTLs are lowered by the time in the cache, and at 0 it is no
// answer.
TEST_F(WorkerTest, EntriesAgeAndExpire) {
  Rig rig;
  const Wire first = prime(rig, {}, 10);
  const size_t ttl_at = 33 + 2 + 4;  // header 12, question 21, pointer 2, type and class 4
  EXPECT_EQ(testing::get16(first, ttl_at + 2), 10u);
  rig.advance_ms(4000);
  EXPECT_EQ(testing::get16(ask(rig, testing::make_query({})), ttl_at + 2), 6u);
  rig.advance_ms(5999);
  EXPECT_EQ(testing::get16(ask(rig, testing::make_query({})), ttl_at + 2), 1u);
  rig.advance_ms(1);
  rig.ask(testing::make_query({}));
  rig.poll();
  EXPECT_EQ(rig.traffic().upstream.size(), 1u);
}

TEST_F(WorkerTest, ExpiredEntryIsRefreshedByTheNextAnswer) {
  Rig rig;
  prime(rig, {}, 1);
  rig.advance_ms(2000);
  prime(rig, {}, 100);
  EXPECT_EQ(testing::answers_of(ask(rig, testing::make_query({}))), 1u);
  EXPECT_EQ(rig.node().stats(0).cache_entries.value(), 1u);
}

struct Unlooked {
  const char* what;
  QuerySpec spec;
  unsigned rcode;
  Outcome outcome;
};

class WorkerAnswersAlone : public ::testing::TestWithParam<Unlooked> {};

TEST_P(WorkerAnswersAlone, Without) {
  Rig rig;
  const Wire query = testing::make_query(GetParam().spec);
  rig.ask(query);
  rig.poll();
  const auto traffic = rig.traffic();
  EXPECT_TRUE(traffic.upstream.empty());
  ASSERT_EQ(traffic.replies.size(), 1u);
  const Wire& reply = traffic.replies[0].message;
  EXPECT_EQ(testing::rcode_of(reply), GetParam().rcode);
  EXPECT_TRUE((reply[2] & 0x80) != 0) << "QR";
  EXPECT_EQ(testing::get16(reply, 0), GetParam().spec.id);
  EXPECT_EQ(rig.outcome(GetParam().outcome), 1u);
  EXPECT_EQ(rig.accounting(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WorkerAnswersAlone,
    ::testing::Values(Unlooked{"NotifyIsNotImp", {.flags = 0x2000}, 4, Outcome::kMalformed},
                      Unlooked{"ClassHesiodIsRefused", {.rr_class = 4}, 5, Outcome::kRefused},
                      Unlooked{"ChaosIsRefused",
                               {.name = "version.bind", .type = 16, .rr_class = 3},
                               5,
                               Outcome::kRefused},
                      Unlooked{"AxfrIsRefused", {.type = 252}, 5, Outcome::kRefused},
                      Unlooked{"AnyIsAnsweredHere", {.type = 255}, 0, Outcome::kLocal},
                      Unlooked{"NotRecursiveAndNotCached", {.flags = 0}, 5, Outcome::kRefused}),
    [](const auto& info) { return info.param.what; });

// The last bytes of a reply without OPT are its last address.
TEST_F(WorkerTest, AddressesRotateWhereSet) {
  for (const bool rotates : {false, true}) {
    RigOptions options;
    options.config.cache.rotate_addresses = rotates;
    Rig rig(options);
    const QuerySpec spec{.udp_size = -1};
    rig.ask(testing::make_query(spec));
    rig.poll();
    auto traffic = rig.traffic();
    ASSERT_EQ(traffic.upstream.size(), 1u);
    rig.answer(traffic.upstream[0],
               testing::make_answer(traffic.upstream[0].message,
                                    {.answer = {a_record(spec.name, 300, {192, 0, 2, 1}),
                                                a_record(spec.name, 300, {192, 0, 2, 2})}}));
    rig.poll();
    rig.traffic();
    std::vector<unsigned> last;
    for (int i = 0; i < 4; ++i) last.push_back(ask(rig, testing::make_query(spec)).back());
    EXPECT_EQ(last,
              rotates ? (std::vector<unsigned>{2, 1, 2, 1}) : (std::vector<unsigned>{2, 2, 2, 2}));
  }
}

TEST_F(WorkerTest, RdZeroIsAnsweredFromTheCache) {
  Rig rig;
  prime(rig);
  const Wire reply = ask(rig, testing::make_query({.flags = 0}));
  EXPECT_EQ(testing::answers_of(reply), 1u);
  EXPECT_EQ(reply[2] & 0x01, 0) << "RD is echoed";
}

TEST_F(WorkerTest, QuestionsDifferByTypeAndCheckingDisabled) {
  Rig rig;
  prime(rig);
  rig.ask(testing::make_query({.type = 28}));
  rig.ask(testing::make_query({.flags = 0x0110}));
  rig.poll();
  EXPECT_EQ(rig.traffic().upstream.size(), 2u);
}

// SEMANTICS "What is kept": fetched with DO serves DO=0 too; fetched without is a miss for DO=1,
// and the answer with DO replaces it.
TEST_F(WorkerTest, DoEntriesServeBothAndReplaceThoseWithout) {
  Rig rig;
  prime(rig);
  prime(rig, {.edns_flags = 0x8000});
  EXPECT_EQ(rig.node().stats(0).cache_entries.value(), 1u);
  ask(rig, testing::make_query({}));
  ask(rig, testing::make_query({.edns_flags = 0x8000}));
  EXPECT_EQ(rig.outcome(Outcome::kHit), 2u);
}

TEST_F(WorkerTest, ForeignClientsAreRefused) {
  Rig rig;
  Client foreign;
  foreign.address = *IpAddress::parse("192.0.2.7");
  const Wire reply = ask(rig, testing::make_query({}), foreign);
  EXPECT_EQ(testing::rcode_of(reply), 5u);
  EXPECT_EQ(rig.outcome(Outcome::kRefused), 1u);
  EXPECT_EQ(rig.accounting(), "");
}

TEST_F(WorkerTest, ForeignClientsAreDroppedWhereSet) {
  RigOptions options;
  options.config.clients.refuse = config::RefuseAction::kDrop;
  Rig rig(options);
  Client foreign;
  foreign.address = *IpAddress::parse("192.0.2.7");
  rig.ask(testing::make_query({}), foreign);
  rig.poll();
  EXPECT_TRUE(rig.sent().empty());
  EXPECT_EQ(rig.drops(Drop::kClientRefused), 1u);
  EXPECT_EQ(rig.accounting(), "");
}

// An answer to an answer could loop; what has no header can't be answered.
TEST_F(WorkerTest, ResponsesAndShortMessagesAreDroppedSilently) {
  Rig rig;
  rig.ask(testing::make_query({.flags = 0x8100}));
  rig.ask(Wire(11, 0));
  Client port_zero;
  port_zero.port = 0;
  rig.ask(testing::make_query({}), port_zero);
  Client ourselves;
  ourselves.address = *IpAddress::parse("10.0.0.1");
  rig.ask(testing::make_query({}), ourselves);
  rig.poll();
  EXPECT_TRUE(rig.sent().empty());
  EXPECT_EQ(rig.drops(Drop::kUnwantedResponse), 1u);
  EXPECT_EQ(rig.drops(Drop::kShortMessage), 1u);
  EXPECT_EQ(rig.drops(Drop::kBadSource), 2u);
  EXPECT_EQ(rig.accounting(), "");
}

// Everything that is not DNS over UDP to us goes to main, and from there to the kernel.
TEST_F(WorkerTest, TheRestGoesToTheKernel) {
  Rig rig;
  Wire arp(60, 0);
  std::fill_n(arp.begin(), 6, 0xff);
  arp[6] = 0x02;
  arp[12] = 0x08;
  arp[13] = 0x06;
  rig.inject_frame(arp);
  Client other_address;
  other_address.server = *IpAddress::parse("10.0.0.7");
  rig.ask(testing::make_query({}), other_address);
  rig.poll();
  EXPECT_TRUE(rig.sent().empty());
  EXPECT_EQ(rig.sum(&stats::WorkerStats::punted), 2u);
  const std::vector<Wire> punted = rig.punted();
  ASSERT_EQ(punted.size(), 2u);
  EXPECT_EQ(punted[0], arp);
  EXPECT_EQ(rig.accounting(), "");
}

TEST_F(WorkerTest, FramesForAnotherStationAreDropped) {
  Rig rig;
  Wire frame = rig.client_frame(testing::make_query({}));
  frame[5] ^= 0x55;
  rig.inject_frame(frame);
  rig.poll();
  EXPECT_TRUE(rig.sent().empty());
  EXPECT_EQ(rig.drops(Drop::kWrongMac), 1u);
  EXPECT_EQ(rig.accounting(), "");
}

// A broadcast frame of the given EtherType.
Wire broadcast(uint16_t ether_type) {
  Wire frame(60, 0);
  std::fill_n(frame.begin(), 6, 0xff);
  frame[12] = static_cast<uint8_t>(ether_type >> 8);
  frame[13] = static_cast<uint8_t>(ether_type);
  return frame;
}

TEST_F(WorkerTest, AFullPuntRingIsACountedDrop) {
  Rig rig;
  for (int i = 0; i < 2000; ++i) {
    rig.inject_frame(broadcast(0x88cc));
    rig.poll();
  }
  const unsigned slots = HandoverRings::slots(2);
  EXPECT_EQ(rig.sum(&stats::WorkerStats::punted), slots);
  EXPECT_EQ(rig.drops(Drop::kPuntRingFull), 2000 - slots);
  EXPECT_EQ(rig.mbufs_in_use(), slots);
  EXPECT_EQ(rig.accounting(), "");
}

// ARP and NDP do not wait behind a flood of anything else.
TEST_F(WorkerTest, AddressResolutionPassesAFullPuntRing) {
  Rig rig;
  for (int i = 0; i < 2000; ++i) {
    rig.inject_frame(broadcast(0x88cc));
    rig.poll();
  }
  Wire solicitation = broadcast(0x86dd);
  solicitation.resize(86, 0);
  solicitation[14] = 0x60;
  solicitation[19] = 32;   // payload length
  solicitation[20] = 58;   // ICMPv6
  solicitation[54] = 135;  // neighbour solicitation
  rig.inject_frame(broadcast(0x0806));
  rig.inject_frame(solicitation);
  rig.poll();
  EXPECT_EQ(rig.sum(&stats::WorkerStats::urgent_punts), 2u);
  const std::vector<Wire> punted = rig.punted();
  ASSERT_GE(punted.size(), 2u);
  EXPECT_EQ(punted[0], broadcast(0x0806));
  EXPECT_EQ(punted[1], solicitation);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

// By the kernel's sockets: a miss, then a hit, and what needs no look-up; nothing leaves by a port.
TEST_F(WorkerTest, QueriesOfTheStreamServiceAreAnsweredToIt) {
  Rig rig;
  rig.ask_by_stream(testing::make_query({}));
  rig.poll();
  auto upstream = rig.traffic().upstream;
  ASSERT_EQ(upstream.size(), 1u);
  rig.answer(upstream[0], testing::make_answer(upstream[0].message,
                                               {.answer = {a_record("www.example.com", 60)}}));
  rig.poll();
  auto replies = rig.stream_replies();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::answers_of(replies[0].message), 1u);
  EXPECT_EQ(replies[0].headers.source, *IpAddress::parse("10.0.0.1"));
  EXPECT_EQ(replies[0].headers.destination, *IpAddress::parse("10.0.0.9"));
  EXPECT_EQ(replies[0].headers.destination_port, 40000);

  rig.ask_by_stream(testing::make_query({}));
  rig.ask_by_stream(Wire(5, 0));
  rig.poll();
  EXPECT_EQ(rig.stream_replies().size(), 1u);
  EXPECT_TRUE(rig.sent().empty());
  EXPECT_EQ(rig.outcome(Outcome::kHit), 1u);
  EXPECT_EQ(rig.drops(Drop::kShortMessage), 1u);
  EXPECT_EQ(rig.sum(&stats::WorkerStats::from_stream), 3u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

TEST_F(WorkerTest, AFullTransmitQueueIsACountedDrop) {
  Rig rig;
  prime(rig);
  for (int i = 0; i < 2000; ++i) {
    rig.ask(testing::make_query({}));
    rig.poll();
  }
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_GT(rig.node().stats(0).query_drops[stats::QueryDrop::kTxFull].value(), 0u);
  rig.sent();
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

TEST_F(WorkerTest, WhileDrainingNewQueriesAreDroppedAndWaitersAnswered) {
  Rig rig;
  rig.ask(testing::make_query({}));
  rig.poll();
  const auto upstream = rig.traffic().upstream;
  ASSERT_EQ(upstream.size(), 1u);
  rig.node().set_phase(Phase::kDraining);
  rig.ask(testing::make_query({.name = "other.example"}));
  rig.answer(upstream[0], testing::make_answer(upstream[0].message,
                                               {.answer = {a_record("www.example.com", 60)}}));
  rig.poll();
  const auto traffic = rig.traffic();
  EXPECT_TRUE(traffic.upstream.empty());
  EXPECT_EQ(traffic.replies.size(), 1u);
  EXPECT_EQ(rig.drops(Drop::kStopping), 1u);
  EXPECT_EQ(rig.accounting(), "");
}

}  // namespace
}  // namespace wirecache::worker

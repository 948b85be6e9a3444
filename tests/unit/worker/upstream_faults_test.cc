// Misses when the upstream misbehaves: nothing wrong is told, everybody is answered, nothing leaks.
#include <gtest/gtest.h>

#include "tests/unit/worker/upstream_fixture.h"

namespace wirecache::worker {
namespace {

using stats::Drop;
using stats::Upstream;
using testing::a_record;
using testing::AnswerSpec;
using testing::QuerySpec;
using testing::Rig;
using testing::RigOptions;
using testing::Sent;
using testing::Wire;

class UpstreamFaults : public UpstreamFixture {};

TEST_F(UpstreamFaults, OnlyTheMatchingAnswerIsTaken) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  const Wire good = good_answer(query);
  const auto send = [&](auto change) {
    Sent forged = query;
    Wire message = good;
    change(forged, message);
    rig.answer(forged, message);
    EXPECT_TRUE(replies_after(rig).empty());
  };
  send([](Sent&, Wire& m) { m[0] ^= 0x40; });                         // ID
  send([](Sent&, Wire& m) { m[13] = 'q'; });                          // name
  send([](Sent&, Wire& m) { m[30] = 28; });                           // type
  send([](Sent&, Wire& m) { m[32] = 3; });                            // class
  send([](Sent&, Wire& m) { m[2] &= 0x7f; });                         // QR
  send([](Sent&, Wire& m) { m[2] |= 0x10; });                         // opcode
  send([](Sent& s, Wire&) { s.headers.destination.bytes[3] = 99; });  // address
  send([](Sent& s, Wire&) { s.headers.destination_port = 5353; });    // port
  send([](Sent& s, Wire&) { s.headers.source_port ^= 0x100; });       // our port
  send([](Sent&, Wire& m) { m.pop_back(); });                         // cut
  EXPECT_EQ(rig.drops(Drop::kUpstreamUnmatched), 2u);
  EXPECT_EQ(rig.drops(Drop::kUpstreamMismatch), 7u);
  EXPECT_EQ(rig.drops(Drop::kUpstreamMalformed), 1u);
  EXPECT_EQ(rig.sum(&stats::WorkerStats::upstream_answers_taken), 0u);

  rig.answer(query, good);
  EXPECT_EQ(replies_after(rig).size(), 1u);
  rig.answer(query, good);  // at most one answer counts
  EXPECT_TRUE(replies_after(rig).empty());
  EXPECT_EQ(rig.drops(Drop::kUpstreamUnmatched), 3u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

TEST_F(UpstreamFaults, SilenceIsTriedOnTheNextServerThenServfailByTheDeadline) {
  Rig rig;
  std::vector<Sent> asked = {ask_upstream(rig)};
  std::vector<Sent> replies;
  unsigned waited_ms = 0;
  while (replies.empty() && waited_ms < 3000) {
    rig.advance_ms(10);
    waited_ms += 10;
    rig.poll();
    auto traffic = rig.traffic();
    asked.insert(asked.end(), traffic.upstream.begin(), traffic.upstream.end());
    replies = traffic.replies;
  }
  EXPECT_EQ(waited_ms, 1900u);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(replies[0].message), 2u);
  ASSERT_EQ(asked.size(), 5u);  // at 0, 400, 800, 1200 and 1600 ms
  EXPECT_NE(asked[0].headers.destination, asked[1].headers.destination);
  EXPECT_EQ(rig.upstream(Upstream::kTimeout), 5u);
  EXPECT_EQ(rig.upstream(Upstream::kGaveUp), 1u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
  // RFC 9520 §3.2: the failure is remembered, at least 1 s (5 s by default), and then asked again.
  rig.advance_ms(1000);
  rig.ask(testing::make_query({}));
  rig.poll();
  auto traffic = rig.traffic();
  EXPECT_TRUE(traffic.upstream.empty());
  ASSERT_EQ(traffic.replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(traffic.replies[0].message), 2u);
  EXPECT_EQ(rig.outcome(stats::Outcome::kHit), 1u) << "a remembered failure is a hit";
  const stats::Histogram& latency = rig.node().stats(0).hit_latency;
  uint64_t recorded = 0;
  for (size_t i = 0; i < stats::Histogram::kBuckets; ++i) recorded += latency.bucket(i);
  EXPECT_EQ(recorded, 1u);
  rig.advance_ms(5000);
  ask_upstream(rig);
}

TEST_F(UpstreamFaults, FailureGoesToTheNextServerAndItsAnswerCounts) {
  Rig rig;
  const Sent first = ask_upstream(rig);
  rig.answer(first, testing::make_answer(first.message, {.flags = 0x8182}));
  rig.poll();
  auto traffic = rig.traffic();
  EXPECT_TRUE(traffic.replies.empty());
  ASSERT_EQ(traffic.upstream.size(), 1u);
  EXPECT_NE(traffic.upstream[0].headers.destination, first.headers.destination);
  rig.answer(traffic.upstream[0], good_answer(traffic.upstream[0]));
  const auto replies = replies_after(rig);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(replies[0].message), 0u);
  EXPECT_EQ(rig.accounting(), "");
}

TEST_F(UpstreamFaults, RefusedByAllIsRefused) {
  Rig rig;
  Sent query = ask_upstream(rig);
  rig.answer(query, testing::make_answer(query.message, {.flags = 0x8185}));
  rig.poll();
  const auto next = rig.traffic().upstream;
  ASSERT_EQ(next.size(), 1u);
  rig.answer(next[0], testing::make_answer(next[0].message, {.flags = 0x8185}));
  const auto replies = replies_after(rig);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(replies[0].message), 5u);
}

// RFC 6891 §6.2.2: FORMERR to a query with EDNS is asked again without it, of the same server.
TEST_F(UpstreamFaults, FormErrIsAskedAgainWithoutEdns) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  rig.answer(query, testing::make_answer(query.message, {.flags = 0x8181}));
  rig.poll();
  const auto again = rig.traffic().upstream;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].headers.destination, query.headers.destination);
  EXPECT_EQ(testing::get16(again[0].message, 10), 0u) << "no OPT";
  rig.answer(again[0], good_answer(again[0]));
  EXPECT_EQ(replies_after(rig).size(), 1u);
}

// An upstream's TC=1 is passed on and not kept.
TEST_F(UpstreamFaults, TruncatedAnswersArePassedOnAndNotKept) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  Wire truncated = good_answer(query);
  truncated[2] |= 0x02;
  rig.answer(query, truncated);
  const auto replies = replies_after(rig);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_TRUE(testing::tc_of(replies[0].message));
  EXPECT_EQ(testing::answers_of(replies[0].message), 0u);
  ask_upstream(rig);
  EXPECT_EQ(rig.node().stats(0).cache_entries.value(), 0u);
}

// TTL 0 goes to those who wait and is not kept.
TEST_F(UpstreamFaults, TtlZeroIsUsedOnce) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  rig.answer(query,
             testing::make_answer(query.message, {.answer = {a_record("www.example.com", 0)}}));
  const auto replies = replies_after(rig);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::answers_of(replies[0].message), 1u);
  ask_upstream(rig);
}

// RFC 2308 §5: NXDOMAIN with a SOA is kept for min(SOA TTL, MINIMUM).
TEST_F(UpstreamFaults, NegativeAnswersAreKept) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  rig.answer(query,
             testing::make_answer(
                 query.message,
                 {.flags = 0x8183, .authority = {testing::soa_record("example.com", 900, 60)}}));
  EXPECT_EQ(replies_after(rig).size(), 1u);
  rig.advance_ms(59'000);
  rig.ask(testing::make_query({}));
  rig.poll();
  const auto traffic = rig.traffic();
  ASSERT_EQ(traffic.replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(traffic.replies[0].message), 3u);
  rig.advance_ms(1'000);
  ask_upstream(rig);
}

TEST_F(UpstreamFaults, OverloadIsServfailAtOnceAndNothingIsLost) {
  Rig rig;  // 256 pending questions
  for (int i = 0; i < 400; ++i) {
    rig.ask(testing::make_query({.name = "n" + std::to_string(i) + ".example"}));
    rig.poll();
  }
  auto traffic = rig.traffic();
  EXPECT_EQ(traffic.upstream.size(), 256u);
  EXPECT_EQ(traffic.replies.size(), 144u);
  for (const Sent& reply : traffic.replies) EXPECT_EQ(testing::rcode_of(reply.message), 2u);
  EXPECT_EQ(rig.outcome(stats::Outcome::kOverload), 144u);
  EXPECT_EQ(rig.mbufs_in_use(), 0u) << "no mbuf is held by those who wait";
  EXPECT_EQ(rig.accounting(), "");
  rig.advance_ms(1900);
  rig.poll(8);
  EXPECT_EQ(rig.traffic().replies.size(), 256u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.sum(&stats::WorkerStats::waiting), 0u);
}

TEST_F(UpstreamFaults, WithoutNeighboursQueriesWaitForOne) {
  Rig rig;
  rig.set_servers_usable(false);
  rig.ask(testing::make_query({}));
  rig.poll();
  EXPECT_TRUE(rig.sent().empty());
  rig.set_servers_usable(true);
  rig.advance_ms(400);
  rig.poll();
  EXPECT_EQ(rig.traffic().upstream.size(), 1u);
}

// RFC 9520 §3.2: the wait doubles while the failure goes on.
TEST_F(UpstreamFaults, FailuresAreRememberedTwiceAsLongTheSecondTime) {
  Rig rig;
  const auto fail = [&] {
    ask_upstream(rig);
    rig.advance_ms(1900);
    EXPECT_EQ(replies_after(rig).size(), 1u);
    rig.sent();
  };
  fail();
  rig.advance_ms(5000);
  fail();
  rig.advance_ms(9000);
  rig.ask(testing::make_query({}));
  rig.poll();
  EXPECT_TRUE(rig.traffic().upstream.empty());
  rig.advance_ms(1000);
  ask_upstream(rig);
}

// An unsigned answer that was asked for without DO must not be taken for a validated one's source:
// here the second server answers a query that had to do without EDNS on the first.
TEST_F(UpstreamFaults, ADoQueryAsksTheNextServerWithEdnsAgain) {
  Rig rig;
  const Sent first = ask_upstream(rig, {.edns_flags = 0x8000});
  rig.answer(first, testing::make_answer(first.message, {.flags = 0x8181}));
  rig.poll();
  const auto plain = rig.traffic().upstream;
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(testing::get16(plain[0].message, 10), 0u);
  rig.answer(plain[0], testing::make_answer(plain[0].message, {.flags = 0x8181}));
  rig.poll();
  const auto second = rig.traffic().upstream;
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(second[0].headers.destination, first.headers.destination);
  ASSERT_EQ(testing::get16(second[0].message, 10), 1u) << "with OPT";
  EXPECT_EQ(second[0].message[second[0].message.size() - 4] & 0x80, 0x80) << "with DO";
}

TEST_F(UpstreamFaults, WhatWasAskedWithoutEdnsDoesNotServeDoClients) {
  Rig rig;
  const Sent first = ask_upstream(rig, {.edns_flags = 0x8000});
  rig.answer(first, testing::make_answer(first.message, {.flags = 0x8181}));
  rig.poll();
  const auto plain = rig.traffic().upstream;
  ASSERT_EQ(plain.size(), 1u);
  rig.answer(plain[0], good_answer(plain[0]));
  EXPECT_EQ(replies_after(rig).size(), 1u);
  ask_upstream(rig, {.edns_flags = 0x8000});  // asks upstream, is no hit
}

TEST_F(UpstreamFaults, ATruncatedFailureIsAFailure) {
  Rig rig;
  const Sent first = ask_upstream(rig);
  rig.answer(first, testing::make_answer(first.message, {.flags = 0x8382}));
  rig.poll();
  const auto traffic = rig.traffic();
  EXPECT_TRUE(traffic.replies.empty());
  EXPECT_EQ(traffic.upstream.size(), 1u);
}

// An answer comes back untagged, for the query went out so: with a tag it is from another network.
TEST_F(UpstreamFaults, AnswersFromAnotherVlanAreNotTaken) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  testing::Wire frame = rig.answer_frame(query, good_answer(query));
  const testing::Wire tag = {0x81, 0x00, 0x00, 0x05};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  rig.inject_frame(frame);
  EXPECT_TRUE(replies_after(rig).empty());
  EXPECT_EQ(rig.drops(Drop::kUpstreamMismatch), 1u);
}

// With gateways the way back may be by another port; from another node's address it is not ours.
TEST_F(UpstreamFaults, AnswersAreTakenFromAnyPort) {
  RigOptions options;
  options.queues = {1, 1};
  Rig rig(options);
  const Sent query = ask_upstream(rig);
  testing::Wire frame = rig.answer_frame(query, good_answer(query));
  const MacAddress mac = rig.port_mac(1);
  std::copy(mac.bytes.begin(), mac.bytes.end(), frame.begin());
  rig.inject_frame(frame, 1);
  EXPECT_EQ(replies_after(rig).size(), 1u);
}

Wire good(const Sent& query) {
  return testing::make_answer(query.message, {.answer = {a_record("www.example.com", 300)}});
}

class ManyWaiters : public ::testing::TestWithParam<std::pair<unsigned, uint16_t>> {
 protected:
  static RigOptions options() {
    RigOptions options;
    options.workers = GetParam().first;
    options.queues = {GetParam().second};
    options.mbufs = 8191;
    options.config.upstream.max_waiting = 8000;
    options.config.upstream.max_pending = 5000;
    return options;
  }
  // Polls, taking what is sent off the queues as a wire would, until `want` replies are there or
  // 200 rounds over.
  static std::vector<Sent> collect(Rig& rig, size_t want) {
    std::vector<Sent> replies;
    for (int round = 0; round < 200 && replies.size() < want; ++round) {
      rig.poll();
      for (Sent& reply : rig.traffic().replies) replies.push_back(std::move(reply));
    }
    return replies;
  }
};

// Every waiting client gets its answer, however many wait for one name: no queue or ring is
// overrun.
TEST_P(ManyWaiters, OfOneNameAreAllAnswered) {
  Rig rig(options());
  constexpr unsigned kClients = 4000;
  std::vector<Sent> upstream;
  for (unsigned i = 0; i < kClients; ++i) {
    testing::Client client;
    client.port = static_cast<uint16_t>(1024 + i);
    rig.ask(testing::make_query({}), client);
    rig.poll(2);
    for (Sent& query : rig.traffic().upstream) upstream.push_back(std::move(query));
  }
  ASSERT_EQ(upstream.size(), 1u);
  rig.answer(upstream[0], good(upstream[0]));
  const auto replies = collect(rig, kClients);
  EXPECT_EQ(replies.size(), kClients);
  for (const Sent& reply : replies) EXPECT_EQ(testing::answers_of(reply.message), 1u);
  rig.poll(2);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.sum(&stats::WorkerStats::waiting), 0u);
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

TEST_P(ManyWaiters, OfManyNamesAllGetServfailWhenTheUpstreamIsSilent) {
  Rig rig(options());
  constexpr unsigned kNames = 4000;
  for (unsigned i = 0; i < kNames; ++i) {
    rig.ask(testing::make_query({.name = "n" + std::to_string(i) + ".example"}));
    rig.poll(2);
    rig.sent();
  }
  std::vector<Sent> replies;
  for (int step = 0; step < 300 && replies.size() < kNames; ++step) {
    rig.advance_ms(10);
    for (Sent& reply : collect(rig, 1)) replies.push_back(std::move(reply));
  }
  EXPECT_EQ(replies.size(), kNames);
  for (const Sent& reply : replies) EXPECT_EQ(testing::rcode_of(reply.message), 2u);
  rig.poll(2);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Setups, ManyWaiters,
                         ::testing::Values(std::pair{1u, uint16_t{1}}, std::pair{2u, uint16_t{1}},
                                           std::pair{4u, uint16_t{4}}),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "Workers" +
                                  std::to_string(info.param.second) + "Queues";
                         });

// A failure does not displace an answer (RFC 9520 §3.2): here one that a DO=1 client did not get.
TEST_F(UpstreamFaults, FailureDoesNotDisplaceAnAnswer) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  rig.answer(query, good_answer(query));
  EXPECT_EQ(replies_after(rig).size(), 1u);
  ask_upstream(rig, {.edns_flags = 0x8000});
  rig.advance_ms(1900);
  const auto failed = replies_after(rig);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(testing::rcode_of(failed[0].message), 2u);
  rig.ask(testing::make_query({}));
  const auto kept = replies_after(rig);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(testing::answers_of(kept[0].message), 1u);
}

}  // namespace
}  // namespace wirecache::worker

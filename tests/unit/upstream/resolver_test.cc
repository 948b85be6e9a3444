#include "lib/upstream/resolver.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/dns_builder.h"

namespace wirecache::upstream {
namespace {

constexpr auto kPlain = dns::DoBit::kClear;
constexpr auto kWithDo = dns::DoBit::kSet;
constexpr uint64_t kMs = 1'000'000;  // ticks: a 1 GHz clock

class ResolverTest : public ::testing::Test {
 protected:
  void make(unsigned servers, uint32_t max_pending = 16, uint32_t max_waiting = 16) {
    static unsigned count = 0;
    ResolverOptions options{.name = "res" + std::to_string(count++),
                            .worker = 1,
                            .workers = 4,
                            .numa_node = 0,
                            .clock = TscClock(1000 * kMs),
                            .upstream = {},
                            .random = Random(Random::Key{7}),
                            .stats = &stats_};
    options.upstream.try_timeout_ms = 400;
    options.upstream.deadline_ms = 1900;
    options.upstream.max_pending = max_pending;
    options.upstream.max_waiting = max_waiting;
    auto made = Resolver::create(std::move(options));
    ASSERT_TRUE(made.has_value());
    resolver_ = std::move(*made);
    routes_.count = servers;
    for (size_t i = 0; i < servers; ++i) routes_.servers[i].usable = true;
  }

  cache::Key key(const std::string& name, uint16_t type = 1) {
    testing::Wire wire;
    testing::put_name(wire, name);
    return buffers_[name].make(secret_, wire, type, dns::CdBit::kClear, 0);
  }

  Pending& start(const std::string& name) {
    const auto asked = resolver_->ask(key(name), kPlain, now_);
    EXPECT_EQ(asked.status, Resolver::AskStatus::kStarted);
    EXPECT_EQ(resolver_->next_try(*asked.pending, routes_, now_), Resolver::TryStatus::kSend);
    return *asked.pending;
  }

  unsigned take_all(Pending& pending) {
    unsigned count = 0;
    resolver_->close(pending);
    for (; resolver_->has_waiter(pending); ++count) resolver_->take_waiter(pending);
    return count;
  }

  HashSecret secret_ = HashSecret::from_seed(3);
  std::map<std::string, cache::KeyBuffer> buffers_;
  stats::WorkerStats stats_;
  RouteTable routes_;
  TscTime now_{5000 * kMs};
  std::unique_ptr<Resolver> resolver_;
};

TEST_F(ResolverTest, JoinsTheSameQuestionAndNoOther) {
  make(1);
  Pending& pending = start("a.example");
  EXPECT_EQ(resolver_->ask(key("a.example"), kPlain, now_).status, Resolver::AskStatus::kJoined);
  EXPECT_EQ(resolver_->ask(key("b.example"), kPlain, now_).status, Resolver::AskStatus::kStarted);
  EXPECT_EQ(resolver_->pending(), 2u);
  EXPECT_EQ(resolver_->waiting(), 3u);
  EXPECT_EQ(take_all(pending), 2u);
  resolver_->forget(pending);
  EXPECT_EQ(resolver_->pending(), 1u);
  EXPECT_EQ(resolver_->waiting(), 1u);
}

// SEMANTICS "Upstream queries": a DO=1 client does not join a pending DO=0 query.
TEST_F(ResolverTest, DnssecClientsDoNotJoinPlainQuestions) {
  make(1);
  start("a.example");
  const auto with_do = resolver_->ask(key("a.example"), kWithDo, now_);
  EXPECT_EQ(with_do.status, Resolver::AskStatus::kStarted);
  const auto plain = resolver_->ask(key("a.example"), kPlain, now_);
  EXPECT_EQ(plain.status, Resolver::AskStatus::kJoined);
  EXPECT_EQ(plain.pending, with_do.pending);
}

TEST_F(ResolverTest, SaysOverloadWhenTablesAreFullAndLosesNothing) {
  make(1, 2, 3);
  start("a.example");
  start("b.example");
  EXPECT_EQ(resolver_->ask(key("c.example"), kPlain, now_).status, Resolver::AskStatus::kOverload);
  EXPECT_EQ(resolver_->waiting(), 2u);
  EXPECT_EQ(resolver_->ask(key("a.example"), kPlain, now_).status, Resolver::AskStatus::kJoined);
  EXPECT_EQ(resolver_->ask(key("a.example"), kPlain, now_).status, Resolver::AskStatus::kOverload);
  EXPECT_EQ(resolver_->waiting(), 3u);
}

// RFC 5452 §9.2: unpredictable ID and source port for each try, out of the worker's own share.
TEST_F(ResolverTest, EachTryHasAFreshPortOfTheWorkersShareAndAFreshId) {
  make(8);
  Pending& pending = start("a.example");
  std::set<std::pair<uint16_t, uint16_t>> seen;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(worker_of_source_port(pending.source_port, 10000, 4), 1u);
    EXPECT_GE(pending.source_port, 10000);
    EXPECT_LE(pending.source_port, 32767);
    const auto old = std::make_pair(pending.source_port, pending.id);
    EXPECT_TRUE(seen.insert(old).second);
    EXPECT_EQ(resolver_->match(old.first, old.second), &pending);
    ASSERT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kSend);
    EXPECT_EQ(resolver_->match(old.first, old.second), nullptr);
  }
}

// RFC 9520 §3.1: at most three queries per server address for one question.
TEST_F(ResolverTest, AsksEachServerAtMostThreeTimesInTurn) {
  make(2);
  Pending& pending = start("a.example");
  std::vector<int> order = {pending.server};
  while (resolver_->next_try(pending, routes_, now_) == Resolver::TryStatus::kSend)
    order.push_back(pending.server);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 0, 1, 0, 1}));
}

TEST_F(ResolverTest, AServerThatFailedIsNotAskedAgain) {
  make(2);
  Pending& pending = start("a.example");
  resolver_->note_answer(pending, Resolver::Verdict::kFailed, dns::Rcode::kRefused);
  ASSERT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kSend);
  EXPECT_EQ(pending.server, 1);
  resolver_->note_answer(pending, Resolver::Verdict::kFailed, dns::Rcode::kRefused);
  EXPECT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kExhausted);
  EXPECT_EQ(pending.last_rcode, dns::Rcode::kRefused);
}

TEST_F(ResolverTest, TriesTimeOutInOrderAndTheLastLivesUntilTheDeadline) {
  make(1);
  Pending& pending = start("a.example");
  now_.ticks += 399 * kMs;
  EXPECT_EQ(resolver_->next_timed_out(now_), nullptr);
  now_.ticks += 1 * kMs;
  ASSERT_EQ(resolver_->next_timed_out(now_), &pending);
  ASSERT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kSend);
  now_.ticks += 400 * kMs;
  ASSERT_EQ(resolver_->next_timed_out(now_), &pending);
  ASSERT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kSend);
  now_.ticks += 1000 * kMs;  // 1.8 s after the start
  EXPECT_EQ(resolver_->next_timed_out(now_), nullptr);
  EXPECT_EQ(resolver_->next_expired(now_), nullptr);
  now_.ticks += 100 * kMs;
  EXPECT_EQ(resolver_->next_expired(now_), &pending);
}

TEST_F(ResolverTest, HoldsWhileNoServerCanBeReached) {
  make(1);
  routes_.servers[0].usable = false;
  const auto asked = resolver_->ask(key("a.example"), kPlain, now_);
  EXPECT_EQ(resolver_->next_try(*asked.pending, routes_, now_), Resolver::TryStatus::kHold);
  now_.ticks += 400 * kMs;
  ASSERT_EQ(resolver_->next_timed_out(now_), asked.pending);
  routes_.servers[0].usable = true;
  EXPECT_EQ(resolver_->next_try(*asked.pending, routes_, now_), Resolver::TryStatus::kSend);
}

TEST_F(ResolverTest, PassesOverAServerThatTimedOutOftenWhileAnotherIsThere) {
  make(2);
  for (int i = 0; i < 5; ++i) {
    Pending& pending = start("n" + std::to_string(i) + ".example");
    EXPECT_EQ(pending.server, 0);
    now_.ticks += 400 * kMs;
    ASSERT_EQ(resolver_->next_timed_out(now_), &pending);
    resolver_->next_try(pending, routes_, now_);
    EXPECT_EQ(pending.server, 1);
    take_all(pending);
    resolver_->forget(pending);
  }
  Pending& later = start("later.example");
  EXPECT_EQ(later.server, 1);
  now_.ticks += 2001 * kMs;  // its time out is over
  EXPECT_EQ(start("again.example").server, 0);
}

TEST_F(ResolverTest, WithoutEdnsTheSameServerIsAskedAgain) {
  make(2);
  Pending& pending = start("a.example");
  EXPECT_TRUE(pending.edns);
  ASSERT_EQ(resolver_->retry_without_edns(pending, routes_, now_), Resolver::TryStatus::kSend);
  EXPECT_EQ(pending.server, 0);
  EXPECT_FALSE(pending.edns);
}

TEST_F(ResolverTest, TheNextServerIsAskedWithEdnsAgain) {
  make(2);
  Pending& pending = start("a.example");
  ASSERT_EQ(resolver_->retry_without_edns(pending, routes_, now_), Resolver::TryStatus::kSend);
  resolver_->note_answer(pending, Resolver::Verdict::kFailed, dns::Rcode::kFormErr);
  ASSERT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kSend);
  EXPECT_EQ(pending.server, 1);
  EXPECT_TRUE(pending.edns);
}

// SEMANTICS "What is kept": REFUSED only where all upstreams say so.
TEST_F(ResolverTest, ServersThatDisagreeAreAServfail) {
  make(2);
  Pending& pending = start("a.example");
  resolver_->note_answer(pending, Resolver::Verdict::kFailed, dns::Rcode::kRefused);
  ASSERT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kSend);
  resolver_->note_answer(pending, Resolver::Verdict::kFailed, dns::Rcode::kNotImp);
  EXPECT_EQ(resolver_->next_try(pending, routes_, now_), Resolver::TryStatus::kExhausted);
  EXPECT_EQ(pending.last_rcode, dns::Rcode::kServFail);
}

TEST_F(ResolverTest, AClosedQuestionCanBeNeitherJoinedNorAnswered) {
  make(1);
  Pending& pending = start("a.example");
  const uint16_t port = pending.source_port;
  const uint16_t id = pending.id;
  resolver_->close(pending);
  EXPECT_EQ(resolver_->match(port, id), nullptr);
  EXPECT_EQ(resolver_->ask(key("a.example"), kPlain, now_).status, Resolver::AskStatus::kStarted);
  EXPECT_EQ(resolver_->first_closed(), &pending);
  now_.ticks += 5000 * kMs;
  EXPECT_NE(resolver_->next_expired(now_), &pending);
}

TEST_F(ResolverTest, ManyQuestionsComeAndGoWithoutALeak) {
  make(1, 64, 64);
  for (int i = 0; i < 10000; ++i) {
    Pending& pending = start("x" + std::to_string(i % 100) + ".example");
    EXPECT_EQ(take_all(pending), 1u);
    resolver_->forget(pending);
  }
  EXPECT_EQ(resolver_->pending(), 0u);
  EXPECT_EQ(resolver_->waiting(), 0u);
  std::vector<Pending*> all;
  for (int i = 0; i < 64; ++i) all.push_back(&start("y" + std::to_string(i) + ".example"));
  EXPECT_EQ(resolver_->pending(), 64u);
}

}  // namespace
}  // namespace wirecache::upstream

#include "lib/stats/worker_stats.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>

namespace wirecache::stats {
namespace {

// A name and a help text for every enumerator.
static_assert(std::size(kDropNames) == CounterArray<Drop>::kSize);
static_assert(std::size(kQueryDropNames) == CounterArray<QueryDrop>::kSize);
static_assert(std::size(kOutcomeNames) == CounterArray<Outcome>::kSize);
static_assert(std::size(kMalformedNames) == CounterArray<Malformed>::kSize);
static_assert(std::size(kFamilyNames) == CounterArray<Family>::kSize);
static_assert(std::size(kUpstreamNames) == CounterArray<Upstream>::kSize);
static_assert(std::size(kCacheNames) == CounterArray<Cache>::kSize);

// Neighbouring workers' counters share no cache line.
static_assert(alignof(WorkerStats) == 64 && sizeof(WorkerStats) % 64 == 0);
static_assert(alignof(ExceptionStats) == 64 && sizeof(ExceptionStats) % 64 == 0);

class NameLists : public testing::TestWithParam<std::span<const Name>> {};

// The labels become parts of metric names and label values: [a-z0-9_], each once a list.
TEST_P(NameLists, LabelsAreUniqueSnakeCaseWithHelp) {
  std::set<std::string_view> seen;
  for (const Name& name : GetParam()) {
    EXPECT_TRUE(seen.insert(name.label).second) << name.label;
    EXPECT_FALSE(name.label.empty());
    EXPECT_EQ(name.label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << name.label;
    EXPECT_FALSE(name.help.empty()) << name.label;
    EXPECT_EQ(name.help.find('\n'), std::string_view::npos) << name.label;
  }
}

constexpr std::span<const Name> kNameLists[] = {kDropNames,      kQueryDropNames, kOutcomeNames,
                                                kMalformedNames, kFamilyNames,    kUpstreamNames,
                                                kCacheNames};

INSTANTIATE_TEST_SUITE_P(All, NameLists, testing::ValuesIn(kNameLists));

TEST(NameArrays, StandInTheOrderOfTheirEnumerators) {
  EXPECT_EQ(kDropNames[static_cast<size_t>(Drop::kShortFrame)].label, "short_frame");
  EXPECT_EQ(kDropNames[static_cast<size_t>(Drop::kStopping)].label, "stopping");
  EXPECT_EQ(kOutcomeNames[static_cast<size_t>(Outcome::kOverload)].label, "overload");
  EXPECT_EQ(kMalformedNames[static_cast<size_t>(Malformed::kSigned)].label, "signed");
  EXPECT_EQ(kFamilyNames[static_cast<size_t>(Family::kIpv6)].label, "ipv6");
  EXPECT_EQ(kUpstreamNames[static_cast<size_t>(Upstream::kGaveUp)].label, "gave_up");
  EXPECT_EQ(kCacheNames[static_cast<size_t>(Cache::kRejected)].label, "rejected");
}

TEST(WorkerStats, QueryCountsOnItsPortByFamilyAndType) {
  WorkerStats stats;
  stats.count_query(0, Family::kIpv4, 1);
  stats.count_query(0, Family::kIpv6, 28);
  stats.count_query(15, Family::kIpv6, 28);
  stats.count_query(16, Family::kIpv4, 0);  // by the stream service of a node with 16 ports
  EXPECT_EQ(stats.ports[0].queries[Family::kIpv4].value(), 1u);
  EXPECT_EQ(stats.ports[0].queries[Family::kIpv6].value(), 1u);
  EXPECT_EQ(stats.ports[15].queries[Family::kIpv6].value(), 1u);
  EXPECT_EQ(stats.ports[16].queries[Family::kIpv4].value(), 1u);
  EXPECT_EQ(stats.query_types[QueryType::kA].value(), 1u);
  EXPECT_EQ(stats.query_types[QueryType::kAaaa].value(), 2u);
  EXPECT_EQ(stats.query_types[QueryType::kOther].value(), 1u);
  EXPECT_EQ(stats.client_queries(), 4u);
  EXPECT_EQ(stats.query_types.sum(), 4u);
}

TEST(WorkerStats, SumsOverPortsAndServers) {
  WorkerStats stats;
  stats.ports[0].received.add(5);
  stats.ports[15].received.add(6);
  stats.ports[1].punted.add(7);
  stats.ports[2].punted.add(8);
  stats.ports[0].sent.add(9);
  stats.ports[16].sent.add(10);
  EXPECT_EQ(stats.received(), 11u);
  EXPECT_EQ(stats.punted(), 15u);
  EXPECT_EQ(stats.packets_sent(), 19u);
  stats.servers[0].events[Upstream::kAnswerTaken].add(1);
  stats.servers[31].events[Upstream::kAnswerTaken].add(2);
  stats.servers[3].events[Upstream::kIcmpUnreachable].add(4);
  stats.upstream[Upstream::kUnreachable].add(8);
  stats.servers[3].events[Upstream::kUnreachable].add(16);
  EXPECT_EQ(stats.upstream_answers_taken(), 3u);
  EXPECT_EQ(stats.icmp_taken(), 4u);
  EXPECT_EQ(stats.upstream_total(Upstream::kUnreachable), 24u);
}

// What a worker's counters may take of memory; most of it is the servers' histograms.
static_assert(sizeof(WorkerStats) <= 16384);

}  // namespace
}  // namespace wirecache::stats

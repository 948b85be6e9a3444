// The baselines on traces worked by hand from their definitions (S3-FIFO: algorithm 1 of the
// paper). Entries are 10 bytes long unless a test says otherwise.
#include "tests/bench/hit_ratio/baselines.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wirecache::bench {
namespace {

constexpr uint32_t kBytes = 10;
constexpr uint32_t kLongTtl = 1000;

void put(Policy& policy, char name, uint32_t now_sec = 0, uint32_t ttl_sec = kLongTtl) {
  policy.put({static_cast<NameId>(name), now_sec, kBytes, ttl_sec, AnswerKind::kPositive});
}

// Asks for each name in turn and files it where it is missing; returns 'h' and 'm'.
std::string ask(Policy& policy, std::string_view names, uint32_t now_sec = 0,
                uint32_t ttl_sec = kLongTtl) {
  std::string seen;
  for (const char name : names) {
    const bool hit = policy.get(static_cast<NameId>(name), now_sec) == Lookup::kHit;
    seen += hit ? 'h' : 'm';
    if (!hit) {
      put(policy, name, now_sec, ttl_sec);
    }
  }
  return seen;
}

// Which of `names` are hits, without filing the others. Counts as asking.
std::string resident(Policy& policy, std::string_view names, uint32_t now_sec = 0) {
  std::string found;
  for (const char name : names) {
    if (policy.get(static_cast<NameId>(name), now_sec) == Lookup::kHit) {
      found += name;
    }
  }
  return found;
}

TEST(LruTest, EvictsWhatWasAskedForLongestAgo) {
  Lru lru(3 * kBytes);
  EXPECT_EQ(ask(lru, "abcab"), "mmmhh");
  EXPECT_EQ(ask(lru, "d"), "m");  // c goes
  EXPECT_EQ(resident(lru, "cabd"), "abd");
}

TEST(LruTest, EvictsAsManyAsTheBytesAsk) {
  Lru lru(3 * kBytes);
  EXPECT_EQ(ask(lru, "abc"), "mmm");
  lru.put({'x', 0, 2 * kBytes, kLongTtl, AnswerKind::kPositive});  // a and b go
  EXPECT_EQ(resident(lru, "abcx"), "cx");
}

TEST(LruTest, ExpiredIsAMissAndItsReplacementStandsForItself) {
  Lru lru(3 * kBytes);
  EXPECT_EQ(ask(lru, "a", 0, 5), "m");
  EXPECT_EQ(ask(lru, "bc"), "mm");
  EXPECT_EQ(ask(lru, "a", 4, 5), "h");
  EXPECT_EQ(ask(lru, "a", 5, 5), "m");
  EXPECT_EQ(lru.live_bytes(5), 3 * kBytes);
  EXPECT_EQ(lru.live_bytes(10), 2 * kBytes);
  EXPECT_EQ(resident(lru, "abc", 9), "abc");
}

TEST(FifoTest, EvictsWhatCameFirstHoweverOftenAskedFor) {
  Fifo fifo(3 * kBytes);
  EXPECT_EQ(ask(fifo, "abcaaa"), "mmmhhh");
  EXPECT_EQ(ask(fifo, "d"), "m");  // a goes
  EXPECT_EQ(resident(fifo, "abcd"), "bcd");
}

TEST(FifoTest, ReplacementIsAnInsertion) {
  Fifo fifo(3 * kBytes);
  EXPECT_EQ(ask(fifo, "a", 0, 5), "m");
  EXPECT_EQ(ask(fifo, "bc"), "mm");
  EXPECT_EQ(ask(fifo, "a", 5), "m");
  EXPECT_EQ(ask(fifo, "d", 5), "m");  // b goes
  EXPECT_EQ(resident(fifo, "abcd", 5), "acd");
}

// Ten entries fit, one of them in the small queue once the cache is full.
class S3FifoTest : public testing::Test {
 protected:
  S3Fifo s3_{10 * kBytes};
};

TEST_F(S3FifoTest, WhatWasAskedForTwiceGoesToMainTheRestGoes) {
  EXPECT_EQ(ask(s3_, "abcdefghij"), "mmmmmmmmmm");
  EXPECT_EQ(ask(s3_, "aab"), "hhh");
  // k: a goes to main; b, asked for once only, leaves.
  EXPECT_EQ(ask(s3_, "k"), "m");
  EXPECT_EQ(resident(s3_, "b"), "");
  // l, m: c and d leave although a is older.
  EXPECT_EQ(ask(s3_, "lm"), "mm");
  EXPECT_EQ(resident(s3_, "acd"), "a");
}

TEST_F(S3FifoTest, GhostGoesToMain) {
  EXPECT_EQ(ask(s3_, "abcdefghijk"), "mmmmmmmmmmm");  // a leaves
  EXPECT_EQ(ask(s3_, "a"), "m");                      // to main; b leaves
  // All of c to k, unasked, leave the small queue before a does.
  EXPECT_EQ(ask(s3_, "lmnopqrst"), "mmmmmmmmm");
  EXPECT_EQ(resident(s3_, "abcdefghijk"), "a");
}

TEST_F(S3FifoTest, OldGhostsAreForgotten) {
  EXPECT_EQ(ask(s3_, "abcdefghijk"), "mmmmmmmmmmm");  // a leaves, the first ghost
  EXPECT_EQ(ask(s3_, "lmnopqrst"), "mmmmmmmmm");      // b to j: nine ghosts fit, a is none now
  EXPECT_EQ(ask(s3_, "a"), "m");                      // to small; k leaves
  EXPECT_EQ(ask(s3_, "ABCDEFGHIJ"), "mmmmmmmmmm");    // all older than A leave
  EXPECT_EQ(resident(s3_, "a"), "");
}

TEST_F(S3FifoTest, MainPutsBackWhatWasAskedFor) {
  EXPECT_EQ(ask(s3_, "abcdefghij"), "mmmmmmmmmm");
  EXPECT_EQ(ask(s3_, "abcdefghijabcdefghij"), std::string(20, 'h'));
  // k: a to i go to main, which takes nine; j, the tenth, pushes one out of it: a, whose counter
  // was cleared on the way. Nothing unasked is left in small, so that is the room for k.
  EXPECT_EQ(ask(s3_, "k"), "m");
  EXPECT_EQ(resident(s3_, "ab"), "b");  // b's counter is 1
  // l: small holds its tenth, k leaves. a new name, asked for twice, then moves to main: b is put
  // back, c goes.
  EXPECT_EQ(ask(s3_, "lll"), "mhh");
  EXPECT_EQ(ask(s3_, "m"), "m");
  EXPECT_EQ(resident(s3_, "bcdefghijlm"), "bdefghijlm");
}

TEST_F(S3FifoTest, ReplacementStaysWhereItStands) {
  EXPECT_EQ(ask(s3_, "a", 0, 5), "m");
  EXPECT_EQ(ask(s3_, "bcdefghij"), "mmmmmmmmm");
  EXPECT_EQ(ask(s3_, "aa", 5), "mh");  // asked for twice since it came
  EXPECT_EQ(ask(s3_, "k", 5), "m");    // a goes to main, b leaves
  EXPECT_EQ(resident(s3_, "abc", 5), "ac");
  EXPECT_EQ(s3_.live_bytes(5), 10 * kBytes);
}

}  // namespace
}  // namespace wirecache::bench

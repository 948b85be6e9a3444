#include "tests/bench/hit_ratio/trace.h"

namespace wirecache::bench {

namespace {

constexpr uint32_t kAPercent = 56;
constexpr uint32_t kAaaaPercent = 25;
constexpr uint32_t kMostRecords = 4;
constexpr uint32_t kShortestName = 11;
constexpr uint32_t kLongestName = 25;
constexpr uint32_t kShortestText = 64;
constexpr uint32_t kLongestText = 224;
// The simulation starts when the resolver has long been running.
constexpr uint32_t kStartSec = 1'000'000;

// The numbers that belong to a name.
SplitMix64 numbers_of(NameId name) {
  return SplitMix64(uint64_t{name} * 0xd1342543de82ef95 + 0x2545f4914f6cdd1d);
}

uint32_t between(SplitMix64& random, uint32_t least, uint32_t most) {
  return least + random.below(most - least + 1);
}

uint32_t draw_ttl(SplitMix64& random) {
  uint32_t permille = random.below(1000);
  for (const TtlShare& share : kTtlMix) {
    if (permille < share.permille) {
      return share.ttl_sec;
    }
    permille -= share.permille;
  }
  return kTtlMix.back().ttl_sec;
}

uint32_t draw_rdata_bytes(SplitMix64& random) {
  const uint32_t type = random.below(100);
  const uint32_t records = between(random, 1, kMostRecords);
  if (type < kAPercent) {
    return 4 * records;
  }
  if (type < kAPercent + kAaaaPercent) {
    return 16 * records;
  }
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < records; ++i) {
    bytes += between(random, kShortestText, kLongestText);
  }
  return bytes;
}

}  // namespace

Answer answer_of(NameId name) {
  SplitMix64 random = numbers_of(name);
  const uint32_t ttl_sec = draw_ttl(random);
  const uint32_t name_bytes = between(random, kShortestName, kLongestName);
  return {kHeaderBytes + name_bytes + draw_rdata_bytes(random), ttl_sec, AnswerKind::kPositive};
}

Trace::Trace(const TraceOptions& options)
    : options_(options),
      zipf_(options.names, options.exponent),
      random_(options.seed),
      next_asked_once_(options.names) {}

Request Trace::next() {
  const double kind = random_.unit();
  if (kind < options_.scan_share) {
    return asked_once(answer_of(next_asked_once_));
  }
  if (kind < options_.scan_share + options_.flood_share) {
    return asked_once({kFloodBytes, kFloodTtlSec, AnswerKind::kNegative});
  }
  return ordinary();
}

Request Trace::ordinary() {
  const NameId name = zipf_.sample(random_) - 1;
  const auto now_sec =
      static_cast<uint32_t>(kStartSec + ordinary_requests_++ / options_.requests_per_sec);
  const Answer answer = answer_of(name);
  const uint32_t fetched_at = SplitMix64(name).below(answer.ttl_sec);
  const uint32_t age_sec = (now_sec - fetched_at) % answer.ttl_sec;
  return {name, now_sec, answer.bytes, answer.ttl_sec - age_sec, answer.kind};
}

Request Trace::asked_once(Answer answer) {
  const auto now_sec =
      static_cast<uint32_t>(kStartSec + ordinary_requests_ / options_.requests_per_sec);
  return {next_asked_once_++, now_sec, answer.bytes, answer.ttl_sec, answer.kind};
}

}  // namespace wirecache::bench

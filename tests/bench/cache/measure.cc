#include "tests/bench/cache/measure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace wirecache::bench {
namespace {

// Which questions are asked does not depend on the subject.
constexpr uint64_t kLookupSeed = 0xa5c;

}  // namespace

void PacketBatch::add(uint64_t index) {
  Packet& packet = packets_[count_++];
  const uint16_t size = mix_.write_query(index, packet.message.data());
  packet.reply_bytes = 0;
  if (dns::parse_query(Bytes(packet.message).first(size), packet.query) != dns::QueryStatus::kOk) {
    std::fprintf(stderr, "bench_cache: a query of the reference mix does not parse\n");
    std::abort();
  }
}

double fill(Subject& subject, const ReferenceMix& mix, uint64_t entries, Insertion insertion,
            uint32_t now_sec) {
  MessageBatch batch(mix);
  CpuTimer timer;
  for (uint64_t next = 0; next < entries;) {
    batch.clear();
    while (next < entries && !batch.is_full()) batch.add(next++);
    if (insertion == Insertion::kPrepared) {
      subject.prepare(batch.messages(), now_sec);
      timer.start();
      subject.insert_prepared();
    } else {
      timer.start();
      subject.insert(batch.messages(), now_sec);
    }
    timer.stop();
  }
  return static_cast<double>(entries) * 1e9 / timer.total_ns();
}

LookupResult look_up(Subject& subject, const ReferenceMix& mix, uint64_t entries, uint64_t count,
                     Lookup lookup, uint32_t now_sec) {
  PacketBatch batch(mix);
  Draw draw(kLookupSeed);
  CpuTimer timer;
  uint64_t answered = 0;
  for (uint64_t asked = 0; asked < count;) {
    batch.clear();
    for (; asked < count && !batch.is_full(); ++asked)
      batch.add(draw.below(static_cast<uint32_t>(entries)));
    timer.start();
    answered += lookup == Lookup::kBursts ? subject.answer_bursts(batch.packets(), now_sec)
                                          : subject.answer_each(batch.packets(), now_sec);
    timer.stop();
  }
  const auto asked = static_cast<double>(count);
  return {.ns = timer.total_ns() / asked, .answered_share = static_cast<double>(answered) / asked};
}

uint64_t count_fresh(Subject& subject, const ReferenceMix& mix, uint64_t first, uint64_t end,
                     uint32_t now_sec) {
  std::array<Question, 256> questions;
  uint64_t count = 0;
  while (first < end) {
    size_t n = 0;
    while (first < end && n < questions.size()) questions[n++] = mix.question(first++);
    count += subject.count_fresh(std::span(questions).first(n), now_sec);
  }
  return count;
}

uint64_t count_wrong(Subject& subject, const ReferenceMix& mix, uint64_t entries, uint64_t step,
                     uint32_t now_sec) {
  PacketBatch batch(mix);
  std::vector<uint8_t> expected(ReferenceMix::kMostMessageBytes);
  uint64_t wrong = 0;
  for (uint64_t index = 0; index < entries; index += step) {
    batch.clear();
    batch.add(index);
    if (subject.answer_bursts(batch.packets(), now_sec) == 0) continue;
    const Packet& packet = batch.packets()[0];
    const uint16_t size = mix.write_answer(index, expected.data());
    constexpr size_t kCounts = 4;  // of the header, from QDCOUNT on
    const bool is_right = packet.reply_bytes == size &&
                          std::equal(expected.begin() + kCounts, expected.begin() + size,
                                     packet.message.begin() + kCounts);
    wrong += is_right ? 0 : 1;
  }
  return wrong;
}

double payload_bytes_per_entry(const ReferenceMix& mix, uint64_t entries) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < entries; ++i) total += mix.payload_bytes(i);
  return static_cast<double>(total) / static_cast<double>(entries);
}

}  // namespace wirecache::bench

// What a worker counts: plain counters of its own, one list of names for all of them.
//
// Invariant (the accounting that tests check at rest, summed over workers):
//   received + from stream = client queries + upstream answers taken + ICMP errors taken
//                            + dropped (all reasons) + punted
//   client queries = responses sent + query drops (all reasons) + waiting
// Thread: written by the owning worker alone with relaxed load and store (no locked instruction);
// read by the metrics listener at any time. Only counters go up; `waiting` and the like are gauges.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wirecache::stats {

class Counter {
 public:
  void add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Why a received packet went no further: name in the metric's label, help text.
#define WC_DROP_REASONS(X)                                                             \
  X(kShortFrame, "short_frame", "cut before the end of a header")                      \
  X(kBadIpHeader, "bad_ip_header", "IP version, header or total length")               \
  X(kBadIpChecksum, "bad_ip_checksum", "IPv4 header checksum")                         \
  X(kBadUdpLength, "bad_udp_length", "UDP length against the IP payload")              \
  X(kBadUdpChecksum, "bad_udp_checksum", "UDP checksum wrong, or absent over IPv6")    \
  X(kBadSource, "bad_source", "source address or port that no reply may go to")        \
  X(kWrongMac, "wrong_mac", "unicast frame for another station")                       \
  X(kShortMessage, "short_message", "under 12 bytes on the service port")              \
  X(kUnwantedResponse, "unwanted_response", "QR=1 on the service port")                \
  X(kClientRefused, "client_not_allowed", "client network not allowed, set to drop")   \
  X(kPuntRingFull, "punt_ring_full", "the ring to the exception port was full")        \
  X(kHandoverRingFull, "handover_ring_full", "the ring to an answer's owner was full") \
  X(kUpstreamUnmatched, "upstream_unmatched", "no waiting query has this ID and port") \
  X(kUpstreamMismatch, "upstream_mismatch", "address, question or flags do not match") \
  X(kUpstreamMalformed, "upstream_malformed", "matching answer that does not parse")   \
  X(kStopping, "stopping", "arrived while the program was stopping")

// Why an accepted client query got no response.
#define WC_QUERY_DROP_REASONS(X)                           \
  X(kNoMbuf, "no_mbuf", "no packet buffer for the answer") \
  X(kTxFull, "tx_full", "the transmit queue or the ring to it was full")

// How an accepted client query was dealt with.
#define WC_OUTCOMES(X)                                                             \
  X(kHit, "hit", "answered from the cache")                                        \
  X(kMiss, "miss", "not in the cache: asked upstream, or joined a query that was") \
  X(kRefused, "refused", "client network, class or type that is not served")       \
  X(kMalformed, "malformed", "answered FORMERR, NOTIMP or BADVERS")                \
  X(kLocal, "local", "answered here without the cache")                            \
  X(kOverload, "overload", "a miss for which no waiter, query or ring slot was free")

#define WC_UPSTREAM_EVENTS(X)                                                         \
  X(kQuerySent, "queries", "queries sent to upstream servers")                        \
  X(kAnswerTaken, "answers", "answers that matched a waiting query")                  \
  X(kTimeout, "timeouts", "queries not answered within the try's time")               \
  X(kFailure, "failures", "answers that sent the query on to the next server")        \
  X(kTruncated, "truncated", "answers with TC=1")                                     \
  X(kIcmpUnreachable, "icmp_unreachable", "queries that an ICMP error ended at once") \
  X(kUnreachable, "unreachable", "tries with no neighbour to send to, or no mbuf")    \
  X(kGaveUp, "gave_up", "questions failed: all tries used or the deadline reached")

#define WC_CACHE_EVENTS(X)                                               \
  X(kInserted, "inserted", "entries written")                            \
  X(kReplaced, "replaced", "entries written over one with the same key") \
  X(kEvicted, "evicted", "entries removed to reuse their segment")       \
  X(kRejected, "rejected", "entries not kept: no segment or index slot free in time")

#define WC_ENUM_ENTRY(id, name, help) id,
enum class Drop : uint8_t { WC_DROP_REASONS(WC_ENUM_ENTRY) kCount };
enum class QueryDrop : uint8_t { WC_QUERY_DROP_REASONS(WC_ENUM_ENTRY) kCount };
enum class Outcome : uint8_t { WC_OUTCOMES(WC_ENUM_ENTRY) kCount };
enum class Upstream : uint8_t { WC_UPSTREAM_EVENTS(WC_ENUM_ENTRY) kCount };
enum class Cache : uint8_t { WC_CACHE_EVENTS(WC_ENUM_ENTRY) kCount };
#undef WC_ENUM_ENTRY

struct Name {
  std::string_view label;
  std::string_view help;
};
#define WC_NAME_ENTRY(id, name, help) Name{name, help},
inline constexpr Name kDropNames[] = {WC_DROP_REASONS(WC_NAME_ENTRY)};
inline constexpr Name kQueryDropNames[] = {WC_QUERY_DROP_REASONS(WC_NAME_ENTRY)};
inline constexpr Name kOutcomeNames[] = {WC_OUTCOMES(WC_NAME_ENTRY)};
inline constexpr Name kUpstreamNames[] = {WC_UPSTREAM_EVENTS(WC_NAME_ENTRY)};
inline constexpr Name kCacheNames[] = {WC_CACHE_EVENTS(WC_NAME_ENTRY)};
#undef WC_NAME_ENTRY

template <typename Enum>
class CounterArray {
 public:
  static constexpr size_t kSize = static_cast<size_t>(Enum::kCount);
  Counter& operator[](Enum e) { return counters_[static_cast<size_t>(e)]; }
  const Counter& operator[](Enum e) const { return counters_[static_cast<size_t>(e)]; }
  uint64_t sum() const {
    uint64_t total = 0;
    for (const Counter& c : counters_) total += c.value();
    return total;
  }

 private:
  std::array<Counter, kSize> counters_;
};

// Latency in powers of two: bucket i counts values with 2^(i-1) < ns <= 2^i, the last all above.
class Histogram {
 public:
  static constexpr size_t kBuckets = 36;  // up to 2^34 ns = 17 s, then +Inf

  // `count` values of `ns` nanoseconds each.
  void record(uint64_t ns, uint64_t count = 1) {
    const size_t width = ns <= 1 ? 0 : static_cast<size_t>(std::bit_width(ns - 1));
    buckets_[width < kBuckets ? width : kBuckets - 1].add(count);
    sum_ns_.add(ns * count);
  }
  uint64_t bucket(size_t i) const { return buckets_[i].value(); }
  uint64_t sum_ns() const { return sum_ns_.value(); }

 private:
  std::array<Counter, kBuckets> buckets_;
  Counter sum_ns_;
};

// What main counts at the exception ports; written by main alone.
struct alignas(64) ExceptionStats {
  Counter to_kernel;            // punted packets that the kernel took
  Counter to_kernel_dropped;    // punted packets that it did not take
  Counter from_kernel;          // packets that the kernel sent
  Counter from_kernel_dropped;  // of these: the ring to a worker was full
};

inline constexpr size_t kRcodes = 24;  // extended rcodes below this have a counter of their own

struct alignas(64) WorkerStats {
  Counter received;
  Counter client_queries;
  Counter upstream_answers_taken;
  Counter icmp_taken;   // ICMP errors about upstream queries that wait
  Counter from_stream;  // queries that came by the kernel's sockets
  Counter
      handed_to_owner;    // queries of a port that does not spread them, handed to the key's owner
  Counter punted;         // urgent ones included
  Counter punted_urgent;  // ARP and NDP
  CounterArray<Outcome> outcomes;
  CounterArray<Drop> drops;
  CounterArray<QueryDrop> query_drops;
  std::array<Counter, kRcodes> responses;  // sent, by rcode
  CounterArray<Upstream> upstream;
  CounterArray<Cache> cache;
  Counter waiting;                 // gauge: clients that wait for an upstream
  Counter pending;                 // gauge: questions that are being asked
  Counter cache_entries;           // gauge
  Counter cache_bytes;             // gauge: bytes of segments in use
  Counter polls;                   // rounds of the burst loop: stands still only if the worker does
  Counter kernel_packets_sent;     // the kernel's own packets, passed on to the wire
  Counter kernel_packets_dropped;  // the same, for which the transmit queue had no room
  Histogram hit_latency;
  Histogram miss_latency;
};

}  // namespace wirecache::stats

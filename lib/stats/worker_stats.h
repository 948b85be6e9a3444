// What a worker counts: plain counters of its own, one list of names for all of them.
//
// Invariants (the accounting that tests check at rest, summed over workers; "queries" are
// client_queries()):
//   received + from_stream = queries + upstream answers taken + ICMP errors taken
//                            + dropped (all reasons) + punted
//   queries = responses sent + query drops (all reasons) + waiting
//   queries = outcomes (all) = query_types (all)
//   packets sent (all slots of `ports`) = responses sent + upstream queries sent
//                                         + kernel_packets_sent
//   outcomes[malformed] = malformed[formerr] + malformed[notimp] + malformed[badvers]
// A query that is handed to another worker is a query of the first; what follows is the second's.
// Urgent punts are part of the punted.
// Thread: each worker's own; see counter.h. Only counters go up; `waiting` and the like are gauges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/stats/counter.h"
#include "lib/stats/query_type.h"

namespace wirecache::stats {

// Bounds of the configuration, for the sizes of arrays here (checked where both are known).
inline constexpr size_t kMaxPorts = 16;
inline constexpr size_t kMaxServers = 32;

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

// What is wrong with a message on the service port that is not looked up, and what becomes of it.
#define WC_MALFORMED(X)                                                        \
  X(kShort, "short", "under 12 bytes, dropped")                                \
  X(kResponse, "response", "QR=1, dropped")                                    \
  X(kFormErr, "formerr", "counts, sections or names malformed, FORMERR")       \
  X(kNotImp, "notimp", "opcode other than QUERY, NOTIMP")                      \
  X(kBadVers, "badvers", "EDNS version above 0, BADVERS")                      \
  X(kClass, "class", "class neither IN nor CH, REFUSED")                       \
  X(kChaos, "chaos", "class CH, REFUSED")                                      \
  X(kMetaType, "meta_type", "zone transfer or another type for none, REFUSED") \
  X(kSigned, "signed", "TSIG or SIG(0), REFUSED")

#define WC_FAMILIES(X)          \
  X(kIpv4, "ipv4", "over IPv4") \
  X(kIpv6, "ipv6", "over IPv6")

// Up to kUnreachable an event belongs to a server, unless none could be chosen.
#define WC_UPSTREAM_EVENTS(X)                                                      \
  X(kQuerySent, "queries", "queries sent to upstream servers")                     \
  X(kAnswerTaken, "answers_taken", "answers that matched a waiting query")         \
  X(kTimeout, "timeouts", "queries not answered within the try's time")            \
  X(kFailure, "failures", "answers that sent the query on to the next server")     \
  X(kTruncated, "truncated", "answers with TC=1")                                  \
  X(kIcmpUnreachable, "icmp_unreachable", "ICMP errors taken as a try's failure")  \
  X(kUnreachable, "unreachable", "tries with no neighbour to send to, or no mbuf") \
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
enum class Malformed : uint8_t { WC_MALFORMED(WC_ENUM_ENTRY) kCount };
enum class Family : uint8_t { WC_FAMILIES(WC_ENUM_ENTRY) kCount };
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
inline constexpr Name kMalformedNames[] = {WC_MALFORMED(WC_NAME_ENTRY)};
inline constexpr Name kFamilyNames[] = {WC_FAMILIES(WC_NAME_ENTRY)};
inline constexpr Name kUpstreamNames[] = {WC_UPSTREAM_EVENTS(WC_NAME_ENTRY)};
inline constexpr Name kCacheNames[] = {WC_CACHE_EVENTS(WC_NAME_ENTRY)};
#undef WC_NAME_ENTRY

// What main counts at the exception ports; written by main alone.
struct alignas(64) ExceptionStats {
  Counter to_kernel;            // punted packets that the kernel took
  Counter to_kernel_dropped;    // punted packets that it did not take
  Counter from_kernel;          // packets that the kernel sent
  Counter from_kernel_dropped;  // of these: the ring to a worker was full
};

inline constexpr size_t kRcodes = 24;  // extended rcodes below this have a counter of their own

// One slot of WorkerStats::ports: a cache line.
struct alignas(64) PortStats {
  Counter received;              // packets taken from the port's receive queues
  CounterArray<Family> queries;  // clients' queries that came by it
  Counter punted;
  Counter sent;          // packets that a transmit queue took
  Counter send_dropped;  // packets for which the transmit queue, or the ring to it, was full
};

// What is known of one upstream server.
struct alignas(64) ServerStats {
  CounterArray<Upstream> events;
  Histogram latency;  // from sending a query to taking its answer
};

// Hot fields first: what each query touches.
struct alignas(64) WorkerStats {
  CounterArray<QueryType> query_types;  // clients' queries by type; kOther where there is none
  Counter polls;  // rounds of the burst loop: stands still only if the worker does
  CounterArray<Outcome> outcomes;
  Counter handed_to_owner;  // queries pushed to the worker that owns their key
  Counter from_stream;      // messages that the stream service passed on: no port received them
  std::array<Counter, kRcodes> responses;  // sent, by rcode
  // By the node's port index. The slot after the last port is the stream service's (Node's
  // stream_port()): there, `received` and `punted` stay 0.
  std::array<PortStats, kMaxPorts + 1> ports;
  Histogram hit_latency;
  CounterArray<Drop> drops;
  CounterArray<QueryDrop> query_drops;
  CounterArray<Malformed> malformed;
  Counter urgent_punts;  // of the punted: ARP and neighbour discovery
  Histogram miss_latency;
  CounterArray<Cache> cache;
  Counter waiting;                  // gauge: clients that wait for an upstream
  Counter pending;                  // gauge: questions that are being asked
  Counter cache_entries;            // gauge
  Counter cache_bytes;              // gauge: of memory, index included
  Counter kernel_packets_sent;      // the kernel's own packets, passed on to the wire
  Counter kernel_packets_dropped;   // the same, for which the transmit queue had no room
  CounterArray<Upstream> upstream;  // events of no server
  std::array<ServerStats, kMaxServers> servers;  // by the server's place in the configuration

  // A message is a client's query from here on. `qtype` is 0 where no question could be read.
  void count_query(size_t port_index, Family family, uint16_t qtype) {
    ports[port_index].queries[family].add();
    query_types[query_type_of(qtype)].add();
  }

  // Sums, for readers.
  uint64_t received() const {
    return sum_of_ports([](const PortStats& port) { return port.received.value(); });
  }
  uint64_t client_queries() const {
    return sum_of_ports([](const PortStats& port) { return port.queries.sum(); });
  }
  uint64_t punted() const {
    return sum_of_ports([](const PortStats& port) { return port.punted.value(); });
  }
  uint64_t packets_sent() const {
    return sum_of_ports([](const PortStats& port) { return port.sent.value(); });
  }
  // Of all servers and of none.
  uint64_t upstream_total(Upstream event) const {
    uint64_t total = upstream[event].value();
    for (const ServerStats& server : servers) total += server.events[event].value();
    return total;
  }
  uint64_t upstream_answers_taken() const { return upstream_total(Upstream::kAnswerTaken); }
  uint64_t icmp_taken() const { return upstream_total(Upstream::kIcmpUnreachable); }

 private:
  template <typename Of>
  uint64_t sum_of_ports(Of of) const {
    uint64_t total = 0;
    for (const PortStats& port : ports) total += of(port);
    return total;
  }
};

static_assert(sizeof(PortStats) == 64);
static_assert(offsetof(WorkerStats, outcomes) == 128 && offsetof(WorkerStats, responses) == 192,
              "what each query touches: two lines of types, one of outcomes, one of rcodes");

}  // namespace wirecache::stats

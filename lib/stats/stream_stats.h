// What main counts at the kernel's sockets of the stream service.
//
// Invariants (at rest):
//   received = queries handed to workers + query drops (all reasons)
//   replies  = sent + reply drops (all reasons)
// Thread: written by main alone, read by the metrics listener at any time.
#pragma once

#include <cstdint>

#include "lib/stats/worker_stats.h"

namespace wirecache::stats {

// Why a datagram that the kernel delivered did not become a query.
#define WC_STREAM_QUERY_DROPS(X)                                                \
  X(kBadSource, "bad_source", "source address or port that no reply may go to") \
  X(kTooLarge, "too_large", "more than a packet buffer holds")                  \
  X(kNoMbuf, "no_mbuf", "no packet buffer for the query")                       \
  X(kRingFull, "ring_full", "the ring to the worker was full")

// Why a worker's reply was not sent.
#define WC_STREAM_REPLY_DROPS(X)                                                \
  X(kMalformed, "malformed", "a frame that holds no whole datagram")            \
  X(kNoSocket, "no_socket", "its source is not an address that is listened on") \
  X(kSendFailed, "send_failed", "the kernel did not take it")

#define WC_ENUM_ENTRY(id, name, help) id,
enum class StreamQueryDrop : uint8_t { WC_STREAM_QUERY_DROPS(WC_ENUM_ENTRY) kCount };
enum class StreamReplyDrop : uint8_t { WC_STREAM_REPLY_DROPS(WC_ENUM_ENTRY) kCount };
#undef WC_ENUM_ENTRY

#define WC_NAME_ENTRY(id, name, help) Name{name, help},
inline constexpr Name kStreamQueryDropNames[] = {WC_STREAM_QUERY_DROPS(WC_NAME_ENTRY)};
inline constexpr Name kStreamReplyDropNames[] = {WC_STREAM_REPLY_DROPS(WC_NAME_ENTRY)};
#undef WC_NAME_ENTRY

struct alignas(64) StreamStats {
  Counter received;  // datagrams taken from the sockets
  Counter queries;   // of these: handed to a worker
  Counter replies;   // frames that workers handed back
  Counter sent;      // of these: datagrams that the kernel took
  CounterArray<StreamQueryDrop> query_drops;
  CounterArray<StreamReplyDrop> reply_drops;
};

}  // namespace wirecache::stats

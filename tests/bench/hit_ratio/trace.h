// The simulated traces: who asks for what, when, and what the upstream would answer.
//
// Ordinary requests draw their name by Zipf's law. Beside them, where asked for, come
//   a scan   names that are asked once and never again, with answers like everybody's;
//   a flood  random subdomains of one zone, each asked once, all NXDOMAIN.
// Both come on top of the ordinary ones: the clock moves with those alone, so that the ordinary
// traffic per second is the same with and without them.
//
// A name's answer is fixed by its number: the reference mix (56% A, 25% AAAA, 19% TXT of 64 to 224
// bytes each, 1 to 4 records; names of 18 bytes on the wire on average), stored with a header of
// kHeaderBytes. Its TTL is drawn from kTtlMix, whose cumulative shares are those of 6.3 million
// unique names that a large open resolver was asked for (Frank Denis, "On the distribution of DNS
// TTLs", 00f.net, 2012: 10% at most a minute, 16% two minutes, 40% five minutes, 70% an hour,
// almost all a day; peaks at 1, 2, 5 and 10 minutes, 1 and 4 hours and a day).
//
// A forwarder asks a resolver that others ask too, and sees what is left of a TTL: here the
// resolver keeps an ordinary name at all times and fetches it anew every TTL, at moments fixed by
// the name's number. What nobody else asks for (scan, flood) comes with the whole TTL. Hence the
// answer depends on name and time alone, and all policies meet the same.
//
// Thread: a Trace belongs to one thread.
#pragma once

#include <array>
#include <cstdint>

#include "tests/bench/hit_ratio/random.h"
#include "tests/bench/hit_ratio/zipf.h"

namespace wirecache::bench {

// Ordinary names count from 0 by popularity; names asked once follow them.
using NameId = uint32_t;

struct TtlShare {
  uint32_t ttl_sec;
  uint32_t permille;
};
inline constexpr std::array kTtlMix{TtlShare{1, 5},      TtlShare{5, 5},      TtlShare{10, 10},
                                    TtlShare{20, 10},    TtlShare{30, 25},    TtlShare{60, 45},
                                    TtlShare{120, 65},   TtlShare{180, 30},   TtlShare{300, 205},
                                    TtlShare{600, 120},  TtlShare{900, 40},   TtlShare{1800, 30},
                                    TtlShare{3600, 110}, TtlShare{7200, 40},  TtlShare{14400, 100},
                                    TtlShare{21600, 20}, TtlShare{43200, 20}, TtlShare{86400, 120}};

inline constexpr uint32_t kHeaderBytes = 13;  // of an entry, the question's type included
inline constexpr uint32_t kFloodBytes = 100;  // an NXDOMAIN with its SOA
// RFC 2308 §5: one to three hours work well.
inline constexpr uint32_t kFloodTtlSec = 3600;

enum class AnswerKind : uint8_t { kPositive, kNegative };

struct Answer {
  uint32_t bytes;
  uint32_t ttl_sec;  // the whole one
  AnswerKind kind;
};
// What the name's entry takes, and its TTL.
Answer answer_of(NameId name);

struct TraceOptions {
  uint32_t names = 10'000'000;
  double exponent = 0.9;
  uint32_t requests_per_sec = 10'000;  // ordinary ones
  double scan_share = 0;               // of all requests
  double flood_share = 0;              // of all requests
  uint64_t seed = 1;
};

struct Request {
  NameId name;
  uint32_t now_sec;
  uint32_t bytes;
  uint32_t ttl_sec;  // what is left of it now, at least 1
  AnswerKind kind;
};

class Trace {
 public:
  explicit Trace(const TraceOptions& options);

  Request next();

 private:
  Request ordinary();
  Request asked_once(Answer answer);

  TraceOptions options_;
  Zipf zipf_;
  SplitMix64 random_;
  uint64_t ordinary_requests_ = 0;
  NameId next_asked_once_;
};

}  // namespace wirecache::bench

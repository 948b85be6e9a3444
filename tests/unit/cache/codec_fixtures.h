// The upstream answers of fixtures.inc (made by dnspython) and what right replies to them hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/cache/entry_codec.h"

namespace wirecache::cache {

struct FixtureRecord {
  unsigned section;
  bool is_for_do;
  uint16_t type;
  uint32_t ttl;
  const char* owner;  // flat, hexadecimal
  const char* rdata;  // without compression
};

struct Fixture {
  const char* name;
  EncodeStatus status;
  unsigned rcode;
  uint32_t lifetime_sec;
  // Lengths of dnspython's own rendering of the right replies, with all RFC 1035 names compressed.
  size_t plain_bytes;
  size_t do_bytes;
  const char* query;        // DO=0, EDNS size 4096
  const char* query_do;     // DO=1
  const char* upstream[3];  // uncompressed; RFC 1035 types; those of RFC 3597 §4 as well
  std::vector<FixtureRecord> records;
};

const std::vector<Fixture>& fixtures();

}  // namespace wirecache::cache

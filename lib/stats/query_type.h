// The question types that are counted apart; all others are one.
//
// Pure; any thread. A packet's 16 bits choose among a fixed set, so that no client can make series.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wirecache::stats {

// Enumerator, label, number in IANA's "Resource Record (RR) TYPEs"; all below kTypeTableSize.
#define WC_QUERY_TYPES(X)  \
  X(kA, "A", 1)            \
  X(kNs, "NS", 2)          \
  X(kCname, "CNAME", 5)    \
  X(kSoa, "SOA", 6)        \
  X(kPtr, "PTR", 12)       \
  X(kMx, "MX", 15)         \
  X(kTxt, "TXT", 16)       \
  X(kAaaa, "AAAA", 28)     \
  X(kSrv, "SRV", 33)       \
  X(kDs, "DS", 43)         \
  X(kDnskey, "DNSKEY", 48) \
  X(kSvcb, "SVCB", 64)     \
  X(kHttps, "HTTPS", 65)   \
  X(kAny, "ANY", 255)

#define WC_ENUM_ENTRY(id, name, number) id,
enum class QueryType : uint8_t { WC_QUERY_TYPES(WC_ENUM_ENTRY) kOther, kCount };
#undef WC_ENUM_ENTRY

#define WC_NAME_ENTRY(id, name, number) name,
inline constexpr std::string_view kQueryTypeNames[] = {WC_QUERY_TYPES(WC_NAME_ENTRY) "other"};
#undef WC_NAME_ENTRY

inline constexpr size_t kTypeTableSize = 256;

inline constexpr std::array<QueryType, kTypeTableSize> kTypeTable = [] {
  std::array<QueryType, kTypeTableSize> table{};
  table.fill(QueryType::kOther);
#define WC_TABLE_ENTRY(id, name, number) table[number] = QueryType::id;
  WC_QUERY_TYPES(WC_TABLE_ENTRY)
#undef WC_TABLE_ENTRY
  return table;
}();

constexpr QueryType query_type_of(uint16_t type) {
  return type < kTypeTableSize ? kTypeTable[type] : QueryType::kOther;
}

}  // namespace wirecache::stats

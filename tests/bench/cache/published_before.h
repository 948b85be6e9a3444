// The published layout before it was made smaller: a growable vector of records for each section,
// owners and names as owned strings, and per record a tagged union as large as its largest kind.
//
//   slot of the table   56 + 1   key (string 32, type, flag, tag), shared entry
//   entry               120      counts of references 16, times 24, three vectors 72, rcode and
//   flags record              184      owner 32, TTL, type, class, union of 144 (its largest:
//   NAPTR)
#pragma once

#include <memory>
#include <variant>

#include "tests/bench/cache/published_table.h"

namespace wirecache::bench {

struct BeforeLayout {
  using Ipv4 = std::array<uint8_t, 4>;
  using Ipv6 = std::array<uint8_t, 16>;
  struct Name {  // NS, CNAME, PTR, DNAME
    std::string name;
  };
  using Text = std::vector<std::string>;
  struct Soa {
    std::string server;
    std::string mailbox;
    std::array<uint32_t, 5> numbers;
  };
  struct Naptr {
    uint16_t order;
    uint16_t preference;
    std::string flags;
    std::string services;
    std::string expression;
    std::string replacement;
  };
  struct Opaque {
    std::string bytes;
  };
  using Data = std::variant<Ipv4, Ipv6, Name, Text, Soa, Naptr, Opaque>;
  static_assert(sizeof(Data) == 144);

  struct Record {
    std::string owner;
    uint32_t ttl = 0;
    uint16_t type = 0;
    uint16_t rr_class = 0;
    Data data;
  };
  static_assert(sizeof(Record) == 184);

  struct Entry {
    PublishedTimes times;
    std::vector<Record> answer;
    std::vector<Record> authority;
    std::vector<Record> additional;
    dns::Rcode rcode = dns::Rcode::kNoError;
    uint16_t flags = 0;
  };

  static std::shared_ptr<Entry> make(Bytes message, const ParsedAnswer& parsed, uint32_t now_sec);
  static uint16_t answer(const Entry& entry, std::string_view question, Packet& packet,
                         uint32_t now_sec);
};

}  // namespace wirecache::bench

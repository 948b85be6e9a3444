// The published layout after it was made smaller: one list of records of exactly their number, with
// 16-bit offsets where its sections start; a record's owner dropped where it is the question's
// name; all records' data as length-prefixed bytes in one allocation of exactly their size.
//
//   slot of the table   56 + 1   key (string 32, type, flag, tag), shared entry
//   entry               64       counts of references 16, times 24, list, data, offsets, rcode,
//   flags record              40       owner 32, TTL, type, class data                         per
//   record 2 bytes of length and its bytes
#pragma once

#include <memory>

#include "tests/bench/cache/published_table.h"

namespace wirecache::bench {

struct AfterLayout {
  struct Record {
    std::string owner;  // empty: the question's name
    uint32_t ttl = 0;
    uint16_t type = 0;
    uint16_t rr_class = 0;
  };
  static_assert(sizeof(Record) == 40);

  struct Entry {
    PublishedTimes times;
    std::unique_ptr<Record[]> records;
    std::unique_ptr<uint8_t[]> data;
    uint16_t authority_at = 0;  // in records
    uint16_t additional_at = 0;
    uint16_t end = 0;
    uint8_t rcode = 0;
    uint8_t flags = 0;
  };
  static_assert(sizeof(Entry) == 48);

  static std::shared_ptr<Entry> make(Bytes message, const ParsedAnswer& parsed, uint32_t now_sec);
  static uint16_t answer(const Entry& entry, std::string_view question, Packet& packet,
                         uint32_t now_sec);
};

}  // namespace wirecache::bench

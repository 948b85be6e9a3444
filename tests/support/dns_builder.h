// Messages for tests, built byte by byte as RFC 1035 §4.1 lays them out, independent of lib/dns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wirecache::testing {

using Wire = std::vector<uint8_t>;

inline void put16(Wire& out, unsigned v) {
  out.push_back(static_cast<uint8_t>(v >> 8));
  out.push_back(static_cast<uint8_t>(v));
}
inline void put32(Wire& out, uint32_t v) {
  put16(out, v >> 16);
  put16(out, v & 0xffff);
}
// "www.example.com" as a flat name; "" is the root.
inline void put_name(Wire& out, std::string_view text) {
  while (!text.empty()) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    out.push_back(static_cast<uint8_t>(label.size()));
    out.insert(out.end(), label.begin(), label.end());
    text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  }
  out.push_back(0);
}

struct QuerySpec {
  std::string name = "www.example.com";
  uint16_t type = 1;
  uint16_t rr_class = 1;
  uint16_t id = 0x1234;
  uint16_t flags = 0x0100;  // RD
  int udp_size = 1232;      // below 0: no OPT
  uint16_t edns_flags = 0;  // 0x8000: DO
};

inline Wire make_query(const QuerySpec& spec) {
  Wire out;
  put16(out, spec.id);
  put16(out, spec.flags);
  put16(out, 1);
  put16(out, 0);
  put16(out, 0);
  put16(out, spec.udp_size >= 0 ? 1 : 0);
  put_name(out, spec.name);
  put16(out, spec.type);
  put16(out, spec.rr_class);
  if (spec.udp_size >= 0) {
    out.push_back(0);
    put16(out, 41);
    put16(out, static_cast<unsigned>(spec.udp_size));
    put16(out, 0);
    put16(out, spec.edns_flags);
    put16(out, 0);
  }
  return out;
}

struct RecordSpec {
  std::string owner;
  uint16_t type = 1;
  uint32_t ttl = 300;
  Wire rdata;
};

inline RecordSpec a_record(std::string owner, uint32_t ttl, Wire address = {192, 0, 2, 1}) {
  return {std::move(owner), 1, ttl, std::move(address)};
}
inline RecordSpec soa_record(std::string owner, uint32_t ttl, uint32_t minimum) {
  RecordSpec record{std::move(owner), 6, ttl, {}};
  put_name(record.rdata, "ns." + record.owner);
  put_name(record.rdata, "host." + record.owner);
  for (const uint32_t value : {1u, 7200u, 3600u, 1209600u, minimum}) put32(record.rdata, value);
  return record;
}

// An answer to the query on the wire: its ID and question, then records without compression.
struct AnswerSpec {
  uint16_t flags = 0x8180;  // QR RD RA
  std::vector<RecordSpec> answer = {};
  std::vector<RecordSpec> authority = {};
  int extended_rcode = -1;  // 0 or above: an OPT with these upper rcode bits
};

inline void put_record(Wire& out, const RecordSpec& record) {
  put_name(out, record.owner);
  put16(out, record.type);
  put16(out, 1);
  put32(out, record.ttl);
  put16(out, static_cast<unsigned>(record.rdata.size()));
  out.insert(out.end(), record.rdata.begin(), record.rdata.end());
}

inline size_t question_end(const Wire& query) {
  size_t at = 12;
  while (query[at] != 0) at += query[at] + 1u;
  return at + 5;
}

inline Wire make_answer(const Wire& query, const AnswerSpec& spec) {
  Wire out(query.begin(), query.begin() + static_cast<std::ptrdiff_t>(question_end(query)));
  out[2] = static_cast<uint8_t>(spec.flags >> 8);
  out[3] = static_cast<uint8_t>(spec.flags);
  out[7] = static_cast<uint8_t>(spec.answer.size());
  out[9] = static_cast<uint8_t>(spec.authority.size());
  out[11] = spec.extended_rcode >= 0 ? 1 : 0;
  for (const RecordSpec& record : spec.answer) put_record(out, record);
  for (const RecordSpec& record : spec.authority) put_record(out, record);
  if (spec.extended_rcode >= 0) {
    out.push_back(0);
    put16(out, 41);
    put16(out, 1232);
    put32(out, static_cast<uint32_t>(spec.extended_rcode) << 24);
    put16(out, 0);
  }
  return out;
}

inline unsigned get16(const Wire& message, size_t at) {
  return static_cast<unsigned>(message[at] << 8 | message[at + 1]);
}
inline unsigned rcode_of(const Wire& message) {
  return message[3] & 0x0fu;
}
inline bool tc_of(const Wire& message) {
  return (message[2] & 0x02) != 0;
}
inline unsigned answers_of(const Wire& message) {
  return get16(message, 6);
}

}  // namespace wirecache::testing

// What the two re-created layouts have in common: the key, the table, and the frame of an entry.
//
// A straightforward production cache in a systems language: absl::flat_hash_map from the owned key
// to a shared entry (readers hold one while they answer from it), everything from malloc, which is
// jemalloc here as it was there. A slot of the table takes 56 bytes and one of control; the table
// doubles at 7/8, so at 4 million entries 120 bytes go to each.
//
// Nothing is evicted and no lock is taken, no count of references touched: in the layouts' favour.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/dns/message.h"
#include "lib/dns/name.h"
#include "lib/dns/query.h"
#include "lib/dns/reply.h"
#include "tests/bench/cache/subject.h"

namespace wirecache::bench {

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A key to look up with: the name is borrowed.
struct PublishedKeyView {
  std::string_view name;  // flat, lower case
  uint16_t type = 0;
  uint8_t flag = 0;  // checking disabled
  uint8_t tag = 0;

  friend bool operator==(const PublishedKeyView&, const PublishedKeyView&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const PublishedKeyView& key) {
    return H::combine(std::move(state), key.name, key.type, key.flag, key.tag);
  }
};

struct PublishedKey {
  std::string name;
  uint16_t type = 0;
  uint8_t flag = 0;
  uint8_t tag = 0;

  PublishedKeyView view() const { return {name, type, flag, tag}; }
};
static_assert(sizeof(PublishedKey) == 40);

struct PublishedHash {
  using is_transparent = void;
  size_t operator()(const PublishedKeyView& key) const {
    return absl::Hash<PublishedKeyView>()(key);
  }
  size_t operator()(const PublishedKey& key) const { return (*this)(key.view()); }
};
struct PublishedEqual {
  using is_transparent = void;
  static PublishedKeyView view(const PublishedKeyView& key) { return key; }
  static PublishedKeyView view(const PublishedKey& key) { return key.view(); }
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return view(a) == view(b);
  }
};

// What an entry has beside its records.
struct PublishedTimes {
  uint64_t inserted_ns = 0;
  uint64_t expires_ns = 0;
  uint32_t ttl_sec = 0;
  uint32_t hits = 0;
};
inline constexpr uint64_t kNsPerSec = 1'000'000'000;

inline PublishedTimes times_from(uint32_t now_sec, uint32_t ttl_sec) {
  return {.inserted_ns = now_sec * kNsPerSec,
          .expires_ns = (uint64_t{now_sec} + ttl_sec) * kNsPerSec,
          .ttl_sec = ttl_sec};
}

// The parsed frame of an upstream's message: what both layouts start from.
struct ParsedAnswer {
  dns::Header header;
  dns::Question question;
  std::array<dns::Record, 64> records;
  size_t count = 0;
  uint32_t smallest_ttl = 0;
};
// Reads `message` and leaves OPT out; false: malformed or too long. Lowers the question's name.
[[nodiscard]] bool parse_answer(Bytes message, ParsedAnswer& out);

// Data as it goes into a reply, names decompressed (RFC 3597 §4); false: malformed.
[[nodiscard]] bool append_rdata(Bytes message, const dns::Record& record,
                                std::vector<uint8_t>& out);

struct RecordFrame {
  std::string_view owner;  // empty: the question's name
  uint16_t type = 0;
  uint16_t rr_class = 0;
  uint32_t ttl = 0;
};
// Writes all of a record but its data: owner (a pointer where it is the question's name), type,
// class, TTL and room for the length, which end_record() fills in.
[[nodiscard]] bool begin_record(Writer& out, const RecordFrame& record, std::string_view question);
void end_record(Writer& out, size_t rdata_start);
// What is left of a TTL.
inline uint32_t aged_ttl(uint32_t ttl, const PublishedTimes& times, uint32_t now_sec) {
  const uint64_t age_sec = now_sec - times.inserted_ns / kNsPerSec;
  return ttl > age_sec ? static_cast<uint32_t>(ttl - age_sec) : 0;
}
// The header and OPT around the records that `out` holds by now; returns the reply's length.
uint16_t finish_reply(const dns::Query& query, dns::Rcode rcode, const dns::SectionCounts& counts,
                      Writer& out);

// The seam's calls over one table; `Layout` says how an entry is made and a reply is written.
template <typename Layout>
class PublishedCache : public Subject {
 public:
  using Entry = typename Layout::Entry;

  void insert(std::span<const Message> messages, uint32_t now_sec) override {
    for (const Message& message : messages) {
      if (!parse_answer(message.bytes(), parsed_)) continue;
      table_.insert_or_assign(make_key(), Layout::make(message.bytes(), parsed_, now_sec));
    }
  }

  void prepare(std::span<const Message> messages, uint32_t now_sec) override {
    prepared_.clear();
    for (const Message& message : messages) {
      if (!parse_answer(message.bytes(), parsed_)) continue;
      prepared_.emplace_back(make_key(), Layout::make(message.bytes(), parsed_, now_sec));
    }
  }
  void insert_prepared() override {
    for (auto& [key, entry] : prepared_) table_.insert_or_assign(std::move(key), std::move(entry));
  }

  unsigned answer_bursts(std::span<Packet> packets, uint32_t now_sec) override {
    unsigned answered = 0;
    for (Packet& packet : packets) answered += answer(packet, now_sec) ? 1 : 0;
    return answered;
  }
  unsigned answer_each(std::span<Packet> packets, uint32_t now_sec) override {
    unsigned answered = 0;
    uint16_t last_bytes = 0;
    for (size_t i = 0; i < packets.size(); ++i) {
      Packet& packet = packets[after_reply(i, last_bytes)];
      answered += answer(packet, now_sec) ? 1 : 0;
      last_bytes = packet.reply_bytes;
    }
    return answered;
  }

  uint64_t count_fresh(std::span<const Question> questions, uint32_t now_sec) override {
    uint64_t count = 0;
    for (const Question& question : questions) {
      const auto found = table_.find(PublishedKeyView{as_text(question.name()), question.type});
      count += found != table_.end() && is_fresh(*found->second, now_sec) ? 1 : 0;
    }
    return count;
  }

 private:
  static bool is_fresh(const Entry& entry, uint32_t now_sec) {
    return now_sec * kNsPerSec < entry.times.expires_ns;
  }
  PublishedKey make_key() const {
    return {std::string(as_text(parsed_.question.name.view())), parsed_.question.type};
  }
  bool answer(Packet& packet, uint32_t now_sec) {
    std::array<uint8_t, dns::kMaxNameBytes> name;
    const Bytes asked(packet.message.data() + dns::kHeaderBytes, packet.query.qname_bytes);
    dns::lower_name(asked, name.data());
    const PublishedKeyView key{as_text({name.data(), asked.size()}), packet.query.qtype,
                               static_cast<uint8_t>(packet.query.cd() ? 1 : 0)};
    packet.reply_bytes = 0;
    const auto found = table_.find(key);
    if (found == table_.end() || !is_fresh(*found->second, now_sec)) return false;
    packet.reply_bytes = Layout::answer(*found->second, key.name, packet, now_sec);
    return packet.reply_bytes != 0;
  }

  absl::flat_hash_map<PublishedKey, std::shared_ptr<Entry>, PublishedHash, PublishedEqual> table_;
  std::vector<std::pair<PublishedKey, std::shared_ptr<Entry>>> prepared_;
  ParsedAnswer parsed_;
};

}  // namespace wirecache::bench

// Chooses, of an upstream answer's records, those that answer the question, and gathers them to
// RRsets.
//
// Kept are: the chain of aliases from the question's name on and its end (RFC 1034 §3.6.2, RFC
// 6672); of the authority section SOA and NS of the chain's end, and with DO what proves an absence
// there (RFC 4035 §3.1.3, RFC 5155 §7.2); addresses that kept records point at; with DO the
// signatures of all these. Invariant: an RRset is in one section only, holds no record twice (RFC
// 2181 §5), and its records all have one TTL, the smallest (RFC 2181 §5.2). Plain value of one
// thread; borrows the records and threads its lists through them. About 20 KiB.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lib/cache/answer_records.h"
#include "lib/cache/key.h"

namespace wirecache::cache {

inline constexpr uint16_t kNoRrset = 0xffff;

// Without initial values, as AnswerRecord.
struct SelectedRrset {
  uint16_t owner;
  uint16_t type;
  uint16_t covered;  // RRSIG
  uint16_t first;    // record
  uint16_t last;
  uint16_t count;
  uint16_t signature;  // the RRset of its RRSIGs, kNoRrset without
  uint16_t rank;       // RRsets stand in the reply in this order
  bool is_signature;   // of another RRset
  dns::Section section;
  uint32_t ttl;  // the smallest received
};

enum class DnssecRecords : uint8_t { kDrop, kKeep };

class AnswerSelection {
 public:
  AnswerSelection(AnswerRecords& records, const Key& key, DnssecRecords dnssec);

  std::span<SelectedRrset> rrsets() { return std::span(rrsets_).first(count_); }
  std::span<const SelectedRrset> rrsets() const { return std::span(rrsets_).first(count_); }
  // Indices of rrsets(), as they are to stand in the reply.
  std::span<const uint16_t> order() const { return std::span(order_).first(count_); }

  // The chain ended at records of the type asked for.
  bool found() const { return found_; }
  // An alias, at least, was found for the question's name.
  bool has_alias() const { return chain_[0].alias != kNoRecord; }
  // Of the authority section, kNoRrset without.
  uint16_t soa() const { return soa_; }
  bool has_ns() const { return ns_ != kNoRrset; }
  // Whether it goes only to who set DO: not what was asked for itself (RFC 4035 §3.2.1).
  bool is_for_do(const SelectedRrset& rrset) const;

 private:
  static constexpr size_t kMostAliases = 16;
  struct Link {
    dns::FlatName name;
    uint16_t owner;
    uint16_t alias;  // the CNAME record that leads on, kNoRecord at the end
  };
  const Link& end() const { return chain_[links_ - 1]; }

  void follow_chain();
  bool has_type(uint16_t owner) const;
  uint16_t find_alias(uint16_t owner) const;
  bool in_chain(Bytes name) const;
  void take_answers();
  uint16_t answer_rank(uint16_t record) const;
  uint16_t dname_rank(uint16_t owner) const;
  void take_authority();
  void take_proofs();
  bool is_at_or_below(uint16_t owner, uint16_t rrset) const;
  bool is_signed_for_chain(const AnswerRecord& proof) const;
  void take_additional();
  void mark_targets();
  void take_signatures();
  void put_in_order();
  uint16_t find(uint16_t owner, uint16_t type, uint16_t covered) const;
  uint16_t add(uint16_t record, uint16_t rank);

  AnswerRecords& records_;
  uint16_t type_;  // asked for
  DnssecRecords dnssec_;
  bool found_ = false;
  uint16_t soa_ = kNoRrset;
  uint16_t ns_ = kNoRrset;
  size_t links_ = 0;
  size_t count_ = 0;
  std::array<Link, kMostAliases + 1> chain_;
  std::array<SelectedRrset, kMostRecords> rrsets_;
  std::array<uint16_t, kMostRecords> order_;
  std::array<bool, kMostRecords> is_target_;  // by owner
};

}  // namespace wirecache::cache

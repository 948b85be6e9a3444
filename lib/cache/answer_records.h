// The records of an upstream's message, read once: what must be known of each to choose among them.
// Names and data stay in the message.
//
// Invariant: after read() said kOk, every record of class IN is well formed for its type, and
// records with equal owners (without case) have the same owner number. Plain value of one thread;
// borrows the message. About 30 KiB, nothing of it set up before it is used.
#pragma once

#include <array>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/cache/key.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"

namespace wirecache::cache {

inline constexpr size_t kMostRecords = 512;
inline constexpr uint16_t kNoRecord = 0xffff;
inline constexpr uint16_t kNoOwner = 0xffff;

// Without initial values: there are hundreds, and most messages use few.
struct AnswerRecord {
  uint64_t digest;   // of the data, names without case: equal for equal records
  RdataPlace rdata;  // and the record's type
  uint16_t owner;    // number
  uint16_t covered;  // RRSIG: the type that it signs; else 0
  uint16_t next;     // of the same RRset, kNoRecord at its end
  dns::Section section;
  uint32_t ttl;  // as received
};

class AnswerRecords {
 public:
  enum class Status : uint8_t { kOk, kMalformed, kTooMany };

  // Reads `message`, an answer to the key's question. Records that are not of class IN are checked
  // for their frame only and left out, as are OPT and what is signed by TSIG or SIG(0).
  Status read(const Key& key, Bytes message);

  Bytes message() const { return message_; }
  const dns::Header& header() const { return header_; }
  // The data of the OPT record; empty: none.
  Bytes opt() const { return opt_; }
  uint16_t count() const { return static_cast<uint16_t>(count_); }
  AnswerRecord& operator[](size_t i) { return records_[i]; }
  const AnswerRecord& operator[](size_t i) const { return records_[i]; }

  uint16_t owner_count() const { return static_cast<uint16_t>(owner_count_); }
  void read_owner(uint16_t owner, dns::FlatName& name) const;
  // The number of this owner, kNoOwner where no record has it.
  uint16_t find_owner(Bytes name) const;

  void split(const AnswerRecord& record, RdataParts& parts) const {
    // Has succeeded before, in read().
    static_cast<void>(split_rdata(message_, record.rdata, parts));
  }

 private:
  struct Owner {
    uint64_t digest;
    uint16_t at;  // in the message, maybe compressed
  };

  Status add(const dns::Record& record, uint16_t owner_at);
  uint16_t number_owner(Bytes name, uint16_t at);

  Bytes message_;
  Bytes opt_;
  dns::Header header_;
  size_t count_ = 0;
  size_t owner_count_ = 0;
  std::array<AnswerRecord, kMostRecords> records_;
  std::array<Owner, kMostRecords> owners_;
};

}  // namespace wirecache::cache

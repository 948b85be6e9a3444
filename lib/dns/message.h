// Walking a whole message record by record, without keeping anything: for upstream answers.
//
// Invariant: a MessageWalk that ended with kDone has seen every byte of the message; any other end
// is malformed. Names come out decompressed; rdata as the span where it stands in the message (its
// own names still compressed: see rdata.h). One thread; the message must outlive the walk.
#pragma once

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/dns/name.h"
#include "lib/dns/types.h"

namespace wirecache::dns {

struct Header {
  uint16_t id = 0;
  uint16_t flags = 0;
  uint16_t question_count = 0;
  uint16_t answer_count = 0;
  uint16_t authority_count = 0;
  uint16_t additional_count = 0;

  bool qr() const { return (flags & kFlagQr) != 0; }
  bool tc() const { return (flags & kFlagTc) != 0; }
  uint8_t opcode() const { return static_cast<uint8_t>((flags & kOpcodeMask) >> kOpcodeShift); }
  Rcode rcode() const { return static_cast<Rcode>(flags & kRcodeMask); }  // without the OPT's bits
};
// False where `message` has fewer than 12 bytes.
[[nodiscard]] bool read_header(Bytes message, Header& out);

enum class Section : uint8_t { kAnswer = 0, kAuthority = 1, kAdditional = 2 };

struct Record {
  FlatName owner;
  Section section = Section::kAnswer;
  uint16_t type = 0;
  uint16_t rr_class = 0;
  uint32_t ttl = 0;
  uint16_t rdata_offset = 0;  // from the message's first byte
  uint16_t rdata_bytes = 0;
};

// One question and its place.
struct Question {
  FlatName name;
  uint16_t type = 0;
  uint16_t rr_class = 0;
};

class MessageWalk {
 public:
  enum class Step : uint8_t { kRecord, kDone, kMalformed };

  explicit MessageWalk(Bytes message) : message_(message), reader_(message) {}

  // First call: the header and exactly one question, of at most 65,535 bytes. False: malformed.
  [[nodiscard]] bool begin(Header& header, Question& question);
  // Then one record a call, in order, until kDone (all counts used up and no byte left) or
  // kMalformed.
  Step next(Record& record);

 private:
  Bytes message_;
  Reader reader_;
  uint16_t left_[3] = {0, 0, 0};
};

}  // namespace wirecache::dns

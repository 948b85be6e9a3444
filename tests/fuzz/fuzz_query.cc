// Feeds bytes as a client's message to parse_query, and answers it in the ways that need no cache.
//
// Demanded: a reply parses to its last byte, echoes ID and question, and stays within its capacity;
// a query that is answered with records has been walked whole.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "lib/dns/message.h"
#include "lib/dns/name.h"
#include "lib/dns/query.h"
#include "lib/dns/reply.h"
#include "tests/fuzz/require.h"

namespace wirecache::dns {
namespace {

using fuzz::require;

constexpr uint16_t kOurUdpSize = 1232;

bool reads_question(QueryStatus status) {
  return status != QueryStatus::kDropShort && status != QueryStatus::kDropResponse &&
         status != QueryStatus::kNotImp;
}

void check_query(Bytes message, QueryStatus status, const Query& query) {
  require((status == QueryStatus::kDropShort) == (message.size() < kHeaderBytes),
          "short ones only");
  require(query.edns.udp_size >= kMinUdpBytes, "the UDP size is at least 512");
  require(kHeaderBytes + query.question_bytes() <= std::max(message.size(), kHeaderBytes),
          "the question lies in the message");
  if (!reads_question(status)) require(query.question_bytes() == 0, "no look at the sections");
  if (query.qname_bytes != 0) {
    require(flat_name_length(message.subspan(kHeaderBytes)) == query.qname_bytes,
            "the name's length");
  }
  if (status == QueryStatus::kBadVers) require(query.edns.present, "a version comes with an OPT");
  if (status != QueryStatus::kOk && status != QueryStatus::kAny) return;

  require(query.qname_bytes != 0 && query.qclass == 1 && query.edns.version == 0, "what is kOk");
  MessageWalk walk(message);
  Header header;
  Question question;
  require(walk.begin(header, question) && question.type == query.qtype, "a query parses");
  Record record;
  MessageWalk::Step step = MessageWalk::Step::kRecord;
  while (step == MessageWalk::Step::kRecord) step = walk.next(record);
  require(step == MessageWalk::Step::kDone, "a query is whole");
}

// Walks `reply`, which has `records` and, if the client sent one, an OPT.
void check_reply(Bytes sent, Bytes reply, const Query& query, unsigned records) {
  Header header;
  require(read_header(reply, header), "a reply has a header");
  require(header.id == query.id && header.qr() && header.opcode() == (query.flags >> 11 & 15),
          "ID, QR and opcode");
  require(header.question_count == (query.qname_bytes != 0), "QDCOUNT");
  if (query.qname_bytes == 0) {
    require(reply.size() == kHeaderBytes + (query.edns.present ? kOptBytes : 0), "a bare reply");
    return;
  }
  require(std::memcmp(reply.data() + kHeaderBytes, sent.data() + kHeaderBytes,
                      query.question_bytes()) == 0,
          "the question is echoed");
  MessageWalk walk(reply);
  Question question;
  require(walk.begin(header, question) && question.type == query.qtype, "a reply parses");
  Record record;
  for (unsigned i = 0; i < records + (query.edns.present ? 1 : 0); ++i)
    require(walk.next(record) == MessageWalk::Step::kRecord, "its records are there");
  require(walk.next(record) == MessageWalk::Step::kDone, "nothing stands behind them");
  if (query.edns.present)
    require(record.type == static_cast<uint16_t>(RrType::kOpt), "the OPT is last");
}

// Builds one reply in a heap buffer of exactly `capacity` bytes, so that ASan sees any byte beyond.
template <typename Build>
void check_build(Bytes sent, const Query& query, size_t capacity, unsigned records, Build build) {
  const auto buffer = std::make_unique<uint8_t[]>(std::max<size_t>(capacity, 1));
  std::copy_n(sent.begin(), std::min(sent.size(), capacity), buffer.get());
  const MutableBytes room(buffer.get(), capacity);
  const size_t size = build(room);
  require(size <= capacity, "never longer than the capacity");
  const size_t needed = kHeaderBytes + query.question_bytes() +
                        (query.edns.present ? kOptBytes : 0) + (records != 0 ? 21 : 0);
  require(size == (needed <= capacity ? needed : 0), "written where it fits, and only there");
  if (size != 0) check_reply(sent, room.first(size), query, records);
}

void check_replies(Bytes message, const Query& query) {
  static constexpr std::array kRcodes = {Rcode::kNoError, Rcode::kFormErr, Rcode::kServFail,
                                         Rcode::kNotImp,  Rcode::kRefused, Rcode::kBadVers};
  const Rcode rcode = kRcodes[query.id % kRcodes.size()];
  // The room at hand is now too little, now enough; it holds at least the question, as a packet
  // does.
  const size_t question_end = kHeaderBytes + query.question_bytes();
  for (const size_t capacity : {question_end, question_end + query.id % 40, size_t{512}}) {
    check_build(message, query, capacity, 0, [&](MutableBytes room) {
      return write_empty_reply(room, query, rcode, query.id & kFlagTc, kOurUdpSize);
    });
    if (query.qname_bytes == 0) continue;
    check_build(message, query, capacity, 1,
                [&](MutableBytes room) { return write_any_reply(room, query, kOurUdpSize); });
  }
}

}  // namespace
}  // namespace wirecache::dns

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wirecache::dns;
  if (size > UINT16_MAX) return 0;
  const wirecache::Bytes message(data, size);
  Query query;
  const QueryStatus status = parse_query(message, query);
  check_query(message, status, query);
  if (status != QueryStatus::kDropShort && status != QueryStatus::kDropResponse)
    check_replies(message, query);
  return 0;
}

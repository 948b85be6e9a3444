// Feeds bytes as an upstream's answer to the entry codec, and builds replies from what comes out.
//
// The first byte chooses how the answer was fetched; the rest is the message, whose own question is
// the key. Demanded: an entry that is made is well formed; replies of every kind are well formed
// messages within their limit, echo the question, and hold no DNSSEC record that nobody asked for.
// An entry with a byte changed either is not well formed, or is still read within its bounds.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "lib/cache/entry_codec.h"
#include "lib/cache/rdata_parts.h"
#include "lib/dns/message.h"
#include "lib/dns/rdata.h"
#include "tests/fuzz/require.h"

namespace wirecache::cache {
namespace {

using fuzz::require;

constexpr uint32_t kNow = 1'000'000;

EncodeOptions options_of(uint8_t how) {
  return {.min_ttl_sec = (how & 4) != 0 ? 60u : 0u,
          .max_ttl_sec = (how & 8) != 0 ? 7u * 86400 : 3600u,
          .now_sec = kNow,
          .fetched_with_do = (how & 1) != 0,
          .keep_ad = (how & 2) != 0};
}

struct Client {
  uint16_t size;
  bool has_edns;
  bool dnssec_ok;
  uint32_t rotation = 0;
};

void check_record(Bytes message, const dns::Record& record, const dns::Query& query) {
  RdataParts parts;
  require(split_rdata(message, {record.type, record.rdata_offset, record.rdata_bytes}, parts),
          "a reply's data is well formed");
  if (query.edns.dnssec_ok || record.section == dns::Section::kAnswer) return;
  require(!dns::is_dnssec_type(record.type), "no DNSSEC records without DO");
}

void check_reply(Bytes message, Bytes sent, const dns::Query& query, bool truncated) {
  dns::MessageWalk walk(message);
  dns::Header header;
  dns::Question question;
  require(walk.begin(header, question), "a reply has a question");
  const size_t question_end = dns::kHeaderBytes + query.question_bytes();
  require(message.size() >= question_end &&
              std::equal(sent.begin() + dns::kHeaderBytes,
                         sent.begin() + static_cast<std::ptrdiff_t>(question_end),
                         message.begin() + dns::kHeaderBytes),
          "the question is echoed");
  require(header.qr() && header.tc() == truncated, "QR and TC");
  dns::Record record;
  dns::MessageWalk::Step step;
  bool has_opt = false;
  while ((step = walk.next(record)) == dns::MessageWalk::Step::kRecord) {
    require(!has_opt, "the OPT comes last, and once");
    has_opt = record.type == static_cast<uint16_t>(dns::RrType::kOpt);
    require(!truncated || has_opt, "a truncated reply is empty");
    if (!has_opt) check_record(message, record, query);
  }
  require(step == dns::MessageWalk::Step::kDone, "a reply is well formed");
  require(has_opt == query.edns.present, "an OPT answers an OPT");
}

// The client's query stands in `message` up to its question's end.
void build(EntryView entry, const dns::Question& question, const Client& client, size_t room) {
  static std::array<uint8_t, 65535> message;
  std::array<uint8_t, dns::kHeaderBytes + dns::kMaxQuestionBytes> sent = {};
  const size_t name_bytes = question.name.size;
  std::memcpy(&sent[dns::kHeaderBytes], question.name.bytes.data(), name_bytes);
  store_be16(&sent[dns::kHeaderBytes + name_bytes], question.type);
  store_be16(&sent[dns::kHeaderBytes + name_bytes + 2], question.rr_class);
  const dns::Query query = {.id = 1,
                            .flags = dns::kFlagRd,
                            .qname_bytes = static_cast<uint16_t>(name_bytes),
                            .qtype = question.type,
                            .qclass = question.rr_class,
                            .edns = {.present = client.has_edns,
                                     .dnssec_ok = client.dnssec_ok,
                                     .version = 0,
                                     .udp_size = client.size}};
  std::copy(sent.begin(), sent.end(), message.begin());
  const ReplyOptions options = {
      .now_sec = kNow + 1, .max_reply_bytes = client.size, .rotation = client.rotation};
  const ReplyResult result = build_reply(entry, query, options, MutableBytes(message).first(room));
  require(result.bytes != 0, "there is room for the question");
  require(result.bytes <= std::min<size_t>(client.size, room), "a reply is within its limit");
  check_reply(Bytes(message).first(result.bytes), sent, query, result.truncated);
}

// Copied to its own length, so that a sanitizer sees what is read behind it.
void change_a_byte(Bytes entry, const Key& key, const dns::Question& question, size_t which) {
  const auto copy = std::make_unique<uint8_t[]>(entry.size());
  std::copy(entry.begin(), entry.end(), copy.get());
  copy[which % entry.size()] ^= static_cast<uint8_t>(1u << which % 8);
  if (!entry_is_well_formed({copy.get(), entry.size()})) return;
  const EntryView view(copy.get());
  require(view.size_bytes() <= entry.size(), "an entry is within its bytes");
  if (!view.matches(key)) return;
  std::array<uint8_t, 4096> message;
  const size_t name_bytes = question.name.size;
  std::memcpy(&message[dns::kHeaderBytes], question.name.bytes.data(), name_bytes);
  std::memset(&message[dns::kHeaderBytes + name_bytes], 0, 4);
  const dns::Query query = {.qname_bytes = static_cast<uint16_t>(name_bytes),
                            .qtype = question.type,
                            .edns = {.present = true, .dnssec_ok = true, .udp_size = 4096}};
  const ReplyResult result =
      build_reply(view, query, {.now_sec = kNow, .max_reply_bytes = 4096}, message);
  dns::MessageWalk walk(Bytes(message).first(result.bytes));
  dns::Header header;
  dns::Question echoed;
  require(walk.begin(header, echoed), "a reply has a question");
  dns::Record record;
  dns::MessageWalk::Step step;
  do {
    step = walk.next(record);
  } while (step == dns::MessageWalk::Step::kRecord);
  require(step == dns::MessageWalk::Step::kDone, "a reply is well formed");
}

void run(uint8_t how, Bytes message) {
  static const HashSecret secret = HashSecret::from_seed(1);
  static std::array<uint8_t, kMaxEntryBytes> scratch;
  dns::MessageWalk walk(message);
  dns::Header header;
  dns::Question question;
  KeyBuffer buffer;
  if (!walk.begin(header, question)) return;
  const Key key = buffer.make(secret, question.name.view(), question.type, dns::CdBit::kClear, how);
  const Encoded encoded = encode_answer(key, message, options_of(how), scratch);
  if (encoded.status != EncodeStatus::kKeep && encoded.status != EncodeStatus::kUseOnce) {
    require(encoded.size_bytes == 0, "no entry without a good status");
    return;
  }
  require((encoded.status == EncodeStatus::kUseOnce) == (encoded.lifetime_sec == 0),
          "what has a lifetime may be kept");
  const Bytes entry = Bytes(scratch).first(encoded.size_bytes);
  require(entry_is_well_formed(entry), "an entry is well formed");
  const EntryView view(entry.data());
  require(view.matches(key), "an entry has its key");
  build(view, question, {512, false, false}, 65535);
  for (const uint16_t size : {512, 1232, 4096, 65535}) {
    build(view, question, {size, true, false, how}, 65535);
    build(view, question, {size, true, true}, size - how / 2);
  }
  for (size_t i = 0; i < 8; ++i) change_a_byte(entry, key, question, how * 8u + i + message.size());
}

}  // namespace
}  // namespace wirecache::cache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  wirecache::cache::run(data[0], {data + 1, size - 1});
  return 0;
}

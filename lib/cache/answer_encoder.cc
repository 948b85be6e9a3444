#include <algorithm>

#include "lib/cache/answer_records.h"
#include "lib/cache/answer_selection.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/entry_writer.h"

namespace wirecache::cache {
namespace {

bool is_kept_rcode(dns::Rcode rcode) {
  return rcode == dns::Rcode::kNoError || rcode == dns::Rcode::kNxDomain ||
         rcode == dns::Rcode::kYxDomain;
}

// RFC 8767 §4: a TTL with its top bit set is a large one, and all are capped; 0 is never raised.
uint32_t stored_ttl(uint32_t ttl, const EncodeOptions& options) {
  if (ttl == 0) return 0;
  const uint32_t most = std::min(options.max_ttl_sec, kMaxLifetimeSec);
  return std::min(std::max(ttl, options.min_ttl_sec), most);
}

// RFC 2308 §5: the SOA of a negative answer lives no longer than its own MINIMUM, the last of its
// fields.
uint32_t negative_ttl(const AnswerRecords& records, const SelectedRrset& soa,
                      const EncodeOptions& options) {
  const RdataPlace& rdata = records[soa.first].rdata;
  const uint32_t minimum =
      load_be32(records.message().data() + rdata.offset + rdata.bytes - sizeof(uint32_t));
  return std::min({soa.ttl, minimum, options.max_negative_ttl_sec});
}

// Turns the received TTLs into those to be stored and returns the smallest.
uint32_t settle_ttls(AnswerSelection& selection, const EncodeOptions& options) {
  uint32_t lifetime = kMaxLifetimeSec;
  for (SelectedRrset& rrset : selection.rrsets()) {
    rrset.ttl = stored_ttl(rrset.ttl, options);
    lifetime = std::min(lifetime, rrset.ttl);
  }
  // An RRSIG has the TTL of what it signs (RFC 4034 §3), which may have been lowered here.
  for (const SelectedRrset& rrset : selection.rrsets()) {
    if (rrset.signature == kNoRrset) continue;
    uint32_t& ttl = selection.rrsets()[rrset.signature].ttl;
    ttl = std::min(ttl, rrset.ttl);
  }
  return lifetime;
}

}  // namespace

Encoded encode_answer(const Key& key, Bytes message, const EncodeOptions& options,
                      MutableBytes scratch) {
  AnswerRecords records;
  switch (records.read(key, message)) {
    case AnswerRecords::Status::kMalformed:
      return {.status = EncodeStatus::kMalformed};
    case AnswerRecords::Status::kTooMany:
      return {.status = EncodeStatus::kTooLarge};
    case AnswerRecords::Status::kOk:
      break;
  }
  const dns::Rcode rcode = records.header().rcode();
  if (!is_kept_rcode(rcode)) return {.status = EncodeStatus::kMalformed};

  AnswerSelection selection(records, key,
                            options.fetched_with_do ? DnssecRecords::kKeep : DnssecRecords::kDrop);
  const bool is_positive = rcode == dns::Rcode::kNoError && selection.found();
  const bool has_soa = selection.soa() != kNoRrset;
  if (rcode == dns::Rcode::kNoError && !selection.found() && !selection.has_alias() && !has_soa &&
      selection.has_ns()) {
    return {.status = EncodeStatus::kReferral};
  }
  if (!is_positive && has_soa) {
    SelectedRrset& soa = selection.rrsets()[selection.soa()];
    soa.ttl = negative_ttl(records, soa, options);
  }
  // Without a SOA nothing says how long an absence lasts (RFC 2308 §5); YXDOMAIN is none.
  const bool may_keep = is_positive || (has_soa && rcode != dns::Rcode::kYxDomain);
  const uint32_t smallest_ttl = settle_ttls(selection, options);
  const uint32_t lifetime = may_keep ? smallest_ttl : 0;

  uint8_t flags = is_positive ? 0 : kEntryNegative;
  if (options.fetched_with_do) flags |= kEntryFetchedWithDo;
  if (options.keep_ad && (records.header().flags & dns::kFlagAd) != 0) flags |= kEntryAd;
  EntryWriter writer(
      key,
      {.flags = flags, .rcode = rcode, .inserted_sec = options.now_sec, .lifetime_sec = lifetime},
      scratch);
  for (uint16_t index : selection.order()) {
    const SelectedRrset& rrset = selection.rrsets()[index];
    const auto audience =
        selection.is_for_do(rrset) ? EntryWriter::Audience::kDoOnly : EntryWriter::Audience::kAll;
    if (!writer.add(records, rrset, audience)) return {.status = EncodeStatus::kTooLarge};
  }
  const uint16_t bytes = writer.finish();
  if (bytes == 0) return {.status = EncodeStatus::kTooLarge};
  return {.status = lifetime == 0 ? EncodeStatus::kUseOnce : EncodeStatus::kKeep,
          .size_bytes = bytes,
          .lifetime_sec = lifetime};
}

}  // namespace wirecache::cache

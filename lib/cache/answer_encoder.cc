#include <algorithm>

#include "lib/cache/answer_records.h"
#include "lib/cache/answer_selection.h"
#include "lib/cache/entry_codec.h"
#include "lib/cache/entry_writer.h"
#include "lib/cache/plain_encoder.h"
#include "lib/dns/extended_error.h"

namespace wirecache::cache {
namespace {

bool is_kept_rcode(dns::Rcode rcode) {
  return rcode == dns::Rcode::kNoError || rcode == dns::Rcode::kNxDomain ||
         rcode == dns::Rcode::kYxDomain;
}

EntryOutcome outcome_of(dns::Rcode rcode, const AnswerSelection& selection) {
  switch (rcode) {
    case dns::Rcode::kNxDomain:
      return EntryOutcome::kNxDomain;
    case dns::Rcode::kYxDomain:
      return EntryOutcome::kYxDomain;
    default:
      return selection.found() ? EntryOutcome::kPositive : EntryOutcome::kNoData;
  }
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

// The long way: for answers of every shape.
Encoded encode_selected(const Key& key, Bytes message, const EncodeOptions& options,
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
  const EntryOutcome outcome = outcome_of(rcode, selection);
  const bool is_positive = outcome == EntryOutcome::kPositive;
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

  std::array<uint8_t, kMaxErrorBytes> errors;
  const size_t error_bytes = dns::copy_extended_errors(records.opt(), errors);
  EntryFields fields{.outcome = outcome, .now_sec = options.now_sec, .lifetime_sec = lifetime};
  if (options.fetched_with_do) fields.flags |= kEntryFetchedWithDo;
  if (options.keep_ad && (records.header().flags & dns::kFlagAd) != 0) fields.flags |= kEntryAd;
  EntryWriter writer(key, fields, Bytes(errors).first(error_bytes), scratch);
  const uint16_t bytes = writer.write(records, selection);
  if (bytes == 0) return {.status = EncodeStatus::kTooLarge};
  return {.status = lifetime == 0 ? EncodeStatus::kUseOnce : EncodeStatus::kKeep,
          .size_bytes = bytes,
          .lifetime_sec = lifetime};
}

}  // namespace

Encoded encode_answer(const Key& key, Bytes message, const EncodeOptions& options,
                      MutableBytes scratch) {
  Encoded encoded;
  if (encode_plain(key, message, options, scratch, encoded)) return encoded;
  return encode_selected(key, message, options, scratch);
}

}  // namespace wirecache::cache

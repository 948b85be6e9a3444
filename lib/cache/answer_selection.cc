#include "lib/cache/answer_selection.h"

#include <algorithm>

#include "lib/dns/rdata.h"
#include "lib/dns/types.h"

namespace wirecache::cache {
namespace {

using dns::RrType;
using dns::Section;

// Ranks: each link of the chain has two, for its DNAME and for what stands at its name.
constexpr uint16_t kAuthorityRank = 1000;
constexpr uint16_t kAdditionalRank = 2000;
constexpr uint16_t kNoRank = 0xffff;

constexpr uint16_t number(RrType type) {
  return static_cast<uint16_t>(type);
}

// RRsets of one record (RFC 2181 §10.1, RFC 1035 §3.3.13, RFC 6672 §2.4); the first counts.
bool is_singleton(uint16_t type) {
  return type == number(RrType::kCname) || type == number(RrType::kDname) ||
         type == number(RrType::kSoa);
}
bool is_proof(uint16_t type) {
  return type == number(RrType::kNsec) || type == number(RrType::kNsec3);
}

// Whose addresses belong to the additional section (RFC 1035 §3.3.9, §3.3.11, RFC 2782, RFC 9460
// §4.1).
bool has_target(uint16_t type) {
  switch (static_cast<RrType>(type)) {
    case RrType::kNs:
    case RrType::kMx:
    case RrType::kSrv:
    case RrType::kSvcb:
    case RrType::kHttps:
      return true;
    default:
      return false;
  }
}

constexpr size_t kSvcPriorityBytes = 2;
constexpr size_t kRrsigSignerOffset = 18;

// The flat name at `offset` of the data of a type whose names stand uncompressed.
Bytes verbatim_name(const RdataParts& parts, size_t offset) {
  const Bytes rest = parts.before.subspan(offset);
  return rest.first(dns::flat_name_length(rest));
}

}  // namespace

AnswerSelection::AnswerSelection(AnswerRecords& records, const Key& key, DnssecRecords dnssec)
    : records_(records), type_(key.type), dnssec_(dnssec) {
  chain_[0].name.size = static_cast<uint8_t>(key.name.size());
  std::copy(key.name.begin(), key.name.end(), chain_[0].name.bytes.begin());
  follow_chain();
  take_answers();
  take_authority();
  take_proofs();
  take_additional();
  take_signatures();
  put_in_order();
}

// RFC 1034 §3.6.2, in whatever order the records stand; ends at a loop and after kMostAliases.
void AnswerSelection::follow_chain() {
  for (links_ = 1;; ++links_) {
    Link& link = chain_[links_ - 1];
    link.owner = records_.find_owner(link.name.view());
    link.alias = kNoRecord;
    if (link.owner == kNoOwner) return;
    found_ = has_type(link.owner);
    if (found_ || links_ == chain_.size()) return;
    const uint16_t alias = find_alias(link.owner);
    if (alias == kNoRecord) return;
    link.alias = alias;
    RdataParts parts;
    records_.split(records_[alias], parts);
    if (in_chain(parts.names[0].view())) return;
    chain_[links_].name = parts.names[0];
  }
}

bool AnswerSelection::has_type(uint16_t owner) const {
  for (size_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.section != Section::kAnswer) return false;
    if (record.owner == owner && record.rdata.type == type_) return true;
  }
  return false;
}

uint16_t AnswerSelection::find_alias(uint16_t owner) const {
  for (size_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.section != Section::kAnswer) break;
    if (record.owner == owner && record.rdata.type == number(RrType::kCname)) {
      return static_cast<uint16_t>(i);
    }
  }
  return kNoRecord;
}

bool AnswerSelection::in_chain(Bytes name) const {
  return std::any_of(chain_.begin(), chain_.begin() + static_cast<std::ptrdiff_t>(links_),
                     [&](const Link& link) { return dns::names_equal(link.name.view(), name); });
}

void AnswerSelection::take_answers() {
  for (uint16_t i = 0; i < records_.count() && records_[i].section == Section::kAnswer; ++i) {
    const uint16_t rank = answer_rank(i);
    if (rank != kNoRank) add(i, rank);
  }
}

// Where in the chain the record belongs, kNoRank where it does not.
uint16_t AnswerSelection::answer_rank(uint16_t record) const {
  const uint16_t type = records_[record].rdata.type;
  const uint16_t owner = records_[record].owner;
  if (found_ && type == type_ && owner == end().owner) {
    return static_cast<uint16_t>(2 * links_ - 1);
  }
  if (type == number(RrType::kCname)) {
    for (size_t i = 0; i < links_; ++i) {
      if (chain_[i].alias == record) return static_cast<uint16_t>(2 * i + 1);
    }
  }
  return type == number(RrType::kDname) ? dname_rank(owner) : kNoRank;
}

// A DNAME goes before the first alias that it made (RFC 6672 §3.1), or the name it made too long.
uint16_t AnswerSelection::dname_rank(uint16_t owner) const {
  dns::FlatName name;
  records_.read_owner(owner, name);
  for (size_t i = 0; i < links_; ++i) {
    const Bytes link = chain_[i].name.view();
    if (link.size() != name.size && dns::is_subdomain(link, name.view())) {
      return static_cast<uint16_t>(2 * i);
    }
  }
  return kNoRank;
}

void AnswerSelection::take_authority() {
  for (uint16_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.section != Section::kAuthority) continue;
    const bool is_soa = record.rdata.type == number(RrType::kSoa);
    if (!is_soa && record.rdata.type != number(RrType::kNs)) continue;
    if (is_soa && soa_ != kNoRrset) continue;
    dns::FlatName owner;
    records_.read_owner(record.owner, owner);
    if (!dns::is_subdomain(end().name.view(), owner.view())) continue;
    const uint16_t rrset = add(i, kAuthorityRank);
    if (is_soa && rrset != kNoRrset) soa_ = rrset;
    if (!is_soa && rrset != kNoRrset && ns_ == kNoRrset) ns_ = rrset;
  }
}

// NSEC and NSEC3: of the zone that the SOA or NS name, or of one that the chain came through (a
// wildcard's proof stands beside the next zone's SOA).
void AnswerSelection::take_proofs() {
  if (dnssec_ == DnssecRecords::kDrop) return;
  for (uint16_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.section != Section::kAuthority || !is_proof(record.rdata.type)) continue;
    if (find(record.owner, record.rdata.type, 0) != kNoRrset ||
        is_at_or_below(record.owner, soa_) || is_at_or_below(record.owner, ns_) ||
        is_signed_for_chain(record)) {
      add(i, kAuthorityRank);
    }
  }
}

bool AnswerSelection::is_at_or_below(uint16_t owner, uint16_t rrset) const {
  if (rrset == kNoRrset) return false;
  dns::FlatName name;
  dns::FlatName apex;
  records_.read_owner(owner, name);
  records_.read_owner(rrsets_[rrset].owner, apex);
  return dns::is_subdomain(name.view(), apex.view());
}

bool AnswerSelection::is_signed_for_chain(const AnswerRecord& proof) const {
  for (size_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.section != Section::kAuthority || record.owner != proof.owner ||
        record.covered != proof.rdata.type) {
      continue;
    }
    RdataParts parts;
    records_.split(record, parts);
    const Bytes signer = verbatim_name(parts, kRrsigSignerOffset);
    dns::FlatName owner;
    records_.read_owner(proof.owner, owner);
    return dns::is_subdomain(owner.view(), signer) &&
           std::any_of(
               chain_.begin(), chain_.begin() + static_cast<std::ptrdiff_t>(links_),
               [&](const Link& link) { return dns::is_subdomain(link.name.view(), signer); });
  }
  return false;
}

void AnswerSelection::take_additional() {
  bool marked = false;
  for (uint16_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.section != Section::kAdditional || !dns::is_address_type(record.rdata.type))
      continue;
    if (!marked) mark_targets();
    marked = true;
    if (is_target_[record.owner]) add(i, kAdditionalRank);
  }
}

void AnswerSelection::mark_targets() {
  is_target_.fill(false);
  for (const SelectedRrset& rrset : rrsets()) {
    if (!has_target(rrset.type)) continue;
    for (uint16_t i = rrset.first; i != kNoRecord; i = records_[i].next) {
      RdataParts parts;
      records_.split(records_[i], parts);
      const Bytes target =
          parts.name_count != 0 ? parts.names[0].view() : verbatim_name(parts, kSvcPriorityBytes);
      const bool is_owner_itself = parts.name_count == 0 && target.size() == 1;  // RFC 9460 §2.5
      const uint16_t owner = is_owner_itself ? rrset.owner : records_.find_owner(target);
      if (owner != kNoOwner) is_target_[owner] = true;
    }
  }
}

void AnswerSelection::take_signatures() {
  if (dnssec_ == DnssecRecords::kDrop) return;
  for (uint16_t i = 0; i < records_.count(); ++i) {
    const AnswerRecord& record = records_[i];
    if (record.rdata.type != number(RrType::kRrsig)) continue;
    const uint16_t signed_rrset = find(record.owner, record.covered, 0);
    if (signed_rrset == kNoRrset || rrsets_[signed_rrset].section != record.section) continue;
    const uint16_t known = find(record.owner, record.rdata.type, record.covered);
    if (known != kNoRrset && !rrsets_[known].is_signature) continue;  // was asked for
    const uint16_t signature = add(i, rrsets_[signed_rrset].rank);
    if (signature == kNoRrset) continue;
    rrsets_[signature].is_signature = true;
    rrsets_[signed_rrset].signature = signature;
  }
}

// By rank, then as received; a signature behind what it signs.
void AnswerSelection::put_in_order() {
  std::array<uint32_t, kMostRecords> keys;
  size_t count = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    if (rrsets_[i].is_signature) continue;
    keys[count++] = static_cast<uint32_t>(rrsets_[i].rank) << 16 | i;
  }
  std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count));
  size_t placed = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto rrset = static_cast<uint16_t>(keys[i]);
    order_[placed++] = rrset;
    if (rrsets_[rrset].signature != kNoRrset) order_[placed++] = rrsets_[rrset].signature;
  }
}

bool AnswerSelection::is_for_do(const SelectedRrset& rrset) const {
  if (rrset.is_signature) return true;
  const bool is_asked_for = rrset.type == type_ && rrset.section == Section::kAnswer;
  return !is_asked_for && dns::is_dnssec_type(rrset.type);
}

uint16_t AnswerSelection::find(uint16_t owner, uint16_t type, uint16_t covered) const {
  for (size_t i = 0; i < count_; ++i) {
    const SelectedRrset& rrset = rrsets_[i];
    if (rrset.owner == owner && rrset.type == type && rrset.covered == covered) {
      return static_cast<uint16_t>(i);
    }
  }
  return kNoRrset;
}

// Adds the record to its RRset and returns that; kNoRrset where it is left out.
uint16_t AnswerSelection::add(uint16_t index, uint16_t rank) {
  AnswerRecord& record = records_[index];
  const uint16_t type = record.rdata.type;
  uint16_t known = find(record.owner, type, record.covered);
  if (known == kNoRrset) {
    known = static_cast<uint16_t>(count_++);
    rrsets_[known] = {.owner = record.owner,
                      .type = type,
                      .covered = record.covered,
                      .first = index,
                      .last = index,
                      .count = 1,
                      .signature = kNoRrset,
                      .rank = rank,
                      .is_signature = false,
                      .section = record.section,
                      .ttl = record.ttl};
    return known;
  }
  SelectedRrset& rrset = rrsets_[known];
  if (rrset.section != record.section || is_singleton(type)) return kNoRrset;
  rrset.ttl = std::min(rrset.ttl, record.ttl);
  for (uint16_t i = rrset.first; i != kNoRecord; i = records_[i].next) {
    if (records_[i].digest == record.digest) return known;
  }
  records_[rrset.last].next = index;
  rrset.last = index;
  ++rrset.count;
  return known;
}

}  // namespace wirecache::cache

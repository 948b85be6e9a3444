#include "lib/dns/rdata.h"

namespace wirecache::dns {
namespace {

constexpr RdataShape names_only(RdataNames kind, uint8_t names) {
  return {.names_kind = kind, .names = names};
}
constexpr RdataShape name_after(RdataNames kind, uint8_t before) {
  return {.names_kind = kind, .before = before, .names = 1};
}
constexpr RdataShape name_then_rest(RdataNames kind, uint8_t before) {
  return {.names_kind = kind, .before = before, .names = 1, .tail = true};
}
constexpr RdataShape fixed(uint8_t bytes) {
  return {.fixed_bytes = bytes};
}

// Types of later than RFC 3597, and those that forbid compression themselves.
RdataShape verbatim_shape(RrType type) {
  switch (type) {
    case RrType::kNsapPtr:  // RFC 1348
      return names_only(RdataNames::kVerbatim, 1);
    case RrType::kRrsig:  // RFC 4034 §3.1
      return name_then_rest(RdataNames::kVerbatim, 18);
    case RrType::kNsec:  // RFC 4034 §4.1
      return name_then_rest(RdataNames::kVerbatim, 0);
    case RrType::kTalink:  // draft-wijngaards-dnsop-trust-history
      return names_only(RdataNames::kVerbatim, 2);
    case RrType::kSvcb:  // RFC 9460 §2.2
    case RrType::kHttps:
      return name_then_rest(RdataNames::kVerbatim, 2);
    case RrType::kDsync:  // RFC 9859 §2
      return name_after(RdataNames::kVerbatim, 5);
    case RrType::kLp:  // RFC 6742 §2.4
      return name_after(RdataNames::kVerbatim, 2);
    default:
      return {};
  }
}

// Types without names whose data always has one length.
RdataShape fixed_shape(RrType type) {
  switch (type) {
    case RrType::kA:  // RFC 1035 §3.4.1
      return fixed(4);
    case RrType::kAaaa:  // RFC 3596 §2.2
      return fixed(16);
    case RrType::kNid:  // RFC 6742 §2.1, §2.3
    case RrType::kL64:
      return fixed(10);
    case RrType::kL32:    // RFC 6742 §2.2
    case RrType::kEui48:  // RFC 7043 §3.1
      return fixed(6);
    case RrType::kEui64:  // RFC 7043 §4.1
      return fixed(8);
    default:
      return {};
  }
}

}  // namespace

RdataShape rdata_shape(uint16_t type) {
  const auto rr_type = static_cast<RrType>(type);
  switch (rr_type) {
    case RrType::kNs:  // RFC 1035 §3.3
    case RrType::kMd:
    case RrType::kMf:
    case RrType::kCname:
    case RrType::kMb:
    case RrType::kMg:
    case RrType::kMr:
    case RrType::kPtr:
      return names_only(RdataNames::kCompressible, 1);
    case RrType::kMinfo:
      return names_only(RdataNames::kCompressible, 2);
    case RrType::kMx:
      return name_after(RdataNames::kCompressible, 2);
    case RrType::kSoa:
      return {.names_kind = RdataNames::kCompressible, .names = 2, .after = 20};
    case RrType::kRp:  // RFC 1183 §2.2
      return names_only(RdataNames::kDecompress, 2);
    case RrType::kAfsdb:  // RFC 1183 §1
    case RrType::kRt:     // RFC 1183 §3.3
    case RrType::kKx:     // RFC 2230 §3.1
      return name_after(RdataNames::kDecompress, 2);
    case RrType::kPx:  // RFC 2163 §4
      return {.names_kind = RdataNames::kDecompress, .before = 2, .names = 2};
    case RrType::kSig:  // RFC 2535 §4.1
      return name_then_rest(RdataNames::kDecompress, 18);
    case RrType::kNxt:  // RFC 2535 §5.2
      return name_then_rest(RdataNames::kDecompress, 0);
    case RrType::kSrv:  // RFC 2782
      return name_after(RdataNames::kDecompress, 6);
    case RrType::kNaptr:  // RFC 3403 §4.1
      return {.names_kind = RdataNames::kDecompress, .before = 4, .strings = 3, .names = 1};
    case RrType::kDname:  // RFC 6672 §2.5
      return names_only(RdataNames::kDecompress, 1);
    case RrType::kTxt:  // RFC 1035 §3.3.14
    case RrType::kSpf:  // RFC 7208 §3.1
      return {.is_text = true};
    default:
      break;
  }
  const RdataShape verbatim = verbatim_shape(rr_type);
  return verbatim.names_kind != RdataNames::kNone ? verbatim : fixed_shape(rr_type);
}

bool is_dnssec_type(uint16_t type) {
  switch (static_cast<RrType>(type)) {
    case RrType::kRrsig:
    case RrType::kNsec:
    case RrType::kNsec3:
      return true;
    default:
      return false;
  }
}

}  // namespace wirecache::dns

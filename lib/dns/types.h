// Numbers of the DNS wire format: header bits, opcodes, rcodes, classes, types (IANA registries).
#pragma once

#include <cstddef>
#include <cstdint>

namespace wirecache::dns {

inline constexpr size_t kHeaderBytes = 12;    // RFC 1035 §4.1.1
inline constexpr size_t kMaxNameBytes = 255;  // RFC 1035 §2.3.4, root label included
inline constexpr size_t kMaxLabelBytes = 63;  // RFC 1035 §2.3.4
inline constexpr size_t kMinUdpBytes = 512;   // RFC 1035 §4.2.1; an OPT below it counts as this
inline constexpr size_t kOptBytes = 11;       // an OPT record without options, RFC 6891 §6.1.2
inline constexpr size_t kMaxQuestionBytes = kMaxNameBytes + 4;

// The 16-bit flags word of the header.
inline constexpr uint16_t kFlagQr = 0x8000;
inline constexpr uint16_t kFlagAa = 0x0400;
inline constexpr uint16_t kFlagTc = 0x0200;
inline constexpr uint16_t kFlagRd = 0x0100;
inline constexpr uint16_t kFlagRa = 0x0080;
inline constexpr uint16_t kFlagAd = 0x0020;
inline constexpr uint16_t kFlagCd = 0x0010;
inline constexpr uint16_t kOpcodeMask = 0x7800;
inline constexpr unsigned kOpcodeShift = 11;
inline constexpr uint16_t kRcodeMask = 0x000f;

// Extended rcodes (12 bits) where an OPT carries the upper 8, RFC 6891 §6.1.3.
enum class Rcode : uint16_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
  kYxDomain = 6,
  kBadVers = 16,
};

// Codes of EDNS options.
inline constexpr uint16_t kOptionExtendedError = 15;  // RFC 8914 §2

// The DO bit of an OPT (RFC 3225 §3) and the CD bit of a header (RFC 4035 §3.2.2) as arguments.
enum class DoBit : uint8_t { kClear, kSet };
enum class CdBit : uint8_t { kClear, kSet };

enum class RrClass : uint16_t { kIn = 1, kCh = 3, kAny = 255 };

enum class RrType : uint16_t {
  kA = 1,
  kNs = 2,
  kMd = 3,
  kMf = 4,
  kCname = 5,
  kSoa = 6,
  kMb = 7,
  kMg = 8,
  kMr = 9,
  kPtr = 12,
  kHinfo = 13,
  kMinfo = 14,
  kMx = 15,
  kTxt = 16,
  kRp = 17,
  kAfsdb = 18,
  kRt = 21,
  kNsapPtr = 23,
  kSig = 24,
  kPx = 26,
  kAaaa = 28,
  kNxt = 30,
  kSrv = 33,
  kNaptr = 35,
  kKx = 36,
  kA6 = 38,
  kDname = 39,
  kOpt = 41,
  kDs = 43,
  kRrsig = 46,
  kNsec = 47,
  kDnskey = 48,
  kNsec3 = 50,
  kNsec3Param = 51,
  kTalink = 58,
  kSvcb = 64,
  kHttps = 65,
  kDsync = 66,
  kSpf = 99,
  kNid = 104,
  kL32 = 105,
  kL64 = 106,
  kLp = 107,
  kEui48 = 108,
  kEui64 = 109,
  kTkey = 249,
  kTsig = 250,
  kIxfr = 251,
  kAxfr = 252,
  kMailb = 253,
  kMaila = 254,
  kAny = 255,
};

}  // namespace wirecache::dns

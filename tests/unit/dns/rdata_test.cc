#include "lib/dns/rdata.h"

#include <gtest/gtest.h>

#include "lib/dns/name.h"
#include "tests/unit/dns/hex.h"

namespace wirecache::dns {
namespace {

// How much of `rdata` the shape of `type` accounts for; -1 where it does not fit.
long covered(uint16_t type, const WireBytes& rdata) {
  const RdataShape shape = rdata_shape(type);
  if (shape.fixed_bytes != 0) return shape.fixed_bytes;
  Reader reader(rdata);
  if (!reader.skip(shape.before)) return -1;
  for (int i = 0; i < shape.strings; ++i) {
    uint8_t length;
    if (!reader.u8(length) || !reader.skip(length)) return -1;
  }
  for (int i = 0; i < shape.names; ++i) {
    const size_t bytes = flat_name_length(Bytes(rdata).subspan(reader.position()));
    if (bytes == 0 || !reader.skip(bytes)) return -1;
  }
  if (!reader.skip(shape.after)) return -1;
  return static_cast<long>(shape.tail ? rdata.size() : reader.position());
}

// Data of each type as dnspython 2.3 writes it (dns.rdata.from_text(...).to_wire()); by hand where
// it does not know the type: MD to MR and MINFO after RFC 1035 §3.3, SIG and NXT after RFC 2535
// §4.1 and §5.2, TALINK after its draft, DSYNC after RFC 9859 §2, NID and L64 after RFC 6742 §2.1
// and §2.3.
struct Sample {
  uint16_t type;
  RdataNames kind;
  const char* hex;
};
constexpr Sample kSamples[] = {
    {1, RdataNames::kNone, "c0000201"},
    {28, RdataNames::kNone, "20010db8000000000000000000000001"},
    {2, RdataNames::kCompressible, "016100"},
    {3, RdataNames::kCompressible, "016100"},
    {4, RdataNames::kCompressible, "016100"},
    {5, RdataNames::kCompressible, "016100"},
    {6, RdataNames::kCompressible, "0161000162000000000100000002000000030000000400000005"},
    {7, RdataNames::kCompressible, "016100"},
    {8, RdataNames::kCompressible, "016100"},
    {9, RdataNames::kCompressible, "016100"},
    {12, RdataNames::kCompressible, "016100"},
    {14, RdataNames::kCompressible, "016100016200"},
    {15, RdataNames::kCompressible, "000a016100"},
    {17, RdataNames::kDecompress, "016100016200"},
    {18, RdataNames::kDecompress, "0001016100"},
    {21, RdataNames::kDecompress, "0001016100"},
    {23, RdataNames::kVerbatim, "016100"},
    {24, RdataNames::kDecompress, "000108020000012c70dbd8805e0be1000001016100000000"},
    {26, RdataNames::kDecompress, "0001016100016200"},
    {30, RdataNames::kDecompress, "01610062010802"},
    {33, RdataNames::kDecompress, "000100020003016100"},
    {35, RdataNames::kDecompress, "00010002017302736503726567016100"},
    {36, RdataNames::kDecompress, "0001016100"},
    {39, RdataNames::kDecompress, "016100"},
    {46, RdataNames::kVerbatim, "000108020000012c70dbd8805e0be1000001016100000000"},
    {47, RdataNames::kVerbatim, "0161000006400000000002"},
    {58, RdataNames::kVerbatim, "016100016200"},
    {64, RdataNames::kVerbatim, "000101610000010003026832"},
    {65, RdataNames::kVerbatim, "000101610000010003026832"},
    {66, RdataNames::kVerbatim, "003b0114eb016100"},
    {104, RdataNames::kNone, "000a00144fffff20ee64"},
    {105, RdataNames::kNone, "000a0a010200"},
    {106, RdataNames::kNone, "000a20010db811401000"},
    {107, RdataNames::kVerbatim, "000a016100"},
    {108, RdataNames::kNone, "00005e00532a"},
    {109, RdataNames::kNone, "00005eef1000002a"},
};

TEST(RdataShape, CoversTheDataOfEachType) {
  for (const Sample& sample : kSamples) {
    const WireBytes rdata = from_hex(sample.hex);
    EXPECT_EQ(rdata_shape(sample.type).names_kind, sample.kind) << sample.type;
    EXPECT_EQ(covered(sample.type, rdata), static_cast<long>(rdata.size())) << sample.type;
  }
}

TEST(RdataShape, KindsAreThoseOfTheRfcs) {
  // Every type with names, in one place: RFC 1035 §3.3; RFC 3597 §4 with KX and DNAME; those that
  // RFC 4034 §3.1.7 and §4.1.1, RFC 9460 §2.2 and the types' own documents forbid to compress.
  for (unsigned type = 0; type <= 0xffff; ++type) {
    const RdataShape shape = rdata_shape(static_cast<uint16_t>(type));
    const Sample* sample = nullptr;
    for (const Sample& s : kSamples) {
      if (s.type == type) sample = &s;
    }
    EXPECT_EQ(shape.names_kind, sample ? sample->kind : RdataNames::kNone) << type;
    EXPECT_EQ(shape.names != 0, shape.names_kind != RdataNames::kNone) << type;
    if (sample == nullptr) {
      EXPECT_EQ(shape.fixed_bytes, 0) << type;
    }
  }
}

TEST(RdataShape, OpaqueTypesStayOpaque) {
  // HINFO, TXT, A6, IPSECKEY, HIP, TYPE65280 (RFC 3597 §3).
  for (const uint16_t type : {13, 16, 38, 45, 55, 65280}) {
    const RdataShape shape = rdata_shape(type);
    EXPECT_EQ(shape.names_kind, RdataNames::kNone) << type;
    EXPECT_EQ(shape.names, 0);
    EXPECT_EQ(shape.fixed_bytes, 0);
    EXPECT_FALSE(shape.tail);
  }
}

TEST(IsDnssecType, Rfc4035Section321AndRfc5155) {
  for (const uint16_t type : {46, 47, 50}) EXPECT_TRUE(is_dnssec_type(type)) << type;
  // DS, DNSKEY and NSEC3PARAM are ordinary answers.
  for (const uint16_t type : {1, 24, 43, 48, 51}) EXPECT_FALSE(is_dnssec_type(type)) << type;
}

}  // namespace
}  // namespace wirecache::dns

#include "lib/dns/extended_error.h"

#include <gtest/gtest.h>

#include "tests/unit/dns/hex.h"

namespace wirecache::dns {
namespace {

// RFC 8914 §2: option 15, length, INFO-CODE, EXTRA-TEXT.
const WireBytes kCached = from_hex("000f 0002 000d");
const WireBytes kStaleWithText = from_hex("000f 0007 0003") + WireBytes{'s', 't', 'a', 'l', 'e'};
const WireBytes kStale = from_hex("000f 0002 0003");
const WireBytes kCookie = from_hex("000a 0008 0102030405060708");

WireBytes copied(const WireBytes& options, size_t room = 255) {
  WireBytes out(room);
  out.resize(copy_extended_errors(options, out));
  return out;
}

TEST(ExtendedErrorTest, TakesErrorsOnlyAndInTheirOrder) {
  EXPECT_EQ(copied(kCookie + kStaleWithText + kCookie + kCached), kStaleWithText + kCached);
  EXPECT_EQ(copied(kCookie), WireBytes{});
  EXPECT_EQ(copied({}), WireBytes{});
}

TEST(ExtendedErrorTest, LeavesOutTextThatDoesNotFitThenErrors) {
  const WireBytes options = kStaleWithText + kCached;
  EXPECT_EQ(copied(options, 17), kStaleWithText + kCached);
  EXPECT_EQ(copied(options, 16), kStaleWithText);
  EXPECT_EQ(copied(options, 11), kStaleWithText);
  EXPECT_EQ(copied(options, 10), kStale);
  EXPECT_EQ(copied(options, 6), kStale);
  EXPECT_EQ(copied(options, 5), WireBytes{});
  EXPECT_EQ(copied(options, 0), WireBytes{});
}

TEST(ExtendedErrorTest, EndsAtAnOptionThatIsCutShort) {
  EXPECT_EQ(copied(kCached + from_hex("000f 0003 0001")), kCached);
  EXPECT_EQ(copied(kCached + from_hex("000f 00")), kCached);
  EXPECT_EQ(copied(from_hex("000f 0001 00") + kCached), kCached);  // no INFO-CODE
}

}  // namespace
}  // namespace wirecache::dns

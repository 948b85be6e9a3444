#include "lib/dns/name.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/dns/hex.h"

namespace wirecache::dns {
namespace {

constexpr char kHeaderHex[] = "000000000000000000000000";

// A flat name of `size` bytes (3 to 255), of labels of at most 63.
WireBytes flat_of_size(size_t size) {
  WireBytes out;
  size_t left = size - 1;
  while (left > 0) {
    size_t label = std::min<size_t>(63, left - 1);
    if (left - 1 - label == 1) --label;  // a length byte needs a byte after it
    out.push_back(static_cast<uint8_t>(label));
    out.insert(out.end(), label, 'x');
    left -= 1 + label;
  }
  out.push_back(0);
  return out;
}

struct ReadResult {
  bool ok = false;
  WireBytes name;
  size_t position = 0;
};

ReadResult read_at(const WireBytes& message, size_t position) {
  Reader reader(message, position);
  FlatName name;
  ReadResult result;
  result.ok = read_name(message, reader, name);
  result.position = reader.position();
  if (result.ok) result.name = to_vector(name.view());
  Reader skipper(message, position);
  EXPECT_EQ(skip_name(message, skipper), result.ok);
  if (result.ok) {
    EXPECT_EQ(skipper.position(), result.position);
  } else {
    EXPECT_EQ(name.size, 0);
  }
  return result;
}

// RFC 1035 §4.1.4, the figure: F.ISI.ARPA at 20, FOO and a pointer to 20 at 40, a pointer to 26
// (ARPA) at 64, the root at 92.
WireBytes rfc1035_figure() {
  WireBytes message(93, 0xee);
  const auto put = [&](size_t at, const WireBytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), message.begin() + static_cast<ptrdiff_t>(at));
  };
  put(20, flat("F.ISI.ARPA"));
  put(40, from_hex("03 464f4f c014"));
  put(64, from_hex("c01a"));
  put(92, from_hex("00"));
  return message;
}

TEST(ReadName, Rfc1035Section414Figure) {
  const WireBytes message = rfc1035_figure();
  struct Case {
    size_t at;
    const char* name;
    size_t end;
  };
  const Case cases[] = {
      {20, "F.ISI.ARPA", 32}, {40, "FOO.F.ISI.ARPA", 46}, {64, "ARPA", 66}, {92, "", 93}};
  for (const Case& c : cases) {
    const ReadResult result = read_at(message, c.at);
    ASSERT_TRUE(result.ok) << c.at;
    EXPECT_EQ(result.name, flat(c.name));
    EXPECT_EQ(result.position, c.end);
  }
}

TEST(ReadName, PointerToAPointer) {
  // 12: "a." root; 15: "b" and a pointer to 12; 19: a pointer to 15.
  const WireBytes message = from_hex(kHeaderHex) + from_hex("016100 0162c00c c00f");
  const ReadResult result = read_at(message, 19);
  ASSERT_TRUE(result.ok);
  EXPECT_EQ(result.name, flat("b.a"));
  EXPECT_EQ(result.position, 21u);
}

TEST(ReadName, RejectsPointersThatDoNotGoBackwards) {
  const WireBytes header = from_hex(kHeaderHex);
  EXPECT_FALSE(read_at(header + from_hex("c00c"), 12).ok) << "to itself";
  EXPECT_FALSE(read_at(header + from_hex("0161c00c"), 12).ok) << "to its own start";
  EXPECT_FALSE(read_at(header + from_hex("c00e 00"), 12).ok) << "forward";
  EXPECT_FALSE(read_at(header + from_hex("c00e c00c"), 14).ok) << "a loop of two";
  EXPECT_FALSE(read_at(header + from_hex("0161c00e 0162c00c"), 16).ok) << "into the pointer itself";
  EXPECT_FALSE(read_at(header + from_hex("c0ff"), 12).ok) << "behind the message";
  EXPECT_FALSE(read_at(header + from_hex("c000"), 12).ok) << "into the header";
  EXPECT_FALSE(read_at(header + from_hex("c00b"), 12).ok) << "the header's last byte";
}

TEST(ReadName, BoundsAChainOfPointers) {
  // 12: the root, then pointers, each to the one before.
  WireBytes message = from_hex(kHeaderHex) + from_hex("00");
  size_t target = 12;
  for (int i = 0; i < 128; ++i) {
    const size_t here = message.size();
    message.push_back(static_cast<uint8_t>(0xc0 | target >> 8));
    message.push_back(static_cast<uint8_t>(target));
    target = here;
  }
  EXPECT_TRUE(read_at(message, target - 2).ok) << "127 pointers";
  EXPECT_FALSE(read_at(message, target).ok) << "128 pointers";
}

TEST(ReadName, RejectsReservedLabelTypes) {
  // RFC 1035 §4.1.4: 01 and 10 are reserved; RFC 6891 §5: 0x41 (binary labels) is gone.
  for (const char* hex : {"40", "41 08 ff 00", "7f 00", "80 00", "bf 00"})
    EXPECT_FALSE(read_at(from_hex(kHeaderHex) + from_hex(hex), 12).ok) << hex;
}

TEST(ReadName, RejectsWhatIsCutShort) {
  for (const char* hex : {"", "01", "0161", "026100", "c0", "0161c0"})
    EXPECT_FALSE(read_at(from_hex(kHeaderHex) + from_hex(hex), 12).ok) << hex;
}

TEST(ReadName, LimitsTheWholeNameTo255Bytes) {
  const WireBytes header = from_hex(kHeaderHex);
  EXPECT_TRUE(read_at(header + flat_of_size(255), 12).ok);
  EXPECT_FALSE(read_at(header + flat_of_size(256), 12).ok);
  // 253 bytes at 12, and one label of 1 or 2 bytes before a pointer to them.
  const WireBytes long_name = header + flat_of_size(253);
  EXPECT_TRUE(read_at(long_name + from_hex("0161c00c"), long_name.size()).ok);
  EXPECT_FALSE(read_at(long_name + from_hex("026161c00c"), long_name.size()).ok);
}

TEST(ReadName, AReaderOfAPrefixBoundsWhatStandsInPlace) {
  const WireBytes message = from_hex(kHeaderHex) + from_hex("016100 0162c00c");
  FlatName name;
  Reader whole(Bytes(message).first(19), 15);
  EXPECT_TRUE(read_name(message, whole, name));
  Reader cut(Bytes(message).first(18), 15);
  EXPECT_FALSE(read_name(message, cut, name));
}

TEST(FlatNameLength, AcceptsWholeNames) {
  EXPECT_EQ(flat_name_length(from_hex("00")), 1u);
  EXPECT_EQ(flat_name_length(flat("www.example.com") + from_hex("0001 0001")), 17u);
  EXPECT_EQ(flat_name_length(from_hex("04 002eff20 00")), 6u) << "any byte may stand in a label";
  EXPECT_EQ(flat_name_length(flat_of_size(255)), 255u);
}

TEST(FlatNameLength, RejectsEverythingElse) {
  EXPECT_EQ(flat_name_length({}), 0u);
  EXPECT_EQ(flat_name_length(from_hex("0161")), 0u);
  EXPECT_EQ(flat_name_length(from_hex("05 6161")), 0u);
  EXPECT_EQ(flat_name_length(from_hex("c00c")), 0u);
  EXPECT_EQ(flat_name_length(from_hex("0161c00c")), 0u);
  EXPECT_EQ(flat_name_length(WireBytes{64} + WireBytes(64, 'a') + WireBytes{0}), 0u);
  EXPECT_EQ(flat_name_length(flat_of_size(256)), 0u);
  EXPECT_EQ(flat_name_length(WireBytes(300, 1)), 0u);
}

TEST(LowerName, AsciiLettersOnlyInEveryPosition) {
  // RFC 4343 §3: only 0x41 to 0x5a have a lower case.
  for (size_t position = 0; position < 19; ++position) {
    for (unsigned value = 0; value < 256; ++value) {
      WireBytes in(19, 0xff);  // the neighbours' top bits must not carry over
      in[position] = static_cast<uint8_t>(value);
      WireBytes expected = in;
      if (value >= 0x41 && value <= 0x5a) expected[position] = static_cast<uint8_t>(value + 0x20);
      WireBytes out(19);
      lower_name(in, out.data());
      ASSERT_EQ(out, expected) << position << " " << value;
    }
  }
}

TEST(LowerName, WorksInPlace) {
  WireBytes name = flat("WwW.ExAmPlE.CoM");
  lower_name(name, name.data());
  EXPECT_EQ(name, flat("www.example.com"));
}

TEST(NamesEqual, IgnoresAsciiCaseOnly) {
  EXPECT_TRUE(names_equal(flat("WWW.example.COM"), flat("www.EXAMPLE.com")));
  EXPECT_TRUE(names_equal(flat(""), flat("")));
  EXPECT_FALSE(names_equal(flat("www.example.com"), flat("www.example.org")));
  EXPECT_FALSE(names_equal(flat("www.example.com"), flat("example.com")));
  EXPECT_FALSE(names_equal(flat("a@b"), flat("a`b"))) << "0x40 and 0x60 are no letters";
  EXPECT_FALSE(names_equal(flat("a[b"), flat("a{b"))) << "0x5b and 0x7b are no letters";
  EXPECT_FALSE(names_equal(flat("\xc4"), flat("\xe4"))) << "Latin-1 has no case here";
}

TEST(IsSubdomain, RespectsLabels) {
  EXPECT_TRUE(is_subdomain(flat("www.example.com"), flat("example.com")));
  EXPECT_TRUE(is_subdomain(flat("WWW.EXAMPLE.com"), flat("example.COM")));
  EXPECT_TRUE(is_subdomain(flat("example.com"), flat("example.com")));
  EXPECT_TRUE(is_subdomain(flat("example.com"), flat("")));
  EXPECT_TRUE(is_subdomain(flat(""), flat("")));
  EXPECT_FALSE(is_subdomain(flat("example.com"), flat("www.example.com")));
  EXPECT_FALSE(is_subdomain(flat("badexample.com"), flat("example.com")));
  EXPECT_FALSE(is_subdomain(flat(""), flat("com")));
  // One label whose content looks like the end of a name: \x07example\x03com within a label.
  const WireBytes label = from_hex("0d 78 07 6578616d706c65 03 636f6d 00");
  EXPECT_FALSE(is_subdomain(label, flat("example.com")));
}

TEST(LabelCount, LeavesOutTheRoot) {
  EXPECT_EQ(label_count(flat("")), 0u);
  EXPECT_EQ(label_count(flat("com")), 1u);
  EXPECT_EQ(label_count(flat("www.example.com")), 3u);
  WireBytes longest;
  for (int i = 0; i < 127; ++i) longest = longest + from_hex("0161");
  EXPECT_EQ(label_count(longest + from_hex("00")), 127u);
}

}  // namespace
}  // namespace wirecache::dns

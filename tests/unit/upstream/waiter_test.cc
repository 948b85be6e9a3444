#include "lib/upstream/waiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lib/dns/name.h"
#include "tests/support/dns_builder.h"

namespace wirecache::upstream {
namespace {

TEST(Waiter, GivesBackTheClientsSpelling) {
  testing::Wire asked;
  testing::put_name(asked, "WwW.eXample.COM");
  Waiter waiter;
  fill_waiter(waiter, net::Frame{}, dns::Query{}, asked);
  std::array<uint8_t, dns::kMaxNameBytes> lower{};
  dns::lower_name(asked, lower.data());
  testing::Wire restored(asked.size());
  restore_case(waiter, {lower.data(), asked.size()}, restored.data());
  EXPECT_EQ(restored, asked);
}

TEST(Waiter, KeepsBytesThatAreNoLetters) {
  testing::Wire asked = {5, 0x00, '[', '{', 0xc3, 'Z', 0};
  Waiter waiter;
  fill_waiter(waiter, net::Frame{}, dns::Query{}, asked);
  std::array<uint8_t, dns::kMaxNameBytes> lower{};
  dns::lower_name(asked, lower.data());
  testing::Wire restored(asked.size());
  restore_case(waiter, {lower.data(), asked.size()}, restored.data());
  EXPECT_EQ(restored, asked);
}

TEST(Waiter, RemembersQueryAndAddresses) {
  net::Frame frame;
  frame.source = *IpAddress::parse("fd00::9");
  frame.destination = *IpAddress::parse("fd00::1");
  frame.source_port = 40001;
  frame.destination_port = 53;
  frame.source_mac = MacAddress{{2, 0, 0, 0, 0, 9}};
  frame.vlan_tags = 1;
  frame.vlan_tci = 0x2064;
  dns::Query query;
  query.id = 0xbeef;
  query.flags = dns::kFlagRd | dns::kFlagCd;
  query.edns = {true, true, 0, 4096};
  Waiter waiter;
  fill_waiter(waiter, frame, query, {});

  const net::DatagramHeaders headers = reply_headers_of(waiter);
  EXPECT_EQ(headers.source, frame.destination);
  EXPECT_EQ(headers.destination, frame.source);
  EXPECT_EQ(headers.source_port, 53);
  EXPECT_EQ(headers.destination_port, 40001);
  EXPECT_EQ(headers.destination_mac, frame.source_mac);
  EXPECT_TRUE(headers.tagged);
  EXPECT_EQ(headers.vlan_tci, 0x2064);

  const dns::Query back = query_of(waiter, 17, 28);
  EXPECT_EQ(back.id, 0xbeef);
  EXPECT_TRUE(back.rd());
  EXPECT_TRUE(back.cd());
  EXPECT_TRUE(back.edns.present);
  EXPECT_TRUE(back.edns.dnssec_ok);
  EXPECT_EQ(back.edns.udp_size, 4096);
  EXPECT_EQ(back.qname_bytes, 17);
  EXPECT_EQ(back.qtype, 28);
}

TEST(WaiterPool, HandsOutEachSlotOnceUpToItsCapacity) {
  WaiterPool pool(3);
  std::set<uint32_t> taken = {pool.take(), pool.take(), pool.take()};
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken.count(kNoIndex), 0u);
  EXPECT_EQ(pool.take(), kNoIndex);
  EXPECT_EQ(pool.in_use(), 3u);
  pool.give_back(*taken.begin());
  EXPECT_EQ(pool.in_use(), 2u);
  EXPECT_EQ(pool.take(), *taken.begin());
}

}  // namespace
}  // namespace wirecache::upstream

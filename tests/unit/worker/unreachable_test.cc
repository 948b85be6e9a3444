// ICMP errors about upstream queries: a fast failure where they are genuine, nothing where not.
#include <gtest/gtest.h>

#include "lib/net/checksum.h"
#include "tests/unit/worker/upstream_fixture.h"

namespace wirecache::worker {
namespace {

using stats::Drop;
using stats::Upstream;
using testing::a_record;
using testing::QuerySpec;
using testing::Rig;
using testing::Sent;
using testing::Wire;

class Unreachable : public UpstreamFixture {};

// ICMP "port unreachable" from `query`'s server, quoting it (RFC 792).
Wire port_unreachable(const Sent& query) {
  const Wire quoted(query.frame.begin() + net::kEthernetBytes, query.frame.end());
  Wire frame(query.frame.begin() + 6, query.frame.begin() + 12);
  frame.insert(frame.end(), query.frame.begin(), query.frame.begin() + 6);
  testing::put16(frame, net::kEtherTypeIpv4);
  const size_t ip = frame.size();
  for (const unsigned word : {0x4500u, 28u + static_cast<unsigned>(quoted.size()), 0u, 0u, 0x4001u})
    testing::put16(frame, word);
  testing::put16(frame, 0);
  frame.insert(frame.end(), quoted.begin() + 16, quoted.begin() + 20);
  frame.insert(frame.end(), quoted.begin() + 12, quoted.begin() + 16);
  store_be16(frame.data() + ip + 10,
             net::checksum_finish(net::checksum_add(Bytes(frame).subspan(ip), 0)));
  const size_t icmp = frame.size();
  for (const unsigned word : {0x0303u, 0u, 0u, 0u}) testing::put16(frame, word);
  frame.insert(frame.end(), quoted.begin(), quoted.end());
  store_be16(frame.data() + icmp + 2,
             net::checksum_finish(net::checksum_add(Bytes(frame).subspan(icmp), 0)));
  return frame;
}

TEST_F(Unreachable, AnUnreachableServerIsLeftAtOnce) {
  Rig rig;
  const Sent first = ask_upstream(rig);
  rig.inject_frame(port_unreachable(first));
  rig.poll();
  const auto traffic = rig.traffic();
  ASSERT_EQ(traffic.upstream.size(), 1u);
  EXPECT_NE(traffic.upstream[0].headers.destination, first.headers.destination);
  EXPECT_EQ(rig.upstream(Upstream::kIcmpUnreachable), 1u);
  rig.answer(traffic.upstream[0], good_answer(traffic.upstream[0]));
  const auto replies = replies_after(rig);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(replies[0].message), 0u);

  // The next question goes to the other server at once.
  const Sent next = ask_upstream(rig, {.name = "next.example"});
  EXPECT_EQ(next.headers.destination, traffic.upstream[0].headers.destination);
  EXPECT_EQ(rig.accounting(), "");
}

TEST_F(Unreachable, AllUnreachableIsServfailAtOnce) {
  Rig rig;
  const Sent first = ask_upstream(rig);
  rig.inject_frame(port_unreachable(first));
  rig.poll();
  const auto traffic = rig.traffic();
  ASSERT_EQ(traffic.upstream.size(), 1u);
  rig.inject_frame(port_unreachable(traffic.upstream[0]));
  const auto replies = replies_after(rig);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(testing::rcode_of(replies[0].message), 2u);
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

// Whoever does not know ID, port and addresses cannot end a query, nor does a second error do more.
TEST_F(Unreachable, ForgedUnreachablesDoNothing) {
  Rig rig;
  const Sent query = ask_upstream(rig);
  const auto forge = [&](auto change) {
    Sent forged = query;
    change(forged.frame);
    rig.inject_frame(port_unreachable(forged));
    rig.poll();
    const auto traffic = rig.traffic();
    EXPECT_TRUE(traffic.upstream.empty());
    EXPECT_TRUE(traffic.replies.empty());
  };
  forge([](Wire& f) { f[42] ^= 1; });                          // ID
  forge([](Wire& f) { f[35] ^= 1; });                          // our port
  forge([](Wire& f) { f[33] ^= 8; });                          // server's address
  forge([](Wire& f) { f[37] ^= 1; });                          // server's port
  forge([](Wire& f) { f.resize(net::kEthernetBytes + 28); });  // no ID quoted
  EXPECT_EQ(rig.upstream(Upstream::kIcmpUnreachable), 0u);
  EXPECT_EQ(rig.drops(Drop::kUpstreamUnmatched), 3u);
  EXPECT_EQ(rig.drops(Drop::kUpstreamMismatch), 2u);
  rig.answer(query, good_answer(query));
  EXPECT_EQ(replies_after(rig).size(), 1u);
  rig.inject_frame(port_unreachable(query));
  EXPECT_TRUE(replies_after(rig).empty());
  EXPECT_EQ(rig.accounting(), "");
  EXPECT_EQ(rig.mbufs_in_use(), 0u);
}

// About a datagram of the kernel's own: the kernel's.
TEST_F(Unreachable, OtherUnreachablesArePunted) {
  Rig rig;
  Sent query = ask_upstream(rig);
  query.frame[34] = 0x80;  // source port 32768 and above
  rig.inject_frame(port_unreachable(query));
  rig.poll();
  EXPECT_EQ(rig.punted().size(), 1u);
}

}  // namespace
}  // namespace wirecache::worker

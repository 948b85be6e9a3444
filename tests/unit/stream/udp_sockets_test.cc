#include "lib/stream/udp_sockets.h"

#include <gtest/gtest.h>

#include "tests/unit/stream/client_sockets.h"

namespace wirecache::stream {
namespace {

using Status = UdpSockets::SendStatus;

struct Datagram {
  Endpoint local;
  Endpoint client;
  Wire message;
};

class UdpSocketsTest : public ::testing::Test {
 protected:
  void SetUp() override { WC_NEEDS_STREAM_NETWORK(); }

  void listen(const Endpoint& local) {
    const auto opened = sockets_.open(local.address, local.port);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
  }
  bool receive(size_t wanted) {
    return poll_until([this] { sockets_.poll(); }, [&] { return received_.size() >= wanted; });
  }

  std::vector<Datagram> received_;
  UdpSockets sockets_{[this](const Endpoint& local, const Endpoint& client, Bytes message) {
    received_.push_back({local, client, Wire(message.begin(), message.end())});
  }};
};

void expect_same(const Endpoint& a, const Endpoint& b) {
  EXPECT_EQ(a.to_string(), b.to_string());
  EXPECT_EQ(a.scope_id, b.scope_id);
}

TEST_F(UdpSocketsTest, AnswersFromTheAddressThatWasAsked) {
  for (const char* address : {"10.9.0.1", "fd09::1", "127.0.0.1", "::1"}) {
    const Endpoint local = endpoint(address, 53);
    listen(local);
    received_.clear();
    const ClientSocket client(local);
    ASSERT_TRUE(client.send({1, 2, 3}));
    ASSERT_TRUE(receive(1)) << address;
    expect_same(received_[0].local, local);
    expect_same(received_[0].client, client.own());
    EXPECT_EQ(received_[0].message, (Wire{1, 2, 3}));
    const Wire answer{4, 5};
    EXPECT_EQ(sockets_.send(local, received_[0].client, answer), Status::kSent);
    EXPECT_EQ(client.receive(), answer) << address;
  }
}

// RFC 4007 §6: the same address may be on every link, so the interface belongs to it.
TEST_F(UdpSocketsTest, LinkLocalAddressesOnBothSides) {
  const Endpoint local = endpoint("fe80::9:1", 53);
  listen(local);
  const InPeerNamespace inside;
  const ClientSocket client(endpoint("fe80::9:1", 53, if_nametoindex("vb")));
  ASSERT_TRUE(client.send({1}));
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(received_[0].client.address, *IpAddress::parse("fe80::9:2"));
  EXPECT_NE(received_[0].client.scope_id, 0u);
  EXPECT_EQ(sockets_.send(local, received_[0].client, Wire{2}), Status::kSent);
  EXPECT_EQ(client.receive(), Wire{2});
}

TEST_F(UdpSocketsTest, OnePollTakesABoundedNumber) {
  listen(endpoint("127.0.0.1", 53));
  const ClientSocket client(endpoint("127.0.0.1", 53));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.send({static_cast<uint8_t>(i)}));
  sockets_.poll();
  EXPECT_EQ(received_.size(), UdpSockets::kDatagramsPerSocket);
  ASSERT_TRUE(receive(100));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(received_[i].message[0], i);
}

TEST_F(UdpSocketsTest, ABusySocketDoesNotStarveAnother) {
  listen(endpoint("127.0.0.1", 53));
  listen(endpoint("::1", 53));
  const ClientSocket busy(endpoint("127.0.0.1", 53));
  const ClientSocket quiet(endpoint("::1", 53));
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(busy.send({1}));
  ASSERT_TRUE(quiet.send({2}));
  sockets_.poll();
  sockets_.poll();
  EXPECT_LT(received_.size(), 200u);
  EXPECT_EQ(std::ranges::count(received_, Wire{2}, &Datagram::message), 1);
}

TEST_F(UdpSocketsTest, TooLongAMessageIsCutToOneByteMore) {
  listen(endpoint("127.0.0.1", 53));
  const ClientSocket client(endpoint("127.0.0.1", 53));
  ASSERT_TRUE(client.send(Wire(UdpSockets::kMaxMessageBytes, 7)));
  ASSERT_TRUE(client.send(Wire(20000, 7)));
  ASSERT_TRUE(receive(2));
  EXPECT_EQ(received_[0].message.size(), UdpSockets::kMaxMessageBytes);
  EXPECT_EQ(received_[1].message.size(), UdpSockets::kMaxMessageBytes + 1);
}

// SEMANTICS "Answers": never an IP fragment. The MTU of va is 1,500.
TEST_F(UdpSocketsTest, NothingGoesOutInFragments) {
  struct Case {
    const char* local;
    const char* client;
    size_t header_bytes;
  };
  for (const Case& c : {Case{"10.9.0.1", "10.9.0.2", 28}, Case{"fd09::1", "fd09::2", 48}}) {
    listen(endpoint(c.local, 53));
    const Endpoint client = endpoint(c.client, 4000);
    EXPECT_EQ(sockets_.send(endpoint(c.local, 53), client, Wire(1500 - c.header_bytes)),
              Status::kSent);
    EXPECT_EQ(sockets_.send(endpoint(c.local, 53), client, Wire(1501 - c.header_bytes)),
              Status::kFailed);
  }
}

// The ICMP error about an answer is nobody's business: the socket goes on.
TEST_F(UdpSocketsTest, AClientThatIsGoneDoesNoHarm) {
  const Endpoint local = endpoint("127.0.0.1", 53);
  listen(local);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(sockets_.send(local, endpoint("127.0.0.1", 4001), Wire{1}), Status::kSent);
  const ClientSocket client(local);
  ASSERT_TRUE(client.send({1}));
  EXPECT_TRUE(receive(1));
}

TEST_F(UdpSocketsTest, SaysWhatIsWrong) {
  const BoundSocket other(endpoint("127.0.0.1", 53));
  ASSERT_TRUE(other.bound());
  const auto taken = sockets_.open(*IpAddress::parse("127.0.0.1"), 53);
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().message, "Address already in use");
  for (const char* address : {"192.0.2.1", "2001:db8::1"}) {
    const auto absent = sockets_.open(*IpAddress::parse(address), 53);
    ASSERT_FALSE(absent.has_value());
    EXPECT_EQ(absent.error().message, "Cannot assign requested address");
  }
  EXPECT_FALSE(sockets_.is_local(endpoint("127.0.0.1", 53)));
  EXPECT_EQ(sockets_.send(endpoint("127.0.0.1", 53), endpoint("127.0.0.1", 4000), Wire{1}),
            Status::kNoSocket);
}

}  // namespace
}  // namespace wirecache::stream

// What the guard must do to the kernel's own copy of a packet: ping finds no answer while it
// stands, a packet socket still sees the request.
#include "lib/control/ingress_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <fstream>

#include "tests/unit/control/private_network.h"

namespace wirecache::control {
namespace {

TEST(GuardRuleset, NamesTheInterfaceButKeepsTheTableNameAnIdentifier) {
  EXPECT_EQ(guard_table_name("eth1"), "wirecache_eth1");
  EXPECT_EQ(guard_table_name("eth1.100"), "wirecache_eth1_100");
  EXPECT_EQ(guard_ruleset("eth1.100"),
            "table netdev wirecache_eth1_100 { flags owner; chain in { type filter hook ingress "
            "device \"eth1.100\" priority -500; policy drop; }; }");
}

class PacketSocket {
 public:
  explicit PacketSocket(const char* interface)
      : fd_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0)) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface));
    bound_ = bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~PacketSocket() { close(fd_); }

  // IPv4 packets that came in since the last call.
  int received_ipv4() const {
    int count = 0;
    char frame[2048];
    sockaddr_ll from{};
    socklen_t size = sizeof from;
    while (recvfrom(fd_, frame, sizeof frame, 0, reinterpret_cast<sockaddr*>(&from), &size) > 0)
      count += from.sll_protocol == htons(ETH_P_IP) && from.sll_pkttype != PACKET_OUTGOING;
    return bound_ ? count : -1;
  }

 private:
  int fd_;
  bool bound_ = false;
};

std::string disable_ipv6(const char* interface) {
  std::string line;
  std::ifstream file(std::string("/proc/sys/net/ipv6/conf/") + interface + "/disable_ipv6");
  std::getline(file, line);
  return line;
}

TEST(IngressGuard, KeepsTheKernelSilentButNotThePacketSocket) {
  WC_NEEDS_PRIVATE_NETWORK();
  const PeerNamespace peer;
  ASSERT_TRUE(run("ip link add ga type veth peer name gb") && peer.take("gb"));
  ASSERT_TRUE(
      run("ip addr add 10.57.0.1/24 dev ga && ip link set ga address 02:00:00:00:00:07 up"));
  ASSERT_TRUE(
      peer.run_there("ip addr add 10.57.0.2/24 dev gb && ip link set gb up && "
                     "ip neigh replace 10.57.0.1 lladdr 02:00:00:00:00:07 dev gb nud permanent"));
  const std::string ping = "ping -q -c 1 -W 1 10.57.0.1 >/dev/null";
  ASSERT_TRUE(peer.run_there(ping));
  const PacketSocket socket("ga");
  {
    auto guard = IngressGuard::install("ga");
    ASSERT_TRUE(guard) << guard.error().message;
    const IngressGuard moved = std::move(*guard);
    EXPECT_EQ(disable_ipv6("ga"), "1");
    socket.received_ipv4();
    EXPECT_FALSE(peer.run_there(ping));
    EXPECT_GE(socket.received_ipv4(), 1);
  }
  EXPECT_EQ(disable_ipv6("ga"), "0");
  EXPECT_TRUE(peer.run_there(ping));
}

TEST(IngressGuard, EndsWithTheProcessHoweverItEnds) {
  WC_NEEDS_PRIVATE_NETWORK();
  ASSERT_TRUE(run("ip link add ha type veth peer name hb"));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto guard = IngressGuard::install("ha");
    if (!guard || write(ready[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  auto second = IngressGuard::install("ha");
  EXPECT_FALSE(second);  // the table has another owner
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  auto again = IngressGuard::install("ha");
  EXPECT_TRUE(again) << again.error().message;
}

TEST(IngressGuard, AMissingInterfaceIsOneClearLine) {
  WC_NEEDS_PRIVATE_NETWORK();
  auto guard = IngressGuard::install("nosuch");
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().message, "there is no network interface nosuch");
}

}  // namespace
}  // namespace wirecache::control

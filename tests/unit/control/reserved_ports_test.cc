// The list format of net.ipv4.ip_local_reserved_ports (the kernel's ip-sysctl.rst).
#include "lib/control/reserved_ports.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/control/private_network.h"

namespace wirecache::control {
namespace {

constexpr const char* kSysctl = "/proc/sys/net/ipv4/ip_local_reserved_ports";

std::string reserved_now() {
  std::string line;
  std::ifstream file(kSysctl);
  std::getline(file, line);
  return line;
}

TEST(MergePortRange, KeepsWhatIsThereInOrderWithoutOverlap) {
  EXPECT_EQ(*merge_port_range("", 10000, 32767), "10000-32767");
  EXPECT_EQ(*merge_port_range("\n", 10000, 32767), "10000-32767");
  EXPECT_EQ(*merge_port_range("8080,9148", 10000, 32767), "8080,9148,10000-32767");
  EXPECT_EQ(*merge_port_range("40000-40010,8080", 10000, 32767), "8080,10000-32767,40000-40010");
  EXPECT_EQ(*merge_port_range("9000-10500,32768", 10000, 32767), "9000-32768");
  EXPECT_EQ(*merge_port_range("1-65535", 10000, 32767), "1-65535");
}

TEST(MergePortRange, RefusesWhatIsNoList) {
  EXPECT_FALSE(merge_port_range("80,x", 1, 2));
  EXPECT_FALSE(merge_port_range("80-", 1, 2));
  EXPECT_FALSE(merge_port_range("90-80", 1, 2));
  EXPECT_FALSE(merge_port_range("65536", 1, 2));
}

TEST(ReservedPorts, ReservesAndRestores) {
  WC_NEEDS_PRIVATE_NETWORK();
  std::ofstream(kSysctl) << "8080,9148\n";
  {
    auto ports = ReservedPorts::reserve(10000, 32767);
    ASSERT_TRUE(ports) << ports.error().message;
    const ReservedPorts moved = std::move(*ports);
    EXPECT_EQ(reserved_now(), "8080,9148,10000-32767");
  }
  EXPECT_EQ(reserved_now(), "8080,9148");
}

TEST(WithoutPorts, TakesOutWhatIsThere) {
  EXPECT_EQ(*without_ports("8080,9148,10000-32767", "10000-32767"), "8080,9148");
  EXPECT_EQ(*without_ports("8080,10000-40000", "10000-32767"), "8080,32768-40000");
  EXPECT_EQ(*without_ports("9000-40000", "10000-32767"), "9000-9999,32768-40000");
  EXPECT_EQ(*without_ports("9000-9999,32768", "10000-32767"), "9000-9999,32768");
  EXPECT_EQ(*without_ports("10000-10010", "10000-10004,10006"), "10005,10007-10010");
  EXPECT_EQ(*without_ports("", "1"), "");
  EXPECT_FALSE(without_ports("x", "1"));
  EXPECT_FALSE(without_ports("1", "x"));
}

TEST(ReservedPorts, TakesBackOnlyWhatItAdded) {
  WC_NEEDS_PRIVATE_NETWORK();
  std::ofstream(kSysctl) << "8080,10100-10200\n";
  {
    auto ports = ReservedPorts::reserve(10000, 32767);
    ASSERT_TRUE(ports) << ports.error().message;
    // Another program reserves one more and gives one back.
    std::ofstream(kSysctl) << "9148,10000-32767,40000\n";
  }
  EXPECT_EQ(reserved_now(), "9148,10100-10200,40000");
}

TEST(ReservedPorts, AnEmptyListComesBackEmpty) {
  WC_NEEDS_PRIVATE_NETWORK();
  std::ofstream(kSysctl) << "\n";
  {
    auto ports = ReservedPorts::reserve(10000, 10000);
    ASSERT_TRUE(ports) << ports.error().message;
    EXPECT_EQ(reserved_now(), "10000");
  }
  EXPECT_EQ(reserved_now(), "");
}

}  // namespace
}  // namespace wirecache::control

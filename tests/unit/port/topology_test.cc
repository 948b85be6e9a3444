// NUMA nodes as sysfs has them (Documentation/ABI/stable/sysfs-devices-node), on a made-up tree.
#include "lib/port/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace wirecache::port {
namespace {

class Sysfs : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(root_), nullptr); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = std::string(root_) + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    const std::filesystem::path full = std::string(root_) + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::filesystem::create_directory_symlink(target, full);
  }
  int device(const std::string& name) const { return device_node(name, root_); }
  int cpu(unsigned number) const { return cpu_node(number, root_); }

  char root_[32] = "/tmp/wc-sysfs-XXXXXX";
};

TEST_F(Sysfs, APciDeviceKnowsItsNode) {
  file("bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  file("bus/pci/devices/0000:00:1f.6/numa_node", "-1\n");
  EXPECT_EQ(device("0000:3b:00.0"), 1);
  EXPECT_EQ(device("3B:00.0,txq_inline_max=0"), 1);
  EXPECT_EQ(device("0000:00:1f.6"), config::kUnknownNode);
  EXPECT_EQ(device("0000:af:00.0"), config::kUnknownNode);
}

TEST_F(Sysfs, AVirtualDeviceIsWhereItsInterfaceIs) {
  file("devices/pci0000:80/0000:80:01.0/numa_node", "2\n");
  link("class/net/eth1/device", "../../../devices/pci0000:80/0000:80:01.0");
  EXPECT_EQ(device("net_af_xdp0,iface=eth1"), 2);
  EXPECT_EQ(device("net_af_packet0,iface=eth1"), 2);
  EXPECT_EQ(device("net_af_xdp0,iface=veth0"), config::kUnknownNode);
  EXPECT_EQ(device("net_ring0"), config::kUnknownNode);
}

// eth0/device of a virtio NIC is ".../0000:00:03.0/virtio0", which has no numa_node of its own.
TEST_F(Sysfs, TheParentOfAVirtioDeviceKnows) {
  file("devices/pci0000:00/0000:00:03.0/numa_node", "1\n");
  file("devices/pci0000:00/0000:00:03.0/virtio0/device", "0x0001\n");
  link("class/net/eth0/device", "../../../devices/pci0000:00/0000:00:03.0/virtio0");
  EXPECT_EQ(device("net_af_xdp0,iface=eth0"), 1);
}

TEST_F(Sysfs, ABondingDeviceIsWhereItsFirstMemberIs) {
  file("bus/pci/devices/0000:af:00.1/numa_node", "1\n");
  EXPECT_EQ(device("net_bonding0,mode=4,slave=0000:af:00.1,slave=0000:3b:00.0"), 1);
}

TEST_F(Sysfs, CpusHaveNodes) {
  file("devices/system/node/node0/cpulist", "0-3,8-11\n");
  file("devices/system/node/node1/cpulist", "4-7,12\n");
  file("devices/system/node/node2/cpulist", "\n");  // memory alone
  file("devices/system/node/possible", "0-2\n");
  EXPECT_EQ(cpu(0), 0);
  EXPECT_EQ(cpu(11), 0);
  EXPECT_EQ(cpu(4), 1);
  EXPECT_EQ(cpu(12), 1);
  EXPECT_EQ(cpu(13), config::kUnknownNode);
}

TEST_F(Sysfs, WithoutNodesNothingIsKnown) {
  EXPECT_EQ(cpu(0), config::kUnknownNode);
}

TEST(CpuList, RangesAndSingleNumbers) {
  EXPECT_TRUE(in_cpu_list("0", 0));
  EXPECT_TRUE(in_cpu_list("0-3,8,10-11", 8));
  EXPECT_TRUE(in_cpu_list("0-3,8,10-11", 11));
  EXPECT_FALSE(in_cpu_list("0-3,8,10-11", 9));
  EXPECT_FALSE(in_cpu_list("", 0));
  EXPECT_FALSE(in_cpu_list("x,-1,1-", 1));
}

}  // namespace
}  // namespace wirecache::port

// Device strings: the forms of the DPDK Programmer's Guide ("Environment Abstraction Layer",
// "AF_PACKET Poll Mode Driver", "AF_XDP Poll Mode Driver").
#include "lib/port/devargs.h"

#include <gtest/gtest.h>

namespace wirecache::port {
namespace {

TEST(Devargs, PciAddressesAreToldFromVirtualDevices) {
  EXPECT_TRUE(is_pci_address("0000:3b:00.0"));
  EXPECT_TRUE(is_pci_address("3b:00.1"));
  EXPECT_TRUE(is_pci_address("0000:af:1f.7,txq_inline_max=0"));
  EXPECT_FALSE(is_pci_address("net_af_xdp0,iface=eth1.0"));
  EXPECT_FALSE(is_pci_address("0000:3b:00.8"));
  EXPECT_FALSE(is_pci_address("0000:3b:0.0"));
  EXPECT_FALSE(is_pci_address("000:3b:00.0"));
  EXPECT_FALSE(is_pci_address("g0:00.0"));
  EXPECT_FALSE(is_pci_address(""));
}

TEST(Devargs, NameDriverAndKeys) {
  const char* device = "net_af_packet12,iface=eth1,qpairs=4";
  EXPECT_EQ(device_name(device), "net_af_packet12");
  EXPECT_EQ(device_driver(device), "net_af_packet");
  EXPECT_EQ(devarg(device, "iface"), "eth1");
  EXPECT_EQ(devarg(device, "qpairs"), "4");
  EXPECT_EQ(devarg(device, "pairs"), "");
  EXPECT_EQ(devarg("iface=eth1", "iface"), "");  // the first field is the device's name
  EXPECT_EQ(device_driver("0000:3b:00.0"), "0000:3b:00.0");
}

TEST(Devargs, PciAddressesHaveOneForm) {
  EXPECT_EQ(full_pci_address("3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(full_pci_address("0001:AF:1f.7,rxq_cqe_comp_en=0"), "0001:af:1f.7");
}

TEST(Devargs, MembersOfABondingDevice) {
  const char* device = "net_bonding0,mode=4,slave=0000:3b:00.0,slave=net_tap1,slave=3b:00.1";
  EXPECT_EQ(devarg_values(device, "slave"),
            (std::vector<std::string>{"0000:3b:00.0", "net_tap1", "3b:00.1"}));
  EXPECT_EQ(pci_devices_of(device), (std::vector<std::string>{"0000:3b:00.0", "3b:00.1"}));
  EXPECT_EQ(pci_devices_of("3b:00.0,a=1"), std::vector<std::string>{"3b:00.0,a=1"});
  EXPECT_EQ(pci_devices_of("net_af_xdp0,iface=v"), std::vector<std::string>());
}

TEST(Devargs, TheKernelsInterfaceBelow) {
  EXPECT_EQ(netdev_of("net_af_xdp0,iface=eth1"), "eth1");
  EXPECT_EQ(netdev_of("net_af_packet0,iface=eth1"), "eth1");
  EXPECT_EQ(netdev_of("net_pcap0,rx_iface_in=eth2,tx_iface=eth2"), "eth2");
  EXPECT_EQ(netdev_of("net_pcap0,rx_pcap=a,tx_pcap=b"), "");
  EXPECT_EQ(netdev_of("net_tap0,iface=made-by-it"), "");
  EXPECT_EQ(netdev_of("net_tap0,iface=made-by-it,remote=eth3"), "eth3");
  EXPECT_EQ(netdev_of("net_vhost0,iface=/run/vhost.sock"), "");
  EXPECT_EQ(netdev_of("0000:3b:00.0"), "");
}

TEST(Devargs, AfPacketGetsQueuePairsAndFrames) {
  EXPECT_EQ(complete_devargs("net_af_packet0,iface=v", 4, 2048),
            "net_af_packet0,iface=v,qpairs=4,framecnt=2048");
  EXPECT_EQ(complete_devargs("net_af_packet0,iface=v", 1, 512),
            "net_af_packet0,iface=v,framecnt=512");
}

TEST(Devargs, WhatTheOperatorSaysStays) {
  EXPECT_EQ(complete_devargs("net_af_packet0,iface=v,qpairs=2,framecnt=512", 4, 2048),
            "net_af_packet0,iface=v,qpairs=2,framecnt=512");
}

TEST(Devargs, OthersGetTheirQueueCount) {
  EXPECT_EQ(complete_devargs("net_af_xdp0,iface=v", 2, 2048), "net_af_xdp0,iface=v,queue_count=2");
  EXPECT_EQ(complete_devargs("net_af_xdp0,iface=v", 1, 2048), "net_af_xdp0,iface=v");
  EXPECT_EQ(complete_devargs("net_vhost0,iface=/s", 2, 512), "net_vhost0,iface=/s,queues=2");
  EXPECT_EQ(complete_devargs("net_ring0", 4, 32), "net_ring0");
}

TEST(Devargs, MemifGetsTheLogarithmOfItsRings) {
  EXPECT_EQ(complete_devargs("net_memif0,role=client", 4, 1024), "net_memif0,role=client,rsize=10");
  EXPECT_EQ(complete_devargs("net_memif0,rsize=12", 4, 1024), "net_memif0,rsize=12");
}

}  // namespace
}  // namespace wirecache::port

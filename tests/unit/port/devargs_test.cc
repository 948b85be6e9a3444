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

TEST(Devargs, AfPacketGetsQueuePairsOnlyForSeveralQueues) {
  EXPECT_EQ(complete_devargs("net_af_packet0,iface=v", 4),
            "net_af_packet0,iface=v,qpairs=4,framecnt=2048");
  EXPECT_EQ(complete_devargs("net_af_packet0,iface=v", 1), "net_af_packet0,iface=v,framecnt=2048");
}

TEST(Devargs, WhatTheOperatorSaysStays) {
  EXPECT_EQ(complete_devargs("net_af_packet0,iface=v,qpairs=2,framecnt=512", 4),
            "net_af_packet0,iface=v,qpairs=2,framecnt=512");
}

TEST(Devargs, AfXdpGetsItsQueueCount) {
  EXPECT_EQ(complete_devargs("net_af_xdp0,iface=v", 2), "net_af_xdp0,iface=v,queue_count=2");
  EXPECT_EQ(complete_devargs("net_af_xdp0,iface=v", 1), "net_af_xdp0,iface=v");
  EXPECT_EQ(complete_devargs("net_memif0,role=client", 4), "net_memif0,role=client");
}

}  // namespace
}  // namespace wirecache::port

#include "lib/port/eal.h"

#include <gtest/gtest.h>

#include "lib/port/eal_log.h"

namespace wirecache::port {
namespace {

using Strings = std::vector<std::string>;

config::Config two_workers() {
  config::Config config;
  config.cores.main = 0;
  config.cores.workers = {2, 3};
  config.ports.resize(1);
  config.ports[0].device = "net_af_xdp0,iface=eth1";
  return config;
}

TEST(EalArguments, VirtualDevicesWithoutHugePages) {
  EXPECT_EQ(eal_arguments(two_workers(), PageKind::kNormal, "wirecached"),
            (Strings{"wirecached", "--lcores", "0@0,1@2,2@3", "--main-lcore", "0", "-m", "512",
                     "--no-telemetry", "--no-huge", "--no-shconf", "--no-pci", "--iova-mode=va"}));
}

TEST(EalArguments, PciDevicesAreAllowedOneByOneAndExtrasComeLast) {
  config::Config config = two_workers();
  config.eal.memory_mb = 2048;
  config.eal.extra = {"--log-level", "pmd.*:debug"};
  config.ports.push_back(config.ports[0]);
  config.ports[1].device = "0000:3b:00.0";
  EXPECT_EQ(
      eal_arguments(config, PageKind::kHuge, "w"),
      (Strings{"w", "--lcores", "0@0,1@2,2@3", "--main-lcore", "0", "-m", "2048", "--no-telemetry",
               "--in-memory", "-a", "0000:3b:00.0", "--log-level", "pmd.*:debug"}));
}

TEST(EalArguments, ACpuMayCarrySeveralLcores) {
  config::Config config = two_workers();
  config.cores.workers = {1, 0, 1};
  EXPECT_EQ(eal_arguments(config, PageKind::kNormal, "w")[2], "0@0,1@1,2@0,3@1");
}

TEST(ChoosePages, AutoTakesHugePagesWhereEnoughAreFree) {
  config::EalConfig eal;
  eal.memory_mb = 512;
  EXPECT_EQ(choose_pages(eal, 512ULL << 20), PageKind::kHuge);
  EXPECT_EQ(choose_pages(eal, (512ULL << 20) - 1), PageKind::kNormal);
  eal.huge_pages = config::HugePages::kOn;
  EXPECT_EQ(choose_pages(eal, 0), PageKind::kHuge);
  eal.huge_pages = config::HugePages::kOff;
  EXPECT_EQ(choose_pages(eal, 1ULL << 40), PageKind::kNormal);
}

// Bit numbers of <linux/capability.h>: NET_ADMIN 12, NET_RAW 13, IPC_LOCK 14, SYS_ADMIN 21.
TEST(Privilege, NamesWhatIsMissing) {
  EXPECT_EQ(missing_capabilities(0x000001ffffffffff), Strings{});  // root
  EXPECT_EQ(missing_capabilities(0x00000000a80425fb),              // Docker's default set
            (Strings{"CAP_NET_ADMIN", "CAP_IPC_LOCK", "CAP_SYS_ADMIN"}));
  EXPECT_EQ(missing_capabilities(0).size(), 4u);
}

// Lines as DPDK 22.11 and its drivers write them.
TEST(EalLog, TheFirstOfTheWorstLinesTellsMost) {
  EXPECT_EQ(most_telling_line({{7, "EAL: Detected CPU lcores: 2"},
                               {5, "EAL: No free 2048 kB hugepages reported on node 0"},
                               {4, "EAL: FATAL: Cannot get hugepage information."},
                               {4, "EAL: Cannot get hugepage information."}}),
            "Cannot get hugepage information");
  EXPECT_EQ(most_telling_line({{4, "init_internals(): Failed to get channels: no such device\t"}}),
            "Failed to get channels: no such device");
  EXPECT_EQ(most_telling_line({{4, "no usable colon: here"}}), "no usable colon: here");
  EXPECT_EQ(most_telling_line({}), "");
}

}  // namespace
}  // namespace wirecache::port

// Which profile a driver gets, what the program's own say, and what is wrong with an operator's.
#include "lib/config/driver_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

using Texts = std::vector<std::string>;

const DriverProfile& of(const std::string& driver) {
  return DriverProfiles::built_in().of_driver(driver);
}

// A directory of the test's own, gone with it.
class ProfileDirectory : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(path_), nullptr); }
  void TearDown() override { EXPECT_EQ(std::system(("rm -r " + std::string(path_)).c_str()), 0); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string path(const std::string& name) const { return std::string(path_) + "/" + name; }
  std::string error() const {
    const auto profiles = DriverProfiles::with_directory(path_);
    return profiles ? "" : profiles.error().message;
  }

  char path_[32] = "/tmp/wc-profiles-XXXXXX";
};

std::string error_in(const std::string& text) {
  const auto profile = parse_driver_profile(text, "x", "x.toml");
  return profile ? "" : profile.error().message;
}

TEST(BuiltInProfiles, ThereIsOneForEachFamily) {
  Texts names;
  for (const DriverProfile& profile : DriverProfiles::built_in().all())
    names.push_back(profile.name);
  EXPECT_EQ(names, (Texts{"af_packet", "af_xdp", "bonding", "default", "e1000e", "ena",    "i40e",
                          "iavf",      "ice",    "igb",     "ixgbe",   "memif",  "mlx5",   "null",
                          "pcap",      "ring",   "tap",     "vhost",   "virtio", "vmxnet3"}));
}

// The names that DPDK 22.11's drivers register, and tell as driver_name.
TEST(BuiltInProfiles, AreChosenByTheDriversOwnName) {
  const std::pair<const char*, const char*> cases[] = {
      {"mlx5_pci", "mlx5"},
      {"mlx5_auxiliary", "mlx5"},
      {"net_ice", "ice"},
      {"net_iavf", "iavf"},
      {"net_i40e", "i40e"},
      {"net_ixgbe", "ixgbe"},
      {"net_ixgbe_vf", "ixgbe"},
      {"net_e1000_igb", "igb"},
      {"net_e1000_igb_vf", "igb"},
      {"net_e1000_em", "e1000e"},
      {"net_ena", "ena"},
      {"net_virtio", "virtio"},
      {"net_virtio_user", "virtio"},
      {"net_vmxnet3", "vmxnet3"},
      {"net_bonding", "bonding"},
      {"net_af_xdp", "af_xdp"},
      {"net_af_packet", "af_packet"},
      {"net_memif", "memif"},
      {"net_pcap", "pcap"},
      {"net_tap", "tap"},
      {"net_ring", "ring"},
      {"net_null", "null"},
      {"net_vhost", "vhost"},
      {"net_hns3", "default"},
      {"net_ixgb", "default"},
      {"", "default"},
  };
  for (const auto& [driver, name] : cases) EXPECT_EQ(of(driver).name, name) << driver;
}

TEST(BuiltInProfiles, AVirtualDeviceIsKnownByItsName) {
  const DriverProfiles& profiles = DriverProfiles::built_in();
  EXPECT_EQ(profiles.of_vdev("net_af_xdp0").name, "af_xdp");
  EXPECT_EQ(profiles.of_vdev("net_bonding_lacp").name, "bonding");
  EXPECT_EQ(profiles.of_vdev("net_virtio_user3").name, "virtio");
  EXPECT_EQ(profiles.of_vdev("net_bogus0").name, "default");
}

// What decides over queues, from the drivers' sources (see the profiles).
TEST(BuiltInProfiles, SayWhoFillsQueues) {
  for (const char* driver : {"mlx5_pci", "net_ice", "net_i40e", "net_ixgbe", "net_ena",
                             "net_virtio", "net_vmxnet3", "net_bonding"})
    EXPECT_EQ(of(driver).spreads, Spreading::kRss) << driver;
  for (const char* driver : {"net_af_packet", "net_af_xdp", "net_memif", "net_ring", "net_tap"})
    EXPECT_EQ(of(driver).spreads, Spreading::kPeer) << driver;
  EXPECT_EQ(of("net_e1000_em").spreads, Spreading::kNone);
  for (const char* driver : {"net_af_packet", "net_af_xdp", "net_tap", "net_virtio"})
    EXPECT_TRUE(of(driver).paired_queues) << driver;
  EXPECT_FALSE(of("mlx5_pci").paired_queues);
  EXPECT_TRUE(of("net_vmxnet3").power_of_two_queues);
}

TEST(BuiltInProfiles, EveryRssOneNamesUdpOfBothFamilies) {
  for (const DriverProfile& profile : DriverProfiles::built_in().all()) {
    if (profile.spreads != Spreading::kRss) continue;
    for (const char* word : {"ipv4-udp", "ipv6-udp"})
      EXPECT_NE(std::ranges::find(profile.rss, word), profile.rss.end()) << profile.name;
  }
}

TEST(ParseDriverProfile, EveryKeyIsRead) {
  const auto profile = parse_driver_profile(R"(
drivers = ["net_a", "net_b"]
bind = "bifurcated"
rx_descriptors = 64
tx_descriptors = 128
burst = 8
rss = ["ipv4-frag", "ipv6-other"]
offloads = ["tx-fast-free"]
spreads = "rss"
paired_queues = false
power_of_two_queues = true
copies = true
max_queues = 7
tested = "vm"
limits = ["one", "two"]
)",
                                            "mine", "mine.toml");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->drivers, (Texts{"net_a", "net_b"}));
  EXPECT_EQ(profile->bind, Binding::kBifurcated);
  EXPECT_EQ(profile->rx_descriptors, 64);
  EXPECT_EQ(profile->tx_descriptors, 128);
  EXPECT_EQ(profile->burst, 8);
  EXPECT_EQ(profile->rss, (Texts{"ipv4-frag", "ipv6-other"}));
  EXPECT_EQ(profile->offloads, Texts{"tx-fast-free"});
  EXPECT_EQ(profile->spreads, Spreading::kRss);
  EXPECT_FALSE(profile->paired_queues);
  EXPECT_TRUE(profile->power_of_two_queues);
  EXPECT_TRUE(profile->copies);
  EXPECT_EQ(profile->max_queues, 7);
  EXPECT_EQ(profile->tested, Tested::kVm);
  EXPECT_EQ(profile->limits, (Texts{"one", "two"}));
}

TEST(ParseDriverProfile, MistakesAreOneLineEach) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "x.toml:1: the file needs 'drivers'"},
      {"drivers = []", "x.toml:1: 'drivers' names no driver"},
      {"drivers = [\"\"]", "x.toml:1: 'drivers' names \"\""},
      {"drivers = [\"a\", \"a\"]", "x.toml:1: 'drivers' names \"a\" twice"},
      {"drivers = [\"a\"]\nburst = 33", "x.toml:2: 'burst' must be from 1 to 32, not 33"},
      {"drivers = [\"a\"]\nrx_descriptors = 1000",
       "x.toml:2: 'rx_descriptors' must be a power of two, not 1000"},
      {"drivers = [\"a\"]\nrx_descriptors = 16",
       "x.toml:2: 'rx_descriptors' must be from 32 to 32768, not 16"},
      {"drivers = [\"a\"]\nrss = [\"ipv4-upd\"]",
       "x.toml:2: 'rss': \"ipv4-upd\" is not known: did you mean \"ipv4-udp\"?"},
      {"drivers = [\"a\"]\noffloads = [\"tso\"]",
       "x.toml:2: 'offloads': \"tso\" is not known: known here are \"rx-ipv4-checksum\", "
       "\"rx-udp-checksum\", \"tx-udp-checksum\", \"tx-fast-free\""},
      {"drivers = [\"a\"]\nrss = [\"ipv4\", \"ipv4\"]", "x.toml:2: 'rss': \"ipv4\" is named twice"},
      {"drivers = [\"a\"]\nspreads = \"rss\"",
       "x.toml:2: 'spreads' is \"rss\", but 'rss' names no field"},
      {"drivers = [\"a\"]\nspreads = \"all\"",
       "x.toml:2: 'spreads' must be \"rss\", \"peer\" or \"none\", not \"all\""},
      {"drivers = [\"a\"]\ntx_descriptor = 64",
       "x.toml:2: unknown key 'tx_descriptor': did you mean 'tx_descriptors'?"},
      {"drivers = \"a\"", "x.toml:1: 'drivers' must be an array, not a string"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(error_in(text), message);
}

TEST_F(ProfileDirectory, ReplacesByNameAndAddsOthers) {
  write("ixgbe.toml", "drivers = [\"net_ixgbe\"]\nburst = 16\n");
  write("mine.toml", "drivers = [\"net_mine\", \"net_ena\"]\n");
  write("README", "no profile");
  const auto profiles = DriverProfiles::with_directory(path_);
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(profiles->all().size(), DriverProfiles::built_in().all().size() + 1);
  EXPECT_EQ(profiles->of_driver("net_ixgbe").burst, 16);
  EXPECT_EQ(profiles->of_driver("net_ixgbe_vf").name, "default");
  EXPECT_EQ(profiles->of_driver("net_mine").name, "mine");
  EXPECT_EQ(profiles->of_driver("net_ena").name, "mine");
  EXPECT_EQ(profiles->of_driver("net_ice").name, "ice");
  EXPECT_EQ(of("net_ixgbe").burst, 32);
}

TEST_F(ProfileDirectory, TheDefaultMayBeReplacedAsWell) {
  write("default.toml", "burst = 4\n");
  const auto profiles = DriverProfiles::with_directory(path_);
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(profiles->of_driver("net_unknown").burst, 4);
}

TEST_F(ProfileDirectory, MistakesNameTheFile) {
  write("b.toml", "drivers = [\"net_b\"]\nburst = 0\n");
  EXPECT_EQ(error(), path("b.toml") + ":2: 'burst' must be from 1 to 32, not 0");
  write("b.toml", "drivers = [\n");
  EXPECT_TRUE(error().starts_with(path("b.toml") + ":")) << error();
  write("b.toml", "drivers = [\"net_a\"]\n");
  write("a.toml", "drivers = [\"net_a\"]\n");
  EXPECT_EQ(error(), path("b.toml") + ":1: driver \"net_a\" is in \"a\" as well");
}

TEST_F(ProfileDirectory, ACheckOfTheConfigurationReadsItToo) {
  const std::string drivers = "[drivers]\nprofiles = \"";
  const auto config = [&](const std::string& directory) {
    return parse(kText + drivers + directory + "\"\n");
  };
  EXPECT_EQ(config("relative").error().message,
            "w.toml:15: profiles \"relative\" must be an absolute path");
  EXPECT_EQ(
      config(path("missing")).error().message,
      "w.toml:15: profiles \"" + path("missing") + "\" cannot be read: No such file or directory");
  write("a.toml", "drivers = [\"net_a\"]\nspreads = \"some\"\n");
  EXPECT_EQ(config(path("a.toml")).error().message,
            "w.toml:15: profiles \"" + path("a.toml") + "\" is not a directory");
  EXPECT_EQ(config(path_).error().message,
            path("a.toml") +
                ":2: 'spreads' must be \"rss\", \"peer\" or \"none\", not \"some\": did you mean "
                "\"none\"?");
  write("a.toml", "drivers = [\"net_a\"]\n");
  ASSERT_TRUE(config(path_));
  EXPECT_EQ(config(path_)->driver_profiles.of_driver("net_a").name, "a");
}

}  // namespace
}  // namespace wirecache::config

// What a port says in place of its driver's profile.
#include "lib/config/read_port.h"

#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

using Texts = std::vector<std::string>;

// kText with lines for its port, which begin on line 8.
std::string with_port_lines(const std::string& lines) {
  return edit("[listen]\n", lines + "\n[listen]\n");
}

TEST(ReadPort, WhatIsLeftOutIsTheProfiles) {
  const auto config = parse(kText);
  ASSERT_TRUE(config);
  const PortConfig& port = config->ports[0];
  EXPECT_EQ(port.spread, Spread::kAuto);
  EXPECT_FALSE(port.numa_node);
  EXPECT_FALSE(port.rx_descriptors);
  EXPECT_FALSE(port.tx_descriptors);
  EXPECT_FALSE(port.burst);
  EXPECT_FALSE(port.rss);
  EXPECT_FALSE(port.offloads);
}

TEST(ReadPort, EveryOverrideIsRead) {
  const auto config = parse(with_port_lines(
      "spread = \"off\"\nnuma_node = 31\nrx_descriptors = 32\ntx_descriptors = 32768\n"
      "burst = 1\nrss = [\"ipv6-udp\", \"ipv4\"]\noffloads = []"));
  ASSERT_TRUE(config) << config.error().message;
  const PortConfig& port = config->ports[0];
  EXPECT_EQ(port.spread, Spread::kOff);
  EXPECT_EQ(port.numa_node, 31U);
  EXPECT_EQ(port.rx_descriptors, 32);
  EXPECT_EQ(port.tx_descriptors, 32768);
  EXPECT_EQ(port.burst, 1);
  EXPECT_EQ(port.rss, (Texts{"ipv6-udp", "ipv4"}));
  EXPECT_EQ(port.offloads, Texts());
}

TEST(ReadPort, MistakesAreOneLineEach) {
  const std::pair<const char*, const char*> cases[] = {
      {"spread = \"yes\"", "'spread' in [[port]] must be \"auto\", \"on\" or \"off\", not \"yes\""},
      {"numa_node = 32", "'numa_node' in [[port]] must be from 0 to 31, not 32"},
      {"rx_descriptors = 31", "'rx_descriptors' in [[port]] must be from 32 to 32768, not 31"},
      {"rx_descriptors = 1000", "'rx_descriptors' in [[port]] must be a power of two, not 1000"},
      {"tx_descriptors = 48", "'tx_descriptors' in [[port]] must be a power of two, not 48"},
      {"tx_descriptors = 65536",
       "'tx_descriptors' in [[port]] must be from 32 to 32768, not 65536"},
      {"burst = 33", "'burst' in [[port]] must be from 1 to 32, not 33"},
      {"rss = [\"udp\"]",
       "'rss' in [[port]]: \"udp\" is not known: known here are \"ipv4\", \"ipv4-frag\", "
       "\"ipv4-other\", \"ipv4-tcp\", \"ipv4-udp\", \"ipv6\", \"ipv6-frag\", \"ipv6-other\", "
       "\"ipv6-tcp\", \"ipv6-udp\""},
      {"offloads = [\"tx_udp_checksum\"]",
       "'offloads' in [[port]]: \"tx_udp_checksum\" is not known: did you mean "
       "\"tx-udp-checksum\"?"},
      {"offloads = [\"tx-fast-free\", \"tx-fast-free\"]",
       "'offloads' in [[port]]: \"tx-fast-free\" is named twice"},
  };
  for (const auto& [line, message] : cases)
    EXPECT_EQ(error_of(with_port_lines(line)), std::string("w.toml:8: ") + message);
}

}  // namespace
}  // namespace wirecache::config

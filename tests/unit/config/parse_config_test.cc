// What a right configuration is read as: every default and every key.
#include "lib/config/parse_config.h"

#include <cstdio>

#include "lib/config/toml_document.h"
#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

std::vector<std::string> texts(const std::vector<IpPrefix>& prefixes) {
  std::vector<std::string> result;
  for (const IpPrefix& prefix : prefixes) result.push_back(prefix.to_string());
  return result;
}

std::vector<std::string> texts(const std::vector<IpAddress>& addresses) {
  std::vector<std::string> result;
  for (const IpAddress& address : addresses) result.push_back(address.to_string());
  return result;
}

using Texts = std::vector<std::string>;

// Every key that has a default; the one port is p0 with 10.53.0.1 and fd53::1.
void expect_defaults(const Config& c) {
  EXPECT_EQ(c.cores.main, 0U);
  EXPECT_EQ(c.cores.idle, IdlePolicy::kPoll);
  EXPECT_FALSE(c.cores.oversubscribe);
  EXPECT_EQ(c.eal.memory_mb, 512U);
  EXPECT_EQ(c.eal.huge_pages, HugePages::kAuto);
  EXPECT_EQ(c.eal.extra, Texts());
  ASSERT_EQ(c.ports.size(), 1U);
  EXPECT_EQ(c.ports[0].exception_interface, "wc-p0");
  EXPECT_EQ(c.ports[0].queues, 0U);
  EXPECT_EQ(c.ports[0].spread, Spread::kAuto);
  EXPECT_EQ(c.drivers.profiles, "");
  EXPECT_EQ(texts(c.listen.addresses), (Texts{"10.53.0.1", "fd53::1"}));
  EXPECT_EQ(c.listen.port, 53);
  EXPECT_TRUE(c.listen.loopback);
  EXPECT_EQ(texts(c.clients.allow),
            (Texts{"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
                   "::1/128", "fc00::/7", "fe80::/10"}));
  EXPECT_EQ(c.clients.refuse, RefuseAction::kRefuse);
  EXPECT_EQ(c.cache.memory_mb, 64U);
  EXPECT_EQ(c.cache.min_ttl_sec, 0U);
  EXPECT_EQ(c.cache.max_ttl_sec, 86400U);
  EXPECT_EQ(c.cache.max_negative_ttl_sec, 3600U);
  EXPECT_EQ(c.cache.failure_ttl_sec, 5U);
  EXPECT_FALSE(c.cache.rotate_addresses);
  EXPECT_EQ(texts(c.upstream.sources), Texts());
  EXPECT_EQ(c.upstream.first_source_port, 10000);
  EXPECT_EQ(c.upstream.last_source_port, 32767);
  EXPECT_EQ(c.upstream.try_timeout_ms, 400U);
  EXPECT_EQ(c.upstream.deadline_ms, 1900U);
  EXPECT_EQ(c.upstream.max_pending, 16384U);
  EXPECT_EQ(c.upstream.max_waiting, 65536U);
  ASSERT_EQ(c.upstream.servers.size(), 1U);
  EXPECT_EQ(c.upstream.servers[0].port, 53);
  EXPECT_FALSE(c.upstream.servers[0].trust_ad);
  EXPECT_EQ(c.edns.udp_size, 1232);
  EXPECT_EQ(c.edns.max_reply_bytes, 1232);
  EXPECT_EQ(c.metrics.address, "127.0.0.1");
  EXPECT_EQ(c.metrics.port, 9353);
}

TEST(ParseConfig, DefaultsFillWhatIsLeftOut) {
  const auto config = parse(
      "cores.workers = [1]\n"
      "[[port]]\nname = \"p0\"\ndevice = \"0000:3b:00.0\"\n"
      "addresses = [\"10.53.0.1/24\", \"fd53::1/64\"]\n"
      "[[upstream.server]]\naddress = \"10.53.0.2\"\n");
  ASSERT_TRUE(config) << config.error().message;
  expect_defaults(*config);
}

TEST(ParseConfig, EveryKeyIsRead) {
  const auto config = parse(R"(
[cores]
main = 3
workers = [1, 2]
idle = "yield"
oversubscribe = true
[eal]
memory_mb = 1024
huge_pages = "off"
extra = ["--log-level=lib.eal:debug", "--no-telemetry"]
[[port]]
name = "p-0_a"
device = "net_af_xdp0,iface=eth1"
addresses = ["10.53.0.1/24", "fd53::1/64"]
exception_interface = "dns0"
queues = 2
[[port]]
name = "p1"
device = "3b:00.1,arg=1"
addresses = ["192.0.2.1/31"]
[[route]]
to = "192.0.2.128/25"
via = ["10.53.0.254", "10.53.0.253"]
[[route]]
to = "::/0"
via = ["fd53::fe"]
[listen]
addresses = ["fd53::1"]
port = 5300
loopback = false
[clients]
allow = ["192.0.2.0/24", "2001:db8::1"]
refuse = "drop"
[cache]
memory_mb = 8
min_ttl = 10
max_ttl = 604800
max_negative_ttl = 60
failure_ttl = 300
rotate_addresses = true
[upstream]
sources = ["192.0.2.1", "fd53::1"]
source_ports = "20000-30000"
try_timeout_ms = 10
deadline_ms = 10000
max_pending = 100
max_waiting = 200
[[upstream.server]]
address = "10.53.0.2"
port = 5353
trust_ad = true
[[upstream.server]]
address = "192.0.2.0"
[edns]
udp_size = 4096
max_reply_bytes = 1452
[metrics]
listen = "[::1]:9000"
)");
  ASSERT_TRUE(config) << config.error().message;
  const Config& c = *config;
  EXPECT_EQ(c.cores.main, 3U);
  EXPECT_EQ(c.cores.workers, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(c.cores.idle, IdlePolicy::kYield);
  EXPECT_TRUE(c.cores.oversubscribe);
  EXPECT_EQ(c.eal.memory_mb, 1024U);
  EXPECT_EQ(c.eal.huge_pages, HugePages::kOff);
  EXPECT_EQ(c.eal.extra, (Texts{"--log-level=lib.eal:debug", "--no-telemetry"}));
  ASSERT_EQ(c.ports.size(), 2U);
  EXPECT_EQ(c.ports[0].name, "p-0_a");
  EXPECT_EQ(c.ports[0].device, "net_af_xdp0,iface=eth1");
  EXPECT_EQ(texts(c.ports[0].addresses), (Texts{"10.53.0.1/24", "fd53::1/64"}));
  EXPECT_EQ(c.ports[0].exception_interface, "dns0");
  EXPECT_EQ(c.ports[0].queues, 2U);
  EXPECT_EQ(c.ports[1].device, "3b:00.1,arg=1");
  EXPECT_EQ(c.ports[1].exception_interface, "wc-p1");
  ASSERT_EQ(c.routes.size(), 2U);
  EXPECT_EQ(c.routes[0].to.to_string(), "192.0.2.128/25");
  EXPECT_EQ(texts(c.routes[0].via), (Texts{"10.53.0.254", "10.53.0.253"}));
  EXPECT_EQ(c.routes[1].to.to_string(), "::/0");
  EXPECT_EQ(texts(c.routes[1].via), Texts{"fd53::fe"});
  EXPECT_EQ(texts(c.listen.addresses), Texts{"fd53::1"});
  EXPECT_EQ(c.listen.port, 5300);
  EXPECT_FALSE(c.listen.loopback);
  EXPECT_EQ(texts(c.clients.allow), (Texts{"192.0.2.0/24", "2001:db8::1/128"}));
  EXPECT_EQ(c.clients.refuse, RefuseAction::kDrop);
  EXPECT_EQ(c.cache.memory_mb, 8U);
  EXPECT_EQ(c.cache.min_ttl_sec, 10U);
  EXPECT_EQ(c.cache.max_ttl_sec, 604800U);
  EXPECT_EQ(c.cache.max_negative_ttl_sec, 60U);
  EXPECT_EQ(c.cache.failure_ttl_sec, 300U);
  EXPECT_TRUE(c.cache.rotate_addresses);
  EXPECT_EQ(texts(c.upstream.sources), (Texts{"192.0.2.1", "fd53::1"}));
  EXPECT_EQ(c.upstream.first_source_port, 20000);
  EXPECT_EQ(c.upstream.last_source_port, 30000);
  EXPECT_EQ(c.upstream.try_timeout_ms, 10U);
  EXPECT_EQ(c.upstream.deadline_ms, 10000U);
  EXPECT_EQ(c.upstream.max_pending, 100U);
  EXPECT_EQ(c.upstream.max_waiting, 200U);
  ASSERT_EQ(c.upstream.servers.size(), 2U);
  EXPECT_EQ(c.upstream.servers[0].address.to_string(), "10.53.0.2");
  EXPECT_EQ(c.upstream.servers[0].port, 5353);
  EXPECT_TRUE(c.upstream.servers[0].trust_ad);
  EXPECT_EQ(c.upstream.servers[1].address.to_string(), "192.0.2.0");
  EXPECT_FALSE(c.upstream.servers[1].trust_ad);
  EXPECT_EQ(c.edns.udp_size, 4096);
  EXPECT_EQ(c.edns.max_reply_bytes, 1452);
  EXPECT_EQ(c.metrics.address, "::1");
  EXPECT_EQ(c.metrics.port, 9000);
}

TEST(ParseConfig, OtherWordsAndForms) {
  EXPECT_EQ(parse(kText + "[eal]\nhuge_pages = \"on\"\n")->eal.huge_pages, HugePages::kOn);
  EXPECT_EQ(parse(kText + "[metrics]\nlisten = \"\"\n")->metrics.address, "");
  EXPECT_EQ(error_of(edit("[1, 2]", "[0, 1, 1]\noversubscribe = true")), "");
  EXPECT_EQ(error_of(edit("[listen]\n", "[listen]\naddresses = []\n")), "");
  EXPECT_EQ(error_of(edit("10000-32767", "1024-2047")), "");
}

TEST(ParseConfig, ASmallConfigurationFitsWithoutKnowledgeOfEphemeralPorts) {
  EXPECT_TRUE(parse_config_for(Machine{3, std::nullopt}, edit("32767", "65535"), "w.toml"));
}

TEST(LoadConfig, UnreachableFiles) {
  EXPECT_EQ(load_config("no/such/file.toml").error().message,
            "no/such/file.toml: cannot read: No such file or directory");
  EXPECT_EQ(load_config("/").error().message, "/: cannot read: Is a directory");
  EXPECT_EQ(load_config("/dev/zero").error().message, "/dev/zero: cannot read: larger than 1 MiB");
}

TEST(ReferenceConfiguration, LoadsAndShowsTheDefaults) {
  const auto config = load_config_for(Machine{2, UdpPortRange{32768, 60999}}, WC_REFERENCE_CONFIG);
  ASSERT_TRUE(config) << config.error().message;
  expect_defaults(*config);
}

TEST(ReferenceConfiguration, NamesEveryKey) {
  std::FILE* file = std::fopen(WC_REFERENCE_CONFIG, "r");
  ASSERT_NE(file, nullptr);
  std::string text(65536, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  const auto document = parse_toml(text, "wirecache.toml");
  ASSERT_TRUE(document) << document.error().message;
  const SourceLines lines(*document);
  for (const char* path : {"cores.main",
                           "cores.workers",
                           "cores.idle",
                           "cores.oversubscribe",
                           "eal.memory_mb",
                           "eal.huge_pages",
                           "eal.extra",
                           "port[0].name",
                           "port[0].device",
                           "port[0].addresses",
                           "port[0].exception_interface",
                           "port[0].queues",
                           "port[0].spread",
                           "port[0].numa_node",
                           "port[0].rx_descriptors",
                           "port[0].tx_descriptors",
                           "port[0].burst",
                           "port[0].rss",
                           "port[0].offloads",
                           "route[0].to",
                           "route[0].via",
                           "drivers.profiles",
                           "listen.addresses",
                           "listen.port",
                           "listen.loopback",
                           "clients.allow",
                           "clients.refuse",
                           "cache.memory_mb",
                           "cache.min_ttl",
                           "cache.max_ttl",
                           "cache.max_negative_ttl",
                           "cache.failure_ttl",
                           "cache.rotate_addresses",
                           "upstream.sources",
                           "upstream.source_ports",
                           "upstream.try_timeout_ms",
                           "upstream.deadline_ms",
                           "upstream.max_pending",
                           "upstream.max_waiting",
                           "upstream.server[0].address",
                           "upstream.server[0].port",
                           "upstream.server[0].trust_ad",
                           "edns.udp_size",
                           "edns.max_reply_bytes",
                           "metrics.listen"})
    EXPECT_TRUE(lines.has(path)) << path;
}

}  // namespace
}  // namespace wirecache::config

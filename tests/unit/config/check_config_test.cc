// What several keys together, or the machine, make wrong, and the one line that says so.
#include "lib/config/check_config.h"

#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

// kText with a second port, which begins on line 14.
std::string with_second_port(const std::string& piece, const std::string& replacement) {
  std::string port =
      "[[port]]\n"                         // 14
      "name = \"p1\"\n"                    // 15
      "device = \"0000:3b:00.0\"\n"        // 16
      "addresses = [\"192.0.2.1/24\"]\n"   // 17
      "exception_interface = \"dns1\"\n";  // 18
  const size_t at = port.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return kText + port.replace(at, piece.size(), replacement);
}

TEST(CheckConfig, TheTextsOfTheseTestsAreRight) {
  EXPECT_EQ(error_of(kText), "");
  EXPECT_EQ(error_of(with_second_port("", "")), "");
}

TEST(CheckCores, WorkersAreNeededAndCounted) {
  EXPECT_EQ(error_of(edit("[1, 2]", "[]")),
            "w.toml:3: 'workers' in [cores] must name at least one CPU");
  EXPECT_EQ(error_of(edit("workers = [1, 2]\n", "")),
            "w.toml:1: 'workers' in [cores] must name at least one CPU");
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ", 1";
  EXPECT_EQ(error_of(edit("[1, 2]", many + "]\noversubscribe = true")),
            "w.toml:3: 'workers' in [cores] names 65 CPUs: at most 64 are possible");
}

TEST(CheckCores, ACpuServesOnePurpose) {
  const std::string rest =
      " is named twice in [cores]: main and each worker need one of their own, unless "
      "oversubscribe = true";
  EXPECT_EQ(error_of(edit("[1, 2]", "[1,\n1]")), "w.toml:4: CPU 1" + rest);
  EXPECT_EQ(error_of(edit("main = 0", "main = 2")), "w.toml:3: CPU 2" + rest);
  EXPECT_EQ(error_of(edit("main = 0", "main = 2\noversubscribe = true")), "");
}

TEST(CheckCores, TheMachineHasTheCpu) {
  EXPECT_EQ(error_of(edit("main = 0", "main = 4")),
            "w.toml:2: CPU 4 in [cores] does not exist: the machine has CPUs 0 to 3");
  EXPECT_EQ(error_of(edit("[1, 2]", "[1, 9]\noversubscribe = true")),
            "w.toml:3: CPU 9 in [cores] does not exist: the machine has CPUs 0 to 3");
}

TEST(CheckPorts, AreNeededAndCounted) {
  EXPECT_EQ(error_of("cores.workers = [1]\n"), "w.toml:1: no [[port]]: at least one is needed");
  EXPECT_EQ(error_of("port = []\ncores.workers = [1]\n"),
            "w.toml:1: no [[port]]: at least one is needed");
  std::string text = kText;
  for (int i = 1; i <= 16; ++i) {
    const std::string n = std::to_string(i);
    text += "[[port]]\nname = \"p" + n + "\"\ndevice = \"net_tap" + n + "\"\naddresses = [\"10." +
            n + ".0.1/24\"]\n";
  }
  EXPECT_EQ(error_of(text), "w.toml:4: 17 [[port]] tables: at most 16 are possible");
}

TEST(CheckPorts, NamesFitAndDiffer) {
  for (const char* name : {"", "P0", "p 0", "p.0", "sixteen-letters_"}) {
    EXPECT_EQ(error_of(edit("\"p0\"", quoted(name))),
              "w.toml:5: port name " + quoted(name) + " must be 1 to 15 of a-z, 0-9, '_' and '-'");
  }
  EXPECT_EQ(error_of(with_second_port("p1", "p0")), "w.toml:15: port name \"p0\" is used twice");
}

TEST(CheckPorts, DevicesLookLikeOnes) {
  for (const char* device : {"", "eth1", "net_", "net_AF", "0000:3b:00", "0000:3b:00.g", "3b:00",
                             "0000-3b:00.0", "af_xdp0,iface=eth1"}) {
    EXPECT_EQ(error_of(edit("net_af_xdp0,iface=eth1", device)),
              "w.toml:6: device " + quoted(device) +
                  " is neither a PCI address like \"0000:3b:00.0\" nor a virtual device like "
                  "\"net_af_xdp0,iface=eth1\"");
  }
  for (const char* device : {"net_memif0", "net_pcap0,rx_pcap=in.pcap", "0000:3B:00.0", "3b:00.0",
                             "0000:3b:00.0,rxq_cqe_comp_en=0"})
    EXPECT_EQ(error_of(edit("net_af_xdp0,iface=eth1", device)), "") << device;
}

TEST(CheckPorts, ADeviceIsUsedOnce) {
  EXPECT_EQ(error_of(with_second_port("0000:3b:00.0", "net_af_xdp0,iface=eth2")),
            "w.toml:16: device \"net_af_xdp0\" is used twice, by ports \"p0\" and \"p1\"");
  std::string text = with_second_port("0000:3b:00.0", "3B:00.0");
  const std::string vdev = "net_af_xdp0,iface=eth1";
  text.replace(text.find(vdev), vdev.size(), "0000:3b:00.0,arg=1");
  EXPECT_EQ(error_of(text),
            "w.toml:16: device \"3B:00.0\" is used twice, by ports \"p0\" and \"p1\"");
}

TEST(CheckPorts, ExceptionInterfacesFitAndDiffer) {
  EXPECT_EQ(error_of(with_second_port("dns1", "wc-p0")),
            "w.toml:18: exception_interface \"wc-p0\" is used twice");
  for (const char* name : {"", "sixteen-letters_", "a/b", "a:b", "a b", ".", ".."}) {
    EXPECT_EQ(error_of(with_second_port("dns1", name)),
              "w.toml:18: exception_interface " + quoted(name) +
                  " must be 1 to 15 bytes without space, '/' and ':'");
  }
  // The default is three bytes longer than the name.
  EXPECT_EQ(error_of(edit("\"p0\"", "\"thirteen-byte\"")),
            "w.toml:4: exception_interface \"wc-thirteen-byte\" must be 1 to 15 bytes without "
            "space, '/' and ':'");
}

TEST(CheckAddresses, EachPortHasOne) {
  EXPECT_EQ(error_of(with_second_port("\"192.0.2.1/24\"", "")),
            "w.toml:17: port \"p1\" needs at least one address");
  EXPECT_EQ(error_of(with_second_port("addresses = [\"192.0.2.1/24\"]", "")),
            "w.toml:14: port \"p1\" needs at least one address");
}

TEST(CheckAddresses, AreThoseOfAHost) {
  const std::pair<const char*, const char*> cases[] = {
      {"192.0.2.0/24", "is the address of the network itself"},
      {"192.0.2.255/24", "is a broadcast address"},
      {"192.0.3.255/23", "is a broadcast address"},
      {"255.255.255.255/32", "is a broadcast address"},
      {"224.0.0.1/24", "is a multicast address"},
      {"127.0.0.1/8", "is a loopback address"},
      {"0.0.0.0/24", "is the unspecified address"},
      {"0.1.2.3/24", "is an address of \"this network\" (RFC 1122)"},
      {"2001:db8::/64", "is the address of the network itself"},
      {"ff02::1/64", "is a multicast address"},
      {"::1/128", "is a loopback address"},
      {"::/64", "is the unspecified address"},
      {"::ffff:192.0.2.1/120", "is an IPv4-mapped address"},
  };
  for (const auto& [address, problem] : cases) {
    const std::string shown = IpPrefix::parse(address)->to_string();
    EXPECT_EQ(error_of(with_second_port("192.0.2.1/24", address)),
              "w.toml:17: port address " + shown + " " + problem);
  }
  for (const char* address : {"192.0.2.0/31", "192.0.2.1/31", "192.0.2.0/32", "192.0.2.255/23",
                              "2001:db8::/127", "2001:db8::ffff:ffff:ffff:ffff/64", "fe80::1/64"})
    EXPECT_EQ(error_of(with_second_port("192.0.2.1/24", address)), "") << address;
}

TEST(CheckAddresses, AreNamedOnce) {
  EXPECT_EQ(error_of(with_second_port("192.0.2.1/24", "10.53.0.1/25")),
            "w.toml:17: port address 10.53.0.1 is named twice");
  EXPECT_EQ(error_of(edit("fd53::1/64", "10.53.0.1/24")),
            "w.toml:7: port address 10.53.0.1 is named twice");
}

TEST(CheckClients, SomebodyIsServed) {
  EXPECT_EQ(error_of(kText + "[clients]\nallow = []\n"),
            "w.toml:15: 'allow' in [clients] is empty: nobody would be served");
}

TEST(CheckCache, MemoryIsEnoughForTheWorkers) {
  EXPECT_EQ(error_of(kText + "[cache]\nmemory_mb = 7\n"),
            "w.toml:15: 'memory_mb' in [cache] must be at least 8 with 2 workers, not 7");
  EXPECT_EQ(error_of(kText + "[cache]\nmemory_mb = 8\n"), "");
}

TEST(CheckCache, TtlLimitsAreInOrder) {
  EXPECT_EQ(error_of(kText + "[cache]\nmax_ttl = 10\nmin_ttl = 11\n"),
            "w.toml:16: 'min_ttl' in [cache] is above max_ttl: 11 > 10");
  EXPECT_EQ(error_of(kText + "[cache]\nmin_ttl = 86401\n"),
            "w.toml:15: 'min_ttl' in [cache] is above max_ttl: 86401 > 86400");
}

TEST(CheckUpstream, ServersAreNeededAndCounted) {
  EXPECT_EQ(error_of(edit("[[upstream.server]]\naddress = \"10.53.0.2\"\n", "")),
            "w.toml:10: no [[upstream.server]]: at least one is needed");
  std::string text = kText;
  for (int i = 3; i < 35; ++i)
    text += "[[upstream.server]]\naddress = \"10.53.0." + std::to_string(i) + "\"\n";
  EXPECT_EQ(error_of(text), "w.toml:12: 33 [[upstream.server]] tables: at most 32 are possible");
}

// Routes may come later, by a routing daemon.
TEST(CheckUpstream, ServersMayBeAnywhere) {
  for (const char* address : {"192.0.2.1", "192.0.2.0", "fd53:0:0:1::2", "fd53::2", "2001:db8::"})
    EXPECT_EQ(error_of(edit("10.53.0.2", address)), "") << address;
}

TEST(CheckUpstream, ServersHaveAddressesOfHosts) {
  const std::pair<const char*, const char*> cases[] = {
      {"::ffff:10.53.0.2", "is an IPv4-mapped address"},
      {"224.0.0.1", "is a multicast address"},
      {"127.0.0.1", "is a loopback address"},
      {"::", "is the unspecified address"},
      {"fe80::2", "is a link-local address, but on no port's network"},
      {"169.254.0.2", "is a link-local address, but on no port's network"},
  };
  for (const auto& [address, problem] : cases)
    EXPECT_EQ(error_of(edit("10.53.0.2", address)),
              "w.toml:13: upstream " + std::string(address) + " " + problem);
  std::string text = edit("10.53.0.2", "fe80::2");
  text.replace(text.find("fd53::1"), 7, "fe80::1");
  EXPECT_EQ(error_of(text), "");
}

TEST(CheckUpstream, ServersAreOtherHosts) {
  EXPECT_EQ(error_of(edit("10.53.0.2", "10.53.0.1")),
            "w.toml:13: upstream 10.53.0.1 is an address of our own");
  EXPECT_EQ(error_of(edit("10.53.0.2", "10.53.0.255")),
            "w.toml:13: upstream 10.53.0.255 is a broadcast address");
  EXPECT_EQ(error_of(edit("10.53.0.2", "fd53::")),
            "w.toml:13: upstream fd53:: is the address of the network itself");
}

TEST(CheckUpstream, AServerIsNamedOnceForEachPort) {
  const std::string again = kText + "[[upstream.server]]\naddress = \"10.53.0.2\"\n";
  EXPECT_EQ(error_of(again), "w.toml:15: upstream 10.53.0.2 port 53 is named twice");
  EXPECT_EQ(error_of(again + "port = 5353\n"), "");
}

TEST(CheckUpstream, SourcePortsAreUsable) {
  const auto with = [](const char* range) { return error_of(edit("10000-32767", range)); };
  EXPECT_EQ(with("32767-10000"),
            "w.toml:11: source_ports 32767-10000: the first port is above the last");
  EXPECT_EQ(with("1023-32767"), "w.toml:11: source_ports 1023-32767 must begin at 1024 or above");
  EXPECT_EQ(with("2000-3022"),
            "w.toml:11: source_ports 2000-3022 are 1023 ports: at least 1024 are needed with 2 "
            "workers");
  EXPECT_EQ(with("2000-3023"), "");
}

TEST(CheckUpstream, SourcePortsAreEnoughForTheWorkers) {
  std::string workers = "[1";
  for (int i = 1; i < 17; ++i) workers += ", 1";
  std::string text =
      edit("[1, 2]", workers + "]\noversubscribe = true\n") + "[cache]\nmemory_mb = 68\n";
  text.replace(text.find("32767"), 5, "11086");
  EXPECT_EQ(error_of(text),
            "w.toml:13: source_ports 10000-11086 are 1087 ports: at least 1088 are needed with 17 "
            "workers");
  text.replace(text.find("11086"), 5, "11087");
  EXPECT_EQ(error_of(text), "");
}

TEST(CheckUpstream, SourcePortsKeepOffThePortThatIsServed) {
  EXPECT_EQ(error_of(edit("port = 53", "port = 10000")),
            "w.toml:11: source_ports 10000-32767 include the port 10000 of [listen]");
  EXPECT_EQ(error_of(edit("port = 53", "port = 32767")),
            "w.toml:11: source_ports 10000-32767 include the port 32767 of [listen]");
  EXPECT_EQ(error_of(edit("port = 53", "port = 9999")), "");
}

TEST(CheckUpstream, SourcePortsKeepOffTheKernelsOwn) {
  EXPECT_EQ(error_of(edit("10000-32767", "10000-32768")),
            "w.toml:11: source_ports 10000-32768 overlap the kernel's ephemeral ports 32768-60999 "
            "(net.ipv4.ip_local_port_range)");
  EXPECT_EQ(error_of(edit("10000-32767", "60999-65535")),
            "w.toml:11: source_ports 60999-65535 overlap the kernel's ephemeral ports 32768-60999 "
            "(net.ipv4.ip_local_port_range)");
  EXPECT_EQ(error_of(edit("10000-32767", "61000-65535")), "");
}

TEST(CheckUpstream, TheDeadlineIsNotBeforeTheFirstTry) {
  EXPECT_EQ(error_of(edit("[[upstream", "deadline_ms = 399\n[[upstream")),
            "w.toml:12: 'deadline_ms' in [upstream] is below try_timeout_ms: 399 < 400");
  EXPECT_EQ(error_of(edit("[[upstream", "deadline_ms = 400\n[[upstream")), "");
}

}  // namespace
}  // namespace wirecache::config

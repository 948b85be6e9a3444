// Routes, upstream sources and what is listened on: the mistakes and the one line that says so.
#include "lib/config/check_config.h"
#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

// kText with a route, which begins on line 14.
std::string with_route(const std::string& to, const std::string& via) {
  return kText + "[[route]]\nto = \"" + to + "\"\nvia = [" + via + "]\n";
}

TEST(CheckRoutes, WhatIsRight) {
  for (const char* to : {"0.0.0.0/0", "192.0.2.0/24", "192.0.2.1", "10.53.0.0/25"})
    EXPECT_EQ(error_of(with_route(to, "\"10.53.0.254\", \"10.53.0.253\"")), "") << to;
  EXPECT_EQ(error_of(with_route("::/0", "\"fd53::fe\"")), "");
}

TEST(CheckRoutes, DestinationsAreNetworks) {
  const std::string via = "\"10.53.0.254\"";
  EXPECT_EQ(error_of(with_route("192.0.2.1/24", via)),
            "w.toml:15: route to 192.0.2.1/24: the network is 192.0.2.0/24");
  EXPECT_EQ(error_of(with_route("10.53.0.0/24", via)),
            "w.toml:15: route to 10.53.0.0/24: that is the network of port p0");
  EXPECT_EQ(error_of(with_route("everywhere", via)),
            "w.toml:15: 'to' in [[route]]: \"everywhere\" is not a network like \"10.0.0.0/8\" or "
            "\"fd00::/8\"");
  EXPECT_EQ(error_of(with_route("192.0.2.0/24", via) + "[[route]]\nto = \"192.0.2.0/24\"\nvia = [" +
                     via + "]\n"),
            "w.toml:18: route to 192.0.2.0/24 is there twice");
}

TEST(CheckRoutes, GatewaysAreNeighbours) {
  const auto error_with = [](const char* via) { return error_of(with_route("192.0.2.0/24", via)); };
  const std::string start = "w.toml:16: route to 192.0.2.0/24: gateway ";
  EXPECT_EQ(error_with("\"10.54.0.254\""), start + "10.54.0.254 is on no port's network");
  EXPECT_EQ(error_with("\"fd53::fe\""), start + "fd53::fe is not an IPv4 address");
  EXPECT_EQ(error_with("\"10.53.0.1\""), start + "10.53.0.1 is an address of our own");
  EXPECT_EQ(error_with("\"10.53.0.255\""), start + "10.53.0.255 is a broadcast address");
  EXPECT_EQ(error_with("\"10.53.0.9\", \"10.53.0.9\""), start + "10.53.0.9 is named twice");
  EXPECT_EQ(error_with(""),
            "w.toml:16: route to 192.0.2.0/24 needs 1 to 16 gateways in 'via', not 0");
  std::string many = "\"10.53.0.100\"";
  for (int i = 101; i < 117; ++i) many += ", \"10.53.0." + std::to_string(i) + "\"";
  EXPECT_EQ(error_with(many.c_str()),
            "w.toml:16: route to 192.0.2.0/24 needs 1 to 16 gateways in 'via', not 17");
}

TEST(CheckRoutes, BothKeysAreNeeded) {
  EXPECT_EQ(error_of(kText + "[[route]]\nto = \"0.0.0.0/0\"\n"),
            "w.toml:14: [[route]] needs 'via'");
  EXPECT_EQ(error_of(kText + "[[route]]\nvia = []\n"), "w.toml:14: [[route]] needs 'to'");
}

// A third address of the port and sources on line 10 (after [upstream]: line 11).
std::string with_sources(const std::string& sources) {
  std::string text = edit("\"fd53::1/64\"", "\"fd53::1/64\", \"10.53.0.7/24\", \"fd53::7/64\"");
  return text.replace(text.find("[upstream]\n"), 11, "[upstream]\nsources = [" + sources + "]\n");
}

TEST(CheckSources, AreAddressesOfPortsOneOfEachFamily) {
  EXPECT_EQ(error_of(with_sources("\"10.53.0.7\", \"fd53::7\"")), "");
  EXPECT_EQ(error_of(with_sources("\"10.53.0.8\"")),
            "w.toml:11: upstream source 10.53.0.8 is not an address of any port");
  EXPECT_EQ(error_of(with_sources("\"10.53.0.7\", \"10.53.0.1\"")),
            "w.toml:11: upstream source 10.53.0.1: port p0 has another for IPv4, 10.53.0.7");
  const std::string second_port =
      "[[port]]\nname = \"p1\"\ndevice = \"0000:3b:00.0\"\naddresses = [\"10.54.0.7/24\"]\n";
  EXPECT_EQ(error_of(with_sources("\"10.53.0.7\", \"10.54.0.7\"") + second_port), "");
}

TEST(CheckSources, AreLeftOutOfWhatIsListenedOn) {
  const auto config = parse(with_sources("\"10.53.0.1\", \"fd53::7\""));
  ASSERT_TRUE(config) << config.error().message;
  std::vector<std::string> listen;
  for (const IpAddress& address : config->listen.addresses) listen.push_back(address.to_string());
  EXPECT_EQ(listen, (std::vector<std::string>{"fd53::1", "10.53.0.7"}));
}

TEST(CheckSources, LeaveSomethingToListenOn) {
  std::string text = edit("source_ports", "sources = [\"10.53.0.1\", \"fd53::1\"]\nsource_ports");
  EXPECT_EQ(error_of(text),
            "w.toml:11: all addresses of the ports are in 'sources' in [upstream]: none is left to "
            "listen on");
  // Named as both, an address is both.
  text.replace(text.find("port = 53\n"), 10, "addresses = [\"10.53.0.1\"]\n");
  EXPECT_EQ(error_of(text), "");
}

TEST(CheckListen, AddressesAreThePortsOwn) {
  EXPECT_EQ(error_of(edit("port = 53", "addresses = [\"10.53.0.1\",\n\"10.53.0.9\"]")),
            "w.toml:10: listen address 10.53.0.9 is not an address of any port");
  EXPECT_EQ(error_of(edit("port = 53", "addresses = [\"fd53::1\", \"fd53:0::1\"]")),
            "w.toml:9: listen address fd53::1 is named twice");
}

TEST(PortOnNetworkOf, IsTheFirstThatHoldsIt) {
  const auto config = parse(kText +
                            "[[port]]\nname = \"p1\"\ndevice = \"0000:3b:00.0\"\naddresses = "
                            "[\"192.0.2.1/24\", \"10.53.0.3/24\"]\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(port_on_network_of(*config, *IpAddress::parse("192.0.2.9")), 1U);
  EXPECT_EQ(port_on_network_of(*config, *IpAddress::parse("10.53.0.9")), 0U);
  EXPECT_EQ(port_on_network_of(*config, *IpAddress::parse("10.54.0.9")), std::nullopt);
}

}  // namespace
}  // namespace wirecache::config

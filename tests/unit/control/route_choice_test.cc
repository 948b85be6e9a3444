// Which way and which source, case by case.
#include "lib/control/route_choice.h"

#include <gtest/gtest.h>

namespace wirecache::control {
namespace {

IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}

const MacAddress kMac{{0x02, 0, 0, 0, 0, 0x07}};

Candidate alive(size_t port, const char* neighbour) {
  Candidate candidate;
  candidate.way = {port, ip(neighbour)};
  candidate.source = ip("10.53.0.1");
  candidate.link = LinkState::kUp;
  candidate.mac = kMac;
  candidate.last_mac = kMac;
  return candidate;
}

Candidate silent(size_t port, const char* neighbour) {
  Candidate candidate = alive(port, neighbour);
  candidate.mac.reset();
  return candidate;
}

Candidate unknown(size_t port, const char* neighbour) {
  Candidate candidate = silent(port, neighbour);
  candidate.last_mac.reset();
  return candidate;
}

Candidate down(Candidate candidate) {
  candidate.link = LinkState::kDown;
  return candidate;
}

Candidate without_source(Candidate candidate) {
  candidate.source.reset();
  return candidate;
}

void expect_choice(const std::vector<Candidate>& candidates, const std::optional<Way>& current,
                   ChoiceStatus status, size_t index) {
  const Choice choice = choose(candidates, current);
  EXPECT_EQ(choice.status, status);
  EXPECT_EQ(choice.candidate, index);
}

TEST(Choose, TheFirstThatIsAlive) {
  expect_choice({alive(0, "10.53.0.254"), alive(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kAlive, 0);
  expect_choice({silent(0, "10.53.0.254"), alive(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kAlive, 1);
  expect_choice({unknown(0, "10.53.0.254"), alive(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kAlive, 1);
  expect_choice({down(alive(0, "10.53.0.254")), alive(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kAlive, 1);
  expect_choice({without_source(alive(0, "10.53.0.254")), alive(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kAlive, 1);
}

TEST(Choose, TheCurrentOneWhileItIsAlive) {
  const Way second{1, ip("10.54.0.254")};
  expect_choice({alive(0, "10.53.0.254"), alive(1, "10.54.0.254")}, second, ChoiceStatus::kAlive,
                1);
  expect_choice({alive(0, "10.53.0.254"), silent(1, "10.54.0.254")}, second, ChoiceStatus::kAlive,
                0);
  expect_choice({alive(0, "10.53.0.254"), down(alive(1, "10.54.0.254"))}, second,
                ChoiceStatus::kAlive, 0);
  // The same gateway by another port is another way.
  expect_choice({alive(0, "10.54.0.254"), alive(2, "10.54.0.254")}, second, ChoiceStatus::kAlive,
                0);
}

TEST(Choose, ASilentNeighbourOnlyWhereNoneIsAlive) {
  expect_choice({unknown(0, "10.53.0.254"), silent(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kSilent, 1);
  expect_choice({silent(0, "10.53.0.254"), silent(1, "10.54.0.254")}, Way{1, ip("10.54.0.254")},
                ChoiceStatus::kSilent, 1);
  expect_choice({down(silent(0, "10.53.0.254")), unknown(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kNoNeighbour, 1);
}

TEST(Choose, SaysWhatIsMissing) {
  expect_choice({}, std::nullopt, ChoiceStatus::kNoRoute, 0);
  expect_choice({down(alive(0, "10.53.0.254"))}, std::nullopt, ChoiceStatus::kLinkDown, 0);
  expect_choice({down(alive(0, "10.53.0.254")), without_source(alive(1, "10.54.0.254"))},
                std::nullopt, ChoiceStatus::kNoSource, 1);
  expect_choice({without_source(alive(0, "10.53.0.254")), unknown(1, "10.54.0.254")}, std::nullopt,
                ChoiceStatus::kNoNeighbour, 1);
}

// Port 0: 10.53.0.1/24, 10.99.0.1/24, fd53::1/64; port 1: 10.54.0.1/24.
NodeAddresses two_ports(std::vector<IpAddress> sources) {
  NodeAddresses addresses;
  addresses.of_port = {{*IpPrefix::parse("10.53.0.1/24"), *IpPrefix::parse("10.99.0.1/24"),
                        *IpPrefix::parse("fd53::1/64")},
                       {*IpPrefix::parse("10.54.0.1/24")}};
  addresses.sources = std::move(sources);
  return addresses;
}

std::string source_of(IpFamily family, const Candidate& candidate,
                      std::vector<IpAddress> configured) {
  const auto source = choose_source(family, candidate, two_ports(std::move(configured)));
  return source ? source->to_string() : "none";
}

TEST(ChooseSource, AConfiguredOneOfThePortOrElseOfTheNode) {
  const std::vector<IpAddress> both = {ip("10.54.0.1"), ip("10.99.0.1")};
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "10.53.0.254"), both), "10.99.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, alive(1, "10.54.0.254"), both), "10.54.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "10.53.0.254"), {ip("10.54.0.1")}), "10.54.0.1");
  // Nothing is configured for IPv6.
  EXPECT_EQ(source_of(IpFamily::kV6, alive(0, "fd53::fe"), both), "fd53::1");
  // Another node's: answers would come in there.
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "10.53.0.254"), {ip("10.60.0.1")}), "none");
}

TEST(ChooseSource, AConfiguredOneGoesBeforeTheRoutesOwn) {
  Candidate candidate = alive(0, "10.53.0.254");
  candidate.preferred_source = ip("10.53.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, candidate, {ip("10.99.0.1")}), "10.99.0.1");
}

TEST(ChooseSource, TheRoutesOwnIfItIsOurs) {
  Candidate candidate = alive(0, "10.53.0.254");
  candidate.preferred_source = ip("10.99.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, candidate, {}), "10.99.0.1");
  candidate.preferred_source = ip("10.54.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, candidate, {}), "10.54.0.1");
  candidate.preferred_source = ip("192.168.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, candidate, {}), "10.53.0.1");
}

TEST(ChooseSource, ElseTheAddressBesideTheNeighbourOrThePortsFirst) {
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "10.99.0.254"), {}), "10.99.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "10.53.0.254"), {}), "10.53.0.1");
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "10.77.0.254"), {}), "10.53.0.1");
  EXPECT_EQ(source_of(IpFamily::kV6, alive(0, "fe80::1"), {}), "fd53::1");
  // An IPv4 server behind an IPv6 gateway (RFC 8950).
  EXPECT_EQ(source_of(IpFamily::kV4, alive(0, "fd53::fe"), {}), "10.53.0.1");
  EXPECT_EQ(source_of(IpFamily::kV6, alive(1, "fe80::1"), {}), "none");
}

std::vector<std::string> possible(std::vector<IpAddress> configured) {
  std::vector<std::string> texts;
  for (const IpAddress& address : possible_sources(two_ports(std::move(configured))))
    texts.push_back(address.to_string());
  return texts;
}

TEST(PossibleSources, AreTheConfiguredOnesAndAllOfAFamilyWithout) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(possible({}), (Texts{"10.53.0.1", "10.99.0.1", "10.54.0.1", "fd53::1"}));
  EXPECT_EQ(possible({ip("10.99.0.1")}), (Texts{"10.99.0.1", "fd53::1"}));
  EXPECT_EQ(possible({ip("10.60.0.1"), ip("fd53::1")}), Texts{"fd53::1"});
}

}  // namespace
}  // namespace wirecache::control

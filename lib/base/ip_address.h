// IP addresses, prefixes and MAC addresses as plain values in network byte order.
//
// An IPv4 address is kept in the first 4 of the 16 bytes, the rest zero, so that equality and
// hashing are byte-wise for both families.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace wirecache {

enum class IpFamily : uint8_t { kV4 = 4, kV6 = 6 };

struct IpAddress {
  std::array<uint8_t, 16> bytes{};
  IpFamily family = IpFamily::kV4;

  static IpAddress v4(const uint8_t* p) {
    IpAddress a;
    std::memcpy(a.bytes.data(), p, 4);
    return a;
  }
  static IpAddress v6(const uint8_t* p) {
    IpAddress a;
    std::memcpy(a.bytes.data(), p, 16);
    a.family = IpFamily::kV6;
    return a;
  }
  // Text forms of inet_pton(3); nothing else (no zone, no prefix).
  static std::optional<IpAddress> parse(std::string_view text);
  std::string to_string() const;

  bool is_v6() const { return family == IpFamily::kV6; }
  size_t size() const { return is_v6() ? 16 : 4; }
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// An address with the length of its network: "10.53.0.1/24". The address keeps its host bits.
struct IpPrefix {
  IpAddress address;
  uint8_t length = 0;

  // "address/length"; a bare address is a host prefix (/32 or /128).
  static std::optional<IpPrefix> parse(std::string_view text);
  std::string to_string() const;
  bool contains(const IpAddress& other) const;
  friend bool operator==(const IpPrefix&, const IpPrefix&) = default;
};

struct MacAddress {
  std::array<uint8_t, 6> bytes{};

  static MacAddress from(const uint8_t* p) {
    MacAddress m;
    std::memcpy(m.bytes.data(), p, 6);
    return m;
  }
  std::string to_string() const;
  bool is_multicast() const { return (bytes[0] & 1) != 0; }  // broadcast included
  friend bool operator==(const MacAddress&, const MacAddress&) = default;
};

}  // namespace wirecache

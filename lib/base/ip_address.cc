#include "lib/base/ip_address.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstdio>

namespace wirecache {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string copy(text);
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  IpAddress address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.family = IpFamily::kV6;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string IpAddress::to_string() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(is_v6() ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
  return text;
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  const unsigned max = address->is_v6() ? 128 : 32;
  unsigned length = max;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc() || end != digits.data() + digits.size() || length > max)
      return std::nullopt;
  }
  return IpPrefix{*address, static_cast<uint8_t>(length)};
}

std::string IpPrefix::to_string() const {
  return address.to_string() + "/" + std::to_string(length);
}

bool IpPrefix::contains(const IpAddress& other) const {
  if (other.family != address.family) return false;
  const size_t whole = length / 8;
  if (std::memcmp(address.bytes.data(), other.bytes.data(), whole) != 0) return false;
  const unsigned rest = length % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<uint8_t>(0xff << (8 - rest));
  return ((address.bytes[whole] ^ other.bytes[whole]) & mask) == 0;
}

std::string MacAddress::to_string() const {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
                bytes[3], bytes[4], bytes[5]);
  return text;
}

}  // namespace wirecache

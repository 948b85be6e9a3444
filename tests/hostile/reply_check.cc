#include "tests/hostile/reply_check.h"

#include <algorithm>

namespace wirecache::hostile {
namespace {

using testing::get16;
using testing::Wire;

constexpr unsigned kIpv6 = 0x86dd;
constexpr unsigned kVlan = 0x8100;
constexpr size_t kMinFrame = 60;
constexpr uint8_t kUdp = 17;

// Where the parts of a frame stand that is known to be UDP.
struct Layout {
  explicit Layout(const Wire& frame) : tagged(get16(frame, 12) == kVlan) {
    l3 = tagged ? 18 : 14;
    v6 = get16(frame, l3 - 2) == kIpv6;
    l4 = l3 + (v6 ? 40 : (frame[l3] & 0xfu) * 4);
    source = l3 + (v6 ? 8 : 12);
    address_bytes = v6 ? 16 : 4;
    destination = source + address_bytes;
  }

  bool tagged;
  bool v6;
  size_t l3;
  size_t l4;
  size_t source;
  size_t destination;
  size_t address_bytes;
};

bool same(const Wire& a, size_t at, const Wire& b, size_t there, size_t count) {
  return std::equal(a.begin() + static_cast<std::ptrdiff_t>(at),
                    a.begin() + static_cast<std::ptrdiff_t>(at + count),
                    b.begin() + static_cast<std::ptrdiff_t>(there));
}

// RFC 1071, word by word.
uint32_t sum_words(const Wire& frame, size_t from, size_t to, uint32_t sum) {
  for (size_t at = from; at < to; at += 2)
    sum += static_cast<uint32_t>(frame[at] << 8 | (at + 1 < to ? frame[at + 1] : 0));
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

std::string ethernet_problem(const Wire& query, const Wire& reply) {
  if (!same(reply, 0, query, 6, 6) || !same(reply, 6, query, 0, 6)) return "MACs";
  const size_t types = get16(query, 12) == kVlan ? 6 : 2;
  return same(reply, 12, query, 12, types) ? "" : "VLAN tag or EtherType";
}

std::string ip_problem(const Wire& reply, const Layout& at, size_t udp_bytes) {
  if (at.v6) {
    if (reply[at.l3] >> 4 != 6 || reply[at.l3 + 6] != kUdp) return "IPv6 version or next header";
    if (get16(reply, at.l3 + 4) != udp_bytes) return "IPv6 payload length";
    return reply[at.l3 + 7] == 0 ? "hop limit" : "";
  }
  if (reply[at.l3] != 0x45 || reply[at.l3 + 9] != kUdp) return "IPv4 version, IHL or protocol";
  if (get16(reply, at.l3 + 2) != 20 + udp_bytes) return "IPv4 total length";
  if ((get16(reply, at.l3 + 6) & 0xbfff) != 0) return "a fragment";
  if (sum_words(reply, at.l3, at.l4, 0) != 0xffff) return "IPv4 checksum";
  return reply[at.l3 + 8] == 0 ? "TTL" : "";
}

std::string udp_problem(const Wire& reply, const Layout& at, size_t udp_bytes) {
  if (get16(reply, at.l4 + 6) == 0) return "UDP checksum is 0";
  const auto length = static_cast<uint32_t>(udp_bytes);
  const uint32_t pseudo = sum_words(reply, at.source, at.l4, kUdp + length);
  if (sum_words(reply, at.l4, at.l4 + udp_bytes, pseudo) != 0xffff) return "UDP checksum";
  const auto padding = reply.begin() + static_cast<std::ptrdiff_t>(at.l4 + udp_bytes);
  if (std::any_of(padding, reply.end(), [](uint8_t byte) { return byte != 0; }))
    return "padding is not zero";
  return reply.size() == std::max(kMinFrame, at.l4 + udp_bytes) ? "" : "length of the frame";
}

}  // namespace

std::string reply_problem(const Wire& query, const Wire& reply, Wire& message) {
  if (reply.size() < kMinFrame) return "shorter than 60 bytes";
  std::string problem = ethernet_problem(query, reply);
  if (!problem.empty()) return problem;
  const Layout asked(query);
  const Layout at(reply);
  if (reply.size() < at.l4 + 8) return "cut";
  const size_t udp_bytes = get16(reply, at.l4 + 4);
  if (udp_bytes < 8 || at.l4 + udp_bytes > reply.size()) return "UDP length";
  if (!same(reply, at.source, query, asked.destination, at.address_bytes) ||
      !same(reply, at.destination, query, asked.source, at.address_bytes))
    return "addresses";
  if (!same(reply, at.l4, query, asked.l4 + 2, 2) || !same(reply, at.l4 + 2, query, asked.l4, 2))
    return "ports";
  problem = ip_problem(reply, at, udp_bytes);
  if (!problem.empty()) return problem;
  message.assign(reply.begin() + static_cast<std::ptrdiff_t>(at.l4 + 8),
                 reply.begin() + static_cast<std::ptrdiff_t>(at.l4 + udp_bytes));
  return udp_problem(reply, at, udp_bytes);
}

}  // namespace wirecache::hostile

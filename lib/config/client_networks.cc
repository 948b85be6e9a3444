#include "lib/config/client_networks.h"

#include <algorithm>

namespace wirecache::config {
namespace {

// The first and last address of the prefix: its host bits all zero, and all one.
template <typename Range>
Range range_of(const IpPrefix& prefix) {
  Range range{prefix.address.bytes, prefix.address.bytes};
  for (size_t i = 0; i < prefix.address.size(); ++i) {
    const size_t network_bits = std::clamp<size_t>(prefix.length, i * 8, i * 8 + 8) - i * 8;
    const auto host_mask = static_cast<uint8_t>(0xff >> network_bits);
    range.first[i] = static_cast<uint8_t>(range.first[i] & ~host_mask);
    range.last[i] = static_cast<uint8_t>(range.last[i] | host_mask);
  }
  return range;
}

template <typename Range>
void sort_and_merge(std::vector<Range>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> merged;
  for (const Range& range : *ranges) {
    if (!merged.empty() && range.first <= merged.back().last) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  *ranges = std::move(merged);
}

}  // namespace

ClientNetworks::ClientNetworks(const std::vector<IpPrefix>& allow) {
  for (const IpPrefix& prefix : allow)
    (prefix.address.is_v6() ? v6_ : v4_).push_back(range_of<Range>(prefix));
  sort_and_merge(&v4_);
  sort_and_merge(&v6_);
}

bool ClientNetworks::allows(const IpAddress& client) const {
  const std::vector<Range>& ranges = client.is_v6() ? v6_ : v4_;
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), client.bytes,
      [](const Wide& address, const Range& range) { return address < range.first; });
  return after != ranges.begin() && client.bytes <= std::prev(after)->last;
}

}  // namespace wirecache::config

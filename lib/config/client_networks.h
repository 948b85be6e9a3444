// Which client networks are served: sorted, merged address ranges with a binary search.
//
// Invariant: ranges are disjoint and ascending. Immutable after construction; any thread.
// Serves up to about a thousand prefixes well (10 steps); far smaller than an LPM table.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/base/ip_address.h"

namespace wirecache::config {

class ClientNetworks {
 public:
  explicit ClientNetworks(const std::vector<IpPrefix>& allow);
  bool allows(const IpAddress& client) const;

 private:
  using Wide = std::array<uint8_t, 16>;
  struct Range {
    Wide first;
    Wide last;
  };
  std::vector<Range> v4_;
  std::vector<Range> v6_;
};

}  // namespace wirecache::config

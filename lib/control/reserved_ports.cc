#include "lib/control/reserved_ports.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/control/sysctl.h"

namespace wirecache::control {
namespace {

constexpr const char* kSysctl = "/proc/sys/net/ipv4/ip_local_reserved_ports";

struct PortRange {
  unsigned first;
  unsigned last;
};

std::optional<unsigned> parse_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > UINT16_MAX)
    return std::nullopt;
  return port;
}

std::optional<PortRange> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_port(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_port(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return PortRange{*first, *last};
}

// "8080,9000-9010\n"
Expected<std::vector<PortRange>> parse_list(const std::string& list) {
  std::vector<PortRange> ranges;
  std::string_view rest = list;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ')) rest.remove_suffix(1);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const auto range = parse_range(rest.substr(0, comma));
    if (!range) return fail("not a list of ports: \"" + list + "\"");
    ranges.push_back(*range);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return ranges;
}

std::string to_list(std::vector<PortRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const PortRange& a, const PortRange& b) { return a.first < b.first; });
  std::vector<PortRange> merged;
  for (const PortRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().last + 1)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  }
  std::string list;
  for (const PortRange& range : merged) {
    if (!list.empty()) list += ',';
    list += std::to_string(range.first);
    if (range.last != range.first) list += "-" + std::to_string(range.last);
  }
  return list;
}

std::optional<std::string> read_sysctl() {
  std::ifstream file(kSysctl);
  if (!file) return std::nullopt;
  std::string list;
  std::getline(file, list);
  return list;
}

// A line: of an empty list nothing else would be written.
bool write_list(const std::string& list) {
  return write_sysctl(kSysctl, list + "\n");
}

}  // namespace

Expected<std::string> merge_port_range(const std::string& list, uint16_t first, uint16_t last) {
  auto ranges = parse_list(list);
  if (!ranges) return Unexpected<Error>(ranges.error());
  ranges->push_back({first, last});
  return to_list(std::move(*ranges));
}

Expected<std::string> without_ports(const std::string& list, const std::string& others) {
  auto left = parse_list(list);
  if (!left) return Unexpected<Error>(left.error());
  const auto taken = parse_list(others);
  if (!taken) return Unexpected<Error>(taken.error());
  for (const PortRange& out : *taken) {
    std::vector<PortRange> rest;
    for (const PortRange& range : *left) {
      if (range.first < out.first)
        rest.push_back({range.first, std::min(range.last, out.first - 1)});
      if (range.last > out.last) rest.push_back({std::max(range.first, out.last + 1), range.last});
    }
    *left = std::move(rest);
  }
  return to_list(std::move(*left));
}

Expected<ReservedPorts> ReservedPorts::reserve(uint16_t first, uint16_t last) {
  const auto before = read_sysctl();
  if (!before) return fail(std::string("cannot read ") + kSysctl);
  const auto merged = merge_port_range(*before, first, last);
  if (!merged) return Unexpected<Error>(merged.error());
  if (!write_list(*merged))
    return fail("cannot reserve UDP ports " + std::to_string(first) + "-" + std::to_string(last) +
                ": " + kSysctl + " is not writable");
  ReservedPorts ports;
  if (const auto added = without_ports(*merged, *before)) ports.added_ = *added;
  return ports;
}

ReservedPorts::ReservedPorts(ReservedPorts&& other) noexcept {
  *this = std::move(other);
}

ReservedPorts& ReservedPorts::operator=(ReservedPorts&& other) noexcept {
  if (this == &other) return *this;
  restore();
  added_.swap(other.added_);
  return *this;
}

ReservedPorts::~ReservedPorts() {
  restore();
}

// Others may have changed the list meanwhile. Without memory for it the reservation stays, which is
// harmless.
void ReservedPorts::restore() noexcept {
  if (added_.empty()) return;
  try {
    if (const auto now = read_sysctl()) {
      if (const auto rest = without_ports(*now, added_)) write_list(*rest);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "UDP ports stay reserved: %s\n", error.what());
  }
  added_.clear();
}

}  // namespace wirecache::control

#include "lib/config/nearest_name.h"

#include <algorithm>
#include <string>

namespace wirecache::config {
namespace {

constexpr size_t kShortestBeginning = 3;  // shorter beginnings say too little

std::string fold(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

bool begins_other(std::string_view one, std::string_view other) {
  if (std::min(one.size(), other.size()) < kShortestBeginning) return false;
  return one.starts_with(other) || other.starts_with(one);
}

bool is_near(std::string_view wrong, std::string_view right, size_t distance) {
  if (begins_other(wrong, right)) return true;
  const size_t longer = std::max(wrong.size(), right.size());
  return distance < wrong.size() && distance <= std::max<size_t>(2, longer / 3);
}

}  // namespace

size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<size_t> before_last(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[to.size()];
}

std::string_view nearest_name(std::string_view wrong_name,
                              const std::vector<std::string_view>& right_names) {
  constexpr size_t kLongestName = 64;  // bounds the work on what is no name at all
  if (wrong_name.size() > kLongestName) return {};
  const std::string wrong = fold(wrong_name);
  std::string_view nearest;
  size_t nearest_distance = 0;
  for (const std::string_view right_name : right_names) {
    const std::string right = fold(right_name);
    const size_t distance = edit_distance(wrong, right);
    if (!is_near(wrong, right, distance)) continue;
    if (nearest.empty() || distance < nearest_distance) {
      nearest = right_name;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace wirecache::config

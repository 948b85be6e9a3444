// The right name that is closest to a mistyped one, for "did you mean" in error messages.
//
// Pure functions over text, any thread. Case counts for nothing and '-' is the same as '_', because
// these are the commonest slips. Owns nothing: the result points into `right_names`.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace wirecache::config {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other (optimal
// string alignment).
size_t edit_distance(std::string_view from, std::string_view to);

// Empty where no name is near enough to be meant: more than a third of it, and more than two
// characters, would have to change, and neither name is the beginning of the other.
std::string_view nearest_name(std::string_view wrong_name,
                              const std::vector<std::string_view>& right_names);

}  // namespace wirecache::config

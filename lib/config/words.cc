#include "lib/config/words.h"

#include <algorithm>
#include <bit>

#include "lib/config/nearest_name.h"
#include "lib/config/problems.h"

namespace wirecache::config {

std::optional<std::string> add_word(const std::string& word, WordList known,
                                    std::vector<std::string>* target) {
  if (std::ranges::find(*target, word) != target->end()) return "is named twice";
  if (std::ranges::find(known, word) != known.end()) {
    target->push_back(word);
    return std::nullopt;
  }
  const std::string_view near = nearest_name(word, known);
  if (!near.empty()) return "is not known: did you mean " + quoted(near) + "?";
  std::string all;
  for (const std::string_view name : known) all += (all.empty() ? "" : ", ") + quoted(name);
  return "is not known: known here are " + all;
}

std::optional<std::string> descriptor_problem(uint16_t count) {
  if (std::has_single_bit(count)) return std::nullopt;
  return "must be a power of two, not " + std::to_string(count);
}

std::string quoted_key(std::string_view key) {
  return "'" + std::string(key) + "'";
}

}  // namespace wirecache::config

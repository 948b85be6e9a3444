// Lists of words out of a fixed set, and counts of descriptors: what profiles and ports share.
//
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wirecache::config {

using WordList = const std::vector<std::string_view>&;

// Adds the word, or says what is wrong with it: "is not one of ...", "is named twice".
std::optional<std::string> add_word(const std::string& word, WordList known,
                                    std::vector<std::string>* target);

// Rings are powers of two: some drivers refuse others, and vector paths want them.
std::optional<std::string> descriptor_problem(uint16_t count);

// 'key', as messages write it.
std::string quoted_key(std::string_view key);

}  // namespace wirecache::config

// One flat JSON object in one line, for the program that gathers the figures.
// Plain value; keys and texts need no escapes.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace wirecache::bench {

class JsonLine {
 public:
  void add(std::string_view key, uint64_t value) { put(key, std::to_string(value)); }
  void add(std::string_view key, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    put(key, text);
  }
  void add(std::string_view key, std::string_view value) {
    put(key, '"' + std::string(value) + '"');
  }
  void print() const { std::printf("{%s}\n", text_.c_str()); }

 private:
  void put(std::string_view key, const std::string& value) {
    if (!text_.empty()) text_ += ", ";
    text_ += '"' + std::string(key) + "\": " + value;
  }
  std::string text_;
};

}  // namespace wirecache::bench

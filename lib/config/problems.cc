#include "lib/config/problems.h"

#include <cstdio>
#include <utility>

namespace wirecache::config {

Problems::Problems(std::string file) : file_(std::move(file)) {}

void Problems::add(unsigned line, const std::string& message) {
  if (any() && line_ <= line) return;
  line_ = line;
  message_ = message;
}

Error Problems::first() const {
  return Error{one_line(file_ + ":" + std::to_string(line_) + ": " + message_)};
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    line += escaped;
  }
  return line;
}

std::string quoted(std::string_view text) {
  return "\"" + one_line(text) + "\"";
}

}  // namespace wirecache::config

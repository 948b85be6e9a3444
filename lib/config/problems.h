// What is wrong with a configuration: collected while it is read, then told as one line.
//
// Invariant: first() is the problem that stands highest in the file, so that an operator works from
// top to bottom. Owned by one call of parse_config(); no thread rules.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/expected.h"

namespace wirecache::config {

class Problems {
 public:
  // `file` is the name that the messages begin with.
  explicit Problems(std::string file);

  void add(unsigned line, const std::string& message);
  bool any() const { return line_ != 0; }
  // "FILE:LINE: message". Only where any().
  Error first() const;

 private:
  std::string file_;
  unsigned line_ = 0;  // of the first problem; 0: there is none
  std::string message_;
};

// Control characters as \xNN: what comes out of a file may hold line ends.
std::string one_line(std::string_view text);
// As a TOML string in double quotes, on one line.
std::string quoted(std::string_view text);

}  // namespace wirecache::config

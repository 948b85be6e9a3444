// The text of a TOML file as a tree of plain values that know their lines.
//
// Stands between toml++ and everybody else, so that one source file compiles toml++ and no other
// depends on it. Invariant: the tree is a valid TOML document and every line is at least 1.
// Thread: none in particular; plain values that own what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/expected.h"

namespace wirecache::config {

enum class TomlKind : uint8_t { kBoolean, kInteger, kFloat, kString, kTime, kArray, kTable };

struct TomlValue {
  std::string key;  // of a table's member; empty for an array's element
  TomlKind kind = TomlKind::kTable;
  unsigned line = 1;                // of the key or, in an array, of the element
  int64_t integer = 0;              // of kInteger; 0 or 1 of kBoolean
  std::string text;                 // of kString
  std::vector<TomlValue> children;  // of kArray and kTable
};

// The error is one line "NAME:LINE:COLUMN: TOML syntax: what is wrong".
Expected<TomlValue> parse_toml(std::string_view text, const std::string& name);

// Where in the file each value stands, by its path: "listen.port", "upstream.server[1].address".
// For checks that run on the finished Config, which knows nothing of lines.
class SourceLines {
 public:
  explicit SourceLines(const TomlValue& root);
  // The line of what the path names; where it is not in the file, of what encloses it; else 1.
  unsigned line_of(std::string_view path) const;
  bool has(std::string_view path) const { return lines_.contains(std::string(path)); }

 private:
  void add(const TomlValue& value, const std::string& path);

  std::unordered_map<std::string, unsigned> lines_;
};

}  // namespace wirecache::config

// Typed reading of one TOML table into the fields of a struct.
//
// A key that is absent leaves its field as it is, so that defaults live in the struct alone. What
// is wrong goes to Problems with its line; reading goes on. Invariant: every key that was read is
// known; finish() reports all others, with the nearest known name. A reader borrows the table and
// the Problems, which must outlive it. Used while starting only; no thread rules.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/toml_document.h"

namespace wirecache::config {

struct IntegerRange {
  int64_t first;
  int64_t last;
};

class TableReader {
 public:
  // Takes a string of the file and returns what is wrong with it, or nothing.
  using TakeText = std::function<std::optional<std::string>(const std::string&)>;
  using ReadTable = std::function<void(TableReader&)>;
  template <typename Enum>
  using Words = std::vector<std::pair<std::string_view, Enum>>;

  TableReader(const TomlValue& document, Problems* problems);

  void boolean(std::string_view key, bool* target);
  void string(std::string_view key, std::string* target);
  void strings(std::string_view key, std::vector<std::string>* target);
  // The same with a meaning of its own for each string.
  void text(std::string_view key, const TakeText& take_text);
  void texts(std::string_view key, const TakeText& take_text);

  template <std::unsigned_integral Integer>
  void integer(std::string_view key, IntegerRange range, Integer* target) {
    if (const auto number = find_integer(key, range)) *target = static_cast<Integer>(*number);
  }
  template <std::unsigned_integral Integer>
  void integer(std::string_view key, IntegerRange range, std::optional<Integer>* target) {
    if (const auto number = find_integer(key, range)) *target = static_cast<Integer>(*number);
  }
  template <std::unsigned_integral Integer>
  void integers(std::string_view key, IntegerRange range, std::vector<Integer>* target) {
    for (const int64_t number : find_integers(key, range))
      target->push_back(static_cast<Integer>(number));
  }
  template <typename Enum>
  void word(std::string_view key, const Words<Enum>& words, Enum* target) {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : words) names.push_back(name);
    if (const auto index = find_word(key, names)) *target = words[*index].second;
  }

  // Reads the table, or each table of the array of tables, and reports what it does not know.
  void table(std::string_view key, const ReadTable& read);
  void tables(std::string_view key, const ReadTable& read);

  bool has(std::string_view key) const { return member(key) != nullptr; }
  // Reports the key as missing where it is.
  void require(std::string_view key);
  void finish();

 private:
  enum class Shape { kValue, kTable, kTables };
  struct Known {
    std::string_view key;
    Shape shape;
  };

  TableReader(const TomlValue& table, std::string name, Shape shape, Problems* problems);
  const TomlValue* member(std::string_view key) const;
  const TomlValue* find(std::string_view key, Shape shape);
  const TomlValue* find_value(std::string_view key, TomlKind kind);
  const TomlValue* find_array(std::string_view key, TomlKind element_kind);
  std::optional<int64_t> find_integer(std::string_view key, IntegerRange range);
  std::vector<int64_t> find_integers(std::string_view key, IntegerRange range);
  std::optional<size_t> find_word(std::string_view key, const std::vector<std::string_view>& words);
  std::optional<int64_t> in_range(const TomlValue& value, std::string_view key, IntegerRange range);
  void take(const TomlValue& value, std::string_view key, const TakeText& take_text);
  void read_child(const TomlValue& value, std::string_view key, const ReadTable& read);
  void report_unknown(const TomlValue& value);
  std::string known_name(const Known& known) const;
  std::string full_name(std::string_view key) const;
  // "'port' in [listen]"
  std::string place(std::string_view key) const;  // "'port' in [listen]"

  const TomlValue& table_;
  std::string name_;   // "upstream.server"; empty for the whole document
  std::string title_;  // "[[upstream.server]]"; empty for the whole document
  Problems* problems_;
  std::vector<Known> known_;
};

}  // namespace wirecache::config

#include "lib/config/toml_reader.h"

#include <algorithm>

#include "lib/config/nearest_name.h"

namespace wirecache::config {
namespace {

std::string one_of(TomlKind kind) {
  switch (kind) {
    case TomlKind::kBoolean:
      return "a boolean";
    case TomlKind::kInteger:
      return "an integer";
    case TomlKind::kFloat:
      return "a float";
    case TomlKind::kString:
      return "a string";
    case TomlKind::kTime:
      return "a date or time";
    case TomlKind::kArray:
      return "an array";
    case TomlKind::kTable:
      break;
  }
  return "a table";
}

bool is_tables(const TomlValue& value) {
  return value.kind == TomlKind::kArray && !value.children.empty() &&
         std::all_of(value.children.begin(), value.children.end(),
                     [](const TomlValue& child) { return child.kind == TomlKind::kTable; });
}

// "a", "b" or "c"
std::string choice(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += quoted(words[i]);
  }
  return text;
}

}  // namespace

TableReader::TableReader(const TomlValue& document, Problems* problems)
    : table_(document), problems_(problems) {}

TableReader::TableReader(const TomlValue& table, std::string name, Shape shape, Problems* problems)
    : table_(table),
      name_(std::move(name)),
      title_(shape == Shape::kTables ? "[[" + name_ + "]]" : "[" + name_ + "]"),
      problems_(problems) {}

const TomlValue* TableReader::member(std::string_view key) const {
  for (const TomlValue& child : table_.children)
    if (child.key == key) return &child;
  return nullptr;
}

const TomlValue* TableReader::find(std::string_view key, Shape shape) {
  known_.push_back({key, shape});
  return member(key);
}

const TomlValue* TableReader::find_value(std::string_view key, TomlKind kind) {
  const TomlValue* value = find(key, Shape::kValue);
  if (value == nullptr || value->kind == kind) return value;
  problems_->add(value->line,
                 place(key) + " must be " + one_of(kind) + ", not " + one_of(value->kind));
  return nullptr;
}

const TomlValue* TableReader::find_array(std::string_view key, TomlKind element_kind) {
  const TomlValue* value = find_value(key, TomlKind::kArray);
  if (value == nullptr) return nullptr;
  for (const TomlValue& element : value->children) {
    if (element.kind == element_kind) continue;
    problems_->add(element.line, "each element of " + place(key) + " must be " +
                                     one_of(element_kind) + ", not " + one_of(element.kind));
    return nullptr;
  }
  return value;
}

void TableReader::boolean(std::string_view key, bool* target) {
  if (const auto* value = find_value(key, TomlKind::kBoolean)) *target = value->integer != 0;
}

void TableReader::string(std::string_view key, std::string* target) {
  if (const auto* value = find_value(key, TomlKind::kString)) *target = value->text;
}

void TableReader::strings(std::string_view key, std::vector<std::string>* target) {
  if (const auto* array = find_array(key, TomlKind::kString))
    for (const TomlValue& element : array->children) target->push_back(element.text);
}

void TableReader::text(std::string_view key, const TakeText& take_text) {
  if (const auto* value = find_value(key, TomlKind::kString)) take(*value, key, take_text);
}

void TableReader::texts(std::string_view key, const TakeText& take_text) {
  if (const auto* array = find_array(key, TomlKind::kString))
    for (const TomlValue& element : array->children) take(element, key, take_text);
}

void TableReader::take(const TomlValue& value, std::string_view key, const TakeText& take_text) {
  if (const auto wrong = take_text(value.text))
    problems_->add(value.line, place(key) + ": " + quoted(value.text) + " " + *wrong);
}

std::optional<int64_t> TableReader::in_range(const TomlValue& value, std::string_view key,
                                             IntegerRange range) {
  if (value.integer >= range.first && value.integer <= range.last) return value.integer;
  problems_->add(value.line, place(key) + " must be from " + std::to_string(range.first) + " to " +
                                 std::to_string(range.last) + ", not " +
                                 std::to_string(value.integer));
  return std::nullopt;
}

std::optional<int64_t> TableReader::find_integer(std::string_view key, IntegerRange range) {
  const auto* value = find_value(key, TomlKind::kInteger);
  return value != nullptr ? in_range(*value, key, range) : std::nullopt;
}

std::vector<int64_t> TableReader::find_integers(std::string_view key, IntegerRange range) {
  std::vector<int64_t> numbers;
  if (const auto* array = find_array(key, TomlKind::kInteger))
    for (const TomlValue& element : array->children)
      if (const auto number = in_range(element, key, range)) numbers.push_back(*number);
  return numbers;
}

std::optional<size_t> TableReader::find_word(std::string_view key,
                                             const std::vector<std::string_view>& words) {
  const auto* value = find_value(key, TomlKind::kString);
  if (value == nullptr) return std::nullopt;
  for (size_t i = 0; i < words.size(); ++i)
    if (value->text == words[i]) return i;
  std::string message = place(key) + " must be " + choice(words) + ", not " + quoted(value->text);
  const std::string_view near = nearest_name(value->text, words);
  if (!near.empty()) message += ": did you mean " + quoted(near) + "?";
  problems_->add(value->line, message);
  return std::nullopt;
}

void TableReader::table(std::string_view key, const ReadTable& read) {
  const TomlValue* value = find(key, Shape::kTable);
  if (value == nullptr) return;
  if (value->kind != TomlKind::kTable) {
    problems_->add(value->line, place(key) + " must be a table, [" + full_name(key) + "], not " +
                                    one_of(value->kind));
    return;
  }
  TableReader reader(*value, full_name(key), Shape::kTable, problems_);
  read(reader);
  reader.finish();
}

void TableReader::tables(std::string_view key, const ReadTable& read) {
  const TomlValue* value = find(key, Shape::kTables);
  if (value == nullptr) return;
  const bool none = value->kind == TomlKind::kArray && value->children.empty();
  if (!none && !is_tables(*value)) {
    problems_->add(value->line, place(key) + " must be an array of tables, [[" + full_name(key) +
                                    "]], not " + one_of(value->kind));
    return;
  }
  for (const TomlValue& element : value->children) {
    TableReader reader(element, full_name(key), Shape::kTables, problems_);
    read(reader);
    reader.finish();
  }
}

void TableReader::require(std::string_view key) {
  const std::string title = title_.empty() ? "the file" : title_;
  if (!has(key)) problems_->add(table_.line, title + " needs '" + std::string(key) + "'");
}

void TableReader::finish() {
  for (const TomlValue& child : table_.children) {
    const bool known = std::any_of(known_.begin(), known_.end(),
                                   [&](const Known& k) { return k.key == child.key; });
    if (!known) report_unknown(child);
  }
}

void TableReader::report_unknown(const TomlValue& value) {
  std::string message;
  if (value.kind == TomlKind::kTable) {
    message = "unknown table [" + full_name(value.key) + "]";
  } else if (is_tables(value)) {
    message = "unknown table [[" + full_name(value.key) + "]]";
  } else {
    message = "unknown key " + place(value.key);
  }
  std::vector<std::string_view> right_names;
  for (const Known& known : known_) right_names.push_back(known.key);
  const std::string_view near = nearest_name(value.key, right_names);
  std::string all;
  for (const Known& known : known_) {
    if (known.key == near) message += ": did you mean " + known_name(known) + "?";
    all += (all.empty() ? "" : ", ") + known_name(known);
  }
  if (near.empty()) message += ": known here are " + all;
  problems_->add(value.line, message);
}

std::string TableReader::known_name(const Known& known) const {
  if (known.shape == Shape::kTable) return "[" + full_name(known.key) + "]";
  if (known.shape == Shape::kTables) return "[[" + full_name(known.key) + "]]";
  return "'" + std::string(known.key) + "'";
}

std::string TableReader::full_name(std::string_view key) const {
  return name_.empty() ? std::string(key) : name_ + "." + std::string(key);
}

std::string TableReader::place(std::string_view key) const {
  const std::string name = "'" + std::string(key) + "'";
  return title_.empty() ? name : name + " in " + title_;
}

}  // namespace wirecache::config

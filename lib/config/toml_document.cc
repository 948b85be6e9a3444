#include "lib/config/toml_document.h"

#include "lib/config/problems.h"

// Header only and without exceptions: the error is a value, and nothing is linked.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace wirecache::config {
namespace {

TomlKind kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return TomlKind::kTable;
    case toml::node_type::array:
      return TomlKind::kArray;
    case toml::node_type::string:
      return TomlKind::kString;
    case toml::node_type::integer:
      return TomlKind::kInteger;
    case toml::node_type::floating_point:
      return TomlKind::kFloat;
    case toml::node_type::boolean:
      return TomlKind::kBoolean;
    default:
      return TomlKind::kTime;
  }
}

unsigned line_or(const toml::source_region& source, unsigned otherwise) {
  return source.begin.line > 0 ? source.begin.line : otherwise;
}

// As deep as the file nests its tables: it is the operator's own, not input from the network.
TomlValue copy_node(const toml::node& node, unsigned line) {
  TomlValue value;
  value.kind = kind_of(node);
  value.line = line;
  if (const auto* boolean = node.as_boolean()) value.integer = boolean->get() ? 1 : 0;
  if (const auto* integer = node.as_integer()) value.integer = integer->get();
  if (const auto* string = node.as_string()) value.text = string->get();
  if (const auto* array = node.as_array()) {
    for (const toml::node& element : *array)
      value.children.push_back(copy_node(element, line_or(element.source(), line)));
  }
  if (const auto* table = node.as_table()) {
    for (const auto& [key, member] : *table) {
      value.children.push_back(copy_node(member, line_or(key.source(), line)));
      value.children.back().key = std::string(key.str());
    }
  }
  return value;
}

}  // namespace

Expected<TomlValue> parse_toml(std::string_view text, const std::string& name) {
  const toml::parse_result result = toml::parse(text, std::string_view(name));
  if (result) return copy_node(result.table(), 1);
  const toml::parse_error& error = result.error();
  const toml::source_position& at = error.source().begin;
  return fail(one_line(name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                       ": TOML syntax: " + std::string(error.description())));
}

SourceLines::SourceLines(const TomlValue& root) {
  add(root, "");
}

void SourceLines::add(const TomlValue& value, const std::string& path) {
  lines_.emplace(path, value.line);
  for (size_t i = 0; i < value.children.size(); ++i) {
    const TomlValue& child = value.children[i];
    if (value.kind == TomlKind::kArray) {
      add(child, path + "[" + std::to_string(i) + "]");
    } else {
      add(child, path.empty() ? child.key : path + "." + child.key);
    }
  }
}

unsigned SourceLines::line_of(std::string_view path) const {
  while (!path.empty()) {
    const auto found = lines_.find(std::string(path));
    if (found != lines_.end()) return found->second;
    const size_t cut = path.find_last_of(".[");
    path = path.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
  return 1;
}

}  // namespace wirecache::config

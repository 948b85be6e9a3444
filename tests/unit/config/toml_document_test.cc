#include "lib/config/toml_document.h"

#include <gtest/gtest.h>

namespace wirecache::config {
namespace {

std::string error_of(std::string_view text) {
  const auto document = parse_toml(text, "w.toml");
  return document ? "" : document.error().message;
}

TEST(ParseToml, KeepsKindsAndValues) {
  const auto root = parse_toml("a = [true, -3, 1.5, \"x\", 2020-01-01, {}]", "w.toml");
  ASSERT_TRUE(root);
  const auto& values = root->children.at(0).children;
  ASSERT_EQ(values.size(), 6U);
  EXPECT_EQ(values[0].kind, TomlKind::kBoolean);
  EXPECT_EQ(values[0].integer, 1);
  EXPECT_EQ(values[1].kind, TomlKind::kInteger);
  EXPECT_EQ(values[1].integer, -3);
  EXPECT_EQ(values[2].kind, TomlKind::kFloat);
  EXPECT_EQ(values[3].kind, TomlKind::kString);
  EXPECT_EQ(values[3].text, "x");
  EXPECT_EQ(values[4].kind, TomlKind::kTime);
  EXPECT_EQ(values[5].kind, TomlKind::kTable);
}

TEST(ParseToml, SyntaxErrorsSayLineAndColumn) {
  EXPECT_EQ(error_of("[cores]\nmain = \n").substr(0, 26), "w.toml:2:8: TOML syntax: E");
  EXPECT_EQ(error_of("a = 1\na = 2\n").substr(0, 25), "w.toml:2:5: TOML syntax: ");
  EXPECT_EQ(error_of("[cores\n").substr(0, 25), "w.toml:1:7: TOML syntax: ");
}

TEST(ParseToml, SyntaxErrorsStayOnOneLine) {
  for (const char* text : {"a = \"\n", "\x01 = 1", "a\n", "a = \xff", "[a\n\n"}) {
    const std::string error = error_of(text);
    EXPECT_NE(error, "") << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(SourceLines, FindValuesAndWhatEnclosesThem) {
  const auto root = parse_toml(
      "[listen]\n"             // 1
      "addresses = [\n"        // 2
      "  \"a\",\n"             // 3
      "  \"b\",\n"             // 4
      "]\n"                    // 5
      "[upstream]\n"           // 6
      "[[upstream.server]]\n"  // 7
      "[[upstream.server]]\n"  // 8
      "address = \"c\"\n",     // 9
      "w.toml");
  ASSERT_TRUE(root);
  const SourceLines lines(*root);
  EXPECT_EQ(lines.line_of("listen"), 1U);
  EXPECT_EQ(lines.line_of("listen.addresses"), 2U);
  EXPECT_EQ(lines.line_of("listen.addresses[1]"), 4U);
  EXPECT_EQ(lines.line_of("listen.port"), 1U);
  EXPECT_EQ(lines.line_of("upstream.server[0].address"), 7U);
  EXPECT_EQ(lines.line_of("upstream.server[1]"), 8U);
  EXPECT_EQ(lines.line_of("upstream.server[1].address"), 9U);
  EXPECT_EQ(lines.line_of("port[0].name"), 1U);
  EXPECT_TRUE(lines.has("listen.addresses"));
  EXPECT_FALSE(lines.has("listen.port"));
}

}  // namespace
}  // namespace wirecache::config

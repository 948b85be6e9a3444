#include "lib/config/command_line.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "lib/config/exit_code.h"

namespace wirecache::config {
namespace {

Expected<CommandLine> parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv{"wirecached"};
  argv.insert(argv.end(), arguments);
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

TEST(CommandLine, RunsWithTheConfigurationNamed) {
  for (const auto& line : {parse({"--config", "a.toml"}), parse({"--config=a.toml"})}) {
    ASSERT_TRUE(line);
    EXPECT_EQ(line->action, Action::kRun);
    EXPECT_EQ(line->config_path, "a.toml");
  }
}

TEST(CommandLine, Checks) {
  const auto line = parse({"--check", "--config", "a.toml"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->action, Action::kCheck);
  EXPECT_EQ(line->config_path, "a.toml");
}

TEST(CommandLine, VersionNeedsNoConfiguration) {
  const auto line = parse({"--version"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->action, Action::kVersion);
  EXPECT_EQ(line->text, "wirecached " WC_VERSION "\n");
}

TEST(CommandLine, HelpNamesEveryOption) {
  const auto line = parse({"--help"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->action, Action::kHelp);
  for (const char* option : {"--config FILE", "--check", "--version", "--help"})
    EXPECT_NE(line->text.find(option), std::string::npos) << option << "\n" << line->text;
}

TEST(CommandLine, ErrorsAreOneLine) {
  EXPECT_EQ(parse({}).error().message, "wirecached: --config FILE is required (see --help)");
  EXPECT_EQ(parse({"--check"}).error().message,
            "wirecached: --config FILE is required (see --help)");
  EXPECT_EQ(parse({"--config", ""}).error().message,
            "wirecached: --config FILE is required (see --help)");
  EXPECT_EQ(parse({"--config", "a", "--chekc"}).error().message,
            "wirecached: The following argument was not expected: --chekc (see --help)");
  EXPECT_EQ(parse({"--config", "a", "b"}).error().message,
            "wirecached: The following argument was not expected: b (see --help)");
  EXPECT_EQ(parse({"--config"}).error().message,
            "wirecached: --config: 1 required FILE missing (see --help)");
  EXPECT_EQ(parse({"--config", "a", "--config", "b"}).error().message,
            "wirecached: --config: At Most 1 required but received 2 (see --help)");
}

TEST(ExitCode, NumbersNeverChange) {
  EXPECT_EQ(static_cast<int>(ExitCode::kOk), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::kRuntime), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::kUsage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::kConfig), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::kDevice), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::kMemory), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::kPrivilege), 6);
}

}  // namespace
}  // namespace wirecache::config

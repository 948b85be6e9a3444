// The command line of wirecached: wirecached --config FILE [--check] [--version] [--help]
//
// Invariant: config_path is set where the action reads a configuration. Called once by main.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/expected.h"

namespace wirecache::config {

enum class Action : uint8_t {
  kRun,      // read config_path and serve
  kCheck,    // read config_path, say whether it is right, start nothing
  kVersion,  // print text
  kHelp,     // print text
};

struct CommandLine {
  Action action = Action::kRun;
  std::string config_path;
  std::string text;  // what --version and --help print, with its last line feed
};

// The error is one line; the exit code for it is ExitCode::kUsage.
Expected<CommandLine> parse_command_line(int argc, const char* const* argv);

}  // namespace wirecache::config

#include "lib/config/command_line.h"

#include <CLI/CLI.hpp>

#include "lib/config/problems.h"

namespace wirecache::config {

Expected<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Wirecache: a caching DNS forwarder on DPDK", "wirecached");
  app.set_version_flag("--version", "wirecached " WC_VERSION, "Print the version and exit");
  std::string path;
  bool check = false;
  app.add_option("--config", path, "The configuration to run with")->type_name("FILE");
  app.add_flag("--check", check, "Check the configuration and exit; start nothing");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return CommandLine{Action::kHelp, "", app.help()};
  } catch (const CLI::CallForVersion&) {
    return CommandLine{Action::kVersion, "", app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail("wirecached: " + one_line(error.what()) + " (see --help)");
  }
  if (path.empty()) return fail("wirecached: --config FILE is required (see --help)");
  return CommandLine{check ? Action::kCheck : Action::kRun, path, ""};
}

}  // namespace wirecache::config

// wirecached: reads its configuration, starts the appliance, runs until SIGTERM or SIGINT.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "app/appliance.h"
#include "lib/config/command_line.h"
#include "lib/config/config.h"
#include "lib/config/exit_code.h"

namespace wirecache::app {
namespace {

using config::ExitCode;
using port::StartFailure;

ExitCode exit_code_of(StartFailure kind) {
  switch (kind) {
    case StartFailure::kDevice:
      return ExitCode::kDevice;
    case StartFailure::kMemory:
      return ExitCode::kMemory;
    case StartFailure::kPrivilege:
      return ExitCode::kPrivilege;
    case StartFailure::kOther:
      return ExitCode::kRuntime;
  }
  return ExitCode::kRuntime;
}

ExitCode report(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "wirecached: %s\n", message.c_str());
  return code;
}

void on_stop_signal(int /*signal*/) {
  Appliance::request_stop();
}

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a log that nobody reads ends nothing
}

ExitCode run(int argc, char** argv) {
  const auto command = config::parse_command_line(argc, argv);
  if (!command) return report(ExitCode::kUsage, command.error().message);
  if (!command->text.empty()) {
    std::fputs(command->text.c_str(), stdout);
    return ExitCode::kOk;
  }
  const auto loaded = config::load_config(command->config_path);
  if (!loaded) return report(ExitCode::kConfig, loaded.error().message);
  if (command->action == config::Action::kCheck) {
    std::fprintf(stdout, "%s: ok\n", command->config_path.c_str());
    return ExitCode::kOk;
  }
  catch_stop_signals();
  auto appliance = Appliance::start(*loaded, argv[0]);
  if (!appliance) return report(exit_code_of(appliance.error().kind), appliance.error().message);
  return (*appliance)->run();
}

}  // namespace
}  // namespace wirecache::app

int main(int argc, char** argv) {
  try {
    return static_cast<int>(wirecache::app::run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("wirecached: not enough memory\n", stderr);
    return static_cast<int>(wirecache::config::ExitCode::kMemory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wirecached: %s\n", error.what());
    return static_cast<int>(wirecache::config::ExitCode::kRuntime);
  }
}

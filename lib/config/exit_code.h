// The exit codes of wirecached: scripts and service managers act on them, so they never change.
//
// Each way to fail before or after the start has a code of its own; the one line on standard error
// says what exactly went wrong. Plain values, any thread.
#pragma once

namespace wirecache::config {

enum class ExitCode : int {
  kOk = 0,         // stopped as asked, or --check, --version, --help done
  kRuntime = 1,    // gave up after a complete start
  kUsage = 2,      // the command line is wrong; nothing was read
  kConfig = 3,     // the configuration cannot be read or is wrong; nothing was started
  kDevice = 4,     // a network device is missing, busy or cannot do what is asked
  kMemory = 5,     // not enough memory or huge pages
  kPrivilege = 6,  // a right is missing (root, or capabilities)
};

}  // namespace wirecache::config

// Why the program cannot start: a kind that the program's exit code follows, and one line for the
// operator.
//
// A plain value; no thread rules.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lib/base/expected.h"

namespace wirecache::port {

enum class StartFailure : uint8_t {
  kDevice,     // missing, busy, or it refuses the set-up
  kMemory,     // not enough (huge) pages or mbufs
  kPrivilege,  // not root, or a capability is missing
  kOther,
};

struct StartError {
  StartFailure kind = StartFailure::kOther;
  std::string message;  // one line, no trailing dot or newline
};

inline Unexpected<StartError> start_failure(StartFailure kind, std::string message) {
  return Unexpected<StartError>(StartError{kind, std::move(message)});
}

inline Unexpected<StartError> start_failure(StartFailure kind, const Error& error) {
  return start_failure(kind, error.message);
}

// "port NAME: device DEVICE: why".
inline Unexpected<StartError> device_failure(const std::string& port, const std::string& device,
                                             const std::string& why) {
  return start_failure(StartFailure::kDevice, "port " + port + ": device " + device + ": " + why);
}

}  // namespace wirecache::port

// One EAL for a test process, which takes nothing of the machine: no huge pages, PCI, telemetry or
// files.
#pragma once

#include <rte_eal.h>

#include <string>
#include <vector>

namespace wirecache::testing {

// Once in a process. False where DPDK does not start; it has said why on standard error.
inline bool start_test_eal() {
  std::vector<std::string> arguments = {
      "wirecache-test", "--no-huge", "--no-pci",       "-m",          "256",        "--no-shconf",
      "--lcores",       "0@0",       "--no-telemetry", "--log-level", "lib.*:error"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) >= 0;
}

}  // namespace wirecache::testing

// main() of the unit tests that need DPDK: one EAL for the whole process, nothing of the machine used.
#include <gtest/gtest.h>
#include <rte_eal.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  std::vector<std::string> arguments = {argv[0],     "--no-huge",      "--no-pci",    "-m",
                                        "256",       "--no-shconf",    "--lcores",    "0@0",
                                        "--no-telemetry", "--log-level", "lib.*:error"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) < 0) {
    fprintf(stderr, "EAL does not start\n");
    return 1;
  }
  return RUN_ALL_TESTS();
}

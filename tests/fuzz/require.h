// What a fuzz target demands of the code that it drives.
// Invariant: a demand that is not met ends the process by abort(), which libFuzzer records as a
// finding, whatever the build type. Any thread.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace wirecache::fuzz {

inline void require(bool met, const char* what) {
  if (met) return;
  std::fprintf(stderr, "not met: %s\n", what);
  std::abort();
}

}  // namespace wirecache::fuzz

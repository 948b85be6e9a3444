// What the stress tests share. In one source file of a program.
#pragma once

#include <cstdint>
#include <cstdlib>

// rte_hash compares and copies keys by functions that ThreadSanitizer sees although it does not see
// the order that rte_hash gives them (by counters of changes).
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:librte_hash.so\n";
}

namespace wirecache::cache {

// How many operations the writer does, as WIRECACHE_STRESS_OPERATIONS says.
inline uint32_t operations() {
  const char* text = std::getenv("WIRECACHE_STRESS_OPERATIONS");
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 80'000;
}

}  // namespace wirecache::cache

// The files of drivers-config/ as the build put them into the program.
//
// Constants; their source file is made by tools/lib/embed_profiles.py.
#pragma once

#include <span>

namespace wirecache::config {

struct BuiltinProfile {
  const char* name;  // of the file, without ".toml"
  const char* text;
};

std::span<const BuiltinProfile> builtin_profiles();

}  // namespace wirecache::config

"""Writes the driver profiles as a C++ source, so that the program needs no file for them.

embed_profiles.py OUTPUT PROFILE...: the build's part of lib/config/builtin_profiles.h.
"""

import os
import sys

DELIMITER = "toml"


def source_of(paths):
    lines = ['#include "lib/config/builtin_profiles.h"', "", "namespace wirecache::config {", "",
             "std::span<const BuiltinProfile> builtin_profiles() {",
             "  static const BuiltinProfile profiles[] = {"]
    for path in sorted(paths):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if ")" + DELIMITER + '"' in text:
            raise ValueError(f"{path}: ends the C++ literal that it is put in")
        name = os.path.basename(path).removesuffix(".toml")
        lines.append(f'      {{"{name}", R"{DELIMITER}({text}){DELIMITER}"}},')
    lines += ["  };", "  return profiles;", "}", "", "}  // namespace wirecache::config", ""]
    return "\n".join(lines)


def main():
    output, *profiles = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as f:
        f.write(source_of(profiles))
    return 0


if __name__ == "__main__":
    sys.exit(main())

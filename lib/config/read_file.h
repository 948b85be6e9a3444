// Files of settings: one as text, and those of a directory.
//
// System calls; while starting, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/expected.h"

namespace wirecache::config {

// At most 1 MiB. Errors: "PATH: cannot read: why".
Expected<std::string> read_file(const std::string& path);

// Why an absolute path is no directory to read settings from: "is not a directory"; or nothing.
std::optional<std::string> directory_problem(const std::string& path);
// Its *.toml with their paths, sorted. Errors: "DIRECTORY: cannot read: why".
Expected<std::vector<std::string>> toml_files(const std::string& directory);
// "/etc/wirecache/drivers/mlx5.toml" → "mlx5".
std::string name_of_file(const std::string& path);

}  // namespace wirecache::config

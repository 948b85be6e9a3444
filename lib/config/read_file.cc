#include "lib/config/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace wirecache::config {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

}  // namespace

Expected<std::string> read_file(const std::string& path) {
  const auto cannot_read = [&] { return fail(path + ": cannot read: " + std::strerror(errno)); };
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (!file) return cannot_read();
  std::string text(kMaxFileBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return cannot_read();
  if (text.size() > kMaxFileBytes) return fail(path + ": cannot read: larger than 1 MiB");
  return text;
}

std::optional<std::string> directory_problem(const std::string& path) {
  if (!path.starts_with('/')) return "must be an absolute path";
  std::error_code error;
  const bool directory = std::filesystem::is_directory(path, error);
  if (error) return "cannot be read: " + error.message();
  if (!directory) return "is not a directory";
  return std::nullopt;
}

Expected<std::vector<std::string>> toml_files(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".toml") paths.push_back(entry->path().string());
  if (error) return fail(directory + ": cannot read: " + error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string name_of_file(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

}  // namespace wirecache::config

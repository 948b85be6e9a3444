#include "lib/control/sysctl.h"

#include <fstream>

namespace wirecache::control {

bool write_sysctl(const std::string& path, const std::string& value) {
  std::ofstream file(path);
  file << value;
  return static_cast<bool>(file.flush());
}

}  // namespace wirecache::control

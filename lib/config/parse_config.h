// parse_config() and load_config() for a machine that the caller describes.
//
// config.h has the forms that take the machine they run on; these are for tests and for checking a
// file that is meant for another machine. No thread rules.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/expected.h"
#include "lib/config/config.h"
#include "lib/config/machine.h"

namespace wirecache::config {

Expected<Config> parse_config_for(const Machine& machine, std::string_view text,
                                  const std::string& name);
Expected<Config> load_config_for(const Machine& machine, const std::string& path);

}  // namespace wirecache::config

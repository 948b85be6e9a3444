// The state of a link, as an interface or a port has it: with carrier or without.
//
// A plain value; no thread rules.
#pragma once

#include <cstdint>

namespace wirecache::control {

enum class LinkState : uint8_t { kDown, kUp };

}  // namespace wirecache::control

// Extended errors (RFC 8914) among the options of an OPT record.
//
// Pure functions on byte spans; any thread.
#pragma once

#include <cstddef>

#include "lib/base/bytes.h"

namespace wirecache::dns {

// Copies the extended errors of the OPT data `options` to `out`, as options, and returns their
// bytes. An error whose text does not fit is copied without it, one that does not fit at all is
// left out. The walk ends at an option that is cut short.
size_t copy_extended_errors(Bytes options, MutableBytes out);

}  // namespace wirecache::dns

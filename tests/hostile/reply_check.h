// Whether a frame is a right answer to another one below DNS: SEMANTICS "Packets", read byte by
// byte without lib/net. Pure functions, any thread.
#pragma once

#include <string>

#include "tests/support/dns_builder.h"

namespace wirecache::hostile {

// What is wrong with `reply`, "" where nothing is: it goes back by the MACs, tag, addresses and
// ports of `query`, its lengths and checksums are right, it has no IPv4 options, is no fragment,
// and is padded with zeros to 60 bytes. `message` becomes the DNS message.
// `query` is a frame that the appliance answered: its own headers are not checked.
std::string reply_problem(const testing::Wire& query, const testing::Wire& reply,
                          testing::Wire& message);

}  // namespace wirecache::hostile

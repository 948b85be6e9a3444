// ICMP "destination unreachable" about a UDP datagram of ours (RFC 792, RFC 4443 §3.1).
//
// Routers and hosts quote the datagram that could not be delivered, so that its sender can tell
// which one it was. Pure function over bytes; any thread; nothing kept.
#pragma once

#include "lib/base/bytes.h"
#include "lib/net/frame.h"

namespace wirecache::net {

// Whether `frame` is a whole, untagged ICMPv4 type 3 (but for code 4, "fragmentation needed") or
// ICMPv6 type 1 with right checksums that quotes the beginning of a UDP datagram, at least to the
// end of its UDP header. `out` then describes the quoted datagram as if its receiver had answered
// it: source and source_port are whom it was sent to, destination and destination_port who sent it,
// payload is as much of the payload as was quoted. The MACs are the frame's own; layer offsets are
// not set.
bool parse_unreachable(Bytes frame, Frame& out);

}  // namespace wirecache::net

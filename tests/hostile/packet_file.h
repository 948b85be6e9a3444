// The packets that make_packets.py makes, with the verdicts that its oracle gives.
//
// Invariant: labels and families are indices into PacketFile::labels and ::families. A test
// process's own; nothing is shared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/dns_builder.h"

namespace wirecache::hostile {

using testing::Wire;

// One right outcome; see verdict.py.
struct Verdict {
  uint8_t label = 0;
  Wire reply;     // whole DNS message
  Wire upstream;  // what the upstream is asked, from the flags on, its name in lower case
};

struct HostilePacket {
  uint32_t number = 0;
  uint16_t family = 0;
  std::string what;
  Wire frame;
  std::vector<Verdict> verdicts;
};

struct PacketFile {
  std::vector<std::string> labels;
  std::vector<std::string> families;
  std::vector<HostilePacket> packets;
  std::string error;  // "" where all was read
};

// Runs `command` (a shell's) and reads the packets that it writes to its standard output.
PacketFile packets_from(const std::string& command);

}  // namespace wirecache::hostile

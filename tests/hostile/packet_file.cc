#include "tests/hostile/packet_file.h"

#include <cstdio>
#include <string_view>

namespace wirecache::hostile {
namespace {

constexpr std::string_view kMagic = "WCHP1";

// Little-endian numbers and strings out of a pipe; `good` goes out at the first that is cut.
class Input {
 public:
  explicit Input(std::FILE* pipe) : pipe_(pipe) {}

  bool good() const { return good_; }
  std::string bytes(size_t count) {
    std::string out(count, '\0');
    good_ = good_ && std::fread(out.data(), 1, count, pipe_) == count;
    return out;
  }
  uint32_t number(size_t count) {
    const std::string in = bytes(count);
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= uint32_t{static_cast<uint8_t>(in[i])} << 8 * i;
    return value;
  }
  std::string text() { return bytes(number(2)); }
  Wire wire() {
    const std::string in = text();
    return {in.begin(), in.end()};
  }
  std::vector<std::string> texts() {
    std::vector<std::string> out(good_ ? number(2) : 0);
    for (std::string& one : out) one = text();
    return out;
  }

 private:
  std::FILE* pipe_;
  bool good_ = true;
};

HostilePacket read_packet(Input& in) {
  HostilePacket packet;
  packet.number = in.number(4);
  packet.family = static_cast<uint16_t>(in.number(2));
  packet.what = in.text();
  packet.frame = in.wire();
  packet.verdicts.resize(in.number(1));
  for (Verdict& verdict : packet.verdicts) {
    verdict.label = static_cast<uint8_t>(in.number(1));
    verdict.reply = in.wire();
    verdict.upstream = in.wire();
  }
  return packet;
}

void read_all(Input& in, PacketFile& out) {
  if (in.bytes(kMagic.size()) != kMagic) {
    out.error = "not a packet file";
    return;
  }
  out.labels = in.texts();
  out.families = in.texts();
  while (in.good() && in.number(1) == 1) out.packets.push_back(read_packet(in));
  if (!in.good()) out.error = "cut";
}

}  // namespace

PacketFile packets_from(const std::string& command) {
  PacketFile out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    out.error = "cannot start: " + command;
    return out;
  }
  std::vector<char> buffer(1 << 20);
  std::setvbuf(pipe, buffer.data(), _IOFBF, buffer.size());
  Input in(pipe);
  read_all(in, out);
  if (pclose(pipe) != 0) out.error = "failed: " + command;
  return out;
}

}  // namespace wirecache::hostile

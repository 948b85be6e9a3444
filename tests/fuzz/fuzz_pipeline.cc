// Feeds a script of packets, upstream answers and passing time to two whole workers, on simulated
// time.
//
// The input is a sequence of steps, each an operation byte, a 16-bit length and so many bytes:
//   operation modulo 4: 0 a frame as it stands; 1 a DNS message in a client's datagram; 2 a DNS
//   message as the answer to the oldest upstream query seen, its ID and question put right where
//   bit 4 of the operation is set; 3 time passes, 20 ms for each unit of the first byte. Bit 5
//   chooses the queue, bit 6 IPv6, bit 7 a VLAN tag.
// Demanded: the accounting equations hold, every reply is a well-formed response within 1,232 bytes
// that repeats its client's question, nobody waits beyond the deadline, and no mbuf, waiter or ring
// slot is lost.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/dns/message.h"
#include "lib/worker/handover.h"
#include "tests/fuzz/require.h"
#include "tests/support/eal.h"
#include "tests/support/rig.h"

namespace wirecache::worker {
namespace {

using fuzz::require;
using testing::Client;
using testing::Rig;
using testing::RigOptions;
using testing::Sent;
using testing::Wire;

constexpr uint16_t kMaxReplyBytes = 1232;
constexpr size_t kMaxFrameBytes = 1514;
constexpr unsigned kMaxSteps = 64;

RigOptions options() {
  RigOptions options;
  options.workers = 2;
  options.mbufs = 2047;
  options.config.upstream.max_pending = 16;
  options.config.upstream.max_waiting = 24;
  return options;
}

// A response without records is right where the question could not be read.
void check_reply(const Sent& sent) {
  const Bytes message(sent.message);
  require(message.size() <= kMaxReplyBytes, "a reply is at most 1,232 bytes");
  require(sent.frame.size() >= net::kMinFrameBytes, "frames are padded");
  dns::Header header;
  require(dns::read_header(message, header) && header.qr(), "a reply is a response");
  if (header.question_count == 0) return;
  dns::MessageWalk walk(message);
  dns::Question question;
  require(walk.begin(header, question), "a reply has its question");
  dns::Record record;
  dns::MessageWalk::Step step = dns::MessageWalk::Step::kRecord;
  while (step == dns::MessageWalk::Step::kRecord) step = walk.next(record);
  require(step == dns::MessageWalk::Step::kDone, "a reply is well formed");
}

class Script {
 public:
  Script(Rig& rig, Bytes input) : rig_(rig), reader_(input) {}

  void run() {
    for (unsigned step = 0; step < kMaxSteps && !reader_.at_end(); ++step) {
      uint8_t operation = 0;
      uint16_t length = 0;
      Bytes bytes;
      if (!reader_.u8(operation) || !reader_.u16(length)) return;
      length = static_cast<uint16_t>(std::min<size_t>(length, reader_.remaining()));
      if (!reader_.bytes(std::min<size_t>(length, kMaxFrameBytes), bytes)) return;
      take_step(operation, Wire(bytes.begin(), bytes.end()));
      collect();
    }
  }

  // Until nobody waits: three deadlines are more than one.
  void settle() {
    for (int i = 0; i < 60; ++i) {
      rig_.advance_ms(100);
      collect();
    }
  }

 private:
  void take_step(uint8_t operation, Wire bytes) {
    const unsigned queue = operation >> 5 & 1;
    switch (operation & 3) {
      case 0:
        if (bytes.size() >= 6 && (operation & 0x10) != 0) {
          const MacAddress mac = rig_.port_mac();
          std::copy(mac.bytes.begin(), mac.bytes.end(), bytes.begin());
        }
        if (!bytes.empty()) rig_.inject_frame(bytes, 0, queue);
        break;
      case 1:
        rig_.ask(bytes, client(operation, queue));
        break;
      case 2:
        answer(std::move(bytes), (operation & 0x10) != 0, queue);
        break;
      default:
        rig_.advance_ms(20 * (bytes.empty() ? 1 : bytes[0]));
    }
  }

  static Client client(uint8_t operation, unsigned queue) {
    Client client;
    client.on_queue = queue;
    if ((operation & 0x40) != 0) {
      client.address = *IpAddress::parse("fd00::9");
      client.server = *IpAddress::parse("fd00::1");
    }
    if ((operation & 0x80) != 0) client.vlan = 5;
    return client;
  }

  void answer(Wire message, bool put_right, unsigned queue) {
    if (asked_.empty()) return;
    const Sent query = asked_.front();
    asked_.erase(asked_.begin());
    if (put_right && message.size() >= dns::kHeaderBytes) {
      const size_t end = testing::question_end(query.message);
      Wire right(query.message.begin(), query.message.begin() + static_cast<std::ptrdiff_t>(end));
      std::copy(message.begin() + 2, message.begin() + dns::kHeaderBytes, right.begin() + 2);
      right[2] |= 0x80;
      right[2] &= 0x87;
      right[4] = 0;
      right[5] = 1;
      right.insert(right.end(), message.begin() + dns::kHeaderBytes, message.end());
      message = std::move(right);
    }
    message.resize(std::min(message.size(), kMaxFrameBytes - 62));
    rig_.answer(query, message, queue);
  }

  void collect() {
    rig_.poll(3);
    auto traffic = rig_.traffic();
    for (const Sent& reply : traffic.replies) {
      if (!reply.message.empty()) check_reply(reply);
    }
    for (Sent& query : traffic.upstream) asked_.push_back(std::move(query));
    rig_.punted();
    const std::string wrong = rig_.accounting();
    require(wrong.empty(), wrong.c_str());
  }

  Rig& rig_;
  Reader reader_;
  std::vector<Sent> asked_;
};

Rig& shared_rig() {
  static const std::unique_ptr<Rig> rig = [] {
    require(testing::start_test_eal(), "EAL starts");
    return std::make_unique<Rig>(options());
  }();
  return *rig;
}

}  // namespace
}  // namespace wirecache::worker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wirecache::worker;
  Rig& rig = shared_rig();
  Script script(rig, wirecache::Bytes(data, size));
  script.run();
  script.settle();
  wirecache::fuzz::require(rig.sum(&wirecache::stats::WorkerStats::waiting) == 0, "nobody waits");
  wirecache::fuzz::require(rig.sum(&wirecache::stats::WorkerStats::pending) == 0,
                           "nothing is pending");
  wirecache::fuzz::require(rig.mbufs_in_use() == 0, "every mbuf is back");
  rig.advance_ms(8ull * 86400 *
                 1000);  // what was kept has expired: runs do not depend on each other
  return 0;
}

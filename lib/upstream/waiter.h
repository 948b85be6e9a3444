// A client that waits for an upstream: all that its answer needs, without its packet.
//
// No mbuf is held while a question is asked, so an upstream outage cannot empty the pool that hits
// need. The question's name stands once, in the pending question; a waiter keeps only which of its
// letters were capitals. 96 bytes; slots of a bounded pool that belongs to one worker (the key's
// owner).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "lib/base/clock.h"
#include "lib/base/ip_address.h"
#include "lib/dns/query.h"
#include "lib/net/frame.h"
#include "lib/upstream/index_list.h"

namespace wirecache::upstream {

struct Waiter {
  TscTime arrived;
  std::array<uint8_t, 16> client;
  std::array<uint8_t, 16> server;    // the address that was asked: the reply's source
  std::array<uint8_t, 32> capitals;  // bit i: byte i of the name is the upper-case letter
  uint32_t next;
  uint16_t client_port;
  uint16_t server_port;
  uint16_t id;
  uint16_t flags;
  uint16_t vlan_tci;
  uint16_t udp_size;
  MacAddress client_mac;
  uint8_t port_index;
  uint8_t bits;  // WaiterBit
};
static_assert(sizeof(Waiter) == 96);

enum WaiterBit : uint8_t {
  kWaiterV6 = 0x01,
  kWaiterTagged = 0x02,
  kWaiterEdns = 0x04,
  kWaiterDo = 0x08,
};

// Fills everything but `next`. `name` is the question's name as the client wrote it.
void fill_waiter(Waiter& waiter, const net::Frame& frame, const dns::Query& query, Bytes name);
// The query of which this waiter is what is left; `name_bytes` and `type` are the pending
// question's.
dns::Query query_of(const Waiter& waiter, uint16_t name_bytes, uint16_t type);
// The headers of the reply; the source MAC is the port's, to be filled by the caller.
net::DatagramHeaders reply_headers_of(const Waiter& waiter);
// Writes the client's own spelling of the lower-case `name` to `out`.
void restore_case(const Waiter& waiter, Bytes name, uint8_t* out);

// A bounded pool of waiters. Allocates once, at construction.
class WaiterPool {
 public:
  explicit WaiterPool(uint32_t capacity);

  // kNoIndex where all are in use.
  uint32_t take();
  void give_back(uint32_t index);
  Waiter& operator[](uint32_t index) { return waiters_[index]; }
  uint32_t in_use() const { return in_use_; }

 private:
  std::unique_ptr<Waiter[]> waiters_;
  uint32_t capacity_;
  uint32_t free_ = kNoIndex;  // given back
  uint32_t fresh_ = 0;        // never taken yet: the memory beyond is untouched
  uint32_t in_use_ = 0;
};

}  // namespace wirecache::upstream

#include "lib/upstream/waiter.h"

#include "lib/dns/name.h"

namespace wirecache::upstream {

void fill_waiter(Waiter& waiter, const net::Frame& frame, const dns::Query& query, Bytes name) {
  waiter.client = frame.source.bytes;
  waiter.server = frame.destination.bytes;
  waiter.client_port = frame.source_port;
  waiter.server_port = frame.destination_port;
  waiter.id = query.id;
  waiter.flags = query.flags;
  waiter.vlan_tci = frame.vlan_tci;
  waiter.udp_size = query.edns.udp_size;
  waiter.client_mac = frame.source_mac;
  waiter.bits = static_cast<uint8_t>(
      (frame.v6() ? kWaiterV6 : 0) | (frame.vlan_tags != 0 ? kWaiterTagged : 0) |
      (query.edns.present ? kWaiterEdns : 0) | (query.edns.dnssec_ok ? kWaiterDo : 0));
  waiter.capitals.fill(0);
  for (size_t i = 0; i < name.size(); ++i) {
    if (dns::ascii_lower(name[i]) != name[i]) waiter.capitals[i / 8] |= 1 << (i % 8);
  }
}

dns::Query query_of(const Waiter& waiter, uint16_t name_bytes, uint16_t type) {
  dns::Query query;
  query.id = waiter.id;
  query.flags = waiter.flags;
  query.qname_bytes = name_bytes;
  query.qtype = type;
  query.qclass = static_cast<uint16_t>(dns::RrClass::kIn);
  query.edns.present = (waiter.bits & kWaiterEdns) != 0;
  query.edns.dnssec_ok = (waiter.bits & kWaiterDo) != 0;
  query.edns.udp_size = waiter.udp_size;
  return query;
}

net::DatagramHeaders reply_headers_of(const Waiter& waiter) {
  const IpFamily family = (waiter.bits & kWaiterV6) != 0 ? IpFamily::kV6 : IpFamily::kV4;
  net::DatagramHeaders headers;
  headers.destination_mac = waiter.client_mac;
  headers.source = IpAddress{waiter.server, family};
  headers.destination = IpAddress{waiter.client, family};
  headers.source_port = waiter.server_port;
  headers.destination_port = waiter.client_port;
  headers.vlan_tci = waiter.vlan_tci;
  headers.tagged = (waiter.bits & kWaiterTagged) != 0;
  return headers;
}

void restore_case(const Waiter& waiter, Bytes name, uint8_t* out) {
  for (size_t i = 0; i < name.size(); ++i) {
    const bool capital = (waiter.capitals[i / 8] >> (i % 8) & 1) != 0;
    out[i] = capital ? static_cast<uint8_t>(name[i] & ~0x20) : name[i];
  }
}

WaiterPool::WaiterPool(uint32_t capacity)
    : waiters_(std::make_unique_for_overwrite<Waiter[]>(capacity)), capacity_(capacity) {}

uint32_t WaiterPool::take() {
  uint32_t index = free_;
  if (index != kNoIndex) {
    free_ = waiters_[index].next;
  } else if (fresh_ < capacity_) {
    index = fresh_++;
  } else {
    return kNoIndex;
  }
  ++in_use_;
  return index;
}

void WaiterPool::give_back(uint32_t index) {
  waiters_[index].next = free_;
  free_ = index;
  --in_use_;
}

}  // namespace wirecache::upstream

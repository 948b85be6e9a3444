#include "lib/control/neighbours.h"

#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/control/netlink_address.h"

namespace wirecache::control {
namespace {

constexpr uint16_t kUsable =
    NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP;

struct Attributes {
  const nlattr* destination = nullptr;
  const nlattr* mac = nullptr;
};

int take_attribute(const nlattr* attribute, void* data) {
  auto* out = static_cast<Attributes*>(data);
  switch (mnl_attr_get_type(attribute)) {
    case NDA_DST:
      out->destination = attribute;
      break;
    case NDA_LLADDR:
      out->mac = attribute;
      break;
    default:
      break;
  }
  return MNL_CB_OK;
}

struct alignas(nlmsghdr) RequestBuffer {
  char bytes[128];
};

nlmsghdr* neighbour_request(RequestBuffer& buffer, unsigned ifindex, const IpAddress& address) {
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.bytes);
  message->nlmsg_type = RTM_NEWNEIGH;
  auto* body = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
  body->ndm_family = netlink_family(address);
  body->ndm_ifindex = static_cast<int>(ifindex);
  mnl_attr_put(message, NDA_DST, address.size(), address.bytes.data());
  return message;
}

}  // namespace

Expected<NeighbourTable> NeighbourTable::open() {
  auto events = NetlinkSocket::open(RTMGRP_NEIGH);
  if (!events) return Unexpected<Error>(events.error());
  auto requests = NetlinkSocket::open(0);
  if (!requests) return Unexpected<Error>(requests.error());
  NeighbourTable table(std::move(*events), std::move(*requests));
  // Subscribed first: a change during the dump arrives as an event after it. An interrupted dump is
  // repeated by the first poll().
  const int error = table.reload();
  if (error != 0 && error != EINTR)
    return fail(std::string("cannot read the neighbour table: ") + std::strerror(error));
  return table;
}

int NeighbourTable::reload() {
  struct {
    nlmsghdr header;
    ndmsg body;
  } buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(&buffer);
  message->nlmsg_type = RTM_GETNEIGH;
  mnl_nlmsg_put_extra_header(message, sizeof(ndmsg));
  Map fresh;
  const int error = requests_.dump(message, [&](const nlmsghdr* entry) { apply(entry, fresh); });
  reload_due_ = error != 0;
  if (error == 0) usable_ = std::move(fresh);
  return error;
}

bool NeighbourTable::apply(const nlmsghdr* message, Map& map) {
  const bool removed = message->nlmsg_type == RTM_DELNEIGH;
  if (!removed && message->nlmsg_type != RTM_NEWNEIGH) return false;
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(ndmsg))) return false;
  const auto* body = static_cast<const ndmsg*>(mnl_nlmsg_get_payload(message));
  if ((body->ndm_flags & NTF_PROXY) != 0) return false;
  Attributes attributes;
  mnl_attr_parse(message, sizeof(ndmsg), take_attribute, &attributes);
  const auto address = address_of(body->ndm_family, attributes.destination);
  if (!address) return false;
  const Key key{static_cast<unsigned>(body->ndm_ifindex), *address};

  const bool has_mac = attributes.mac != nullptr && mnl_attr_get_payload_len(attributes.mac) == 6;
  if (removed || (body->ndm_state & kUsable) == 0 || !has_mac) return map.erase(key) > 0;
  const MacAddress mac =
      MacAddress::from(static_cast<const uint8_t*>(mnl_attr_get_payload(attributes.mac)));
  const auto [entry, added] = map.try_emplace(key, Entry{mac, body->ndm_state});
  const bool changed = added || entry->second.mac != mac;
  entry->second = {mac, body->ndm_state};
  return changed;
}

bool NeighbourTable::same_answers(const Map& a, const Map& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.mac == y.second.mac;
  });
}

Expected<void> NeighbourTable::request(unsigned ifindex, const IpAddress& address) {
  RequestBuffer buffer;
  nlmsghdr* message = neighbour_request(buffer, ifindex, address);
  message->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
  auto* body = static_cast<ndmsg*>(mnl_nlmsg_get_payload(message));
  body->ndm_state = NUD_NONE;
  body->ndm_flags = NTF_USE;  // "I am about to send there": resolves or confirms as a packet would
  if (const int error = requests_.request(message); error != 0)
    return fail("cannot resolve " + address.to_string() + ": " + std::strerror(error));
  return {};
}

Expected<void> NeighbourTable::probe(unsigned ifindex, const IpAddress& address) {
  const auto entry = usable_.find({ifindex, address});
  if (entry == usable_.end()) return request(ifindex, address);
  if ((entry->second.state & (NUD_PERMANENT | NUD_NOARP)) != 0) return {};
  RequestBuffer buffer;
  nlmsghdr* message = neighbour_request(buffer, ifindex, address);
  static_cast<ndmsg*>(mnl_nlmsg_get_payload(message))->ndm_state = NUD_PROBE;
  // Refused where the kernel has dropped the entry or its MAC since its last event.
  if (requests_.request(message) != 0) return request(ifindex, address);
  return {};
}

bool NeighbourTable::poll() {
  bool changed = false;
  const int error =
      events_.drain([&](const nlmsghdr* message) { changed |= apply(message, usable_); });
  if (error != 0) reload_due_ = true;
  if (!reload_due_) return changed;
  const Map before = usable_;
  if (reload() != 0) return changed;
  return changed || !same_answers(before, usable_);
}

std::optional<MacAddress> NeighbourTable::lookup(unsigned ifindex, const IpAddress& address) const {
  const auto entry = usable_.find({ifindex, address});
  if (entry == usable_.end()) return std::nullopt;
  return entry->second.mac;
}

}  // namespace wirecache::control

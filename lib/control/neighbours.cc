#include "lib/control/neighbours.h"

#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

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

std::optional<IpAddress> address_of(uint8_t family, const nlattr* attribute) {
  if (attribute == nullptr) return std::nullopt;
  const auto* bytes = static_cast<const uint8_t*>(mnl_attr_get_payload(attribute));
  const size_t size = mnl_attr_get_payload_len(attribute);
  if (family == AF_INET && size == 4) return IpAddress::v4(bytes);
  if (family == AF_INET6 && size == 16) return IpAddress::v6(bytes);
  return std::nullopt;
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
  const auto [entry, added] = map.try_emplace(key, mac);
  if (!added && entry->second == mac) return false;
  entry->second = mac;
  return true;
}

Expected<void> NeighbourTable::request(unsigned ifindex, const IpAddress& address) {
  alignas(nlmsghdr) char buffer[128];
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_type = RTM_NEWNEIGH;
  message->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
  auto* body = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
  body->ndm_family = address.is_v6() ? AF_INET6 : AF_INET;
  body->ndm_ifindex = static_cast<int>(ifindex);
  body->ndm_state = NUD_NONE;
  body->ndm_flags = NTF_USE;  // "I am about to send there": resolves or confirms as a packet would
  mnl_attr_put(message, NDA_DST, address.size(), address.bytes.data());
  if (const int error = requests_.request(message); error != 0)
    return fail("cannot resolve " + address.to_string() + ": " + std::strerror(error));
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
  return changed || before != usable_;
}

std::optional<MacAddress> NeighbourTable::lookup(unsigned ifindex, const IpAddress& address) const {
  const auto entry = usable_.find({ifindex, address});
  if (entry == usable_.end()) return std::nullopt;
  return entry->second;
}

}  // namespace wirecache::control

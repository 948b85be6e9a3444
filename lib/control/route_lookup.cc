#include "lib/control/route_lookup.h"

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "lib/control/netlink_address.h"

namespace wirecache::control {
namespace {

constexpr uint64_t kQuietUs = 50'000;

constexpr unsigned group_bit(unsigned group) {
  return 1u << (group - 1);
}
constexpr unsigned kGroups = group_bit(RTNLGRP_LINK) | group_bit(RTNLGRP_IPV4_IFADDR) |
                             group_bit(RTNLGRP_IPV6_IFADDR) | group_bit(RTNLGRP_IPV4_ROUTE) |
                             group_bit(RTNLGRP_IPV6_ROUTE) | group_bit(RTNLGRP_IPV4_RULE) |
                             group_bit(RTNLGRP_IPV6_RULE) | group_bit(RTNLGRP_NEXTHOP);

struct Attributes {
  const nlattr* gateway = nullptr;
  const nlattr* via = nullptr;
  const nlattr* interface = nullptr;
  const nlattr* preferred_source = nullptr;
  const nlattr* multipath = nullptr;
  bool next_hop_object = false;
};

int take_attribute(const nlattr* attribute, void* data) {
  auto* out = static_cast<Attributes*>(data);
  switch (mnl_attr_get_type(attribute)) {
    case RTA_GATEWAY:
      out->gateway = attribute;
      break;
    case RTA_VIA:
      out->via = attribute;
      break;
    case RTA_OIF:
      out->interface = attribute;
      break;
    case RTA_PREFSRC:
      out->preferred_source = attribute;
      break;
    case RTA_MULTIPATH:
      out->multipath = attribute;
      break;
    case RTA_NH_ID:
      out->next_hop_object = true;
      break;
    default:
      break;
  }
  return MNL_CB_OK;
}

// RTA_VIA: the family as 16 bits, then the address.
std::optional<IpAddress> via_address(const nlattr* attribute) {
  const size_t size = mnl_attr_get_payload_len(attribute);
  uint16_t family = 0;
  if (size < sizeof family) return std::nullopt;
  const auto* bytes = static_cast<const uint8_t*>(mnl_attr_get_payload(attribute));
  std::memcpy(&family, bytes, sizeof family);
  return address_of(family, bytes + sizeof family, size - sizeof family);
}

// Sets what says how the next hop is reached; false where it cannot be understood.
bool take_gateway(unsigned family, const Attributes& attributes, NextHop& hop) {
  if (attributes.gateway != nullptr) hop.gateway = address_of(family, attributes.gateway);
  if (attributes.via != nullptr) hop.gateway = via_address(attributes.via);
  const bool named = attributes.gateway != nullptr || attributes.via != nullptr;
  return named == hop.gateway.has_value();
}

bool is_alive(unsigned flags) {
  return (flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) == 0;
}

// The list of rtnexthop records, each with attributes of its own.
void take_multipath(const rtmsg& route, const nlattr* list, std::vector<NextHop>& out) {
  const auto* at = static_cast<const char*>(mnl_attr_get_payload(list));
  size_t left = mnl_attr_get_payload_len(list);
  while (left >= sizeof(rtnexthop)) {
    rtnexthop record;
    std::memcpy(&record, at, sizeof record);
    if (record.rtnh_len < sizeof record || record.rtnh_len > left) return;
    Attributes attributes;
    mnl_attr_parse_payload(at + RTNH_LENGTH(0), record.rtnh_len - RTNH_LENGTH(0), take_attribute,
                           &attributes);
    NextHop hop;
    hop.ifindex = static_cast<unsigned>(record.rtnh_ifindex);
    if (is_alive(record.rtnh_flags) && take_gateway(route.rtm_family, attributes, hop))
      out.push_back(hop);
    const size_t step = RTNH_ALIGN(record.rtnh_len);
    if (step >= left) return;
    at += step;
    left -= step;
  }
}

// False where the answer names a next-hop object and nothing more (nexthop_compat_mode=0).
bool take_route(const nlmsghdr* message, Resolution& out) {
  if (message->nlmsg_type != RTM_NEWROUTE) return true;
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(rtmsg))) return true;
  const auto& route = *static_cast<const rtmsg*>(mnl_nlmsg_get_payload(message));
  if (route.rtm_type != RTN_UNICAST) {
    out.status = Resolution::Status::kRefused;
    return true;
  }
  Attributes attributes;
  mnl_attr_parse(message, sizeof(rtmsg), take_attribute, &attributes);
  if (attributes.multipath != nullptr) {
    take_multipath(route, attributes.multipath, out.next_hops);
  } else if (attributes.interface != nullptr) {
    NextHop hop;
    hop.ifindex = mnl_attr_get_u32(attributes.interface);
    if (is_alive(route.rtm_flags) && take_gateway(route.rtm_family, attributes, hop))
      out.next_hops.push_back(hop);
  } else if (attributes.next_hop_object) {
    return false;
  }
  for (NextHop& hop : out.next_hops)
    hop.preferred_source = address_of(route.rtm_family, attributes.preferred_source);
  return true;
}

}  // namespace

Expected<RouteLookup> RouteLookup::open() {
  auto events = NetlinkSocket::open(kGroups);
  if (!events) return Unexpected<Error>(events.error());
  auto requests = NetlinkSocket::open(0);
  if (!requests) return Unexpected<Error>(requests.error());
  return RouteLookup(std::move(*events), std::move(*requests));
}

int RouteLookup::ask(const IpAddress& destination, unsigned interface, unsigned flags,
                     Resolution& out) {
  alignas(nlmsghdr) char buffer[128];
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_type = RTM_GETROUTE;
  auto* route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(rtmsg)));
  route->rtm_family = netlink_family(destination);
  route->rtm_dst_len = static_cast<uint8_t>(destination.size() * 8);
  route->rtm_flags = flags;
  mnl_attr_put(message, RTA_DST, destination.size(), destination.bytes.data());
  if (interface != kAnyInterface) mnl_attr_put_u32(message, RTA_OIF, interface);
  bool complete = true;
  const int error = requests_.query(
      message, [&](const nlmsghdr* answer) { complete &= take_route(answer, out); });
  if (error != 0 || complete || flags == 0) return error;
  // The kernel's choice among the object's next hops, which it names in any case.
  return ask(destination, interface, 0, out);
}

Expected<Resolution> RouteLookup::resolve(const IpAddress& destination, unsigned interface) {
  Resolution result;
  switch (const int error = ask(destination, interface, RTM_F_FIB_MATCH, result); error) {
    case 0:
      break;
    case ENETUNREACH:
    case ENODEV:
    case ENETDOWN:
      return result;
    // What blackhole, unreachable, prohibit and throw routes come to. Also a destination that the
    // kernel would look for on `interface` without a route.
    case EINVAL:
    case EHOSTUNREACH:
    case EACCES:
    case EAGAIN:
      result.status = Resolution::Status::kRefused;
      return result;
    default:
      return fail("cannot ask for the route to " + destination.to_string() + ": " +
                  std::strerror(error));
  }
  // A route with several next hops names them all, whatever interface was asked for.
  if (interface != kAnyInterface)
    std::erase_if(result.next_hops, [&](const NextHop& hop) { return hop.ifindex != interface; });
  if (!result.next_hops.empty()) result.status = Resolution::Status::kFound;
  return result;
}

bool RouteLookup::poll(uint64_t now_us) {
  if (events_.drain([&](const nlmsghdr*) { news_ = true; }) != 0) news_ = true;
  if (!news_ || now_us < quiet_until_us_) return false;
  news_ = false;
  quiet_until_us_ = now_us + kQuietUs;
  return true;
}

}  // namespace wirecache::control

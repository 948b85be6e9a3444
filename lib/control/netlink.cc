#include "lib/control/netlink.h"

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cerrno>
#include <cstring>

#include "lib/control/netlink_address.h"

namespace wirecache::control {
namespace {

// Room for one request with a few attributes, or a route with as many gateways as there may be.
struct alignas(nlmsghdr) RequestBuffer {
  char bytes[2048];
};
constexpr size_t kMaxGateways = 32;

// Above 0 (ip-route(8), IPv4), 1024 (systemd-networkd, and what the kernel gives IPv6 routes) and
// the hundreds of NetworkManager.
constexpr uint32_t kRouteMetric = 2048;

nlmsghdr* link_request(RequestBuffer& buffer, unsigned ifindex, ifinfomsg** link) {
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.bytes);
  message->nlmsg_type = RTM_NEWLINK;
  *link = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifinfomsg)));
  (*link)->ifi_family = AF_UNSPEC;
  (*link)->ifi_index = static_cast<int>(ifindex);
  return message;
}

std::string interface_text(unsigned ifindex) {
  char name[IF_NAMESIZE];
  if (if_indextoname(ifindex, name) != nullptr) return name;
  return "interface " + std::to_string(ifindex);
}

void put_next_hops(nlmsghdr* message, const std::vector<Gateway>& gateways) {
  nlattr* list = mnl_attr_nest_start(message, RTA_MULTIPATH);
  for (const Gateway& gateway : gateways) {
    auto* hop = static_cast<rtnexthop*>(mnl_nlmsg_get_payload_tail(message));
    const uint32_t start = message->nlmsg_len;
    *hop = {};
    message->nlmsg_len += sizeof *hop;
    mnl_attr_put(message, RTA_GATEWAY, gateway.address.size(), gateway.address.bytes.data());
    hop->rtnh_len = static_cast<uint16_t>(message->nlmsg_len - start);
    hop->rtnh_ifindex = static_cast<int>(gateway.ifindex);
  }
  mnl_attr_nest_end(message, list);
}

}  // namespace

Expected<Netlink> Netlink::open() {
  auto socket = NetlinkSocket::open(0);
  if (!socket) return Unexpected<Error>(socket.error());
  return Netlink(std::move(*socket));
}

Expected<unsigned> Netlink::link_index(const std::string& name) {
  const unsigned ifindex = if_nametoindex(name.c_str());
  if (ifindex == 0) return fail("there is no network interface " + name);
  return ifindex;
}

Expected<void> Netlink::set_link_up(unsigned ifindex) {
  RequestBuffer buffer;
  ifinfomsg* link = nullptr;
  nlmsghdr* message = link_request(buffer, ifindex, &link);
  link->ifi_flags = IFF_UP;
  link->ifi_change = IFF_UP;
  if (const int error = socket_.request(message); error != 0)
    return fail("cannot bring up " + interface_text(ifindex) + ": " + std::strerror(error));
  return {};
}

Expected<void> Netlink::set_mtu(unsigned ifindex, uint32_t mtu) {
  RequestBuffer buffer;
  ifinfomsg* link = nullptr;
  nlmsghdr* message = link_request(buffer, ifindex, &link);
  mnl_attr_put_u32(message, IFLA_MTU, mtu);
  if (const int error = socket_.request(message); error != 0)
    return fail("cannot set the MTU of " + interface_text(ifindex) + " to " + std::to_string(mtu) +
                ": " + std::strerror(error));
  return {};
}

Expected<void> Netlink::add_address(unsigned ifindex, const IpPrefix& prefix) {
  const IpAddress& address = prefix.address;
  RequestBuffer buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.bytes);
  message->nlmsg_type = RTM_NEWADDR;
  message->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
  auto* body = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifaddrmsg)));
  body->ifa_family = netlink_family(address);
  body->ifa_prefixlen = prefix.length;
  body->ifa_flags = address.is_v6() ? IFA_F_NODAD : 0;
  body->ifa_scope = RT_SCOPE_UNIVERSE;
  body->ifa_index = ifindex;
  mnl_attr_put(message, IFA_LOCAL, address.size(), address.bytes.data());
  mnl_attr_put(message, IFA_ADDRESS, address.size(), address.bytes.data());
  const int error = socket_.request(message);
  if (error != 0 && error != EEXIST)
    return fail("cannot give " + prefix.to_string() + " to " + interface_text(ifindex) + ": " +
                std::strerror(error));
  return {};
}

Expected<void> Netlink::set_carrier(unsigned ifindex, LinkState state) {
  RequestBuffer buffer;
  ifinfomsg* link = nullptr;
  nlmsghdr* message = link_request(buffer, ifindex, &link);
  mnl_attr_put_u8(message, IFLA_CARRIER, state == LinkState::kUp ? 1 : 0);
  if (const int error = socket_.request(message); error != 0)
    return fail("cannot set the carrier of " + interface_text(ifindex) + ": " +
                std::strerror(error));
  return {};
}

Expected<void> Netlink::add_route(const IpPrefix& network, const std::vector<Gateway>& gateways) {
  if (gateways.empty() || gateways.size() > kMaxGateways)
    return fail("a route needs 1 to " + std::to_string(kMaxGateways) + " gateways");
  RequestBuffer buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.bytes);
  message->nlmsg_type = RTM_NEWROUTE;
  message->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
  auto* body = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(rtmsg)));
  body->rtm_family = netlink_family(network.address);
  body->rtm_dst_len = network.length;
  body->rtm_table = RT_TABLE_MAIN;
  body->rtm_protocol = RTPROT_STATIC;
  body->rtm_scope = RT_SCOPE_UNIVERSE;
  body->rtm_type = RTN_UNICAST;
  mnl_attr_put(message, RTA_DST, network.address.size(), network.address.bytes.data());
  mnl_attr_put_u32(message, RTA_PRIORITY, kRouteMetric);
  if (gateways.size() == 1) {
    const Gateway& only = gateways.front();
    mnl_attr_put(message, RTA_GATEWAY, only.address.size(), only.address.bytes.data());
    mnl_attr_put_u32(message, RTA_OIF, only.ifindex);
  } else {
    put_next_hops(message, gateways);
  }
  if (const int error = socket_.request(message); error != 0)
    return fail("cannot add the route to " + network.to_string() + ": " + std::strerror(error));
  return {};
}

}  // namespace wirecache::control

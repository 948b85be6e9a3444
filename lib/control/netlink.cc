#include "lib/control/netlink.h"

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cerrno>
#include <cstring>

namespace wirecache::control {
namespace {

// Room for one request with a few attributes.
struct alignas(nlmsghdr) RequestBuffer {
  char bytes[512];
};

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
  body->ifa_family = address.is_v6() ? AF_INET6 : AF_INET;
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

}  // namespace wirecache::control

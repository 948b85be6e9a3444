#include "lib/control/link_monitor.h"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace wirecache::control {

Expected<LinkMonitor> LinkMonitor::open() {
  auto events = NetlinkSocket::open(RTMGRP_LINK);
  if (!events) return Unexpected<Error>(events.error());
  auto requests = NetlinkSocket::open(0);
  if (!requests) return Unexpected<Error>(requests.error());
  LinkMonitor monitor(std::move(*events), std::move(*requests));
  // Subscribed first: a change during the dump arrives as an event after it. An interrupted dump is
  // repeated by the first poll().
  const int error = monitor.reload();
  if (error != 0 && error != EINTR)
    return fail(std::string("cannot read the network interfaces: ") + std::strerror(error));
  return monitor;
}

int LinkMonitor::reload() {
  struct {
    nlmsghdr header;
    ifinfomsg body;
  } buffer;
  nlmsghdr* message = mnl_nlmsg_put_header(&buffer);
  message->nlmsg_type = RTM_GETLINK;
  mnl_nlmsg_put_extra_header(message, sizeof(ifinfomsg));
  Map fresh;
  const int error = requests_.dump(message, [&](const nlmsghdr* link) { apply(link, fresh); });
  reload_due_ = error != 0;
  if (error != 0) return error;
  for (auto& [ifindex, link] : fresh) {
    const auto before = links_.find(ifindex);
    if (before != links_.end()) link.times_set_up = before->second.times_set_up + link.set_up;
  }
  links_ = std::move(fresh);
  return 0;
}

bool LinkMonitor::apply(const nlmsghdr* message, Map& map) {
  const bool removed = message->nlmsg_type == RTM_DELLINK;
  if (!removed && message->nlmsg_type != RTM_NEWLINK) return false;
  if (message->nlmsg_len < mnl_nlmsg_size(sizeof(ifinfomsg))) return false;
  const auto* body = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
  // Bridges tell of their ports in messages of their own: joining and leaving is no coming and
  // going.
  if (body->ifi_family != AF_UNSPEC) return false;
  const auto ifindex = static_cast<unsigned>(body->ifi_index);
  if (removed) return map.erase(ifindex) > 0;
  constexpr unsigned kRunning = IFF_UP | IFF_LOWER_UP;
  const LinkState state =
      (body->ifi_flags & kRunning) == kRunning ? LinkState::kUp : LinkState::kDown;
  const bool set_up = (body->ifi_flags & IFF_UP) != 0;
  const auto [entry, added] = map.try_emplace(ifindex);
  Link& link = entry->second;
  const bool changed = link.state != state;
  if (!added && set_up && !link.set_up) ++link.times_set_up;
  link.state = state;
  link.set_up = set_up;
  return changed;
}

bool LinkMonitor::same_states(const Map& a, const Map& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.state == y.second.state;
  });
}

bool LinkMonitor::poll() {
  bool changed = false;
  const int error =
      events_.drain([&](const nlmsghdr* message) { changed |= apply(message, links_); });
  if (error != 0) reload_due_ = true;
  if (!reload_due_) return changed;
  const Map before = links_;
  if (reload() != 0) return changed;
  return changed || !same_states(before, links_);
}

LinkState LinkMonitor::state(unsigned ifindex) const {
  const auto link = links_.find(ifindex);
  return link == links_.end() ? LinkState::kDown : link->second.state;
}

uint64_t LinkMonitor::times_set_up(unsigned ifindex) const {
  const auto link = links_.find(ifindex);
  return link == links_.end() ? 0 : link->second.times_set_up;
}

}  // namespace wirecache::control

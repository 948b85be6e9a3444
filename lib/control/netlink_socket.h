// An rtnetlink socket (libmnl): owning handle, one acknowledged request, one dump, events.
//
// Invariant: after request(), query() or dump() nothing of its answer is left unread. Thread: one
// at a time; blocking.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/expected.h"

namespace wirecache::control {

class NetlinkSocket {
 public:
  // `groups`: bits of RTMGRP_* to subscribe to, 0 for none.
  static Expected<NetlinkSocket> open(unsigned groups);

  // Sends the request (NLM_F_REQUEST and NLM_F_ACK are added) and waits for its acknowledgement.
  // Returns 0 or the kernel's errno.
  int request(nlmsghdr* message);
  // The same for a request that has an answer besides; `each` is called for every message of it.
  int query(nlmsghdr* message, const std::function<void(const nlmsghdr*)>& each);
  // The same for a dump; `each` is called for every message of the answer.
  int dump(nlmsghdr* message, const std::function<void(const nlmsghdr*)>& each);
  // Reads what has arrived unasked, without blocking. Returns 0 when there is no more, or an errno
  // (ENOBUFS: events were lost; what was left of the older ones has been read all the same, so that
  // a dump made now is newer than all of them).
  int drain(const std::function<void(const nlmsghdr*)>& each);

 private:
  struct Close {
    void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
  };
  explicit NetlinkSocket(mnl_socket* socket);
  int exchange(nlmsghdr* message, const std::function<void(const nlmsghdr*)>& each);

  std::unique_ptr<mnl_socket, Close> socket_;
  std::vector<char> buffer_;
  uint32_t sequence_ = 0;
};

}  // namespace wirecache::control

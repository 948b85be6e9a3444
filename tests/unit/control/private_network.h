// A network namespace of the test process's own with a veth pair "va" - "vb" in it, for tests of
// what talks to the kernel. It ends with the process. The sysctls of /proc/sys/net follow it.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace wirecache::control {

inline bool run(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

// Makes it at the first call. "" or why there is none.
inline std::string enter_private_network() {
  if (geteuid() != 0) return "needs root";
  static const bool entered = unshare(CLONE_NEWNET) == 0;
  if (!entered) return "no network namespace here";
  static const bool made =
      run("ip link set lo up && ip link add va type veth peer name vb && "
          "ip link set va up && ip link set vb up");
  return made ? "" : "no ip command or no veth here";
}

// A second namespace, held by a child process. Ends with this object.
class PeerNamespace {
 public:
  PeerNamespace() {
    int ready[2];
    if (pipe(ready) != 0) return;
    holder_ = fork();
    if (holder_ == 0) {
      if (unshare(CLONE_NEWNET) != 0 || write(ready[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ready[1]);
    char byte;
    entered_ = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
  }
  ~PeerNamespace() {
    if (holder_ <= 0) return;
    kill(holder_, SIGKILL);
    waitpid(holder_, nullptr, 0);
  }
  PeerNamespace(const PeerNamespace&) = delete;
  PeerNamespace& operator=(const PeerNamespace&) = delete;

  // Moves an interface of ours there.
  bool take(const std::string& interface) const {
    return entered_ && run("ip link set " + interface + " netns " + std::to_string(holder_));
  }
  bool run_there(const std::string& command) const {
    return entered_ && run("nsenter -t " + std::to_string(holder_) + " -n sh -c '" + command + "'");
  }

 private:
  pid_t holder_ = -1;
  bool entered_ = false;
};

#define WC_NEEDS_PRIVATE_NETWORK() \
  if (const std::string reason = enter_private_network(); !reason.empty()) GTEST_SKIP() << reason

}  // namespace wirecache::control

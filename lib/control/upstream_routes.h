// How each upstream server is reached from one NUMA node, kept up with the kernel's routes and
// neighbours: what the node's workers get in their snapshot.
//
// The kernel's routing table is the truth. A route that leads by an interface that is none of the
// node's exception ports, or by none that is alive, is asked for again for each of them: nodes
// share nothing, so each sends by its own ports. Invariant: table() is what the last refresh()
// decided. Thread: main only. Owns nothing but its table; the KernelNetwork and the configuration
// outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/config/config.h"
#include "lib/control/kernel_network.h"
#include "lib/control/link_state.h"
#include "lib/control/route_choice.h"
#include "lib/upstream/server_route.h"

namespace wirecache::control {

// What routing needs of an open port.
struct PortSide {
  std::string name;                // for the log
  unsigned exception_ifindex = 0;  // where the kernel has the port's routes and neighbours
  std::vector<IpPrefix> addresses;
  LinkState link = LinkState::kUp;
};

// Neighbours in use are probed this often: a dead one is known within 1.3 s.
inline constexpr uint64_t kProbeIntervalUs = 500'000;

class UpstreamRoutes {
 public:
  // The node's ports in the node's order. Decides at once, with the neighbours that are known.
  UpstreamRoutes(const config::UpstreamConfig& upstream, std::vector<PortSide> ports,
                 KernelNetwork& network);

  // What the port's device says of its link; takes effect with the next refresh().
  void set_link(size_t port, LinkState state);
  // Decides anew; call it after KernelNetwork::poll() was true, and after set_link(). True if the
  // table changed.
  bool refresh();
  // Has the kernel ask every next hop in use or in reserve for a sign of life, or resolve it. Every
  // kProbeIntervalUs.
  void probe();

  const upstream::RouteTable& table() const { return table_; }
  bool any_usable() const;
  // Lines for the operator about what has changed since the last call: "upstream 192.0.2.1: by
  // 10.53.0.254 on p0 from 10.53.0.7".
  std::vector<std::string> take_log();

 private:
  enum class Width : uint8_t {
    kBestRoute,  // candidates are those of the kernel's best route
    kAllPorts,   // and of the best by each port
    kRefused,    // and must be no others
  };
  struct Server {
    std::vector<Candidate> candidates;
    Width width = Width::kBestRoute;
    std::optional<Way> current;
    unsigned probes_in_vain = 0;  // since it had a neighbour
    std::string said;             // the last line about it
  };

  void resolve(size_t server);
  void add_candidates(size_t server, unsigned interface);
  void look_at_neighbours(size_t server);
  Choice decide(size_t server);
  bool apply(size_t server, const Choice& choice);
  void forget_unused_macs();
  void say(size_t server, const std::string& what);
  // Once for each problem, whatever repeats it.
  void complain(std::string& last, const std::string& problem);
  std::string describe(size_t server, const Choice& choice) const;

  KernelNetwork& network_;
  std::vector<PortSide> ports_;
  NodeAddresses addresses_;
  std::vector<Server> servers_;
  // Of all candidates, also after the kernel has given them up.
  std::map<std::pair<unsigned, IpAddress>, MacAddress> last_macs_;
  upstream::RouteTable table_;
  uint64_t resolved_generation_ = 0;
  std::vector<std::string> log_;
  std::string resolve_problem_;
  std::string probe_problem_;
};

}  // namespace wirecache::control

#include "lib/control/kernel_network.h"

namespace wirecache::control {
namespace {

constexpr uint64_t kLookUs = 1'000;
constexpr uint64_t kGenerationUs = 1'000'000;

}  // namespace

Expected<std::unique_ptr<KernelNetwork>> KernelNetwork::open() {
  auto neighbours = NeighbourTable::open();
  if (!neighbours) return Unexpected<Error>(neighbours.error());
  auto routes = RouteLookup::open();
  if (!routes) return Unexpected<Error>(routes.error());
  auto links = LinkMonitor::open();
  if (!links) return Unexpected<Error>(links.error());
  return std::unique_ptr<KernelNetwork>(
      new KernelNetwork(std::move(*neighbours), std::move(*routes), std::move(*links)));
}

bool KernelNetwork::poll(uint64_t now_us) {
  if (now_us < next_look_us_) return false;
  next_look_us_ = now_us + kLookUs;
  bool news = neighbours_.poll();
  news |= links_.poll();
  const bool routes_changed = routes_.poll(now_us);
  if (!routes_changed && now_us < next_generation_us_) return news;
  next_generation_us_ = now_us + kGenerationUs;
  ++route_generation_;
  return true;
}

}  // namespace wirecache::control

#include "app/start_log.h"

#include <algorithm>

namespace wirecache::app {
namespace {

std::string queues_of(const DataNode& node, unsigned worker) {
  std::string text;
  for (const worker::QueueRef& ref : node.node().plan().polled[worker])
    text += " " + node.ports()[ref.port_index].name() + "/" + std::to_string(ref.queue);
  return text.empty() ? " what others hand over" : text;
}

}  // namespace

std::string start_log(const config::Config& whole, const DataNode& node) {
  std::string text = "node " + std::to_string(node.group().numa_node) + ":";
  const std::vector<unsigned>& workers = node.group().workers;
  for (unsigned id = 0; id < workers.size(); ++id)
    text += " worker " + std::to_string(workers[id]) + " on CPU " +
            std::to_string(whole.cores.workers[workers[id]]) + " takes" + queues_of(node, id) + ",";
  const auto spread = [](const worker::PortRef& port) {
    return port.spread == worker::PortRef::Spread::kToOwner;
  };
  if (std::ranges::any_of(node.node().ports(), spread)) text += " queries are spread in software,";
  text += " " + std::to_string(node.packet_buffers()) + " packet buffers\n";
  for (const port::Port& port : node.ports()) text += port::describe(port);
  return text;
}

}  // namespace wirecache::app

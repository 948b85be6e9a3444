#include "lib/config/read_port.h"

#include <utility>

#include "lib/config/words.h"

namespace wirecache::config {
namespace {

constexpr int64_t kLastNumaNode = 31;  // RTE_MAX_NUMA_NODES - 1

// The length says which upstreams are neighbours, so it is never left to a default.
std::optional<std::string> add_port_address(const std::string& text,
                                            std::vector<IpPrefix>* target) {
  const auto prefix = IpPrefix::parse(text);
  if (!prefix || text.find('/') == std::string::npos)
    return "is not an address with a prefix length like \"10.53.0.1/24\"";
  target->push_back(*prefix);
  return std::nullopt;
}

void read_words(TableReader& table, std::string_view key, WordList known,
                std::optional<std::vector<std::string>>* target) {
  if (!table.has(key)) return;
  target->emplace();
  table.texts(key, [&](const std::string& text) { return add_word(text, known, &**target); });
}

// What replaces values of the driver's profile.
void read_overrides(TableReader& table, PortConfig* port) {
  table.integer("rx_descriptors", {kMinDescriptors, kMaxDescriptors}, &port->rx_descriptors);
  table.integer("tx_descriptors", {kMinDescriptors, kMaxDescriptors}, &port->tx_descriptors);
  table.integer("burst", {1, kMaxBurst}, &port->burst);
  read_words(table, "rss", rss_words(), &port->rss);
  read_words(table, "offloads", offload_words(), &port->offloads);
}

}  // namespace

void read_port(TableReader& table, std::vector<PortConfig>* ports) {
  PortConfig port;
  table.require("name");
  table.string("name", &port.name);
  table.require("device");
  table.string("device", &port.device);
  table.texts("addresses",
              [&](const auto& text) { return add_port_address(text, &port.addresses); });
  port.exception_interface = "wc-" + port.name;
  table.string("exception_interface", &port.exception_interface);
  table.integer("queues", {0, kMaxWorkers}, &port.queues);
  const TableReader::Words<Spread> spreads{
      {"auto", Spread::kAuto}, {"on", Spread::kOn}, {"off", Spread::kOff}};
  table.word("spread", spreads, &port.spread);
  table.integer("numa_node", {0, kLastNumaNode}, &port.numa_node);
  read_overrides(table, &port);
  ports->push_back(std::move(port));
}

void read_drivers(TableReader& table, DriversConfig* drivers) {
  table.string("profiles", &drivers->profiles);
}

}  // namespace wirecache::config

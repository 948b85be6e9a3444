// The checks that need more than one key of a configuration, or the machine.
//
// Called by parse_config() once every key has been read and has the right type and range. Each
// check adds what it finds to Problems, at the line of the key that the operator has to change.
// Pure functions; no thread rules.
#pragma once

#include <optional>
#include <string>

#include "lib/base/ip_address.h"
#include "lib/config/config.h"
#include "lib/config/machine.h"
#include "lib/config/problems.h"
#include "lib/config/toml_document.h"

namespace wirecache::config {

struct CheckContext {
  const Config& config;
  const Machine& machine;
  const SourceLines& lines;
  Problems* problems;

  // `path` as SourceLines takes it.
  void problem(const std::string& path, const std::string& message) const {
    problems->add(lines.line_of(path), message);
  }
};

void check_config(const CheckContext& context);

// Its parts.
void check_cores(const CheckContext& context);
void check_ports(const CheckContext& context);
void check_drivers(const CheckContext& context);
void check_addresses(const CheckContext& context);
void check_routes(const CheckContext& context);
void check_sources(const CheckContext& context);
void check_listen(const CheckContext& context);
void check_clients(const CheckContext& context);
void check_cache(const CheckContext& context);
void check_upstream(const CheckContext& context);

bool is_our_own(const Config& config, const IpAddress& address);

// The port's network that holds the address; nullptr: none does.
const IpPrefix* network_of(const Config& config, const IpAddress& address);

// The prefix with its host bits all zero.
IpPrefix network_part(const IpPrefix& prefix);

// Why no host can have this address in this network, or nothing: "is a multicast address".
std::optional<std::string> host_address_problem(const IpPrefix& prefix);

}  // namespace wirecache::config

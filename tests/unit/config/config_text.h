// A correct configuration as text, for tests to spoil, and the machine that it fits.
//
// Lines are numbered from 1 as in the errors; edit() keeps the numbers of the lines before.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "lib/config/parse_config.h"

namespace wirecache::config {

inline Machine test_machine() {
  return Machine{4, UdpPortRange{32768, 60999}};
}

inline const std::string kText =
    "[cores]\n"                                         // 1
    "main = 0\n"                                        // 2
    "workers = [1, 2]\n"                                // 3
    "[[port]]\n"                                        // 4
    "name = \"p0\"\n"                                   // 5
    "device = \"net_af_xdp0,iface=eth1\"\n"             // 6
    "addresses = [\"10.53.0.1/24\", \"fd53::1/64\"]\n"  // 7
    "[listen]\n"                                        // 8
    "port = 53\n"                                       // 9
    "[upstream]\n"                                      // 10
    "source_ports = \"10000-32767\"\n"                  // 11
    "[[upstream.server]]\n"                             // 12
    "address = \"10.53.0.2\"\n";                        // 13

// kText with one piece of it replaced.
inline std::string edit(const std::string& piece, const std::string& replacement) {
  std::string text = kText;
  const size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  if (at != std::string::npos) text.replace(at, piece.size(), replacement);
  return text;
}

inline Expected<Config> parse(const std::string& text) {
  return parse_config_for(test_machine(), text, "w.toml");
}

// "" where the text is right.
inline std::string error_of(const std::string& text) {
  const auto config = parse(text);
  return config ? "" : config.error().message;
}

}  // namespace wirecache::config

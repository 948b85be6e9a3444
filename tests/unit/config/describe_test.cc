#include "lib/config/describe.h"

#include "tests/unit/config/config_text.h"

namespace wirecache::config {
namespace {

TEST(Describe, ALineForEachPart) {
  const auto config = parse(kText);
  ASSERT_TRUE(config);
  EXPECT_EQ(describe(*config),
            "cores: main 0, workers 1 2, poll when idle\n"
            "port p0: net_af_xdp0,iface=eth1, addresses 10.53.0.1/24 fd53::1/64, exception "
            "interface wc-p0, queues as many as workers\n"
            "listen: 10.53.0.1 fd53::1 and loopback, port 53\n"
            "clients: 127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 ::1/128 "
            "fc00::/7 fe80::/10, others refused\n"
            "upstream: 10.53.0.2:53, from ports 10000-32767, try 400 ms, deadline 1900 ms\n"
            "cache: 64 MiB, TTL 0 to 86400 s, negative to 3600 s, failures 5 s\n"
            "metrics: 127.0.0.1:9353\n");
}

TEST(Describe, WhatIsNotTheDefault) {
  const auto config = parse(
      "cores = {workers = [1, 1], idle = \"yield\", oversubscribe = true}\n"
      "clients = {allow = [\"10.0.0.0/8\"], refuse = \"drop\"}\n"
      "metrics = {listen = \"\"}\n"
      "listen = {loopback = false}\n"
      "upstream.sources = [\"fd53::2\"]\n"
      "[[port]]\nname = \"p1\"\ndevice = \"0000:3b:00.0\"\naddresses = [\"fd53::1/64\", "
      "\"fd53::2/64\"]\n"
      "queues = 2\nspread = \"on\"\nnuma_node = 1\nrx_descriptors = 512\ntx_descriptors = 256\n"
      "burst = 16\nrss = []\noffloads = [\"tx-fast-free\", \"rx-udp-checksum\"]\n"
      "[[route]]\nto = \"::/0\"\nvia = [\"fd53::fe\", \"fd53::fd\"]\n"
      "[[upstream.server]]\naddress = \"2001:db8::2\"\nport = 5353\ntrust_ad = true\n");
  ASSERT_TRUE(config) << config.error().message;
  const std::string text = describe(*config);
  for (const char* part :
       {"workers 1 1, yield when idle, oversubscribed\n",
        "interface wc-p1, queues 2, spread in software, NUMA node 1, "
        "RX descriptors 512, TX descriptors 256, burst 16, RSS none, offloads "
        "tx-fast-free rx-udp-checksum\n",
        "clients: 10.0.0.0/8, others dropped\n", "listen: fd53::1, port 53\n",
        "route: ::/0 via fd53::fe fd53::fd\n",
        "upstream: [2001:db8::2]:5353 (AD trusted), from fd53::2 ports", "metrics: off\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace wirecache::config

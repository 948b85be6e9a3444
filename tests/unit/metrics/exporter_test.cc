#include "lib/metrics/exporter.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/metrics/http_get.h"

namespace wirecache::metrics {
namespace {

class ExporterTest : public testing::Test {
 protected:
  Exporter::Options options() {
    Exporter::Options options;
    options.address = "127.0.0.1";
    options.port = 0;
    options.sources.nodes = {{"0", {"p0"}}};
    options.sources.workers = {{&workers_[0], 0, 0, 1}, {&workers_[1], 1, 0, 2}};
    options.healthy = [this] { return healthy_.load(); };
    options.ready = [this] { return ready_.load(); };
    return options;
  }
  void start() {
    auto started = Exporter::start(options());
    ASSERT_TRUE(started.has_value()) << started.error().message;
    exporter_ = std::move(*started);
  }
  std::string get(const std::string& path) {
    return http_get("127.0.0.1", exporter_->port(), path);
  }

  stats::WorkerStats workers_[2];
  std::atomic<bool> healthy_{true};
  std::atomic<bool> ready_{true};
  std::unique_ptr<Exporter> exporter_;
};

bool starts_with(const std::string& text, std::string_view head) {
  return text.compare(0, head.size(), head) == 0;
}

TEST_F(ExporterTest, Healthz) {
  start();
  std::string response = get("/healthz");
  EXPECT_TRUE(starts_with(response, "HTTP/1.1 200 ")) << response;
  EXPECT_EQ(body_of(response), "ok\n");
  healthy_ = false;
  response = get("/healthz");
  EXPECT_TRUE(starts_with(response, "HTTP/1.1 503 ")) << response;
  EXPECT_EQ(body_of(response), "not healthy: a worker stands still\n");
}

TEST_F(ExporterTest, Readyz) {
  ready_ = false;
  start();
  std::string response = get("/readyz");
  EXPECT_TRUE(starts_with(response, "HTTP/1.1 503 ")) << response;
  EXPECT_EQ(body_of(response), "not ready: starting or stopping\n");
  ready_ = true;
  response = get("/readyz");
  EXPECT_TRUE(starts_with(response, "HTTP/1.1 200 ")) << response;
  EXPECT_EQ(body_of(response), "ready\n");
  healthy_ = false;
  response = get("/readyz");
  EXPECT_TRUE(starts_with(response, "HTTP/1.1 503 ")) << response;
  EXPECT_EQ(body_of(response), "not ready: not healthy\n");
}

TEST_F(ExporterTest, MetricsAreReadAtTheScrape) {
  start();
  workers_[1].ports[0].received.add(7);
  const std::string response = get("/metrics");
  EXPECT_TRUE(starts_with(response, "HTTP/1.1 200 ")) << response;
  EXPECT_NE(response.find("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  EXPECT_NE(response.find("\nwirecache_packets_received_total{worker=\"1\",port=\"p0\"} 7\n"),
            std::string::npos);
  workers_[1].ports[0].received.add(1);
  EXPECT_NE(
      get("/metrics").find("\nwirecache_packets_received_total{worker=\"1\",port=\"p0\"} 8\n"),
      std::string::npos);
}

TEST_F(ExporterTest, QueryStringIsIgnored) {
  start();
  EXPECT_TRUE(starts_with(get("/healthz?verbose"), "HTTP/1.1 200 "));
}

TEST_F(ExporterTest, OtherPathsAndMethods) {
  start();
  EXPECT_TRUE(starts_with(get("/"), "HTTP/1.1 404 "));
  EXPECT_TRUE(starts_with(get("/metrics/x"), "HTTP/1.1 404 "));
  const std::string post =
      http_exchange("127.0.0.1", exporter_->port(),
                    "POST /metrics HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_TRUE(starts_with(post, "HTTP/1.1 405 ")) << post;
  EXPECT_NE(post.find("\r\nAllow: GET, HEAD\r\n"), std::string::npos);
}

TEST_F(ExporterTest, HeadHasTheHeadersOnly) {
  start();
  const std::string head =
      http_exchange("127.0.0.1", exporter_->port(),
                    "HEAD /healthz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(starts_with(head, "HTTP/1.1 200 ")) << head;
  EXPECT_NE(head.find("\r\nContent-Length: 3\r\n"), std::string::npos);
  EXPECT_EQ(body_of(head), "");
}

TEST_F(ExporterTest, ConnectionIsKeptForTheNextRequest) {
  start();
  const std::string both =
      http_exchange("127.0.0.1", exporter_->port(),
                    "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n"
                    "GET /readyz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  EXPECT_NE(both.find("ok\n"), std::string::npos) << both;
  EXPECT_NE(both.find("ready\n"), std::string::npos) << both;
}

TEST_F(ExporterTest, ListensOnIpv6) {
  Exporter::Options ipv6 = options();
  ipv6.address = "::1";
  auto started = Exporter::start(ipv6);
  if (!started && started.error().message.find("Cannot assign") != std::string::npos)
    GTEST_SKIP() << "no IPv6 loopback here: " << started.error().message;
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_EQ(body_of(http_get("::1", (*started)->port(), "/healthz")), "ok\n");
}

TEST_F(ExporterTest, PortInUseIsOneLine) {
  start();
  Exporter::Options second = options();
  second.port = exporter_->port();
  const auto failed = Exporter::start(second);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "metrics: cannot listen on 127.0.0.1:" +
                                        std::to_string(second.port) + ": Address already in use");
}

TEST_F(ExporterTest, ForeignAddressIsOneLine) {
  Exporter::Options foreign = options();
  foreign.address = "192.0.2.1";  // RFC 5737: nobody's
  foreign.port = 9353;
  const auto failed = Exporter::start(foreign);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message,
            "metrics: cannot listen on 192.0.2.1:9353: Cannot assign requested address");
}

TEST_F(ExporterTest, NoAddressIsOneLine) {
  Exporter::Options wrong = options();
  wrong.address = "localhost";
  wrong.port = 9353;
  const auto failed = Exporter::start(wrong);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "metrics: cannot listen on localhost:9353: not an IP address");
}

TEST_F(ExporterTest, PortIsFreeAfterTheEnd) {
  start();
  Exporter::Options again = options();
  again.port = exporter_->port();
  EXPECT_EQ(body_of(get("/healthz")), "ok\n");
  exporter_.reset();
  EXPECT_EQ(http_get("127.0.0.1", again.port, "/healthz"), "");
  const auto started = Exporter::start(again);
  ASSERT_TRUE(started.has_value()) << started.error().message;
}

// One silent client must not keep the others from being served.
TEST_F(ExporterTest, SilentConnectionsBlockNobody) {
  start();
  std::vector<std::thread> silent;
  std::atomic<int> closed{0};
  for (int i = 0; i < 4; ++i) {
    silent.emplace_back([&, port = exporter_->port()] {
      (void)http_exchange("127.0.0.1", port, "GET /healthz HTTP/1.1\r\n");
      ++closed;
    });
  }
  EXPECT_EQ(body_of(get("/healthz")), "ok\n");
  exporter_.reset();  // closes them as well
  for (std::thread& thread : silent) thread.join();
  EXPECT_EQ(closed, 4);
}

TEST_F(ExporterTest, ScrapesWhileCountersMove) {
  start();
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    while (!stop) {
      workers_[0].ports[0].received.add();
      workers_[0].hit_latency.record(300);
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_NE(get("/metrics").find("wirecache_hit_latency_seconds_count{worker=\"0\"} "),
              std::string::npos);
  stop = true;
  worker.join();
}

// How many threads this process has, and how many of them block SIGTERM, from /proc.
struct Threads {
  size_t all = 0;
  size_t blocking_sigterm = 0;
};
Threads count_threads() {
  Threads threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!starts_with(line, "SigBlk:")) continue;
      const uint64_t mask = std::stoull(line.substr(line.size() - 16), nullptr, 16);
      ++threads.all;
      threads.blocking_sigterm += mask >> (SIGTERM - 1) & 1;
    }
  }
  return threads;
}

// SIGTERM must reach main, whose thread is the only one that waits for it.
TEST_F(ExporterTest, ItsOneThreadTakesNoSignals) {
  const Threads before = count_threads();
  start();
  const Threads after = count_threads();
  EXPECT_EQ(after.all, before.all + 1);
  EXPECT_EQ(after.blocking_sigterm, before.blocking_sigterm + 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

}  // namespace
}  // namespace wirecache::metrics

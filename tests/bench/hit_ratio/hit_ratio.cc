// Hit ratios of the baselines and of the cache over the simulated traces, at the same number of
// bytes, as one JSON object.
//
// hit_ratio is over all requests of the second half of a trace, names asked once included;
// ordinary_hit_ratio over those that follow Zipf's law; live_ratio the bytes of fresh entries at
// the end over the capacity.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/hit_ratio/baselines.h"
#include "tests/bench/hit_ratio/partition_policy.h"
#include "tests/bench/hit_ratio/simulation.h"
#include "tests/support/eal.h"

namespace wirecache::bench {
namespace {

struct Setting {
  uint32_t names = 10'000'000;
  uint64_t requests_per_name = 4;  // ordinary ones; scan and flood come on top
  uint32_t requests_per_sec = 10'000;
  double scan_share = 0.25;
  double flood_share = 0.5;
  std::vector<double> exponents{0.9, 1.1};
  std::vector<double> capacity_percents{1, 5, 10};
  std::vector<std::string> disturbances{"none", "scan", "flood"};
  uint64_t seed = 1;
  std::string index = "compact";
};

// A baseline that pays for its index.
class Indexed : public Policy {
 public:
  explicit Indexed(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}
  Lookup get(NameId name, uint32_t now_sec) override { return policy_->get(name, now_sec); }
  void put(const Request& request) override {
    Request charged = request;
    charged.bytes += kIndexBytes;
    policy_->put(charged);
  }
  uint64_t live_bytes(uint32_t now_sec) const override { return policy_->live_bytes(now_sec); }

 private:
  std::unique_ptr<Policy> policy_;
};

template <typename Baseline>
Contestant baseline(const char* name, uint64_t capacity_bytes) {
  return {name, std::make_unique<Indexed>(std::make_unique<Baseline>(capacity_bytes))};
}

std::vector<Contestant> make_contestants(uint64_t capacity_bytes, const std::string& index) {
  std::vector<Contestant> contestants;
  contestants.push_back(baseline<Lru>("lru", capacity_bytes));
  contestants.push_back(baseline<Fifo>("fifo", capacity_bytes));
  contestants.push_back(baseline<S3Fifo>("s3_fifo", capacity_bytes));
  contestants.push_back({"ours", make_partition_policy(capacity_bytes, index)});
  return contestants;
}

// "key": {"lru": 0.5, ...}
std::string per_policy(const char* key, const std::vector<Contestant>& contestants,
                       const std::vector<double>& values) {
  std::string text = '"' + std::string(key) + "\": {";
  for (size_t i = 0; i < contestants.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.4f", values[i]);
    text += (i == 0 ? "\"" : ", \"") + contestants[i].name + "\": " + number;
  }
  return text + "}";
}

std::string run_json(const TraceOptions& options, const Setting& setting, uint64_t capacity_bytes) {
  std::vector<Contestant> contestants = make_contestants(capacity_bytes, setting.index);
  const double ordinary_share = 1 - options.scan_share - options.flood_share;
  const auto requests = static_cast<uint64_t>(
      static_cast<double>(setting.names * setting.requests_per_name) / ordinary_share);
  const TraceCounts run = run_trace(options, requests, contestants);
  std::vector<double> all;
  std::vector<double> ordinary;
  std::vector<double> live;
  for (const Outcome& outcome : run.outcomes) {
    const auto hits = static_cast<double>(outcome.hits);
    all.push_back(hits / static_cast<double>(run.requests));
    ordinary.push_back(hits / static_cast<double>(run.ordinary));
    live.push_back(static_cast<double>(outcome.live_bytes) / static_cast<double>(capacity_bytes));
  }
  return per_policy("hit_ratio", contestants, all) + ", " +
         per_policy("ordinary_hit_ratio", contestants, ordinary) + ", " +
         per_policy("live_ratio", contestants, live);
}

void print_traces(const Setting& setting) {
  const auto footprint = static_cast<double>(footprint_bytes(setting.names));
  const char* separator = "";
  for (const double exponent : setting.exponents) {
    for (const std::string& disturbance : setting.disturbances) {
      for (const double percent : setting.capacity_percents) {
        const TraceOptions options{.names = setting.names,
                                   .exponent = exponent,
                                   .requests_per_sec = setting.requests_per_sec,
                                   .scan_share = disturbance == "scan" ? setting.scan_share : 0,
                                   .flood_share = disturbance == "flood" ? setting.flood_share : 0,
                                   .seed = setting.seed};
        const auto capacity_bytes = static_cast<uint64_t>(footprint * percent / 100);
        std::cout << separator << "\n  {\"zipf\": " << exponent << ", \"disturbance\": \""
                  << disturbance << "\", \"capacity_percent\": " << percent
                  << ", \"capacity_bytes\": " << capacity_bytes << ", "
                  << run_json(options, setting, capacity_bytes) << "}" << std::flush;
        separator = ",";
      }
    }
  }
}

void print_churn(const Setting& setting) {
  constexpr uint64_t kCapacityBytes = 64 << 20;
  const char* separator = "";
  for (const uint32_t capacity_sec : {60, 600, 3600}) {
    std::vector<Contestant> contestants = make_contestants(kCapacityBytes, setting.index);
    std::vector<double> live;
    for (Contestant& contestant : contestants) {
      const ChurnOptions options{.capacity_bytes = kCapacityBytes, .capacity_sec = capacity_sec};
      live.push_back(static_cast<double>(live_bytes_after_churn(options, *contestant.policy)) /
                     static_cast<double>(kCapacityBytes));
    }
    std::cout << separator << "\n  {\"capacity_sec\": " << capacity_sec << ", "
              << per_policy("live_ratio", contestants, live) << "}";
    separator = ",";
  }
}

int run(int argc, char** argv) {
  Setting setting;
  CLI::App app("Hit ratios over simulated traces");
  app.add_option("--names", setting.names, "ordinary names");
  app.add_option("--requests-per-name", setting.requests_per_name, "ordinary requests");
  app.add_option("--requests-per-sec", setting.requests_per_sec, "ordinary requests");
  app.add_option("--scan-share", setting.scan_share, "of all requests");
  app.add_option("--flood-share", setting.flood_share, "of all requests");
  app.add_option("--zipf", setting.exponents, "exponents");
  app.add_option("--capacity-percent", setting.capacity_percents, "of the bytes of all names");
  app.add_option("--disturbance", setting.disturbances)
      ->check(CLI::IsMember({"none", "scan", "flood"}));
  app.add_option("--seed", setting.seed);
  app.add_option("--index", setting.index)->check(CLI::IsMember({"compact", "rte_hash"}));
  CLI11_PARSE(app, argc, argv);
  if (!testing::start_test_eal()) return 1;
  std::cout << "{\"names\": " << setting.names
            << ", \"requests_per_name\": " << setting.requests_per_name
            << ", \"requests_per_sec\": " << setting.requests_per_sec << ", \"traces\": [";
  print_traces(setting);
  std::cout << "],\n \"churn\": [";
  print_churn(setting);
  std::cout << "]}\n";
  return 0;
}

}  // namespace
}  // namespace wirecache::bench

int main(int argc, char** argv) {
  return wirecache::bench::run(argc, argv);
}

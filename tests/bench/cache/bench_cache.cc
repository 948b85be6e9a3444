// bench_cache: one measurement of one cache in a process of its own; tools/bench runs it for each
// size and layout and gathers the figures. Prints one line of JSON.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "tests/bench/cache/churn.h"
#include "tests/bench/cache/json_line.h"
#include "tests/bench/cache/measure.h"
#include "tests/bench/cache/our_cache.h"
#include "tests/bench/cache/published_after.h"
#include "tests/bench/cache/published_before.h"
#include "tests/bench/cache/sharing.h"

namespace wirecache::bench {
namespace {

constexpr uint32_t kStartSec = 1'000'000;

struct Arguments {
  std::string measurement = "fill";
  std::string layout = "ours";
  std::string index = our_indexes().front();
  std::string pages = "normal";
  uint64_t entries = 1'000'000;
  uint64_t seed = 1;
  uint64_t lookups = 1'000'000;
  uint32_t churn_sec = 600;
  double capacity_bytes_per_entry = 0;
  unsigned cpu = 0;
  unsigned second_cpu = 1;
};

Pages pages_of(const Arguments& arguments) {
  return arguments.pages == "huge" ? Pages::kHuge : Pages::kNormal;
}

// What a partition may take for each entry so that all fit; --capacity says otherwise.
double capacity_bytes_per_entry(const Arguments& arguments) {
  constexpr double kWithRteHash = 176;
  constexpr double kWithCompact = 136;
  if (arguments.capacity_bytes_per_entry > 0) return arguments.capacity_bytes_per_entry;
  return arguments.index == "rte_hash" ? kWithRteHash : kWithCompact;
}

// `times` as large as it takes for all entries.
OurOptions our_options(const Arguments& arguments, double times) {
  const double bytes =
      capacity_bytes_per_entry(arguments) * times * static_cast<double>(arguments.entries);
  return {.index = arguments.index,
          .pages = pages_of(arguments),
          .capacity_bytes = static_cast<uint64_t>(bytes)};
}

std::unique_ptr<Subject> make_subject(const Arguments& arguments) {
  if (arguments.layout == "before") return std::make_unique<PublishedCache<BeforeLayout>>();
  if (arguments.layout == "after") return std::make_unique<PublishedCache<AfterLayout>>();
  return make_our_cache(our_options(arguments, 1));
}

[[nodiscard]] bool start(const Arguments& arguments) {
  if (arguments.layout == "ours") {
    // Without huge pages DPDK wants to know its most; what is not touched costs nothing.
    const uint64_t memory_mb = 256 + (arguments.entries * 128 >> 20);
    return start_eal(pages_of(arguments), arguments.cpu, memory_mb);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(arguments.cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

void add_churn(Subject& subject, const ReferenceMix& mix, const Arguments& arguments,
               uint64_t baseline_bytes, JsonLine& out) {
  const ChurnResult result = churn(
      subject, mix,
      {.entries = arguments.entries, .start_sec = kStartSec, .duration_sec = arguments.churn_sec});
  const uint64_t grown = process_memory().total() - baseline_bytes;
  out.add("churn_inserted", result.inserted);
  out.add("churn_simulated_sec", uint64_t{arguments.churn_sec});
  out.add("churn_live_entries", result.live_entries);
  out.add("live_bytes_per_entry_after_churn",
          static_cast<double>(grown) / static_cast<double>(result.live_entries));
  out.add("churn_inserts_per_sec", result.inserts_per_sec);
  out.add("churn_answered_share",
          static_cast<double>(result.answered) / static_cast<double>(result.asked));
  out.add("bytes_allocated_by_main", result.bytes_allocated_by_main);
  out.add("jemalloc_bytes_allocated_by_insertions", result.allocated_by_insertions.jemalloc_bytes);
  out.add("dpdk_pieces_allocated_by_insertions", result.allocated_by_insertions.dpdk_pieces);
  out.add("jemalloc_bytes_allocated_by_lookups", result.allocated_by_lookups.jemalloc_bytes);
  out.add("dpdk_pieces_allocated_by_lookups", result.allocated_by_lookups.dpdk_pieces);
}

void add_lookups(Subject& subject, const ReferenceMix& mix, const Arguments& arguments,
                 JsonLine& out) {
  const auto measure = [&](Lookup lookup) {
    look_up(subject, mix, arguments.entries, arguments.lookups / 10, lookup, kStartSec);
    return look_up(subject, mix, arguments.entries, arguments.lookups, lookup, kStartSec);
  };
  const LookupResult bursts = measure(Lookup::kBursts);
  out.add("lookup_ns_burst", bursts.ns);
  out.add("lookup_ns_single", measure(Lookup::kEach).ns);
  out.add("answered_share", bursts.answered_share);
}

// Fills, weighs, looks up; then churns where that was asked for.
int run_fill(const ReferenceMix& mix, const Arguments& arguments, JsonLine& out) {
  const uint64_t baseline = process_memory().total();
  // Never freed: the process ends with it, and taking millions of entries down takes long.
  Subject* subject = make_subject(arguments).release();
  if (subject == nullptr) return 1;
  out.add("inserts_per_sec",
          fill(*subject, mix, arguments.entries, Insertion::kFromMessage, kStartSec));
  const ProcessMemory filled = process_memory();
  const uint64_t found = count_fresh(*subject, mix, 0, arguments.entries, kStartSec);
  out.add("found", found);
  out.add("bytes_per_entry",
          static_cast<double>(filled.total() - baseline) / static_cast<double>(found));
  out.add("huge_page_bytes", filled.huge_page_bytes);
  out.add("peak_resident_bytes", peak_resident_bytes());
  out.add("payload_bytes_per_entry", payload_bytes_per_entry(mix, arguments.entries));
  constexpr uint64_t kChecked = 20'000;
  const uint64_t step = std::max<uint64_t>(1, arguments.entries / kChecked);
  if (const uint64_t wrong = count_wrong(*subject, mix, arguments.entries, step, kStartSec)) {
    std::fprintf(stderr, "bench_cache: %" PRIu64 " answers are wrong\n", wrong);
    return 1;
  }
  add_lookups(*subject, mix, arguments, out);
  if (arguments.measurement == "churn") add_churn(*subject, mix, arguments, baseline, out);
  return 0;
}

int run_prepared(const ReferenceMix& mix, const Arguments& arguments, JsonLine& out) {
  Subject* subject = make_subject(arguments).release();
  if (subject == nullptr) return 1;
  out.add("prepared_inserts_per_sec",
          fill(*subject, mix, arguments.entries, Insertion::kPrepared, kStartSec));
  return 0;
}

int run_sharing(const ReferenceMix& mix, const Arguments& arguments, JsonLine& out) {
  // Each entry is written again while the one before is still there.
  constexpr double kGenerations = 3;
  SharingResult result;
  if (!measure_sharing(mix,
                       {.cache = our_options(arguments, kGenerations),
                        .entries = arguments.entries,
                        .reader_cpu = arguments.cpu,
                        .writer_cpu = arguments.second_cpu,
                        .lookups = arguments.lookups},
                       result)) {
    return 1;
  }
  out.add("shared_lookup_ns", result.shared_lookup_ns);
  out.add("shared_answered_share", result.shared_answered_share);
  out.add("shared_inserts_per_sec", result.shared_inserts_per_sec);
  out.add("apart_lookup_ns", result.apart_lookup_ns);
  out.add("apart_answered_share", result.apart_answered_share);
  out.add("apart_inserts_per_sec", result.apart_inserts_per_sec);
  return 0;
}

int run(const Arguments& arguments) {
  if (!start(arguments)) return 1;
  const ReferenceMix mix(arguments.seed);
  JsonLine out;
  out.add("layout", arguments.layout);
  if (arguments.layout == "ours") out.add("index", arguments.index);
  out.add("pages", arguments.pages);
  out.add("entries", arguments.entries);
  const int result = arguments.measurement == "prepared"  ? run_prepared(mix, arguments, out)
                     : arguments.measurement == "sharing" ? run_sharing(mix, arguments, out)
                                                          : run_fill(mix, arguments, out);
  if (result == 0) out.print();
  return result;
}

int list_indexes() {
  for (const std::string& index : our_indexes()) std::printf("%s\n", index.c_str());
  return 0;
}

}  // namespace
}  // namespace wirecache::bench

int main(int argc, char** argv) {
  using wirecache::bench::ReferenceMix;
  wirecache::bench::Arguments arguments;
  CLI::App app("One measurement of one cache; see tools/bench.");
  bool is_list = false;
  app.add_flag("--list-indexes", is_list, "the indexes that our cache can have");
  app.add_option("--measure", arguments.measurement,
                 "fill: memory, insertions, look-ups; churn: the same and then churn; prepared: "
                 "insertions of finished entries; sharing: a reader beside a writer")
      ->check(CLI::IsMember({"fill", "churn", "prepared", "sharing"}));
  app.add_option("--layout", arguments.layout)->check(CLI::IsMember({"ours", "before", "after"}));
  app.add_option("--index", arguments.index)->check(CLI::IsMember(wirecache::bench::our_indexes()));
  app.add_option("--pages", arguments.pages)->check(CLI::IsMember({"normal", "huge"}));
  app.add_option("--entries", arguments.entries)
      ->check(CLI::Range(uint64_t{10'000}, ReferenceMix::kMostQuestions / 12));
  app.add_option("--lookups", arguments.lookups);
  app.add_option("--churn-sec", arguments.churn_sec, "simulated");
  app.add_option("--capacity", arguments.capacity_bytes_per_entry, "bytes per entry");
  app.add_option("--seed", arguments.seed);
  app.add_option("--cpu", arguments.cpu);
  app.add_option("--second-cpu", arguments.second_cpu, "of the writer");
  CLI11_PARSE(app, argc, argv);
  return is_list ? wirecache::bench::list_indexes() : wirecache::bench::run(arguments);
}

// What a packet costs in instructions, counted by callgrind through the real pipeline in one
// process, so that a slip shows without timing anything.
//
// The test runs itself under valgrind once for each kind of packet; there only what a worker does
// with full bursts is counted. A bound stands a few percent above the figure of the day (Debian 12,
// g++ 12, -O2); a figure far below it says that the bound should follow.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/eal.h"
#include "tests/support/rig.h"
#include "tests/support/sanitizer.h"

namespace wirecache::testing {

// The only function that callgrind counts in: its name is told by --toggle-collect.
extern "C" __attribute__((noinline)) void wirecache_counted_poll(Rig& rig) {
  rig.poll_worker(0);
}

namespace {

constexpr unsigned kBursts = 64;
constexpr unsigned kWarmBursts = 64;
constexpr unsigned kBurst = 32;

enum class Count : uint8_t { kNo, kYes };

// Names asked for, with EDNS as most clients do, in full bursts.
class Load {
 public:
  // A burst of hits on names that ask_anew() has brought in.
  void hit(unsigned first, Count count) {
    ask(first);
    poll(count);
    EXPECT_EQ(rig_.traffic().replies.size(), kBurst);
  }
  // A burst of misses: `asking` is what it takes to send the upstream queries, `answering` what it
  // takes to keep the answers and tell the clients.
  void ask_anew(unsigned first, Count asking, Count answering) {
    ask(first);
    poll(asking);
    const auto queries = rig_.traffic().upstream;
    EXPECT_EQ(queries.size(), kBurst);
    for (const Sent& query : queries) rig_.answer(query, address_for(query.message));
    poll(answering);
    EXPECT_EQ(rig_.traffic().replies.size(), kBurst);
  }

 private:
  void ask(unsigned first) {
    for (unsigned i = 0; i < kBurst; ++i) {
      const std::string name = "host" + std::to_string(1'000'000 + first + i) + ".example";
      rig_.ask(make_query({.name = name}));
    }
  }
  // One address, its owner a pointer to the question, as servers send it.
  static Wire address_for(const Wire& query) {
    Wire answer = make_answer(query, {});
    answer[7] = 1;
    put16(answer, 0xc00c);
    put16(answer, 1);
    put16(answer, 1);
    put32(answer, 86400);
    put16(answer, 4);
    answer.insert(answer.end(), {192, 0, 2, 1});
    return answer;
  }
  void poll(Count count) {
    rig_.node().provision_cache();
    if (count == Count::kYes) {
      wirecache_counted_poll(rig_);
    } else {
      rig_.poll_worker(0);
    }
  }

  Rig rig_;
};

// In the process under valgrind.
void run(std::string_view kind) {
  Load load;
  const Count asking = kind == "miss" ? Count::kYes : Count::kNo;
  const Count answering = kind == "insertion" ? Count::kYes : Count::kNo;
  for (unsigned i = 0; i < kWarmBursts; ++i) load.ask_anew(i * kBurst, Count::kNo, Count::kNo);
  for (unsigned i = 0; i < kBursts; ++i) {
    if (kind == "hit") {
      load.hit(i * kBurst, Count::kYes);
    } else {
      load.ask_anew((kWarmBursts + i) * kBurst, asking, answering);
    }
  }
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> bytes;
  while (const size_t n = fread(bytes.data(), 1, bytes.size(), pipe))
    output.append(bytes.data(), n);
  pclose(pipe);
  return output;
}

// Instructions for each packet of a kind; 0 where they were not counted.
double instructions_per_packet(const std::string& kind) {
  std::array<char, 4096> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) return 0;
  const std::string output = output_of(
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
      "--toggle-collect=wirecache_counted_poll " +
      std::string(self.data()) + " run " + kind + " 2>&1");
  std::smatch collected;
  if (!std::regex_search(output, collected, std::regex("Collected : ([0-9]+)"))) {
    ADD_FAILURE() << output;
    return 0;
  }
  return std::stod(collected[1]) / (kBursts * kBurst);
}

struct Bound {
  const char* kind;
  double instructions;
};

class Cost : public ::testing::TestWithParam<Bound> {};

TEST_P(Cost, StaysWithinItsBound) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's instructions are counted as well";
  const Bound bound = GetParam();
  const double counted = instructions_per_packet(bound.kind);
  RecordProperty("instructions", static_cast<int>(counted));
  std::printf("%s: %.0f instructions\n", bound.kind, counted);
  EXPECT_LE(counted, bound.instructions);
  EXPECT_GE(counted, bound.instructions * 0.9) << "the bound is far above: lower it";
}

INSTANTIATE_TEST_SUITE_P(PerPacket, Cost,
                         ::testing::Values(Bound{"hit", 2330}, Bound{"miss", 5500},
                                           Bound{"insertion", 6750}),
                         [](const auto& info) { return std::string(info.param.kind); });

}  // namespace
}  // namespace wirecache::testing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "run") {
    if (!wirecache::testing::start_test_eal()) return 1;
    wirecache::testing::run(argv[2]);
    return testing::Test::HasFailure() ? 1 : 0;
  }
  return RUN_ALL_TESTS();
}

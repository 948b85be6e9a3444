// Nothing is allocated per packet: jemalloc's own count of this thread's allocations stands still
// over 10,000 bursts of hits, misses, answers, errors and time-outs.
#include <gtest/gtest.h>
#include <jemalloc/jemalloc.h>

#include "tests/support/rig.h"
#include "tests/support/sanitizer.h"

namespace wirecache::worker {
namespace {

using testing::a_record;
using testing::Rig;
using testing::RigOptions;
using testing::Wire;

uint64_t allocated_bytes() {
  uint64_t bytes = 0;
  size_t size = sizeof bytes;
  EXPECT_EQ(mallctl("thread.allocated", &bytes, &size, nullptr, 0), 0);
  return bytes;
}

// Frames prepared before the count starts; sent frames are freed without a look.
class Bursts {
 public:
  explicit Bursts(Rig& rig) : rig_(rig) {
    const Wire known = testing::make_query({.name = "known.example"});
    frames_.push_back(rig.client_frame(known));
    frames_.push_back(
        rig.client_frame(testing::make_query({.name = "known.example", .type = 255})));
    frames_.push_back(rig.client_frame(testing::make_query({.flags = 0x2000})));
    frames_.push_back(rig.client_frame(Wire(5, 0)));
    for (int i = 0; i < 200; ++i) {
      frames_.push_back(
          rig.client_frame(testing::make_query({.name = "miss" + std::to_string(i) + ".example"})));
    }
  }

  void prime() {
    rig_.ask(testing::make_query({.name = "known.example"}));
    rig_.poll();
    auto upstream = rig_.traffic().upstream;
    ASSERT_EQ(upstream.size(), 1u);
    rig_.answer(upstream[0], testing::make_answer(upstream[0].message,
                                                  {.answer = {a_record("known.example", 86400)}}));
    rig_.poll();
    rig_.sent();
  }

  void run(int count) {
    for (int burst = 0; burst < count; ++burst) {
      for (int i = 0; i < 8; ++i) rig_.inject_frame(frames_[next_++ % frames_.size()]);
      rig_.poll();
      rig_.answer_all_in_place();
      rig_.poll();
      rig_.discard_sent();
      rig_.advance_ms(burst % 50 == 0 ? 2000 : 1);
    }
  }

 private:
  Rig& rig_;
  std::vector<Wire> frames_;
  size_t next_ = 0;
};

TEST(Allocation, NothingIsAllocatedInTenThousandBursts) {
  if (kIsSanitized) {
    GTEST_SKIP() << "the sanitizer's malloc is not counted by jemalloc";
  }
  const uint64_t before_probe = allocated_bytes();
  auto probe = std::make_unique<std::array<char, 100000>>();
  ASSERT_GE(allocated_bytes() - before_probe, 100000u) << "the count does not see allocations";
  ASSERT_NE(probe, nullptr);

  Rig rig;
  Bursts bursts(rig);
  bursts.prime();
  bursts.run(100);
  const uint64_t before = allocated_bytes();
  bursts.run(10'000);
  EXPECT_EQ(allocated_bytes() - before, 0u);
  EXPECT_GT(rig.outcome(stats::Outcome::kHit), 100u);
  EXPECT_GT(rig.outcome(stats::Outcome::kMiss), 1000u);
  EXPECT_GT(rig.upstream(stats::Upstream::kAnswerTaken), 500u);
  EXPECT_GT(rig.upstream(stats::Upstream::kTimeout), 100u);
  EXPECT_EQ(rig.accounting(), "");
}

}  // namespace
}  // namespace wirecache::worker

// What tests of upstream queries share: a miss, its answer, and what the client then gets.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/rig.h"

namespace wirecache::worker {

class UpstreamFixture : public ::testing::Test {
 protected:
  testing::Sent ask_upstream(testing::Rig& rig, const testing::QuerySpec& spec = {}) {
    rig.ask(testing::make_query(spec));
    rig.poll();
    auto upstream = rig.traffic().upstream;
    EXPECT_EQ(upstream.size(), 1u);
    return upstream.empty() ? testing::Sent{} : upstream[0];
  }
  testing::Wire good_answer(const testing::Sent& query) {
    return testing::make_answer(query.message,
                                {.answer = {testing::a_record("www.example.com", 300)}});
  }
  std::vector<testing::Sent> replies_after(testing::Rig& rig) {
    rig.poll();
    return rig.traffic().replies;
  }
};

}  // namespace wirecache::worker

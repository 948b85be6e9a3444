#include "lib/worker/handover.h"

#include <gtest/gtest.h>

#include "lib/config/config.h"

namespace wirecache::worker {
namespace {

// More rings than DPDK has memzones (RTE_MAX_MEMZONE 2560): 65 participants.
TEST(HandoverRings, ThereAreEnoughForTheMostWorkers) {
  const auto lcores = static_cast<unsigned>(config::kMaxWorkers + 1);
  auto made = HandoverRings::create("many", lcores, 0);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  HandoverRings& rings = **made;
  rte_mempool* pool = rte_pktmbuf_pool_create("many-mbufs", 255, 0, kHandoverBytes, 256, 0);
  ASSERT_NE(pool, nullptr);
  const unsigned main = lcores - 1;
  const unsigned slots = HandoverRings::slots(lcores);
  for (unsigned i = 0; i < slots; ++i)
    EXPECT_TRUE(rings.push(main - 1, main, rte_pktmbuf_alloc(pool)));
  rte_mbuf* one_more = rte_pktmbuf_alloc(pool);
  EXPECT_FALSE(rings.push(main - 1, main, one_more));
  EXPECT_TRUE(rings.push_urgent(main - 1, one_more));
  EXPECT_EQ(rings.waiting_for(main), slots + 1);
  EXPECT_EQ(rings.waiting_for(0), 0u);
  EXPECT_EQ(rings.capacity_towards(main), (lcores - 1) * (slots + HandoverRings::kUrgentSlots));
  made->reset();  // with what is in them
  EXPECT_EQ(rte_mempool_in_use_count(pool), 0u);
  rte_mempool_free(pool);
}

}  // namespace
}  // namespace wirecache::worker

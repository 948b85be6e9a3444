#include "lib/port/node_memory.h"

#include <gtest/gtest.h>
#include <jemalloc/jemalloc.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace wirecache::port {
namespace {

constexpr size_t kBytes = 1 << 20;

unsigned thread_arena() {
  unsigned arena = 0;
  size_t size = sizeof arena;
  EXPECT_EQ(mallctl("thread.arena", &arena, &size, nullptr, 0), 0);
  return arena;
}

unsigned arena_of(void* memory) {
  unsigned arena = 0;
  size_t size = sizeof arena;
  EXPECT_EQ(mallctl("arenas.lookup", &arena, &size, &memory, sizeof memory), 0);
  return arena;
}

// -1 where the kernel has no such call or does not allow it.
int thread_policy() {
  int policy = 0;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0 ? policy : -1;
}

TEST(NodeMemory, ScopeHasAnArenaOfItsOwn) {
  const unsigned before = thread_arena();
  void* inside = nullptr;
  {
    const NodeMemory scope(0);
    inside = mallocx(kBytes, 0);
  }
  ASSERT_NE(inside, nullptr);
  EXPECT_NE(arena_of(inside), before);
  EXPECT_EQ(thread_arena(), before);
  void* after = mallocx(kBytes, 0);
  EXPECT_EQ(arena_of(after), before);
  dallocx(inside, 0);
  dallocx(after, 0);
}

TEST(NodeMemory, PolicyEndsWithTheScope) {
  const int before = thread_policy();
  if (before == -1) GTEST_SKIP() << "no memory policies here";
  ASSERT_EQ(before, MPOL_DEFAULT);
  {
    const NodeMemory scope(0);
    EXPECT_EQ(thread_policy(), MPOL_PREFERRED);
  }
  EXPECT_EQ(thread_policy(), MPOL_DEFAULT);
}

TEST(NodeMemory, PagesAreOnTheNode) {
  if (thread_policy() == -1) GTEST_SKIP() << "no memory policies here";
  const NodeMemory scope(0);
  void* memory = mallocx(kBytes, 0);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 1, kBytes);
  int node = -1;
  ASSERT_EQ(syscall(SYS_move_pages, 0, 1ul, &memory, nullptr, &node, 0), 0);
  EXPECT_EQ(node, 0);
  dallocx(memory, 0);
}

TEST(NodeMemory, UnknownNodeChangesNothing) {
  const unsigned arena = thread_arena();
  const int policy = thread_policy();
  const NodeMemory scope(-1);
  EXPECT_EQ(thread_arena(), arena);
  EXPECT_EQ(thread_policy(), policy);
}

}  // namespace
}  // namespace wirecache::port

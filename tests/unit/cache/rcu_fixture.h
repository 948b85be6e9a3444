// An RCU variable with two registered readers, as a node has one: for tests of the index and
// partition.
//
// Reader 0 stands for the owner, which reports quiescence as well; reader 1 for another worker,
// that stays away as long as the test likes. One thread.
#pragma once

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <memory>

namespace wirecache::cache {

class RcuFixture {
 public:
  static constexpr uint32_t kReaders = 2;

  RcuFixture()
      : rcu_(static_cast<rte_rcu_qsbr*>(
            rte_zmalloc("rcu", rte_rcu_qsbr_get_memsize(kReaders), RTE_CACHE_LINE_SIZE))) {
    rte_rcu_qsbr_init(rcu_, kReaders);
    for (uint32_t reader = 0; reader < kReaders; ++reader) {
      rte_rcu_qsbr_thread_register(rcu_, reader);
      rte_rcu_qsbr_thread_online(rcu_, reader);
    }
  }
  ~RcuFixture() { rte_free(rcu_); }
  RcuFixture(const RcuFixture&) = delete;
  RcuFixture& operator=(const RcuFixture&) = delete;

  rte_rcu_qsbr* get() { return rcu_; }
  void quiescent(uint32_t reader) { rte_rcu_qsbr_quiescent(rcu_, reader); }
  void all_quiescent() {
    for (uint32_t reader = 0; reader < kReaders; ++reader) quiescent(reader);
  }

 private:
  rte_rcu_qsbr* rcu_;
};

}  // namespace wirecache::cache

// An RCU variable with registered readers, as a node has one: for tests of the index and partition.
//
// With two, reader 0 stands for the owner, which reports quiescence as well; reader 1 for another
// worker, that stays away as long as the test likes. Each reader is one thread.
#pragma once

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <memory>

namespace wirecache::cache {

class RcuFixture {
 public:
  explicit RcuFixture(uint32_t readers = 2)
      : readers_(readers),
        rcu_(static_cast<rte_rcu_qsbr*>(
            rte_zmalloc("rcu", rte_rcu_qsbr_get_memsize(readers), RTE_CACHE_LINE_SIZE))) {
    rte_rcu_qsbr_init(rcu_, readers_);
    for (uint32_t reader = 0; reader < readers_; ++reader) {
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
    for (uint32_t reader = 0; reader < readers_; ++reader) quiescent(reader);
  }

 private:
  uint32_t readers_;
  rte_rcu_qsbr* rcu_;
};

}  // namespace wirecache::cache

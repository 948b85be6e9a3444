// The questions that one worker is asking upstream: a bounded table with two ways in, by key (to
// join one that is asked already) and by source port and ID (to match its answer).
//
// Owner: the worker that owns the keys; nobody else touches it. All memory is taken at
// construction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/expected.h"
#include "lib/base/ip_address.h"
#include "lib/cache/key.h"
#include "lib/config/config.h"
#include "lib/dns/types.h"
#include "lib/upstream/index_list.h"

struct rte_hash;

namespace wirecache::upstream {

struct Pending {
  uint64_t hash = 0;
  TscTime started;
  TscTime try_started;
  uint32_t first_waiter = kNoIndex;
  Links by_age;  // in the list of deadlines
  Links by_try;  // in the list of tries that may time out
  uint16_t type = 0;
  uint16_t id = 0;                                   // of the try under way
  uint16_t source_port = 0;                          // of the try under way; 0: nothing was sent
  uint32_t servers_done = 0;                         // bit i: server i has answered with a failure
  std::array<uint8_t, config::kMaxServers> asked{};  // queries sent to each server
  dns::Rcode last_rcode = dns::Rcode::kServFail;     // what the clients get if all tries fail
  uint16_t result_flags = 0;                         // once closed: header flags of the result
  IpAddress source;                                  // that the try under way was sent from
  uint8_t server = 0;
  uint8_t tag = 0;
  uint8_t name_bytes = 0;
  bool checking_disabled = false;
  dns::DoBit dnssec = dns::DoBit::kClear;
  bool edns = true;
  bool filed_by_key = false;
  bool in_try_list = false;
  std::array<uint8_t, dns::kMaxNameBytes> name;  // flat, lower case

  Bytes name_view() const { return {name.data(), name_bytes}; }
  cache::Key key() const { return {name_view(), type, checking_disabled, tag, hash}; }
};

class PendingTable {
 public:
  // `name` is unique in the process.
  static Expected<std::unique_ptr<PendingTable>> create(const std::string& name, uint32_t capacity,
                                                        int numa_node);
  ~PendingTable();
  PendingTable(const PendingTable&) = delete;
  PendingTable& operator=(const PendingTable&) = delete;

  // A new question, filed by key; nullptr where the table is full.
  Pending* add(const cache::Key& key, dns::DoBit dnssec, TscTime now);
  // The question under way for this very key and DO; nullptr if none.
  Pending* find(const cache::Key& key, dns::DoBit dnssec);
  // Files `pending` under (source_port, id); false where that pair is taken or the table is full.
  bool file_try(Pending& pending, uint16_t source_port, uint16_t id);
  // Forgets the try: an answer to it will not match any more.
  void forget_try(Pending& pending);
  Pending* match(uint16_t source_port, uint16_t id);
  // The question has its result: nobody can join or answer it any more, no timer runs.
  void close(Pending& pending);
  // The first of those that are closed and not removed; nullptr if there is none.
  Pending* first_closed();
  // Forgets a closed question.
  void remove(Pending& pending);

  using AgeList = IndexList<Pending, &Pending::by_age>;
  using TryList = IndexList<Pending, &Pending::by_try>;
  // The oldest question; nullptr if there is none.
  Pending* oldest();
  // The oldest try in the list of those that may time out; nullptr if there is none.
  Pending* oldest_try();
  void start_try_timer(Pending& pending);
  void stop_try_timer(Pending& pending);

  uint32_t in_use() const { return in_use_; }

 private:
  PendingTable(uint32_t capacity, rte_hash* by_key, rte_hash* by_try);
  uint32_t index_of(const Pending& pending) const {
    return static_cast<uint32_t>(&pending - slots_.get());
  }

  std::unique_ptr<Pending[]> slots_;
  uint32_t capacity_;
  uint32_t free_ = kNoIndex;
  uint32_t fresh_ = 0;
  uint32_t in_use_ = 0;
  rte_hash* by_key_;
  rte_hash* by_try_;
  AgeList ages_;    // open questions
  AgeList closed_;  // a question is in one of the two lists
  TryList tries_;
};

}  // namespace wirecache::upstream

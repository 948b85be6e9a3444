#include "lib/upstream/pending.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>

#include <algorithm>
#include <cstring>

namespace wirecache::upstream {
namespace {

// What rte_hash accepts at least.
constexpr uint32_t kLeastEntries = 64;

// Both tables are private to one worker: no concurrency flags. The data is a slot, which never
// moves.
rte_hash* make_hash(const std::string& name, uint32_t capacity, uint32_t key_bytes, int node) {
  rte_hash_parameters parameters{};
  parameters.name = name.c_str();
  // A cuckoo table that is full up to its stated size may refuse a key; at half it does not.
  parameters.entries = std::max(capacity * 2, kLeastEntries);
  parameters.key_len = key_bytes;
  parameters.hash_func = rte_hash_crc;
  parameters.socket_id = node;
  return rte_hash_create(&parameters);
}

uint64_t key_with_do(uint64_t hash, dns::DoBit dnssec) {
  return dnssec == dns::DoBit::kSet ? hash ^ 0x9e3779b97f4a7c15 : hash;
}

uint32_t try_key(uint16_t source_port, uint16_t id) {
  return static_cast<uint32_t>(source_port) << 16 | id;
}

Pending* find_pending(rte_hash* table, const void* key) {
  void* data = nullptr;
  return rte_hash_lookup_data(table, key, &data) < 0 ? nullptr : static_cast<Pending*>(data);
}

}  // namespace

Expected<std::unique_ptr<PendingTable>> PendingTable::create(const std::string& name,
                                                             uint32_t capacity, int numa_node) {
  rte_hash* by_key = make_hash(name + "-key", capacity, sizeof(uint64_t), numa_node);
  rte_hash* by_try = make_hash(name + "-try", capacity, sizeof(uint32_t), numa_node);
  if (by_key == nullptr || by_try == nullptr) {
    rte_hash_free(by_key);
    rte_hash_free(by_try);
    return fail("no memory for " + std::to_string(capacity) + " pending questions");
  }
  return std::unique_ptr<PendingTable>(new PendingTable(capacity, by_key, by_try));
}

PendingTable::PendingTable(uint32_t capacity, rte_hash* by_key, rte_hash* by_try)
    : slots_(std::make_unique_for_overwrite<Pending[]>(capacity)),
      capacity_(capacity),
      by_key_(by_key),
      by_try_(by_try) {}

PendingTable::~PendingTable() {
  rte_hash_free(by_key_);
  rte_hash_free(by_try_);
}

Pending* PendingTable::add(const cache::Key& key, dns::DoBit dnssec, TscTime now) {
  uint32_t index = free_;
  if (index != kNoIndex) {
    free_ = slots_[index].by_age.next;
  } else if (fresh_ < capacity_) {
    index = fresh_++;
  } else {
    return nullptr;
  }
  ++in_use_;
  Pending& pending = slots_[index];
  pending = Pending{};
  pending.hash = key.hash;
  pending.started = now;
  pending.type = key.type;
  pending.tag = key.tag;
  pending.checking_disabled = key.checking_disabled;
  pending.dnssec = dnssec;
  pending.name_bytes = static_cast<uint8_t>(key.name.size());
  std::memcpy(pending.name.data(), key.name.data(), key.name.size());
  // Another name with the same 64-bit hash keeps its place: this one is asked but can't be joined.
  const uint64_t filed = key_with_do(key.hash, dnssec);
  if (rte_hash_lookup(by_key_, &filed) < 0)
    pending.filed_by_key = rte_hash_add_key_data(by_key_, &filed, &pending) == 0;
  ages_.push_back(slots_.get(), index);
  return &pending;
}

Pending* PendingTable::find(const cache::Key& key, dns::DoBit dnssec) {
  const uint64_t filed = key_with_do(key.hash, dnssec);
  Pending* pending = find_pending(by_key_, &filed);
  if (pending == nullptr) return nullptr;
  const bool same = pending->type == key.type && pending->tag == key.tag &&
                    pending->checking_disabled == key.checking_disabled &&
                    pending->dnssec == dnssec && std::ranges::equal(pending->name_view(), key.name);
  return same ? pending : nullptr;
}

bool PendingTable::file_try(Pending& pending, uint16_t source_port, uint16_t id) {
  const uint32_t filed = try_key(source_port, id);
  if (rte_hash_lookup(by_try_, &filed) >= 0) return false;
  if (rte_hash_add_key_data(by_try_, &filed, &pending) != 0) return false;
  pending.source_port = source_port;
  pending.id = id;
  return true;
}

void PendingTable::forget_try(Pending& pending) {
  if (pending.source_port == 0) return;
  const uint32_t filed = try_key(pending.source_port, pending.id);
  rte_hash_del_key(by_try_, &filed);
  pending.source_port = 0;
}

Pending* PendingTable::match(uint16_t source_port, uint16_t id) {
  const uint32_t filed = try_key(source_port, id);
  return find_pending(by_try_, &filed);
}

void PendingTable::close(Pending& pending) {
  forget_try(pending);
  stop_try_timer(pending);
  if (pending.filed_by_key) {
    const uint64_t filed = key_with_do(pending.hash, pending.dnssec);
    rte_hash_del_key(by_key_, &filed);
    pending.filed_by_key = false;
  }
  ages_.remove(slots_.get(), index_of(pending));
  closed_.push_back(slots_.get(), index_of(pending));
}

void PendingTable::remove(Pending& pending) {
  const uint32_t index = index_of(pending);
  closed_.remove(slots_.get(), index);
  pending.by_age.next = free_;
  free_ = index;
  --in_use_;
}

Pending* PendingTable::first_closed() {
  return closed_.empty() ? nullptr : &slots_[closed_.front()];
}

Pending* PendingTable::oldest() {
  return ages_.empty() ? nullptr : &slots_[ages_.front()];
}

Pending* PendingTable::oldest_try() {
  return tries_.empty() ? nullptr : &slots_[tries_.front()];
}

void PendingTable::start_try_timer(Pending& pending) {
  stop_try_timer(pending);
  tries_.push_back(slots_.get(), index_of(pending));
  pending.in_try_list = true;
}

void PendingTable::stop_try_timer(Pending& pending) {
  if (!pending.in_try_list) return;
  tries_.remove(slots_.get(), index_of(pending));
  pending.in_try_list = false;
}

}  // namespace wirecache::upstream

#include "lib/cache/index.h"

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_memory.h>
#include <rte_rcu_qsbr.h>

#include <bit>

#include "lib/base/hash.h"

namespace wirecache::cache {
namespace {

// Key slots to ask rte_hash for, so that `entries` fit beside `deferred` slots that wait. Its
// buckets are made for the next power of two, and from 97.5 % of that on (measured with random
// hashes on tables of 2^10 to 2^20) its search for a free place may fail; so above 15/16 the
// buckets are doubled.
uint32_t slots_for(uint32_t entries, uint32_t deferred) {
  const uint32_t slots = entries + deferred;
  const uint32_t rounded = std::bit_ceil(slots);
  return entries > rounded / 16 * 15 ? rounded + 1 : slots;
}

}  // namespace

Expected<std::unique_ptr<Index>> Index::create(const Options& options) {
  constexpr uint32_t kMostEntries = 1u << 29;  // RTE_HASH_ENTRIES_MAX with room for doubling
  if (options.entries == 0 || options.entries > kMostEntries) {
    return fail("index " + options.name + ": cannot have " + std::to_string(options.entries) +
                " entries");
  }
  rte_hash_parameters parameters = {};
  parameters.name = options.name.c_str();
  parameters.entries = slots_for(options.entries, kDeferred);
  parameters.key_len = sizeof(uint64_t);
  parameters.socket_id = options.numa_node < 0 ? SOCKET_ID_ANY : options.numa_node;
  parameters.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF;
  rte_hash* hash = rte_hash_create(&parameters);
  if (hash == nullptr) {
    return fail("index " + options.name + " of " + std::to_string(options.entries) +
                " entries: " + rte_strerror(rte_errno));
  }
  return std::unique_ptr<Index>(new Index(hash, options));
}

Index::~Index() {
  rte_hash_free(hash_);
}

void Index::find_bulk(std::span<const uint64_t> hashes, const uint8_t** entries) const {
  std::array<const void*, kMaxBurst> keys;
  std::array<hash_sig_t, kMaxBurst> signatures;
  std::array<void*, kMaxBurst> found;
  static_assert(kMaxBurst == RTE_HASH_LOOKUP_BULK_MAX);
  const uint32_t count = static_cast<uint32_t>(std::min(hashes.size(), kMaxBurst));
  if (count == 0) return;
  for (uint32_t i = 0; i < count; ++i) {
    keys[i] = &hashes[i];
    signatures[i] = signature_of(hashes[i]);
  }
  uint64_t hits = 0;
  rte_hash_lookup_with_hash_bulk_data(hash_, keys.data(), signatures.data(), count, &hits,
                                      found.data());
  for (uint32_t i = 0; i < count; ++i) {
    entries[i] = (hits >> i & 1) != 0 ? static_cast<const uint8_t*>(found[i]) : nullptr;
  }
}

const uint8_t* Index::find(uint64_t hash) const {
  void* found = nullptr;
  return rte_hash_lookup_with_hash_data(hash_, &hash, signature_of(hash), &found) < 0
             ? nullptr
             : static_cast<const uint8_t*>(found);
}

Index::Status Index::insert(uint64_t hash, const uint8_t* entry) {
  // rte_hash does not tell a new key from a known one; its look-up warms the bucket for the
  // insertion.
  const bool known = find(hash) != nullptr;
  if (!known && size_ >= capacity_) return Status::kFull;
  const int result = rte_hash_add_key_with_hash_data(hash_, &hash, signature_of(hash),
                                                     const_cast<uint8_t*>(entry));
  if (result < 0) return Status::kFull;
  if (known) return Status::kReplaced;
  ++size_;
  return Status::kInserted;
}

Index::Status Index::erase_if(uint64_t hash, const uint8_t* entry) {
  if (find(hash) != entry) return Status::kNotFound;
  if (deferred_ - freed_ == kDeferred) {
    reclaim();
    if (deferred_ - freed_ == kDeferred) return Status::kBusy;
  }
  const int32_t position = rte_hash_del_key_with_hash(hash_, &hash, signature_of(hash));
  if (position < 0) return Status::kNotFound;
  queue_[deferred_++ % kDeferred].position = position;
  --size_;
  return Status::kErased;
}

void Index::reclaim() {
  if (stamped_ != deferred_) {
    const uint64_t token = rte_rcu_qsbr_start(rcu_);
    while (stamped_ != deferred_) queue_[stamped_++ % kDeferred].token = token;
  }
  constexpr int kDoNotWait = 0;
  while (freed_ != stamped_) {
    const Deferred& oldest = queue_[freed_ % kDeferred];
    if (rte_rcu_qsbr_check(rcu_, oldest.token, kDoNotWait) != 1) return;
    rte_hash_free_key_with_position(hash_, oldest.position);
    ++freed_;
  }
}

}  // namespace wirecache::cache

#include "lib/cache/hash_index.h"

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_memory.h>
#include <rte_prefetch.h>
#include <rte_rcu_qsbr.h>

#include <algorithm>
#include <bit>

#include "lib/base/hash.h"
#include "lib/cache/entry.h"
#include "lib/cache/tsan.h"

namespace wirecache::cache {
namespace {

// What rte_hash takes: for a key slot, and for a slot's share of the buckets and of the ring of
// free slots, both made for the next power of two.
constexpr uint64_t kBytesPerSlot = 16;
constexpr uint64_t kBytesPerRoundedSlot = 8 + 4;
constexpr uint64_t kBytesPerEntry = 116;  // of the entry itself, reference mix
constexpr uint64_t kFewestSlots = 1u << 14;
constexpr uint64_t kMostSlots = (1u << 30) - 1;  // RTE_HASH_ENTRIES_MAX

// From here on rte_hash's search for a free place fails for more than one key in ten thousand, in
// small tables first (random hashes, tables of 2^10 to 2^22).
uint32_t most_of(uint32_t rounded) {
  return static_cast<uint32_t>(uint64_t{rounded} * 958 / 1000);
}

void* datum_of(EntryRef entry) {
  return std::bit_cast<void*>(static_cast<uintptr_t>(entry));
}
EntryRef ref_in(const void* datum) {
  return EntryRef{static_cast<uint32_t>(reinterpret_cast<uintptr_t>(datum))};
}

}  // namespace

// Either a power of two's worth of slots, or so many more that they pay for the next power of two
// of buckets. One less than the power of two: rte_hash counts slot 0, which it does not use.
uint32_t HashIndex::slots_for_capacity(uint64_t bytes) {
  constexpr uint64_t kPerSlot = kBytesPerEntry + kBytesPerSlot;
  const uint64_t fit =
      std::clamp(bytes / (kPerSlot + kBytesPerRoundedSlot), kFewestSlots, kMostSlots);
  const uint64_t rounded = std::bit_floor(fit);
  const uint64_t doubled = 2 * rounded * kBytesPerRoundedSlot;
  const uint64_t more = bytes > doubled ? (bytes - doubled) / kPerSlot : 0;
  const uint64_t slots = more > rounded + rounded / 16 ? more : rounded;
  return static_cast<uint32_t>(std::min(slots - 1, kMostSlots));
}

Expected<std::unique_ptr<HashIndex>> HashIndex::create(const IndexOptions& options) {
  const uint32_t slots = slots_for_capacity(options.capacity_bytes);
  rte_hash_parameters parameters = {};
  parameters.name = options.name.c_str();
  parameters.entries = slots;
  parameters.key_len = sizeof(uint64_t);
  parameters.socket_id = options.numa_node < 0 ? SOCKET_ID_ANY : options.numa_node;
  parameters.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF;
  rte_hash* hash = rte_hash_create(&parameters);
  if (hash == nullptr) {
    return fail("index " + options.name + " of " + std::to_string(slots) +
                " entries: " + rte_strerror(rte_errno));
  }
  return std::unique_ptr<HashIndex>(new HashIndex(hash, options, slots));
}

HashIndex::HashIndex(rte_hash* hash, const IndexOptions& options, uint32_t slots)
    : hash_(hash),
      space_(*options.space),
      rcu_(options.rcu),
      memory_bytes_((slots + 1) * kBytesPerSlot +
                    uint64_t{std::bit_ceil(slots)} * kBytesPerRoundedSlot + sizeof(HashIndex)),
      capacity_(std::min(slots - kDeferred, most_of(std::bit_ceil(slots)))),
      short_at_(capacity_ - capacity_ / 1024) {}

HashIndex::~HashIndex() {
  rte_hash_free(hash_);
}

// rte_hash serves one table at a time: the keys of each index of the burst together.
void HashIndex::find_burst(std::span<const Query> queries, const uint8_t** entries) {
  const size_t count = std::min(queries.size(), kMaxIndexBurst);
  uint64_t left = count == kMaxIndexBurst ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  while (left != 0) {
    const HashIndex* index = queries[static_cast<size_t>(std::countr_zero(left))].index;
    uint64_t group = 0;
    for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(rest));
      if (queries[i].index == index) group |= uint64_t{1} << i;
    }
    index->find_group(queries, group, entries);
    left &= ~group;
  }
  for (size_t i = 0; i < count; ++i) {
    if (entries[i] != nullptr && !EntryView(entries[i]).matches(*queries[i].key)) {
      entries[i] = nullptr;
    }
  }
}

// What is filed under the hashes of the chosen queries, asked for but not compared.
void HashIndex::find_group(std::span<const Query> queries, uint64_t group,
                           const uint8_t** entries) const {
  std::array<const void*, kMaxIndexBurst> keys;
  std::array<hash_sig_t, kMaxIndexBurst> signatures;
  std::array<void*, kMaxIndexBurst> found;
  static_assert(kMaxIndexBurst == RTE_HASH_LOOKUP_BULK_MAX);
  uint32_t count = 0;
  for (uint64_t rest = group; rest != 0; rest &= rest - 1) {
    const uint64_t& hash = queries[static_cast<size_t>(std::countr_zero(rest))].key->hash;
    keys[count] = &hash;
    signatures[count++] = signature_of(hash);
  }
  uint64_t hits = 0;
  rte_hash_lookup_with_hash_bulk_data(hash_, keys.data(), signatures.data(), count, &hits,
                                      found.data());
  tsan_acquire(this);
  for (uint32_t i = 0; i < count; ++i, group &= group - 1) {
    const auto query = static_cast<size_t>(std::countr_zero(group));
    entries[query] = nullptr;
    if ((hits >> i & 1) == 0) continue;
    entries[query] = space_.at(ref_in(found[i]));
    rte_prefetch0(entries[query]);
    rte_prefetch0(entries[query] + RTE_CACHE_LINE_SIZE);
  }
}

EntryRef HashIndex::ref_of(uint64_t hash) const {
  void* found = nullptr;
  if (rte_hash_lookup_with_hash_data(hash_, &hash, signature_of(hash), &found) < 0) {
    return kNoEntry;
  }
  tsan_acquire(this);
  return ref_in(found);
}

const uint8_t* HashIndex::find(const Key& key) const {
  const EntryRef ref = ref_of(key.hash);
  if (ref == kNoEntry) return nullptr;
  const uint8_t* entry = space_.at(ref);
  return EntryView(entry).matches(key) ? entry : nullptr;
}

// rte_hash does not tell where its buckets are, and a look-up ahead would cost what it saves.
void HashIndex::prefetch(uint64_t /*hash*/) const {}

bool HashIndex::store(uint64_t hash, EntryRef entry) {
  tsan_release(this);
  return rte_hash_add_key_with_hash_data(hash_, &hash, signature_of(hash), datum_of(entry)) == 0;
}

HashIndex::Inserted HashIndex::insert(const Key& key, EntryRef entry) {
  // rte_hash does not tell a new key from a known one; its look-up warms the bucket for the
  // insertion.
  const EntryRef known = ref_of(key.hash);
  if (known == kNoEntry && size_ >= capacity_) return {Status::kFull};
  if (!store(key.hash, entry)) return {Status::kFull};
  if (known != kNoEntry) return {Status::kReplaced, known};
  ++size_;
  return {Status::kInserted};
}

HashIndex::Status HashIndex::erase_if(uint64_t hash, EntryRef entry) {
  if (ref_of(hash) != entry) return Status::kNotFound;
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

HashIndex::Status HashIndex::move(uint64_t hash, EntryRef from, EntryRef to) {
  if (ref_of(hash) != from) return Status::kNotFound;
  return store(hash, to) ? Status::kMoved : Status::kNotFound;
}

void HashIndex::reclaim() {
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

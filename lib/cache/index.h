// The narrow seam between a partition and its index, which leads from a key to its entry: what
// every index can do, and which one is the default.
//
// There are two: CompactIndex (compact_index.h) and HashIndex (rte_hash; hash_index.h). Both are
// built and tested alike; the build option `index` chooses DefaultIndex.
//
// Invariants: one writer, the partition's owner; readers are registered in the node's RCU variable,
// report quiescence once a burst and never wait. What a reader gets is the entry of exactly the key
// it asked for, or nothing; nothing although there is one only where the owner changes the index at
// that moment. The entry under a reference that has left the index (replaced, erased or moved) may
// be looked at until all readers have reported quiescence after that: its memory is the owner's to
// keep so long. A key is filed under its 64-bit hash, and compared in the entry.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/base/expected.h"
#include "lib/base/hash.h"
#include "lib/cache/entry_space.h"
#include "lib/cache/key.h"
#include "lib/cache/slab_supply.h"

struct rte_rcu_qsbr;

namespace wirecache::cache {

class CompactIndex;
class HashIndex;

#ifdef WIRECACHE_INDEX_RTE_HASH
using DefaultIndex = HashIndex;
#else
using DefaultIndex = CompactIndex;
#endif

inline constexpr size_t kMaxIndexBurst = 64;

enum class IndexStatus : uint8_t {
  kInserted,
  kReplaced,
  kErased,
  kMoved,
  kNotFound,
  kFull,  // no place for the key: entries must leave first
  kBusy,  // readers have not moved on: try again later
};

struct IndexInserted {
  IndexStatus status;
  EntryRef replaced = kNoEntry;  // with kReplaced: what stood there
};

// What both pointers lead to outlives the index.
struct IndexOptions {
  std::string name;             // unique in the process, at most 26 bytes
  uint64_t capacity_bytes = 0;  // of entries and index together
  const EntrySpace* space = nullptr;
  SlabSupply* supply = nullptr;  // has at least one slab in reach
  rte_rcu_qsbr* rcu = nullptr;
  const HashSecret* secret = nullptr;  // that made the keys' hashes
  int numa_node = 0;
};

// One key of a burst, and the index of the partition that owns it.
template <typename Index>
struct IndexQuery {
  const Index* index;
  const Key* key;
};

template <typename T>
concept EntryIndex = requires(T& index, const T& reader, const Key& key, uint64_t hash,
                              EntryRef ref, std::span<const IndexQuery<T>> queries,
                              const uint8_t** entries, const IndexOptions& options) {
  { T::create(options) } -> std::same_as<Expected<std::unique_ptr<T>>>;

  // Any reader. entries[i] is the entry of queries[i] or nullptr, and on its way into the
  // cache; at most kMaxIndexBurst at once, of whichever partitions of the node.
  { T::find_burst(queries, entries) } -> std::same_as<void>;
  { reader.find(key) } -> std::same_as<const uint8_t*>;
  // Any reader, or the owner before an insertion: makes the place of a key warm.
  { reader.prefetch(hash) } -> std::same_as<void>;

  // Owner. kInserted, kReplaced or kFull (nothing changed).
  { index.insert(key, ref) } -> std::same_as<IndexInserted>;
  // Owner. The same where find(key) has just found nothing: kInserted or kFull.
  { index.insert_absent(key, ref) } -> std::same_as<IndexStatus>;
  // Owner. Removes what is filed under `hash` with exactly this reference: kErased, kNotFound,
  // or kBusy (nothing changed).
  { index.erase_if(hash, ref) } -> std::same_as<IndexStatus>;
  // Owner. The entry under the first reference now stands under the second: kMoved, kNotFound.
  { index.move(hash, ref, ref) } -> std::same_as<IndexStatus>;
  // Owner, once a poll: a bounded step of growth and reclaim.
  { index.maintain() } -> std::same_as<void>;
  // Owner. A bounded step towards giving memory back. False where there is none to take, until
  // entries have left.
  { index.release_memory() } -> std::same_as<bool>;

  { reader.size() } -> std::same_as<uint32_t>;
  // What the index costs, and what of that stands in slabs of the supply (and so is in the
  // supply's held_bytes() as well).
  { reader.memory_bytes() } -> std::same_as<uint64_t>;
  { reader.supplied_bytes() } -> std::same_as<uint64_t>;
  // It would grow if there were a slab in reach.
  { reader.wants_memory() } -> std::same_as<bool>;
  // Entries should leave: it can neither grow nor take many more.
  { reader.is_short() } -> std::same_as<bool>;
};

}  // namespace wirecache::cache

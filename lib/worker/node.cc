#include "lib/worker/node.h"

#include <rte_errno.h>
#include <rte_malloc.h>

#include <utility>

namespace wirecache::worker {
namespace {

std::vector<QueueCounts> queue_counts(const std::vector<PortRef>& ports) {
  std::vector<QueueCounts> counts;
  for (const PortRef& port : ports) counts.push_back(port.queues);
  return counts;
}

}  // namespace

Expected<std::unique_ptr<Node>> Node::create(NodeOptions options) {
  std::unique_ptr<Node> node(new Node(std::move(options)));
  if (auto parts = node->create_parts(); !parts) return Unexpected(std::move(parts.error()));
  return node;
}

Node::Node(NodeOptions options)
    : options_(std::move(options)),
      plan_(plan_queues(queue_counts(options_.ports), options_.workers)),
      stats_(std::make_unique<stats::WorkerStats[]>(options_.workers)) {}

Expected<void> Node::create_parts() {
  const size_t rcu_bytes = rte_rcu_qsbr_get_memsize(options_.workers);
  rcu_ = static_cast<rte_rcu_qsbr*>(rte_zmalloc_socket(options_.name.c_str(), rcu_bytes,
                                                       RTE_CACHE_LINE_SIZE, options_.numa_node));
  if (rcu_ == nullptr || rte_rcu_qsbr_init(rcu_, options_.workers) != 0)
    return fail("no memory for the RCU variable");

  auto rings = HandoverRings::create(options_.name, options_.workers + 1, options_.numa_node);
  if (!rings) return Unexpected(std::move(rings.error()));
  rings_ = std::move(*rings);

  return create_partitions();
}

Expected<void> Node::create_partitions() {
  const uint64_t capacity_bytes = (options_.cache.memory_mb << 20) / options_.workers;
  const auto layout = cache::PartitionLayout::for_capacity(capacity_bytes);
  auto memory = cache::SlabMemory::create({.slab_bytes = layout.slab_bytes,
                                           .numa_node = options_.numa_node,
                                           .huge_pages = options_.cache_pages});
  if (!memory) return Unexpected(std::move(memory.error()));
  cache_memory_ = std::move(*memory);
  for (unsigned worker = 0; worker < options_.workers; ++worker) {
    cache::PartitionOptions partition;
    partition.name = options_.name + "-p" + std::to_string(worker);
    partition.capacity_bytes = capacity_bytes;
    partition.memory = cache_memory_.get();
    partition.numa_node = options_.numa_node;
    partition.rcu = rcu_;
    partition.secret = &options_.secret;
    partition.stats = &stats_[worker];
    auto made = cache::Partition::create(partition);
    if (!made) return Unexpected(std::move(made.error()));
    partitions_.push_back(std::move(*made));
  }
  return {};
}

void Node::provision_cache() {
  for (const auto& partition : partitions_) partition->provision();
}

Node::~Node() {
  partitions_.clear();
  rings_.reset();
  rte_free(rcu_);
}

void Node::publish(std::unique_ptr<const Snapshot> snapshot) {
  snapshot_.store(snapshot.get(), std::memory_order_release);
  std::swap(current_, snapshot);
  if (snapshot != nullptr) retired_.push_back({rte_rcu_qsbr_start(rcu_), std::move(snapshot)});
  reclaim_snapshots();
}

void Node::reclaim_snapshots() {
  std::erase_if(retired_, [this](const Retired& retired) {
    return rte_rcu_qsbr_check(rcu_, retired.token, false) == 1;
  });
}

}  // namespace wirecache::worker

// Blocks of networks that were built before. A search asks about thousands of networks made of the
// same blocks, and a network repeats its blocks: each is built once and then copied
// (NetBuilder::Block). Bounded in bytes; when full it is cleared. Thread-safe.
#ifndef COBRA_GRAPH_BUILDER_BLOCK_CACHE_H_
#define COBRA_GRAPH_BUILDER_BLOCK_CACHE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "graph/graph.h"

namespace cobra::graph {

struct Block {
  Graph graph;
  // Given inputs in row-major order, all its values are, and none of its calls copies for their
  // sake.
  bool is_contiguous = false;
};

class BlockCache {
 public:
  explicit BlockCache(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Keys are compared in full. Null if there is none.
  std::shared_ptr<const Block> Find(absl::string_view key) const;
  // Keeps the block, unless it would take more than a sixteenth of the capacity.
  void Insert(absl::string_view key, std::shared_ptr<const Block> block);
  int64_t bytes() const;

 private:
  const int64_t capacity_bytes_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Block>> blocks_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_BUILDER_BLOCK_CACHE_H_

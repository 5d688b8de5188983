#include "graph/builder/block_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cobra::graph {
namespace {

constexpr int64_t kLargestShare = 16;  // of the capacity: a block that is larger is not kept

// More than it takes: of a call with its attributes, of a tensor, and of the names.
int64_t BytesOf(absl::string_view key, const Graph& block) {
  constexpr int64_t kCallBytes = 700, kTensorBytes = 150;
  int64_t bytes = static_cast<int64_t>(key.size() + sizeof(Block)) + 64;
  for (const Node& node : block.nodes())
    bytes += kCallBytes + static_cast<int64_t>(node.origin.module_path.size() + 16 * node.inputs.size());
  for (const absl::Span<const NamedTensor> tensors : {block.parameters(), block.buffers(), block.constants()}) {
    for (const NamedTensor& tensor : tensors) bytes += kTensorBytes + static_cast<int64_t>(tensor.name.size());
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const Block> BlockCache::Find(absl::string_view key) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = blocks_.find(key);
  return found == blocks_.end() ? nullptr : found->second;
}

void BlockCache::Insert(absl::string_view key, std::shared_ptr<const Block> block) {
  const int64_t bytes = BytesOf(key, block->graph);
  if (bytes > capacity_bytes_ / kLargestShare) return;
  absl::flat_hash_map<std::string, std::shared_ptr<const Block>> dropped;  // after the lock
  absl::MutexLock lock(&mutex_);
  if (bytes_ + bytes > capacity_bytes_) {
    dropped.swap(blocks_);
    bytes_ = 0;
  }
  if (blocks_.try_emplace(key, std::move(block)).second) bytes_ += bytes;
}

int64_t BlockCache::bytes() const {
  absl::ReaderMutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace cobra::graph

// A simulation of glibc's main heap under a network's allocations. What matters is where the heap ends: memory freed at its end goes back to the system
// once more than the trim threshold is free there, and the next call that needs it pays a page fault for every 4 KB again.
// Both thresholds adapt (malloc(3), M_MMAP_THRESHOLD): freeing a mapped block of n bytes raises the mmap threshold to n and the trim threshold
// to 2 n, up to 32 MB. Whether a network oscillates around the threshold depends on its sizes and their order, so one MobileNet suffers
// and the next does not; the measurements of real PyTorch show the same.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "graph/cost.h"

namespace cobra {
namespace {

constexpr int64_t kFirstThreshold = 128 << 10;
constexpr int64_t kLargestThreshold = 32 << 20;
constexpr int64_t kPad = 128 << 10;  // M_TOP_PAD: what stays at the end after trimming, what is asked for beyond a request

class Heap {
 public:
  // Returns a handle; adds to fresh_bytes().
  int Allocate(int64_t bytes) {
    bytes = (bytes + 79) / 64 * 64;  // 64-byte alignment and the header
    if (bytes >= mmap_threshold_) {
      fresh_ += bytes;
      return Remember({-1, bytes});
    }
    return Remember({Place(bytes), bytes});
  }

  void Free(int handle) {
    const Block block = blocks_[handle];
    if (block.address < 0) {
      // A mapped block is whole pages and a header: the next request of the same size lies below the new threshold.
      const int64_t mapped = (block.bytes / 4096 + 1) * 4096;
      if (mapped > mmap_threshold_ && mapped <= kLargestThreshold) {
        mmap_threshold_ = mapped;
        trim_threshold_ = 2 * mapped;
      }
      return;
    }
    Release(block.address, block.bytes);
  }

  int64_t TakeFresh() { return std::exchange(fresh_, 0); }

 private:
  struct Block {
    int64_t address;  // -1: mapped on its own
    int64_t bytes;
  };

  int Remember(Block block) {
    blocks_.push_back(block);
    return static_cast<int>(blocks_.size()) - 1;
  }

  // The smallest hole that fits, else the end of the heap.
  int64_t Place(int64_t bytes) {
    auto best = holes_.end();
    for (auto it = holes_.begin(); it != holes_.end(); ++it) {
      if (it->second >= bytes && (best == holes_.end() || it->second < best->second)) best = it;
    }
    if (best != holes_.end()) {
      const auto [address, size] = *best;
      holes_.erase(best);
      if (size > bytes) holes_[address + bytes] = size - bytes;
      return address;
    }
    const int64_t address = top_;
    top_ += bytes;
    if (top_ > end_) {
      fresh_ += top_ - end_;
      end_ = top_ + kPad;
    }
    return address;
  }

  void Release(int64_t address, int64_t bytes) {
    auto next = holes_.lower_bound(address);
    if (next != holes_.end() && next->first == address + bytes) {
      bytes += next->second;
      next = holes_.erase(next);
    }
    if (next != holes_.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == address) {
        address = previous->first;
        bytes += previous->second;
        holes_.erase(previous);
      }
    }
    if (address + bytes < top_) {
      holes_[address] = bytes;
      return;
    }
    top_ = address;
    if (end_ - top_ >= trim_threshold_) end_ = top_ + kPad;
  }

  int64_t mmap_threshold_ = kFirstThreshold, trim_threshold_ = kFirstThreshold;
  int64_t top_ = 0, end_ = 0;
  int64_t fresh_ = 0;
  std::map<int64_t, int64_t> holes_;  // address -> bytes
  std::vector<Block> blocks_;
};

bool IsConvolution(const Node& node) { return OpName(node.op).substr(0, 4) == "conv" && node.inputs.size() >= 2; }

// One run of the network; fresh bytes by node.
std::vector<int64_t> Run(const Graph& graph, const MemoryPlan& plan, Heap* heap) {
  std::vector<int64_t> fresh;
  std::vector<int> handle(plan.storage_bytes.size(), -1);
  for (size_t k = 0; k < plan.made_at.size(); ++k) {
    // oneDNN's convolution: a blocked output, the reordered operands, then the output that the caller gets while the blocked one still lives.
    const bool blocked = plan.workspace_bytes[k] > 0 && IsConvolution(graph.nodes()[k]);
    int blocked_output = -1;
    if (blocked) blocked_output = heap->Allocate(graph.nodes()[k].outputs[0].num_bytes());
    if (plan.workspace_bytes[k] > 0 && blocked) heap->Free(heap->Allocate(plan.workspace_bytes[k]));
    for (const int32_t s : plan.made_at[k]) handle[s] = heap->Allocate(plan.storage_bytes[s]);
    if (plan.workspace_bytes[k] > 0 && !blocked) heap->Free(heap->Allocate(plan.workspace_bytes[k]));
    if (blocked) heap->Free(blocked_output);
    fresh.push_back(heap->TakeFresh());
    for (const int32_t s : plan.dies_after[k]) heap->Free(handle[s]);
  }
  for (const int32_t s : plan.dies_after.back()) heap->Free(handle[s]);
  return fresh;
}

}  // namespace

std::vector<int64_t> FreshHeapBytes(const Graph& graph) {
  const MemoryPlan plan = PlanMemory(graph);
  Heap heap;
  std::vector<int64_t> fresh;
  // The thresholds settle after the first run, the holes after the second.
  for (int run = 0; run < 3; ++run) fresh = Run(graph, plan, &heap);
  return fresh;
}

}  // namespace cobra

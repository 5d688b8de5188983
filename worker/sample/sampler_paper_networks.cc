// Random ResNet-like networks after the COBRA paper, A.2 and Table 6: a random upper triangular
// adjacency (p = 0.4), without the nodes that are on no path from input to output. Convolution
// blocks before additions bring the summands to a common (smallest) shape. The paper does not give
// the input size and the number of nodes. Here: 32 to 224 (every size is 2^k or 7 * 2^k, so that
// sizes divide each other), 4 to 24 nodes. Networks beyond SampleCaps::network_macs, or below a
// floor drawn log-uniformly from 5 million up, are drawn again.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/net_builder.h"
#include "graph/cost/cost.h"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

constexpr double kEdgeProbability = 0.4;
constexpr int64_t kLeastMacs = 5'000'000;

struct Operation {
  enum class Kind { kConv, kSepConv, kAvgPool, kMaxPool } kind = Kind::kConv;
  int64_t channels = 32, kernel = 3, stride = 1;
};

Operation DrawOperation(Random* r) {
  Operation op;
  op.kind = r->Pick(
      {Operation::Kind::kConv, Operation::Kind::kSepConv, Operation::Kind::kAvgPool, Operation::Kind::kMaxPool});
  op.channels = r->Pick<int64_t>({32, 64, 128, 256, 512});
  op.kernel = r->Pick<int64_t>({3, 5, 7});
  op.stride = r->Pick<int64_t>({1, 2, 4});
  return op;
}

using Adjacency = std::vector<std::vector<bool>>;  // [from][to], from < to

Adjacency DrawAdjacency(Random* r, int nodes) {
  Adjacency edges(nodes, std::vector<bool>(nodes));
  for (int i = 0; i < nodes; ++i) {
    for (int j = i + 1; j < nodes; ++j) edges[i][j] = r->Chance(kEdgeProbability);
  }
  return edges;
}

// Which nodes are on a path from the first to the last.
std::vector<bool> OnPath(const Adjacency& edges) {
  const int n = static_cast<int>(edges.size());
  std::vector<bool> forward(n), backward(n), both(n);
  forward[0] = backward[n - 1] = true;
  for (int j = 1; j < n; ++j) {
    for (int i = 0; i < j; ++i) forward[j] = forward[j] || (edges[i][j] && forward[i]);
  }
  for (int i = n - 2; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) backward[i] = backward[i] || (edges[i][j] && backward[j]);
  }
  for (int i = 0; i < n; ++i) both[i] = forward[i] && backward[i];
  return both;
}

graph::ValueRef Apply(graph::NetBuilder* b, const Operation& op, graph::ValueRef x) {
  const int64_t size = b->Dim(x, 2);
  // Stride only over sizes that the stride divides: sizes stay divisors of each other.
  const int64_t stride = size % op.stride == 0 && size > op.stride ? op.stride : 1;
  switch (op.kind) {
    case Operation::Kind::kConv:
      return b->ConvBnRelu(
          x, {.out_channels = op.channels, .kernel_size = op.kernel, .stride = stride, .padding = op.kernel / 2});
    case Operation::Kind::kSepConv: {
      const graph::ValueRef depthwise = b->Conv2d(x, {.out_channels = b->Channels(x),
                                                      .kernel_size = op.kernel,
                                                      .stride = stride,
                                                      .padding = op.kernel / 2,
                                                      .groups = b->Channels(x)});
      return b->ConvBnRelu(depthwise, {.out_channels = op.channels, .kernel_size = 1});
    }
    case Operation::Kind::kAvgPool: return size % 2 == 0 ? b->AvgPool2d(x, {.kernel_size = 2, .stride = 2}) : x;
    case Operation::Kind::kMaxPool: return size % 2 == 0 ? b->MaxPool2d(x, {.kernel_size = 2, .stride = 2}) : x;
  }
  return x;
}

// The sum of `parts`, each brought to the smallest number of channels and the smallest size (=
// their greatest common divisors).
graph::ValueRef Merge(graph::NetBuilder* b, Random* r, const std::vector<graph::ValueRef>& parts) {
  int64_t channels = b->Channels(parts[0]), size = b->Dim(parts[0], 2);
  for (graph::ValueRef part : parts) {
    channels = std::min(channels, b->Channels(part));
    size = std::min(size, b->Dim(part, 2));
  }
  graph::ValueRef sum = graph::ValueRef::None();
  for (graph::ValueRef part : parts) {
    if (b->Channels(part) != channels || b->Dim(part, 2) != size) {
      const int64_t kernel = r->Pick<int64_t>({1, 3});
      part = b->ConvBnRelu(
          part,
          {.out_channels = channels, .kernel_size = kernel, .stride = b->Dim(part, 2) / size, .padding = kernel / 2});
    }
    sum = sum.is_none() ? part : b->Add(sum, part);
  }
  return sum;
}

absl::StatusOr<graph::Graph> Draw(Random* r) {
  const int nodes = static_cast<int>(r->Between(4, 24));
  Adjacency edges = DrawAdjacency(r, nodes);
  const std::vector<bool> used = OnPath(edges);
  if (!used[0]) return absl::NotFoundError("input and output are not connected");
  graph::NetBuilder b;
  const int64_t size = r->Pick<int64_t>({32, 56, 64, 112, 128, 224});
  std::vector<graph::ValueRef> values(nodes);
  values[0] = b.Input({1, 3, size, size});
  for (int j = 1; j < nodes; ++j) {
    if (!used[j]) continue;
    std::vector<graph::ValueRef> parts;
    for (int i = 0; i < j; ++i) {
      if (used[i] && edges[i][j]) parts.push_back(values[i]);
    }
    const Operation op = DrawOperation(r);
    const graph::ValueRef merged = Merge(&b, r, parts);
    values[j] = j == nodes - 1 ? merged : Apply(&b, op, merged);
  }
  return std::move(b).Finish({values[nodes - 1]});
}

class PaperNetworkSampler final : public Sampler {
 public:
  explicit PaperNetworkSampler(const SamplerOptions& options) : options_(options) {}
  absl::string_view space() const override { return "paper-networks"; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    Random random(options_.seed, space(), index);
    // Most draws stride down to 1x1 early and would take less than a millisecond: a random floor
    // spreads them over the range.
    const int64_t least_macs = random.LogBetween(kLeastMacs, options_.caps.network_macs / 2);
    for (int tries = 0; tries < 4000; ++tries) {
      absl::StatusOr<graph::Graph> graph = Draw(&random);
      if (!graph.ok() || graph->nodes().size() < 4 || !CheckCaps(*graph, true, options_.caps).ok()) continue;
      if (graph::CostOf(*graph).macs < least_macs) continue;
      return Sample{true, "random-resnet", *std::move(graph)};
    }
    return absl::NotFoundError(absl::StrCat(space(), "/", index, ": nothing within the caps"));
  }

 private:
  const SamplerOptions options_;
};

}  // namespace

std::unique_ptr<Sampler> MakePaperNetworkSampler(const SamplerOptions& options) {
  return std::make_unique<PaperNetworkSampler>(options);
}

}  // namespace cobra::worker

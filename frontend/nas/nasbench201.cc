// NAS-Bench-201 (Dong and Yang, ICLR 2020), as D-X-Y/AutoDL-Projects builds TinyNetwork for
// inference. It has a 3x3 stem, three stages of N cells with C, 2C, 4C channels, a residual block
// of stride 2 between stages, batch norm, ReLU, global average and a linear layer.
//
// A cell has four nodes; edge (i, j) is an operation from node i to node j. Node j is Python's
// sum() over its edges: an addition to the number 0 first, then the tensors. `none` multiplies by
// zero. "Pruned" is the network that BRP-NAS measured: an edge runs only if it lies on a path from
// the cell's input to its output over edges that are not `none`.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/nasbench201_cell.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

using Cell = Nasbench201Cell;
using Operation = Cell::Operation;
constexpr int kNodes = Cell::kNodes;

graph::ValueRef ReluConvBn(graph::NetBuilder& net, const std::string& path, graph::ValueRef x,
                           const graph::Conv2dOptions& conv) {
  x = net.Relu(x, absl::StrCat(path, ".op.0"));
  x = net.Conv2d(x, conv, absl::StrCat(path, ".op.1"));
  return net.BatchNorm2d(x, absl::StrCat(path, ".op.2"));
}

// Every cell is new to most requests, and made of these.
graph::ValueRef ConvEdge(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t kernel) {
  const auto run = [kernel](graph::NetBuilder& block, const std::string& own, absl::Span<const graph::ValueRef> in) {
    return ReluConvBn(block, own, in[0],
                      {.out_channels = block.Channels(in[0]), .kernel_size = kernel, .padding = kernel / 2});
  };
  return net.Block(kernel == 1 ? "nasbench201 nor_conv_1x1" : "nasbench201 nor_conv_3x3", path, {x}, run);
}

graph::ValueRef Edge(graph::NetBuilder& net, const std::string& path, Operation operation, graph::ValueRef x) {
  switch (operation) {
    case Cell::kNone: return net.Call(graph::Op::mul, {{"other", 0.0}}, {x}, path);
    case Cell::kSkip: return x;
    case Cell::kConv1x1: return ConvEdge(net, path, x, 1);
    case Cell::kConv3x3: return ConvEdge(net, path, x, 3);
    case Cell::kAvgPool:
      return net.AvgPool2d(x, {.kernel_size = 3, .stride = 1, .padding = 1, .count_include_pad = false},
                           absl::StrCat(path, ".op"));
  }
  return x;
}

// Without pruning, the calls are those of the published cell, whose sum() starts at the number 0.
graph::ValueRef RunCell(graph::NetBuilder& net, const std::string& path, const Cell& cell, bool pruned,
                        graph::ValueRef input) {
  graph::ValueRef nodes[kNodes] = {input};
  int layer = 0;
  for (int to = 1; to < kNodes; ++to) {
    graph::ValueRef sum = graph::ValueRef::None();
    for (int from = 0; from < to; ++from, ++layer) {
      if (!cell.runs[to][from]) continue;
      const graph::ValueRef term = Edge(net, absl::StrCat(path, ".layers.", layer), cell.edge[to][from], nodes[from]);
      if (!sum.is_none()) {
        sum = net.Add(sum, term, path);
      } else {
        sum = pruned ? term : net.Call(graph::Op::add, {{"other", int64_t{0}}}, {term}, path);
      }
    }
    nodes[to] = sum;
  }
  return nodes[kNodes - 1];
}

// What a cell's calls depend on, beside its input.
std::string CellText(const Cell& cell, bool pruned) {
  std::string text = pruned ? "nasbench201-pruned " : "nasbench201 ";
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from)
      absl::StrAppend(&text, cell.runs[to][from] ? static_cast<int>(cell.edge[to][from]) : -1, ",");
  }
  return text;
}

graph::ValueRef ReductionBlock(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t channels) {
  graph::ValueRef block = ReluConvBn(net, absl::StrCat(path, ".conv_a"), x,
                                     {.out_channels = channels, .kernel_size = 3, .stride = 2, .padding = 1});
  block =
      ReluConvBn(net, absl::StrCat(path, ".conv_b"), block, {.out_channels = channels, .kernel_size = 3, .padding = 1});
  graph::ValueRef residual = net.AvgPool2d(x, {.kernel_size = 2, .stride = 2}, absl::StrCat(path, ".downsample.0"));
  residual = net.Conv2d(residual, {.out_channels = channels, .kernel_size = 1}, absl::StrCat(path, ".downsample.1"));
  return net.Add(residual, block, path);
}

absl::StatusOr<graph::Graph> Build(SpaceRequest request, bool pruned) {
  struct Dataset {
    int64_t size, classes;
  };
  constexpr Dataset kDatasets[] = {{32, 10}, {32, 100}, {16, 120}};
  COBRA_ASSIGN_OR_RETURN(const int index,
                         request.options.Choice("dataset", 0, {"cifar10", "cifar100", "imagenet16-120"}));
  const Dataset& dataset = kDatasets[index];
  COBRA_ASSIGN_OR_RETURN(const int64_t classes, request.options.Int("classes", dataset.classes, 1, 1000000));
  COBRA_ASSIGN_OR_RETURN(const int64_t channels, request.options.Int("channels", 16, 1, 4096));
  COBRA_ASSIGN_OR_RETURN(const int64_t cells, request.options.Int("cells", 5, 1, 1000));
  COBRA_ASSIGN_OR_RETURN(const graph::TensorType image, request.Image({1, 3, dataset.size, dataset.size}));
  const size_t begin = request.text.position();
  COBRA_ASSIGN_OR_RETURN(Cell cell, ReadNasbench201Cell(request.text));
  if (pruned && !Prune(&cell)) {
    return request.text.ErrorAt(begin, "no path leads from the cell's input to its output",
                                "nothing of the cell is left after pruning; space nasbench201 runs such cells whole");
  }

  graph::NetBuilder net(request.BuilderOptions());
  graph::ValueRef x = net.Input(image.shape, image.dtype, "inputs");
  x = net.Conv2d(x, {.out_channels = channels, .kernel_size = 3, .padding = 1}, "stem.0");
  x = net.BatchNorm2d(x, "stem.1");
  int64_t index_of_cell = 0;
  const std::string cell_text = CellText(cell, pruned);
  const auto run_cell = [&](graph::NetBuilder& block, const std::string& path, absl::Span<const graph::ValueRef> in) {
    return RunCell(block, path, cell, pruned, in[0]);
  };
  for (int stage = 0; stage < 3; ++stage) {
    const int64_t width = channels << stage;
    const auto reduce = [width](graph::NetBuilder& block, const std::string& path,
                                absl::Span<const graph::ValueRef> in) {
      return ReductionBlock(block, path, in[0], width);
    };
    if (stage > 0)
      x = net.Block(absl::StrCat("nasbench201 to ", width), absl::StrCat("cells.", index_of_cell++), {x}, reduce);
    for (int64_t n = 0; n < cells && net.status().ok(); ++n)
      x = net.Block(cell_text, absl::StrCat("cells.", index_of_cell++), {x}, run_cell);
  }
  x = net.BatchNorm2d(x, "lastact.0");
  x = net.ReluInPlace(x, "lastact.1");
  x = net.AdaptiveAvgPool2d(x, 1, "global_pooling");
  x = net.FlattenView(x);
  const graph::ValueRef logits = net.Linear(x, classes, "classifier");
  return std::move(net).Finish({x, logits});
}

}  // namespace

absl::StatusOr<graph::Graph> BuildNasbench201(SpaceRequest request) {
  return Build(std::move(request), /*pruned=*/false);
}
absl::StatusOr<graph::Graph> BuildNasbench201Pruned(SpaceRequest request) {
  return Build(std::move(request), /*pruned=*/true);
}

}  // namespace cobra::nas

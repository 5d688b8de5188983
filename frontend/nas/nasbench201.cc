// NAS-Bench-201 (Dong and Yang, ICLR 2020), as D-X-Y/AutoDL-Projects builds TinyNetwork for inference: a 3x3 stem,
// three stages of N cells with C, 2C, 4C channels, a residual block of stride 2 between stages, batch norm, ReLU,
// global average and a linear layer.
//
// A cell has four nodes; edge (i, j) is an operation from node i to node j. Node j is Python's sum() over its edges: an
// addition to the number 0 first, then the tensors. `none` multiplies by zero. "Pruned" is the network that BRP-NAS
// measured: an edge runs only if it lies on a path from the cell's input to its output over edges that are not `none`.
#include <array>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

constexpr absl::string_view kOperations[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
enum Operation { kNone, kSkip, kConv1x1, kConv3x3, kAvgPool };
constexpr int kNodes = 4;

// edge[j][i]: from node i to node j, i < j.
struct Cell {
  Operation edge[kNodes][kNodes] = {};
  bool runs[kNodes][kNodes] = {};
};

// "|op~0|+|op~0|op~1|+|op~0|op~1|op~2|"
absl::StatusOr<Cell> ParseCell(ArchText& text) {
  Cell cell;
  for (int to = 1; to < kNodes; ++to) {
    if (to > 1) COBRA_RETURN_IF_ERROR(text.Expect("+"));
    COBRA_RETURN_IF_ERROR(text.Expect("|"));
    for (int from = 0; from < to; ++from) {
      text.SkipSpace();
      const size_t begin = text.position();
      const absl::string_view name = text.Word("");
      int found = -1;
      for (int i = 0; i < 5; ++i) {
        if (kOperations[i] == name) found = i;
      }
      if (found < 0) {
        return text.ErrorAt(begin, "no operation of NAS-Bench-201",
                            "the operations are none, skip_connect, nor_conv_1x1, nor_conv_3x3, avg_pool_3x3");
      }
      cell.edge[to][from] = static_cast<Operation>(found);
      COBRA_RETURN_IF_ERROR(text.Expect("~"));
      COBRA_ASSIGN_OR_RETURN(const int64_t source, text.Int());
      if (source != from) {
        return text.ErrorAt(begin, absl::StrCat("node ", to, " lists its edges from nodes 0 to ", to - 1, " in order"));
      }
      COBRA_RETURN_IF_ERROR(text.Expect("|"));
    }
  }
  COBRA_RETURN_IF_ERROR(text.ExpectEnd());
  return cell;
}

// What runs: everything, or what lies on a path.
void MarkRunning(Cell* cell, bool pruned) {
  std::array<bool, kNodes> reached{true}, needed{};
  needed[kNodes - 1] = true;
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      reached[to] = reached[to] || (reached[from] && cell->edge[to][from] != kNone);
    }
  }
  for (int to = kNodes - 1; to > 0; --to) {
    for (int from = 0; from < to; ++from) {
      needed[from] = needed[from] || (needed[to] && cell->edge[to][from] != kNone);
    }
  }
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      cell->runs[to][from] = !pruned || (cell->edge[to][from] != kNone && reached[from] && needed[to]);
    }
  }
}

ValueRef ReluConvBn(NetBuilder& net, const std::string& path, ValueRef x, const Conv& conv) {
  x = net.Relu(absl::StrCat(path, ".op.0"), x, /*inplace=*/false);
  x = net.Conv2d(absl::StrCat(path, ".op.1"), x, conv);
  return net.BatchNorm2d(absl::StrCat(path, ".op.2"), x);
}

ValueRef Edge(NetBuilder& net, const std::string& path, Operation operation, ValueRef x) {
  switch (operation) {
    case kNone:
      return net.Call(Op::mul, path, {{"other", 0.0}}, {x});
    case kSkip:
      return x;
    case kConv1x1:
      return ReluConvBn(net, path, x, Square(net.Channels(x), 1));
    case kConv3x3:
      return ReluConvBn(net, path, x, Square(net.Channels(x), 3, 1, 1));
    case kAvgPool:
      return net.AvgPool2d(absl::StrCat(path, ".op"), x, 3, 1, 1, /*count_include_pad=*/false);
  }
  return x;
}

// Without pruning as the published cell: sum() starts at the number 0.
ValueRef RunCell(NetBuilder& net, const std::string& path, const Cell& cell, bool pruned, ValueRef input) {
  ValueRef nodes[kNodes] = {input};
  int layer = 0;
  for (int to = 1; to < kNodes; ++to) {
    ValueRef sum = ValueRef::None();
    for (int from = 0; from < to; ++from, ++layer) {
      if (!cell.runs[to][from]) continue;
      const ValueRef term = Edge(net, absl::StrCat(path, ".layers.", layer), cell.edge[to][from], nodes[from]);
      if (!sum.is_none()) {
        sum = net.Add(path, sum, term);
      } else {
        sum = pruned ? term : net.Call(Op::add, path, {{"other", int64_t{0}}}, {term});
      }
    }
    nodes[to] = sum;
  }
  return nodes[kNodes - 1];
}

ValueRef ReductionBlock(NetBuilder& net, const std::string& path, ValueRef x, int64_t channels) {
  ValueRef block = ReluConvBn(net, absl::StrCat(path, ".conv_a"), x, Square(channels, 3, 2, 1));
  block = ReluConvBn(net, absl::StrCat(path, ".conv_b"), block, Square(channels, 3, 1, 1));
  ValueRef residual = net.AvgPool2d(absl::StrCat(path, ".downsample.0"), x, 2, 2, 0, /*count_include_pad=*/true);
  residual = net.Conv2d(absl::StrCat(path, ".downsample.1"), residual, Square(channels, 1));
  return net.Add(path, residual, block);
}

absl::StatusOr<Graph> Build(SpaceRequest request, bool pruned) {
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
  COBRA_ASSIGN_OR_RETURN(const TensorType image, request.Image({1, 3, dataset.size, dataset.size}));
  const size_t begin = request.text.position();
  COBRA_ASSIGN_OR_RETURN(Cell cell, ParseCell(request.text));
  MarkRunning(&cell, pruned);
  if (pruned && !cell.runs[1][0] && !cell.runs[2][0] && !cell.runs[3][0]) {
    return request.text.ErrorAt(begin, "no path leads from the cell's input to its output",
                                "nothing of the cell is left after pruning; space nasbench201 runs such cells whole");
  }

  NetBuilder net(request.limits);
  ValueRef x = net.Input("inputs", image);
  x = net.Conv2d("stem.0", x, Square(channels, 3, 1, 1));
  x = net.BatchNorm2d("stem.1", x);
  int64_t index_of_cell = 0;
  for (int stage = 0; stage < 3; ++stage) {
    if (stage > 0) x = ReductionBlock(net, absl::StrCat("cells.", index_of_cell++), x, channels << stage);
    for (int64_t n = 0; n < cells && net.status().ok(); ++n) {
      x = RunCell(net, absl::StrCat("cells.", index_of_cell++), cell, pruned, x);
    }
  }
  x = net.BatchNorm2d("lastact.0", x);
  x = net.Relu("lastact.1", x, /*inplace=*/true);
  x = net.GlobalAvgPool2d("global_pooling", x);
  x = net.FlattenView("", x);
  const ValueRef logits = net.Linear("classifier", x, classes);
  return std::move(net).Finish({x, logits});
}

}  // namespace

absl::StatusOr<Graph> BuildNasbench201(SpaceRequest request) { return Build(std::move(request), /*pruned=*/false); }
absl::StatusOr<Graph> BuildNasbench201Pruned(SpaceRequest request) {
  return Build(std::move(request), /*pruned=*/true);
}

}  // namespace cobra::nas

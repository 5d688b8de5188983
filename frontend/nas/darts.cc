// DARTS (Liu et al., ICLR 2019), as quark0/darts builds NetworkCIFAR and NetworkImageNet from a
// Genotype: evaluation networks without auxiliary head and drop path, as at inference.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

constexpr size_t kMaxEdges = 64;  // the published genotypes have 8 or 10

struct Edge {
  std::string operation;
  int64_t source = 0;
};
struct Cell {
  std::vector<Edge> edges;  // two per step
  std::vector<int64_t> concat;
};
struct Genotype {
  Cell normal, reduce;
};

constexpr absl::string_view kOperations[] = {"none",         "avg_pool_3x3", "max_pool_3x3", "skip_connect",
                                             "sep_conv_3x3", "sep_conv_5x5", "sep_conv_7x7", "dil_conv_3x3",
                                             "dil_conv_5x5", "conv_7x1_1x7"};

// [('sep_conv_3x3', 1), ...]
absl::Status ParseEdges(ArchText& text, Cell* cell) {
  COBRA_RETURN_IF_ERROR(text.Expect("["));
  while (!text.Consume("]")) {
    if (!cell->edges.empty()) {
      COBRA_RETURN_IF_ERROR(text.Expect(","));
      if (text.Consume("]")) break;
    }
    const bool bracket = text.Consume("[");
    if (!bracket) COBRA_RETURN_IF_ERROR(text.Expect("("));
    const absl::string_view quote = text.Consume("\"") ? "\"" : "'";
    if (quote == "'") COBRA_RETURN_IF_ERROR(text.Expect("'"));
    const size_t begin = text.position();
    Edge edge{std::string(text.Word(""))};
    if (std::find(std::begin(kOperations), std::end(kOperations), edge.operation) == std::end(kOperations)) {
      return text.ErrorAt(
          begin, "is not an operation of DARTS",
          "the operations are none, avg_pool_3x3, max_pool_3x3, skip_connect, sep_conv_3x3, sep_conv_5x5, "
          "sep_conv_7x7, dil_conv_3x3, dil_conv_5x5, conv_7x1_1x7");
    }
    COBRA_RETURN_IF_ERROR(text.Expect(quote));
    COBRA_RETURN_IF_ERROR(text.Expect(","));
    text.SkipSpace();
    const size_t source_begin = text.position();
    COBRA_ASSIGN_OR_RETURN(edge.source, text.Int());
    const int64_t states = 2 + static_cast<int64_t>(cell->edges.size()) / 2;
    if (edge.source < 0 || edge.source >= states) {
      return text.ErrorAt(source_begin, absl::StrCat("this step can read states 0 to ", states - 1));
    }
    COBRA_RETURN_IF_ERROR(text.Expect(bracket ? "]" : ")"));
    cell->edges.push_back(std::move(edge));
    if (cell->edges.size() > kMaxEdges) return text.ErrorAt(begin, "a cell this large is not a DARTS cell");
  }
  if (cell->edges.empty() || cell->edges.size() % 2 != 0) {
    return text.Error(absl::StrCat("a cell has two edges per step", ButGiven(cell->edges.size())));
  }
  return absl::OkStatus();
}

absl::Status ParseConcat(ArchText& text, Cell* cell) {
  text.SkipSpace();
  const size_t begin = text.position();
  COBRA_ASSIGN_OR_RETURN(cell->concat, text.IntList(kMaxEdges));
  const int64_t states = 2 + static_cast<int64_t>(cell->edges.size()) / 2;
  for (int64_t state : cell->concat) {
    if (state < 0 || state >= states) {
      return text.ErrorAt(begin, absl::StrCat("the cell has states 0 to ", states - 1));
    }
  }
  if (cell->concat.empty()) return text.ErrorAt(begin, "a cell concatenates at least one state");
  return absl::OkStatus();
}

// Genotype(normal=[...], normal_concat=[...], reduce=[...], reduce_concat=[...])
absl::StatusOr<Genotype> ParseGenotype(ArchText& text) {
  Genotype genotype;
  const auto name = [&text](absl::string_view field) {  // the names of the fields are optional
    if (text.Consume(field)) text.Consume("=");
  };
  COBRA_RETURN_IF_ERROR(text.Expect("Genotype"));
  COBRA_RETURN_IF_ERROR(text.Expect("("));
  name("normal");
  COBRA_RETURN_IF_ERROR(ParseEdges(text, &genotype.normal));
  COBRA_RETURN_IF_ERROR(text.Expect(","));
  name("normal_concat");
  COBRA_RETURN_IF_ERROR(ParseConcat(text, &genotype.normal));
  COBRA_RETURN_IF_ERROR(text.Expect(","));
  name("reduce");
  COBRA_RETURN_IF_ERROR(ParseEdges(text, &genotype.reduce));
  COBRA_RETURN_IF_ERROR(text.Expect(","));
  name("reduce_concat");
  COBRA_RETURN_IF_ERROR(ParseConcat(text, &genotype.reduce));
  text.Consume(",");
  COBRA_RETURN_IF_ERROR(text.Expect(")"));
  COBRA_RETURN_IF_ERROR(text.ExpectEnd());
  return genotype;
}

graph::ValueRef ReluConvBn(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t out) {
  x = net.Relu(x, absl::StrCat(path, ".op.0"));
  x = net.Conv2d(x, {.out_channels = out, .kernel_size = 1}, absl::StrCat(path, ".op.1"));
  return net.BatchNorm2d(x, absl::StrCat(path, ".op.2"));
}

graph::ValueRef FactorizedReduce(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t out) {
  x = net.Relu(x, absl::StrCat(path, ".relu"));
  const graph::ValueRef even =
      net.Conv2d(x, {.out_channels = out / 2, .kernel_size = 1, .stride = 2}, absl::StrCat(path, ".conv_1"));
  const graph::ValueRef shifted = net.GetItem(x, ":, :, 1:, 1:", path);
  const graph::ValueRef odd =
      net.Conv2d(shifted, {.out_channels = out / 2, .kernel_size = 1, .stride = 2}, absl::StrCat(path, ".conv_2"));
  return net.BatchNorm2d(net.Cat({even, odd}, 1, path), absl::StrCat(path, ".bn"));
}

// A sequence of ReLU, depthwise convolution, pointwise convolution and batch norm; `first` is the
// index of the ReLU.
graph::ValueRef Separable(graph::NetBuilder& net, const std::string& path, int first, graph::ValueRef x, int64_t kernel,
                          int64_t stride, int64_t dilation) {
  const int64_t channels = net.Channels(x);
  const graph::Conv2dOptions depthwise = {.out_channels = channels,
                                          .kernel_size = kernel,
                                          .stride = stride,
                                          .padding = dilation * (kernel / 2),
                                          .dilation = dilation,
                                          .groups = channels};
  x = net.Relu(x, absl::StrCat(path, ".op.", first));
  x = net.Conv2d(x, depthwise, absl::StrCat(path, ".op.", first + 1));
  x = net.Conv2d(x, {.out_channels = channels, .kernel_size = 1}, absl::StrCat(path, ".op.", first + 2));
  return net.BatchNorm2d(x, absl::StrCat(path, ".op.", first + 3));
}

graph::ValueRef Apply(graph::NetBuilder& net, const std::string& path, absl::string_view operation, graph::ValueRef x,
                      int64_t stride) {
  const int64_t channels = net.Channels(x);
  if (operation == "none") {
    if (stride > 1) x = net.GetItem(x, ":, :, ::2, ::2", path);
    return net.Call(graph::Op::mul, {{"other", 0.0}}, {x}, path);
  }
  if (operation == "avg_pool_3x3")
    return net.AvgPool2d(x, {.kernel_size = 3, .stride = stride, .padding = 1, .count_include_pad = false}, path);
  if (operation == "max_pool_3x3") return net.MaxPool2d(x, {.kernel_size = 3, .stride = stride, .padding = 1}, path);
  if (operation == "skip_connect") return stride == 1 ? x : FactorizedReduce(net, path, x, channels);
  if (operation == "conv_7x1_1x7") {
    x = net.Relu(x, absl::StrCat(path, ".0"));
    x = net.Conv2d(x, {.out_channels = channels, .kernel_size = {1, 7}, .stride = {1, stride}, .padding = {0, 3}},
                   absl::StrCat(path, ".1"));
    x = net.Conv2d(x, {.out_channels = channels, .kernel_size = {7, 1}, .stride = {stride, 1}, .padding = {3, 0}},
                   absl::StrCat(path, ".2"));
    return net.BatchNorm2d(x, absl::StrCat(path, ".3"));
  }
  const int64_t kernel = operation[9] - '0';  // sep_conv_3x3, dil_conv_5x5
  if (operation[0] == 'd') return Separable(net, path, 0, x, kernel, stride, /*dilation=*/2);
  x = Separable(net, path, 0, x, kernel, stride, /*dilation=*/1);
  return Separable(net, path, 4, x, kernel, 1, /*dilation=*/1);
}

// Every cell is new to most requests, and made of these.
graph::ValueRef ApplyOnce(graph::NetBuilder& net, const std::string& path, absl::string_view operation,
                          graph::ValueRef x, int64_t stride) {
  if (operation == "skip_connect" && stride == 1) return x;
  const auto run = [&](graph::NetBuilder& block, const std::string& own, absl::Span<const graph::ValueRef> in) {
    return Apply(block, own, operation, in[0], stride);
  };
  return net.Block(absl::StrCat("darts ", operation, " ", stride), path, {x}, run);
}

struct CellPlace {
  int64_t channels;
  bool reduction, after_reduction;
};

graph::ValueRef RunCell(graph::NetBuilder& net, const std::string& path, const Cell& cell, const CellPlace& place,
                        graph::ValueRef s0, graph::ValueRef s1) {
  const std::string preprocess0 = absl::StrCat(path, ".preprocess0");
  std::vector<graph::ValueRef> states;
  states.push_back(place.after_reduction ? FactorizedReduce(net, preprocess0, s0, place.channels)
                                         : ReluConvBn(net, preprocess0, s0, place.channels));
  states.push_back(ReluConvBn(net, absl::StrCat(path, ".preprocess1"), s1, place.channels));
  for (size_t i = 0; i < cell.edges.size(); i += 2) {
    graph::ValueRef terms[2];
    for (size_t k = 0; k < 2; ++k) {
      const Edge& edge = cell.edges[i + k];
      const int64_t stride = place.reduction && edge.source < 2 ? 2 : 1;
      terms[k] = ApplyOnce(net, absl::StrCat(path, "._ops.", i + k), edge.operation, states[edge.source], stride);
    }
    states.push_back(net.Add(terms[0], terms[1], path));
  }
  std::vector<graph::ValueRef> joined;
  for (int64_t state : cell.concat) joined.push_back(states[state]);
  return net.Cat(std::move(joined), 1, path);
}

// What a cell's calls depend on, beside its inputs.
std::string CellText(const Cell& cell, const CellPlace& place) {
  std::string text = absl::StrCat("darts ", place.channels, place.reduction ? " reduction" : "",
                                  place.after_reduction ? " after reduction" : "");
  for (const Edge& edge : cell.edges) absl::StrAppend(&text, " ", edge.operation, " ", edge.source);
  for (const int64_t state : cell.concat) absl::StrAppend(&text, ",", state);
  return text;
}

struct Stem {
  graph::ValueRef s0, s1;
};
Stem CifarStem(graph::NetBuilder& net, graph::ValueRef x, int64_t channels) {
  x = net.BatchNorm2d(net.Conv2d(x, {.out_channels = 3 * channels, .kernel_size = 3, .padding = 1}, "stem.0"),
                      "stem.1");
  return {x, x};
}
Stem ImagenetStem(graph::NetBuilder& net, graph::ValueRef x, int64_t channels) {
  x = net.BatchNorm2d(
      net.Conv2d(x, {.out_channels = channels / 2, .kernel_size = 3, .stride = 2, .padding = 1}, "stem0.0"), "stem0.1");
  x = net.ReluInPlace(x, "stem0.2");
  const graph::ValueRef s0 = net.BatchNorm2d(
      net.Conv2d(x, {.out_channels = channels, .kernel_size = 3, .stride = 2, .padding = 1}, "stem0.3"), "stem0.4");
  // The ReLU works in place on stem0's result, so later readers of s0 see the output of the ReLU.
  x = net.ReluInPlace(s0, "stem1.0");
  return {x, net.BatchNorm2d(
                 net.Conv2d(x, {.out_channels = channels, .kernel_size = 3, .stride = 2, .padding = 1}, "stem1.1"),
                 "stem1.2")};
}

}  // namespace

absl::StatusOr<graph::Graph> BuildDarts(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(const int dataset, request.options.Choice("dataset", 0, {"cifar10", "imagenet", "cifar100"}));
  const bool imagenet = dataset == 1;
  constexpr int64_t kClasses[] = {10, 1000, 100};
  COBRA_ASSIGN_OR_RETURN(const int64_t classes, request.options.Int("classes", kClasses[dataset], 1, 1000000));
  COBRA_ASSIGN_OR_RETURN(const int64_t channels, request.options.Int("channels", imagenet ? 48 : 36, 2, 4096));
  COBRA_ASSIGN_OR_RETURN(const int64_t layers, request.options.Int("layers", imagenet ? 14 : 20, 3, 1000));
  if (channels % 2 != 0) return UsageError(absl::StrCat("channels=", channels, ": an even number expected"));
  const int64_t size = imagenet ? 224 : 32;
  COBRA_ASSIGN_OR_RETURN(const graph::TensorType image, request.Image({1, 3, size, size}));
  COBRA_ASSIGN_OR_RETURN(const Genotype genotype, ParseGenotype(request.text));

  graph::NetBuilder net(request.BuilderOptions());
  const graph::ValueRef input = net.Input(image.shape, image.dtype, "input");
  auto [s0, s1] = imagenet ? ImagenetStem(net, input, channels) : CifarStem(net, input, channels);
  CellPlace place{channels, false, imagenet};
  for (int64_t i = 0; i < layers && net.status().ok(); ++i) {
    place.reduction = i == layers / 3 || i == 2 * layers / 3;
    if (place.reduction) place.channels *= 2;
    const Cell& cell = place.reduction ? genotype.reduce : genotype.normal;
    const auto run_cell = [&](graph::NetBuilder& block, const std::string& path, absl::Span<const graph::ValueRef> in) {
      return RunCell(block, path, cell, place, in[0], in[1]);
    };
    const graph::ValueRef out = net.Block(CellText(cell, place), absl::StrCat("cells.", i), {s0, s1}, run_cell);
    s0 = s1;
    s1 = out;
    place.after_reduction = place.reduction;
  }
  graph::ValueRef x = imagenet ? net.AvgPool2d(s1, {.kernel_size = 7, .stride = 7}, "global_pooling")
                               : net.AdaptiveAvgPool2d(s1, 1, "global_pooling");
  x = net.FlattenView(x);
  x = net.Linear(x, classes, "classifier");
  return std::move(net).Finish({x});
}

}  // namespace cobra::nas

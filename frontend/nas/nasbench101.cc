// NAS-Bench-101 (Ying et al., ICML 2019), as google-research/nasbench's model_builder builds it,
// but with PyTorch's calls: a 3x3 stem of 128 channels, three stacks of three modules, global mean,
// linear layer. Between stacks, max pooling reduces the image and the number of channels doubles. A
// module is a graph of at most seven vertices; vertices that do not lie on a path from input to
// output are pruned first (model_spec).
//
// Vertices that feed the output are concatenated and share its channels; an inner vertex has as
// many as the widest one that it feeds, and one that is wider is truncated. The module's input goes
// through a 1x1 projection wherever it is used.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

constexpr size_t kMaxVertices = 7;
enum Operation { kInput, kConv3x3, kConv1x1, kMaxPool3x3, kOutput };

struct Module {
  std::vector<std::vector<bool>> edge;  // edge[from][to], from < to
  std::vector<Operation> operations;
  int size() const { return static_cast<int>(operations.size()); }
};

// matrix = [[...], ...]: square, upper triangular.
absl::StatusOr<std::vector<std::vector<bool>>> ParseMatrix(ArchText& text) {
  std::vector<std::vector<bool>> matrix;
  COBRA_RETURN_IF_ERROR(text.Expect("["));
  const size_t begin = text.position();
  while (!text.Consume("]")) {
    text.Consume(",");
    text.SkipSpace();
    const size_t row_begin = text.position();
    COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> row, text.IntList(kMaxVertices));
    std::vector<bool> bits;
    for (size_t to = 0; to < row.size(); ++to) {
      if (row[to] != 0 && row[to] != 1) return text.ErrorAt(row_begin, "a row of the matrix holds zeros and ones");
      if (row[to] != 0 && to <= matrix.size()) {
        return text.ErrorAt(row_begin, "the matrix is upper triangular: an edge leads to a later vertex");
      }
      bits.push_back(row[to] != 0);
    }
    matrix.push_back(std::move(bits));
    if (matrix.size() > kMaxVertices) return text.ErrorAt(row_begin, "a module has at most 7 vertices");
  }
  for (const std::vector<bool>& row : matrix) {
    if (row.size() != matrix.size()) return text.ErrorAt(begin, "the matrix must be square");
  }
  if (matrix.size() < 2) return text.ErrorAt(begin, "a module has at least an input and an output vertex");
  return matrix;
}

// 'conv3x3-bn-relu', or the short names that papers use; quotes are optional.
absl::StatusOr<Operation> ParseOperation(ArchText& text) {
  text.SkipSpace();
  const size_t begin = text.position();
  const absl::string_view quote = text.Consume("'") ? "'" : text.Consume("\"") ? "\"" : "";
  const std::string name = absl::AsciiStrToLower(text.Word("-"));
  if (!quote.empty()) COBRA_RETURN_IF_ERROR(text.Expect(quote));
  if (name == "input") return kInput;
  if (name == "output") return kOutput;
  if (name == "conv3x3-bn-relu" || name == "conv3x3") return kConv3x3;
  if (name == "conv1x1-bn-relu" || name == "conv1x1") return kConv1x1;
  if (name == "maxpool3x3") return kMaxPool3x3;
  return text.ErrorAt(begin, "is not an operation of NAS-Bench-101",
                      "the operations are conv3x3-bn-relu, conv1x1-bn-relu, maxpool3x3, between input and output");
}

// Skips what may precede a list: its name, as in "matrix=" or "'ops': ".
void SkipName(ArchText& text, absl::string_view name) {
  text.Consume(",");
  text.Consume(";");
  const bool quoted = text.Consume("\"") || text.Consume("'");
  text.Consume(name);
  if (quoted && !text.Consume("\"")) text.Consume("'");
  if (!text.Consume("=")) text.Consume(":");
}

absl::StatusOr<Module> ParseModule(ArchText& text) {
  Module module;
  const bool call = text.Consume("ModelSpec(");
  const bool brace = !call && text.Consume("{");
  SkipName(text, "matrix");
  COBRA_ASSIGN_OR_RETURN(module.edge, ParseMatrix(text));
  SkipName(text, "ops");
  COBRA_RETURN_IF_ERROR(text.Expect("["));
  const size_t begin = text.position();
  while (!text.Consume("]")) {
    text.Consume(",");
    text.SkipSpace();
    const size_t operation_begin = text.position();
    COBRA_ASSIGN_OR_RETURN(const Operation operation, ParseOperation(text));
    const size_t vertex = module.operations.size();
    if (vertex >= module.edge.size()) {
      return text.ErrorAt(operation_begin, absl::StrCat("the matrix has only ", module.edge.size(), " vertices"));
    }
    if ((operation == kInput) != (vertex == 0) || (operation == kOutput) != (vertex + 1 == module.edge.size())) {
      return text.ErrorAt(operation_begin, "the first vertex is input, the last is output, no other is");
    }
    module.operations.push_back(operation);
  }
  if (module.operations.size() != module.edge.size()) {
    return text.ErrorAt(begin, absl::StrCat("the matrix has ", module.edge.size(), " vertices, each with an operation",
                                            ButGiven(module.operations.size())));
  }
  if (call) COBRA_RETURN_IF_ERROR(text.Expect(")"));
  if (brace) COBRA_RETURN_IF_ERROR(text.Expect("}"));
  COBRA_RETURN_IF_ERROR(text.ExpectEnd());
  return module;
}

// Keeps only the vertices that lie on a path from input to output.
absl::StatusOr<Module> PruneModule(const Module& module) {
  const int n = module.size();
  std::vector<bool> reached(n), needed(n);
  reached[0] = needed[n - 1] = true;
  for (int to = 1; to < n; ++to) {
    for (int from = 0; from < to; ++from) reached[to] = reached[to] || (module.edge[from][to] && reached[from]);
  }
  for (int from = n - 2; from >= 0; --from) {
    for (int to = from + 1; to < n; ++to) needed[from] = needed[from] || (module.edge[from][to] && needed[to]);
  }
  if (!reached[n - 1]) return UnbuildableError("nasbench101: no path leads from the input vertex to the output vertex");
  std::vector<int> kept;
  for (int v = 0; v < n; ++v) {
    if (reached[v] && needed[v]) kept.push_back(v);
  }
  Module pruned;
  for (int from : kept) {
    std::vector<bool> row;
    for (int to : kept) row.push_back(module.edge[from][to]);
    pruned.edge.push_back(std::move(row));
    pruned.operations.push_back(module.operations[from]);
  }
  return pruned;
}

std::vector<int64_t> VertexChannels(const Module& module, int64_t in, int64_t out) {
  const int n = module.size();
  std::vector<int64_t> channels(n);
  channels[0] = in;
  channels[n - 1] = out;
  int64_t fan_in = 0;
  for (int v = 1; v < n - 1; ++v) fan_in += module.edge[v][n - 1];
  if (fan_in == 0) return channels;
  int64_t extra = out % fan_in;
  for (int v = 1; v < n - 1; ++v) {
    if (module.edge[v][n - 1]) channels[v] = out / fan_in + (extra-- > 0 ? 1 : 0);
  }
  for (int v = n - 3; v > 0; --v) {
    if (module.edge[v][n - 1]) continue;
    for (int to = v + 1; to < n - 1; ++to) {
      if (module.edge[v][to]) channels[v] = std::max(channels[v], channels[to]);
    }
  }
  return channels;
}

// Every module is new to most requests, and made of these.
graph::ValueRef ConvBnRelu(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t out,
                           int64_t kernel) {
  const auto run = [out, kernel](graph::NetBuilder& block, const std::string& own,
                                 absl::Span<const graph::ValueRef> in) {
    graph::ValueRef y = block.Conv2d(in[0], {.out_channels = out, .kernel_size = kernel, .padding = kernel / 2},
                                     absl::StrCat(own, ".conv"));
    y = block.BatchNorm2d(y, absl::StrCat(own, ".bn"));
    return block.Relu(y, absl::StrCat(own, ".relu"));
  };
  return net.Block(absl::StrCat("nasbench101 conv ", kernel, " to ", out), path, {x}, run);
}

graph::ValueRef Vertex(graph::NetBuilder& net, const std::string& path, Operation operation, graph::ValueRef x,
                       int64_t channels) {
  if (operation == kMaxPool3x3) return net.MaxPool2d(x, {.kernel_size = 3, .stride = 1, .padding = 1}, path);
  return ConvBnRelu(net, path, x, channels, operation == kConv3x3 ? 3 : 1);
}

graph::ValueRef RunModule(graph::NetBuilder& net, const std::string& path, const Module& module, graph::ValueRef input,
                          int64_t out) {
  const int n = module.size();
  const std::vector<int64_t> channels = VertexChannels(module, net.Channels(input), out);
  std::vector<graph::ValueRef> values{input}, to_output;
  for (int v = 1; v < n - 1; ++v) {
    const std::string vertex = absl::StrCat(path, ".vertex_", v);
    std::vector<graph::ValueRef> terms;
    for (int from = 1; from < v; ++from) {
      if (!module.edge[from][v]) continue;
      const bool wider = net.Channels(values[from]) > channels[v];
      terms.push_back(wider ? net.GetItem(values[from], absl::StrCat(":, :", channels[v]), path) : values[from]);
    }
    if (module.edge[0][v]) {
      terms.push_back(ConvBnRelu(net, absl::StrCat(vertex, ".projection"), input, channels[v], 1));
    }
    graph::ValueRef sum = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) sum = net.Add(sum, terms[i], path);
    values.push_back(Vertex(net, absl::StrCat(vertex, ".op"), module.operations[v], sum, channels[v]));
    if (module.edge[v][n - 1]) to_output.push_back(values[v]);
  }
  const std::string projection = absl::StrCat(path, ".output.projection");
  if (to_output.empty()) return ConvBnRelu(net, projection, input, out, 1);
  const graph::ValueRef joined = to_output.size() == 1 ? to_output[0] : net.Cat(to_output, 1, path);
  if (!module.edge[0][n - 1]) return joined;
  return net.Add(joined, ConvBnRelu(net, projection, input, out, 1), path);
}

// What a module's calls depend on, beside its input and channels.
std::string ModuleText(const Module& module) {
  std::string text = "nasbench101 ";
  for (const std::vector<bool>& row : module.edge) {
    for (const bool edge : row) text += edge ? '1' : '0';
  }
  for (const Operation operation : module.operations) absl::StrAppend(&text, " ", static_cast<int>(operation));
  return text;
}

}  // namespace

absl::StatusOr<graph::Graph> BuildNasbench101(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(const int64_t classes, request.options.Int("classes", 10, 1, 1000000));
  COBRA_ASSIGN_OR_RETURN(int64_t channels, request.options.Int("channels", 128, 8, 4096));
  COBRA_ASSIGN_OR_RETURN(const int64_t stacks, request.options.Int("stacks", 3, 1, 8));
  COBRA_ASSIGN_OR_RETURN(const int64_t modules, request.options.Int("modules", 3, 1, 100));
  COBRA_ASSIGN_OR_RETURN(const graph::TensorType image, request.Image({1, 3, 32, 32}));
  COBRA_ASSIGN_OR_RETURN(const Module whole, ParseModule(request.text));
  COBRA_ASSIGN_OR_RETURN(const Module module, PruneModule(whole));

  graph::NetBuilder net(request.BuilderOptions());
  graph::ValueRef x = net.Input(image.shape, image.dtype, "features");
  x = ConvBnRelu(net, "stem", x, channels, 3);
  const std::string module_text = ModuleText(module);
  const auto run_module = [&](graph::NetBuilder& block, const std::string& path, absl::Span<const graph::ValueRef> in) {
    return RunModule(block, path, module, in[0], channels);
  };
  for (int64_t stack = 0; stack < stacks; ++stack) {
    if (stack > 0) {
      x = net.MaxPool2d(x, {.kernel_size = 2, .stride = 2}, absl::StrCat("pool", stack));
      channels *= 2;
    }
    for (int64_t i = 0; i < modules; ++i) {
      x = net.Block(absl::StrCat(module_text, " ", channels), absl::StrCat("stack", stack, ".module", i), {x},
                    run_module);
    }
  }
  x = net.Call(graph::Op::mean, {{"dim", std::vector<int64_t>{2, 3}}, {"keepdim", false}}, {x});
  x = net.Linear(x, classes, "dense");
  return std::move(net).Finish({x});
}

}  // namespace cobra::nas

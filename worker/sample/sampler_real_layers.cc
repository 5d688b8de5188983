// Layers of real networks (data/layers/real_layers.jsonl.xz) with perturbed dimensions, and kinds
// of layers that are too rare in the file.
//
// Perturbation keeps sizes consistent: within one layer, each distinct size (channels, width,
// tokens) is one symbol. A symbol gets one new value wherever it occurs, in shapes and in
// attributes. Layers that the shape rules refuse are drawn again.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "nlohmann/json.hpp"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;
using nlohmann::json;

struct Operand {
  char kind = 'x';  // x: activation, w: parameter, r: running statistics
  Ints shape;
};

struct Layer {
  graph::Op op;
  graph::Attributes attributes;
  std::vector<Operand> operands;
};

// How often each operator is drawn: mainly operators that take a network's time, and enough of all
// others.
struct Share {
  graph::Op op;
  double share;
};
constexpr Share kShares[] = {
    {graph::Op::conv2d, 0.34},
    {graph::Op::linear, 0.08},
    {graph::Op::batch_norm, 0.08},
    {graph::Op::relu, 0.06},
    {graph::Op::add, 0.06},
    {graph::Op::mul, 0.04},
    {graph::Op::layer_norm, 0.03},
    {graph::Op::gelu, 0.02},
    {graph::Op::silu, 0.02},
    {graph::Op::matmul, 0.03},
    {graph::Op::softmax, 0.02},
    {graph::Op::mean, 0.015},
    {graph::Op::sigmoid, 0.01},
    {graph::Op::cat, 0.04},
    {graph::Op::max_pool2d, 0.025},
    {graph::Op::avg_pool2d, 0.02},
    {graph::Op::adaptive_avg_pool2d, 0.02},
    {graph::Op::hardswish, 0.01},
    {graph::Op::hardtanh, 0.02},
    {graph::Op::hardsigmoid, 0.006},
    {graph::Op::group_norm, 0.008},
    {graph::Op::pad, 0.006},
    {graph::Op::interpolate, 0.008},
    {graph::Op::leaky_relu, 0.006},
};
constexpr double kRareShare = 0.03;   // any other operator of the file
constexpr double kExtraShare = 0.08;  // kinds below that are missing in the file
constexpr double kUnchanged = 0.3;    // a layer as it is in its network

graph::AttributeValue ToAttribute(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return value.get<Ints>();
  return graph::NoneValue();
}

absl::StatusOr<Layer> ParseLayer(absl::string_view line) {
  const json j = ParseJson<json>(line);
  if (!j.is_object()) return absl::DataLossError("no JSON object");
  try {
    const std::optional<graph::Op> op = graph::OpFromName(j.at("op").get<std::string>());
    if (!op) return absl::DataLossError("no such operator");
    Layer layer{*op, {}, {}};
    for (const auto& [name, value] : j.at("attrs").items()) layer.attributes.Set(name, ToAttribute(value));
    for (const json& operand : j.at("in")) {
      layer.operands.push_back({operand.at(0).get<std::string>().at(0), operand.at(1).get<Ints>()});
    }
    return layer;
  } catch (const json::exception& e) {
    return absl::DataLossError(e.what());
  }
}

bool IsConvolution(graph::Op op) { return op == graph::Op::conv2d || op == graph::Op::conv1d; }

// New values for sizes: up to a factor of two either way; every other one is a multiple of 8, as in
// real models.
class Renaming {
 public:
  explicit Renaming(Random* random) : random_(random) {}

  int64_t operator()(int64_t size) {
    if (size < 6) return size;  // heads, kernels, RGB
    const auto [it, is_new] = new_size_.try_emplace(size, size);
    if (is_new && random_->Chance(0.8)) {
      double value = static_cast<double>(size) * std::exp2(random_->Uniform(-1, 1));
      if (random_->Chance(0.5) && value >= 16) value = std::round(value / 8) * 8;
      it->second = std::max<int64_t>(2, std::llround(value));
    }
    return it->second;
  }

 private:
  Random* random_;
  std::map<int64_t, int64_t> new_size_;
};

// Attributes that hold sizes of tensors rather than steps, dimensions or numbers.
bool HoldsSizes(absl::string_view name) { return name == "normalized_shape" || name == "size"; }

// Channels of a grouped convolution are multiples of its groups: depthwise stays depthwise.
void PerturbConvolution(Random* random, Renaming* rename, Layer* layer) {
  Operand& x = layer->operands[0];
  Operand& weight = layer->operands[1];
  const int64_t groups = layer->attributes.Int("groups", 1), in = x.shape[1], out = weight.shape[0];
  if (groups == 1) {
    x.shape[1] = weight.shape[1] = (*rename)(in);
    weight.shape[0] = (*rename)(out);
  } else if (groups == in) {
    const int64_t channels = (*rename)(in);
    x.shape[1] = channels;
    weight.shape[0] = channels * (out / in);
    layer->attributes.Set("groups", channels);
  } else {
    const int64_t new_groups = random->Chance(0.5) ? groups : std::max<int64_t>(2, groups / 2);
    const int64_t in_each = (*rename)(in / groups), out_each = (*rename)(out / groups);
    x.shape[1] = new_groups * in_each;
    weight.shape[0] = new_groups * out_each;
    weight.shape[1] = in_each;
    layer->attributes.Set("groups", new_groups);
  }
  for (size_t i = 2; i < x.shape.size(); ++i) x.shape[i] = (*rename)(x.shape[i]);
  if (layer->operands.size() > 2) layer->operands[2].shape = {weight.shape[0]};
}

void Perturb(Random* random, Layer* layer) {
  Renaming rename(random);
  const int64_t batch = random->Chance(0.8) ? 1 : random->LogBetween(2, 8);
  if (IsConvolution(layer->op)) {
    PerturbConvolution(random, &rename, layer);
  } else {
    for (Operand& operand : layer->operands) {
      for (int64_t& size : operand.shape) size = rename(size);
    }
    graph::Attributes changed;
    for (const auto& [name, value] : layer->attributes) {
      graph::AttributeValue copy = value;
      if (HoldsSizes(name)) {
        if (auto* list = std::get_if<Ints>(&copy)) {
          for (int64_t& size : *list) size = rename(size);
        }
      }
      changed.Set(name, std::move(copy));
    }
    layer->attributes = changed;
  }
  if (batch == 1) return;
  const size_t rank = layer->operands[0].shape.size();
  for (Operand& operand : layer->operands) {
    if (operand.kind == 'x' && operand.shape.size() == rank && rank > 1 && operand.shape[0] == 1)
      operand.shape[0] = batch;
  }
}

// Draws in-place calls where models have them, and where repeated calls on the same tensor are
// harmless (no drift to 0 or infinity).
bool DrawInplace(Random* random, const Layer& layer) {
  if (layer.op == graph::Op::relu || layer.op == graph::Op::hardtanh) return random->Chance(0.6);
  if (layer.op == graph::Op::add && layer.operands.size() == 2 && layer.operands[0].shape == layer.operands[1].shape) {
    return random->Chance(0.35);
  }
  return false;
}

absl::StatusOr<graph::Graph> Build(const Layer& layer, bool inplace) {
  graph::GraphBuilder builder;
  graph::ValueRefs inputs;
  for (const Operand& operand : layer.operands) {
    const graph::TensorType type{graph::Shape(operand.shape.begin(), operand.shape.end()), graph::DType::float32};
    const std::string name = absl::StrCat(std::string(1, operand.kind), inputs.size());
    inputs.push_back(operand.kind == 'x'   ? builder.AddInput(name, type)
                     : operand.kind == 'w' ? builder.AddParameter(name, type)
                                           : builder.AddBuffer(name, type));
  }
  COBRA_ASSIGN_OR_RETURN(const int32_t node, builder.Add(layer.op, layer.attributes, std::move(inputs), {}, inplace));
  return std::move(builder).Build({graph::ValueRef::Node(node)});
}

// --- Kinds that are missing in the file
struct Extra {
  const char* label;
  graph::ValueRef (*draw)(Random*, graph::NetBuilder*);
};

graph::Shape ImageShape(Random* r) {
  const int64_t size = r->LogBetween(4, 160);
  return {r->Chance(0.8) ? 1 : r->LogBetween(2, 8), r->LogBetween(8, 768), size, size};
}
graph::Shape TokenShape(Random* r) { return {r->LogBetween(1, 8), r->LogBetween(8, 512), r->LogBetween(4, 96) * 8}; }

graph::ValueRef DilatedConv(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  const int64_t d = r->Between(2, 6);
  return b->Conv2d(x, {.out_channels = r->LogBetween(8, 512),
                       .kernel_size = 3,
                       .padding = d,
                       .dilation = d,
                       .groups = r->Chance(0.3) ? b->Channels(x) : 1,
                       .bias = r->Chance(0.5)});
}
graph::ValueRef TransposedConv(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  const int64_t kernel = r->Between(2, 4), out = r->LogBetween(8, 384);
  return b->Call(graph::Op::conv_transpose2d,
                 {{"stride", Ints{2, 2}},
                  {"padding", Ints(2, (kernel - 1) / 2)},
                  {"output_padding", Ints{0, 0}},
                  {"groups", int64_t{1}},
                  {"dilation", Ints{1, 1}}},
                 {x, b->Parameter({b->Channels(x), out, kernel, kernel}), b->Parameter({out})});
}
graph::ValueRef Conv1d(Random* r, graph::NetBuilder* b) {
  const int64_t in = r->LogBetween(8, 512), out = r->LogBetween(8, 512), kernel = r->Between(1, 7);
  const graph::ValueRef x = b->Input({1, in, r->LogBetween(16, 4096)});
  return b->Call(graph::Op::conv1d,
                 {{"stride", Ints{r->Between(1, 2)}},
                  {"padding", Ints{kernel / 2}},
                  {"dilation", Ints{1}},
                  {"groups", int64_t{1}}},
                 {x, b->Parameter({out, in, kernel}), b->Parameter({out})});
}
graph::ValueRef Bmm(Random* r, graph::NetBuilder* b) {
  const int64_t batch = r->LogBetween(1, 64), m = r->LogBetween(4, 512), k = r->LogBetween(8, 512),
                n = r->LogBetween(4, 512);
  return b->Call(graph::Op::bmm, {}, {b->Input({batch, m, k}), b->Input({batch, k, n})});
}
graph::ValueRef Attention(Random* r, graph::NetBuilder* b) {
  const int64_t heads = r->Between(1, 12), width = heads * r->Pick<int64_t>({32, 64}), tokens = r->LogBetween(8, 400);
  const graph::ValueRef x = b->Input({tokens, r->LogBetween(1, 4), width});
  const graph::ValueRef in = b->Parameter({3 * width, width}), in_bias = b->Parameter({3 * width});
  const graph::ValueRef out = b->Parameter({width, width}), out_bias = b->Parameter({width}),
                        none = graph::ValueRef::None();
  return b->Call(graph::Op::multi_head_attention_forward,
                 {{"embed_dim_to_check", width},
                  {"num_heads", heads},
                  {"add_zero_attn", false},
                  {"dropout_p", 0.0},
                  {"need_weights", false},
                  {"use_separate_proj_weight", false},
                  {"average_attn_weights", true}},
                 {x, x, x, in, in_bias, none, none, out, out_bias, none, none, none, none, none, none, none});
}
graph::ValueRef Embedding(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input({r->LogBetween(1, 8), r->LogBetween(8, 512)}, graph::DType::int64);
  return b->Call(graph::Op::embedding, {}, {x, b->Parameter({r->LogBetween(100, 50000), r->LogBetween(8, 128) * 8})});
}
graph::ValueRef PermuteContiguous(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  const Ints dims = r->Pick<int64_t>({0, 1}) == 0 ? Ints{0, 2, 3, 1} : Ints{0, 1, 3, 2};
  return b->Call(graph::Op::contiguous, {}, {b->Call(graph::Op::permute, {{"dims", dims}}, {x})});
}
graph::ValueRef TransposeReshape(Random* r, graph::NetBuilder* b) {
  const int64_t heads = r->Between(2, 12), batch = r->LogBetween(1, 4), tokens = r->LogBetween(8, 512),
                width = r->Pick<int64_t>({32, 64});
  const graph::ValueRef x = b->Input({batch, heads, tokens, width});
  const graph::ValueRef t = b->Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {x});
  return b->Call(graph::Op::reshape, {{"shape", Ints{batch, tokens, heads * width}}}, {t});
}
graph::ValueRef Flatten(Random* r, graph::NetBuilder* b) { return b->Flatten(b->Input(ImageShape(r))); }
graph::ValueRef GlobalMean(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  return b->Call(graph::Op::mean, {{"dim", Ints{2, 3}}, {"keepdim", r->Chance(0.5)}}, {x});
}
graph::ValueRef LogSoftmax(Random* r, graph::NetBuilder* b) {
  return b->Call(graph::Op::log_softmax, {{"dim", int64_t{-1}}},
                 {b->Input({r->LogBetween(1, 256), r->LogBetween(10, 32000)})});
}
graph::ValueRef Upsample(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  const Ints size = {b->Dim(x, 2) * 2, b->Dim(x, 3) * 2};
  if (r->Chance(0.5)) return b->Call(graph::Op::interpolate, {{"size", size}, {"mode", std::string("nearest")}}, {x});
  return b->Call(graph::Op::interpolate, {{"size", size}, {"mode", std::string("bilinear")}, {"align_corners", false}},
                 {x});
}
graph::ValueRef Tanh(Random* r, graph::NetBuilder* b) {
  return b->Call(graph::Op::tanh, {}, {b->Input(TokenShape(r))});
}
graph::ValueRef Elu(Random* r, graph::NetBuilder* b) {
  return b->Call(graph::Op::elu, {{"alpha", 1.0}}, {b->Input(ImageShape(r))});
}
graph::ValueRef Mish(Random* r, graph::NetBuilder* b) {
  return b->Call(graph::Op::mish, {}, {b->Input(ImageShape(r))});
}
graph::ValueRef PRelu(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  return b->Call(graph::Op::prelu, {}, {x, b->Parameter({b->Channels(x)})});
}
graph::ValueRef InstanceNorm(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r)), none = graph::ValueRef::None();
  return b->Call(graph::Op::instance_norm, {{"eps", 1e-5}}, {x, none, none, none, none});
}
graph::ValueRef PixelShuffle(Random* r, graph::NetBuilder* b) {
  graph::Shape shape = ImageShape(r);
  shape[1] = std::max<int64_t>(1, shape[1] / 4) * 4;
  return b->Call(graph::Op::pixel_shuffle, {{"upscale_factor", int64_t{2}}}, {b->Input(shape)});
}
graph::ValueRef Chunked(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input(ImageShape(r));
  return b->Call(graph::Op::narrow, {{"dim", int64_t{1}}, {"start", int64_t{0}}, {"length", b->Channels(x) / 2}}, {x});
}

constexpr Extra kExtras[] = {
    {"conv2d", DilatedConv},
    {"conv_transpose2d", TransposedConv},
    {"conv1d", Conv1d},
    {"bmm", Bmm},
    {"multi_head_attention_forward", Attention},
    {"embedding", Embedding},
    {"contiguous", PermuteContiguous},
    {"reshape", TransposeReshape},
    {"flatten", Flatten},
    {"mean", GlobalMean},
    {"log_softmax", LogSoftmax},
    {"interpolate", Upsample},
    {"tanh", Tanh},
    {"elu", Elu},
    {"mish", Mish},
    {"prelu", PRelu},
    {"instance_norm", InstanceNorm},
    {"pixel_shuffle", PixelShuffle},
    {"narrow", Chunked},
};

class RealLayerSampler final : public Sampler {
 public:
  RealLayerSampler(const SamplerOptions& options, std::map<graph::Op, std::vector<Layer>> layers)
      : options_(options), layers_(std::move(layers)) {
    for (const auto& [op, list] : layers_) {
      const bool is_common =
          std::any_of(std::begin(kShares), std::end(kShares), [&](const Share& s) { return s.op == op; });
      if (!is_common) rare_.push_back(op);
    }
  }
  absl::string_view space() const override { return "real-layers"; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    Random random(options_.seed, space(), index);
    double at = random.Unit() * Total();
    if ((at -= kExtraShare) < 0) return Fitting(index, [&] { return DrawExtra(&random); });
    if ((at -= kRareShare) < 0 && !rare_.empty()) {
      const graph::Op op = random.PickFrom(rare_);
      return Fitting(index, [&] { return DrawLayer(&random, op); });
    }
    for (const Share& share : kShares) {
      if (layers_.count(share.op) == 0) continue;
      if ((at -= share.share) < 0) return Fitting(index, [&] { return DrawLayer(&random, share.op); });
    }
    return Fitting(index, [&] { return DrawLayer(&random, graph::Op::conv2d); });
  }

 private:
  double Total() const {
    double total = kExtraShare + kRareShare;
    for (const Share& share : kShares) {
      if (layers_.count(share.op) > 0) total += share.share;
    }
    return total;
  }

  template <typename Draw>
  absl::StatusOr<Sample> Fitting(int64_t index, Draw draw) const {
    for (int tries = 0; tries < 200; ++tries) {
      absl::StatusOr<Sample> sample = draw();
      if (sample.ok() && CheckCaps(sample->graph, false, options_.caps).ok()) return sample;
    }
    return absl::NotFoundError(absl::StrCat(space(), "/", index, ": nothing within the caps"));
  }

  absl::StatusOr<Sample> DrawLayer(Random* random, graph::Op op) const {
    Layer layer = random->PickFrom(layers_.at(op));
    if (!random->Chance(kUnchanged)) Perturb(random, &layer);
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, Build(layer, DrawInplace(random, layer)));
    return Sample{false, std::string(graph::OpName(op)), std::move(graph)};
  }

  static absl::StatusOr<Sample> DrawExtra(Random* random) {
    const Extra& extra = kExtras[random->Between(0, std::size(kExtras) - 1)];
    graph::NetBuilder builder;
    const graph::ValueRef output = extra.draw(random, &builder);
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, std::move(builder).Finish({output}));
    return Sample{false, extra.label, std::move(graph)};
  }

  const SamplerOptions options_;
  const std::map<graph::Op, std::vector<Layer>> layers_;
  std::vector<graph::Op> rare_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeRealLayerSampler(const SamplerOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(options.real_layers_path));
  std::map<graph::Op, std::vector<Layer>> layers;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    ++number;
    absl::StatusOr<Layer> layer = ParseLayer(line);
    if (!layer.ok()) {
      return absl::DataLossError(absl::StrCat(options.real_layers_path, ":", number, ": ", layer.status().message()));
    }
    layers[layer->op].push_back(*std::move(layer));
  }
  return std::make_unique<RealLayerSampler>(options, std::move(layers));
}

}  // namespace cobra::worker

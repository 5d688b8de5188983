// Single calls as programs make them that are no network of a library: convolutions of one to three
// dimensions and their transposes with any stride, dilation and groups, products of any
// proportions, pooling, reductions, scans, losses, recurrent layers, in batches of 1 to 128.
// KernelBench's programs are such (Ouyang et al., 2025), and layers of image networks hardly have
// them. Sizes are this file's own: no program of that benchmark is copied.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/net_builder.h"
#include "worker/sample/layer_kinds.h"
#include "worker/sample/random.h"

namespace cobra::worker {
namespace {

using graph::Attributes;
using graph::NetBuilder;
using graph::Op;
using graph::Shape;
using graph::ValueRef;
using graph::ValueRefs;
using Ints = std::vector<int64_t>;

int64_t Batch(Random* r) { return r->Pick<int64_t>({1, 1, 2, 4, 8, 16, 16, 32, 64, 128}); }

// Every other size is what people write.
int64_t Width(Random* r, int64_t low, int64_t high) {
  int64_t size = r->LogBetween(low, high);
  if (r->Chance(0.5)) {
    int64_t power = 1;
    while (power * 2 <= size) power *= 2;
    size = std::max(low, power);
  }
  return size;
}
int64_t Channels(Random* r) { return r->Chance(0.1) ? 3 : Width(r, 4, 512); }

// [batch, channels, d1 ... dn]; every other one is a square or a cube.
Shape Image(Random* r, int64_t batch, int64_t channels, int dims) {
  constexpr int64_t kLargest[] = {0, 65536, 512, 64};
  Shape shape = {batch, channels};
  const bool is_cube = r->Chance(0.5);
  for (int i = 0; i < dims; ++i) shape.push_back(is_cube && i > 0 ? shape[2] : Width(r, 7, kLargest[dims]));
  return shape;
}
// Of one to four dimensions, as elementwise calls have them.
Shape AnyShape(Random* r) {
  if (r->Chance(0.5)) return {Batch(r), Width(r, 64, 65536)};
  const int dims = static_cast<int>(r->Between(1, 3));
  return Image(r, Batch(r), Channels(r), dims);
}

// One number for each of `dims`, mostly the same.
Ints Each(Random* r, int dims, std::initializer_list<int64_t> values) {
  const bool is_same = r->Chance(0.7);
  Ints each;
  for (int i = 0; i < dims; ++i) each.push_back(is_same && i > 0 ? each[0] : r->Pick(values));
  return each;
}
Ints Padding(Random* r, const Ints& kernel) {
  const bool is_none = r->Chance(0.5);
  Ints padding;
  for (int64_t k : kernel) padding.push_back(is_none ? 0 : k / 2);
  return padding;
}

template <int kDims>
ValueRef Convolution(Random* r, NetBuilder* b) {
  constexpr Op kOps[] = {Op::conv1d, Op::conv1d, Op::conv2d, Op::conv3d};
  int64_t in = Channels(r), out = Channels(r), groups = 1;
  if (r->Chance(0.25)) groups = r->Chance(0.5) ? in : r->Pick<int64_t>({2, 4, 8});
  in = std::max<int64_t>(1, in / groups) * groups;
  out = std::max<int64_t>(1, out / groups) * groups;
  const Ints kernel = Each(r, kDims, {1, 2, 3, 3, 3, 3, 4, 5, 7});
  Shape weight = {out, in / groups};
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  const ValueRef x = b->Input(Image(r, Batch(r), in, kDims));
  return b->Call(kOps[kDims],
                 {{"stride", Each(r, kDims, {1, 1, 1, 2, 2, 3})},
                  {"padding", Padding(r, kernel)},
                  {"dilation", Each(r, kDims, {1, 1, 1, 1, 2, 3})},
                  {"groups", groups}},
                 {x, b->Parameter(weight), r->Chance(0.5) ? b->Parameter({out}) : ValueRef::None()});
}

template <int kDims>
ValueRef TransposedConvolution(Random* r, NetBuilder* b) {
  constexpr Op kOps[] = {Op::conv_transpose1d, Op::conv_transpose1d, Op::conv_transpose2d, Op::conv_transpose3d};
  int64_t in = Channels(r), out = Channels(r);
  const int64_t groups = r->Chance(0.2) ? r->Pick<int64_t>({2, 4, 8}) : 1;
  in = std::max<int64_t>(1, in / groups) * groups;
  out = std::max<int64_t>(1, out / groups);
  const Ints kernel = Each(r, kDims, {2, 3, 3, 3, 3, 4, 5, 7});
  Shape weight = {in, out};
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  const ValueRef x = b->Input(Image(r, Batch(r), in, kDims));
  return b->Call(kOps[kDims],
                 {{"stride", Each(r, kDims, {1, 1, 1, 2, 2, 3, 5})},
                  {"padding", Padding(r, kernel)},
                  {"output_padding", Ints(kDims, 0)},
                  {"groups", groups},
                  {"dilation", Each(r, kDims, {1, 1, 1, 1, 2, 3})}},
                 {x, b->Parameter(weight), r->Chance(0.5) ? b->Parameter({out * groups}) : ValueRef::None()});
}

// Of all proportions: square, tall and skinny, with a small or a large inner size; every third one
// has a transposed view of what is stored.
ValueRef Product(Random* r, NetBuilder* b) {
  const int64_t m = Width(r, 1, 16384), k = Width(r, 1, 16384), n = Width(r, 1, 8192);
  const auto operand = [&](int64_t rows, int64_t columns) {
    if (!r->Chance(1.0 / 3)) return b->Input({rows, columns});
    return b->Call(Op::transpose, {{"dim0", int64_t{0}}, {"dim1", int64_t{1}}}, {b->Input({columns, rows})});
  };
  const ValueRef left = operand(m, k);
  return b->Call(Op::matmul, {}, {left, operand(k, n)});
}
ValueRef ProductOfTensors(Random* r, NetBuilder* b) {
  const int64_t batch = Width(r, 2, 128), m = Width(r, 16, 1024), k = Width(r, 16, 2048), n = Width(r, 16, 1024);
  const ValueRef x = b->Input({batch, m, k});
  return b->Call(Op::matmul, {}, {x, r->Chance(0.5) ? b->Input({k, n}) : b->Input({batch, k, n})});
}
ValueRef BatchedProduct(Random* r, NetBuilder* b) {
  const int64_t batch = Width(r, 2, 256), k = Width(r, 16, 2048);
  const ValueRef x = b->Input({batch, Width(r, 16, 1024), k});
  return b->Call(Op::bmm, {}, {x, b->Input({batch, k, Width(r, 16, 1024)})});
}
ValueRef Linear(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input({Batch(r), Width(r, 8, 16384)});
  return b->Linear(x, Width(r, 1, 16384));
}
ValueRef Attention(Random* r, NetBuilder* b) {
  const Shape shape = {Width(r, 1, 16), Width(r, 2, 32), Width(r, 16, 2048), r->Pick<int64_t>({32, 64, 96, 128})};
  const ValueRef q = b->Input(shape), k = b->Input(shape), v = b->Input(shape);
  return b->Call(Op::scaled_dot_product_attention, {{"dropout_p", 0.0}, {"is_causal", r->Chance(0.5)}},
                 {q, k, v, ValueRef::None()});
}

template <int kDims>
ValueRef Pooling(Random* r, NetBuilder* b) {
  constexpr Op kMax[] = {Op::max_pool1d, Op::max_pool1d, Op::max_pool2d, Op::max_pool3d},
               kMean[] = {Op::avg_pool1d, Op::avg_pool1d, Op::avg_pool2d, Op::avg_pool3d};
  const ValueRef x = b->Input(Image(r, Batch(r), Channels(r), kDims));
  const Ints kernel = Each(r, kDims, {2, 2, 3, 3, 4, 5, 7, 11}),
             stride = r->Chance(0.5) ? kernel : Each(r, kDims, {1, 2, 3}), padding = Padding(r, kernel);
  if (r->Chance(0.5)) {
    return b->Call(kMean[kDims],
                   {{"kernel_size", kernel},
                    {"stride", stride},
                    {"padding", padding},
                    {"ceil_mode", false},
                    {"count_include_pad", true}},
                   {x});
  }
  return b->Call(kMax[kDims],
                 {{"kernel_size", kernel},
                  {"stride", stride},
                  {"padding", padding},
                  {"dilation", r->Chance(0.7) ? Ints(kDims, 1) : Ints(kDims, 2)},
                  {"ceil_mode", false}},
                 {x});
}

ValueRef BatchNorm(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(Image(r, Batch(r), Channels(r), static_cast<int>(r->Between(1, 3))));
  const int64_t width = b->Channels(x);
  Attributes attributes = {{"eps", 1e-5}};
  if (r->Chance(0.5)) attributes.Set("training", true);
  return b->Call(Op::batch_norm, attributes,
                 {x, b->Parameter({width}), b->Parameter({width}), b->Parameter({width}), b->Parameter({width})});
}
ValueRef GroupNorm(Random* r, NetBuilder* b) {
  const int64_t groups = r->Pick<int64_t>({1, 2, 4, 8, 16, 32}), width = groups * Width(r, 1, 32);
  const ValueRef x = b->Input(Image(r, Batch(r), width, static_cast<int>(r->Between(1, 3))));
  return b->Call(Op::group_norm, {{"num_groups", groups}, {"eps", 1e-5}},
                 {x, b->Parameter({width}), b->Parameter({width})});
}
ValueRef InstanceNorm(Random* r, NetBuilder* b) {
  const ValueRef none = ValueRef::None();
  return b->Call(
      Op::instance_norm, {{"eps", 1e-5}, {"use_input_stats", true}},
      {b->Input(Image(r, Batch(r), Channels(r), static_cast<int>(r->Between(1, 3)))), none, none, none, none});
}
ValueRef LayerNorm(Random* r, NetBuilder* b) {
  if (r->Chance(0.5)) return b->LayerNorm(b->Input({Batch(r), Width(r, 8, 4096), Width(r, 16, 4096)}));
  const ValueRef x = b->Input(Image(r, Batch(r), Channels(r), 2));  // over all but the batch
  const Ints shape = {b->Dim(x, 1), b->Dim(x, 2), b->Dim(x, 3)};
  const Shape weight(shape.begin(), shape.end());
  return b->Call(Op::layer_norm, {{"normalized_shape", shape}, {"eps", 1e-5}},
                 {x, b->Parameter(weight), b->Parameter(weight)});
}

int64_t AnyDim(Random* r, NetBuilder* b, ValueRef x) {
  return r->Between(1, static_cast<int64_t>(b->ShapeOf(x).size()) - 1);
}
ValueRef Softmax(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(AnyShape(r));
  return b->Call(r->Pick({Op::softmax, Op::log_softmax}), {{"dim", AnyDim(r, b, x)}}, {x});
}
ValueRef Unary(Random* r, NetBuilder* b) {
  const Op op = r->Pick({Op::relu, Op::sigmoid, Op::tanh, Op::silu, Op::mish, Op::hardswish, Op::hardsigmoid, Op::selu,
                         Op::softsign, Op::exp, Op::abs, Op::square, Op::sqrt});
  return b->Call(op, {}, {b->Input(AnyShape(r))});
}
ValueRef UnaryWithNumbers(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(AnyShape(r));
  switch (r->Between(0, 5)) {
    case 0: return b->Call(Op::leaky_relu, {{"negative_slope", 0.01}}, {x});
    case 1: return b->Call(Op::elu, {{"alpha", 1.0}}, {x});
    case 2: return b->Call(Op::gelu, {{"approximate", std::string("none")}}, {x});
    case 3: return b->Call(Op::softplus, {{"beta", 1.0}, {"threshold", 20.0}}, {x});
    case 4: return b->Call(Op::hardtanh, {{"min_val", -1.0}, {"max_val", 1.0}}, {x});
    default: return b->Call(Op::clamp, {{"min", 0.0}, {"max", 1.0}}, {x, ValueRef::None(), ValueRef::None()});
  }
}
// With a tensor of the same shape, a bias for each channel, or a number.
ValueRef Binary(Random* r, NetBuilder* b) {
  const Op op = r->Pick({Op::add, Op::mul, Op::sub, Op::div});
  const ValueRef x = b->Input(AnyShape(r));
  if (r->Chance(0.3)) return b->Call(op, {{"other", 2.0}}, {x, ValueRef::None()});
  Shape other = b->ShapeOf(x);
  if (other.size() > 2 && r->Chance(0.5)) {
    other.erase(other.begin());
    std::fill(other.begin() + 1, other.end(), 1);
    return b->Call(op, {}, {x, b->Parameter(other)});
  }
  return b->Call(op, {}, {x, b->Input(other)});
}

ValueRef Reduction(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(AnyShape(r));
  const Ints dim = {AnyDim(r, b, x)};
  const bool keepdim = r->Chance(0.5);
  switch (r->Between(0, 4)) {
    case 0: return b->Call(Op::sum, {{"dim", dim}, {"keepdim", keepdim}}, {x});
    case 1: return b->Call(Op::mean, {{"dim", dim}, {"keepdim", keepdim}}, {x});
    case 2: return b->Call(Op::logsumexp, {{"dim", dim}, {"keepdim", keepdim}}, {x});
    case 3: return b->Call(Op::amax, {{"dim", dim}, {"keepdim", keepdim}}, {x});
    default: return b->Call(Op::norm, {{"p", 2.0}, {"dim", dim}, {"keepdim", keepdim}}, {x});
  }
}
ValueRef ReductionWithIndex(Random* r, NetBuilder* b) {
  const Op op = r->Pick({Op::max, Op::min, Op::argmax, Op::argmin});
  const ValueRef x = b->Input(AnyShape(r));
  const Attributes attributes = {{"dim", AnyDim(r, b, x)}, {"keepdim", r->Chance(0.5)}};
  const bool has_other = op == Op::max || op == Op::min;
  return b->Call(op, attributes, has_other ? ValueRefs{x, ValueRef::None()} : ValueRefs{x});
}
ValueRef Scan(Random* r, NetBuilder* b) {
  const Op op = r->Pick({Op::cumsum, Op::cumprod});
  ValueRef x = b->Input(r->Chance(0.7) ? Shape{Batch(r), Width(r, 64, 65536)} : AnyShape(r));
  const int64_t dim = AnyDim(r, b, x);
  if (r->Chance(0.2)) x = b->Call(Op::flip, {{"dims", Ints{dim}}}, {x});
  return b->Call(op, {{"dim", dim}}, {x});
}

ValueRef Loss(Random* r, NetBuilder* b) {
  const Attributes mean = {{"reduction", std::string("mean")}};
  const Shape shape = {Width(r, 1, 4096), Width(r, 2, 16384)};
  const ValueRef x = b->Input(shape);
  switch (r->Between(0, 5)) {
    case 0: return b->Call(Op::mse_loss, mean, {x, b->Input(shape)});
    case 1: return b->Call(Op::l1_loss, mean, {x, b->Input(shape)});
    case 2:
      return b->Call(Op::smooth_l1_loss, {{"reduction", std::string("mean")}, {"beta", 1.0}}, {x, b->Input(shape)});
    case 3:
      return b->Call(Op::kl_div, {{"reduction", std::string("batchmean")}, {"log_target", false}},
                     {x, b->Input(shape)});
    case 4: return b->Call(Op::cosine_similarity, {{"dim", int64_t{1}}, {"eps", 1e-8}}, {x, b->Input(shape)});
    default:
      return b->Call(Op::triplet_margin_loss,
                     {{"margin", 1.0}, {"p", 2.0}, {"eps", 1e-6}, {"swap", false}, {"reduction", std::string("mean")}},
                     {x, b->Input(shape), b->Input(shape)});
  }
}
ValueRef CrossEntropy(Random* r, NetBuilder* b) {
  const Shape shape = {Width(r, 1, 4096), Width(r, 2, 32768)};
  const ValueRef x = b->Input(shape);
  return b->Call(Op::cross_entropy,
                 {{"ignore_index", int64_t{-100}}, {"reduction", std::string("mean")}, {"label_smoothing", 0.0}},
                 {x, b->Input({shape[0]}, graph::DType::int64), ValueRef::None()});
}

ValueRef Recurrent(Random* r, NetBuilder* b) {
  const bool is_lstm = r->Chance(0.5), is_bidirectional = r->Chance(0.3);
  const int64_t layers = r->Between(1, 4), directions = is_bidirectional ? 2 : 1, hidden = Width(r, 16, 512),
                gates = is_lstm ? 4 : 3, batch = r->Pick<int64_t>({1, 4, 8, 10, 16}), steps = Width(r, 2, 128);
  ValueRefs inputs = {b->Input({batch, steps, Width(r, 8, 512)})};
  const int64_t features = b->Dim(inputs[0], 2);
  for (int state = 0; state < (is_lstm ? 2 : 1); ++state)
    inputs.push_back(b->Input({layers * directions, batch, hidden}));
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      inputs.push_back(b->Parameter({gates * hidden, layer == 0 ? features : directions * hidden}));
      inputs.push_back(b->Parameter({gates * hidden, hidden}));
      inputs.push_back(b->Parameter({gates * hidden}));
      inputs.push_back(b->Parameter({gates * hidden}));
    }
  }
  return b->Call(is_lstm ? Op::lstm : Op::gru,
                 {{"has_biases", true},
                  {"num_layers", layers},
                  {"dropout", 0.0},
                  {"bidirectional", is_bidirectional},
                  {"batch_first", true}},
                 std::move(inputs));
}

constexpr LayerKind kKinds[] = {
    {"conv1d", 5, Convolution<1>},
    {"conv2d", 12, Convolution<2>},
    {"conv3d", 8, Convolution<3>},
    {"conv_transpose1d", 5, TransposedConvolution<1>},
    {"conv_transpose2d", 10, TransposedConvolution<2>},
    {"conv_transpose3d", 10, TransposedConvolution<3>},
    {"matmul", 8, Product},
    {"matmul", 3, ProductOfTensors},
    {"bmm", 4, BatchedProduct},
    {"linear", 6, Linear},
    {"scaled_dot_product_attention", 3, Attention},
    {"pool1d", 2, Pooling<1>},
    {"pool2d", 3, Pooling<2>},
    {"pool3d", 2, Pooling<3>},
    {"batch_norm", 3, BatchNorm},
    {"group_norm", 3, GroupNorm},
    {"instance_norm", 2, InstanceNorm},
    {"layer_norm", 3, LayerNorm},
    {"softmax", 3, Softmax},
    {"unary", 5, Unary},
    {"unary", 3, UnaryWithNumbers},
    {"binary", 5, Binary},
    {"reduction", 4, Reduction},
    {"reduction", 3, ReductionWithIndex},
    {"scan", 3, Scan},
    {"loss", 3, Loss},
    {"cross_entropy", 1, CrossEntropy},
    {"recurrent", 4, Recurrent},
};

}  // namespace

std::unique_ptr<Sampler> MakeProgramLayerSampler(const SamplerOptions& options) {
  return MakeKindSampler("program-layers", kKinds, options);
}

}  // namespace cobra::worker

#include "model/predict/work/strided_work.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "graph/cost/cost.h"
#include "graph/op_rules.h"
#include "graph/saturated.h"
#include "model/predict/work/call_work.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::Plus;
using graph::Strides;
using graph::Times;

// They call contiguous(): softmax in SoftMax.cu, layer_norm in layer_norm_kernel.cu, ... A compiler
// reads as it lies.
constexpr Op kNeedRows[] = {Op::softmax,    Op::log_softmax, Op::special_softmax, Op::special_log_softmax,
                            Op::layer_norm, Op::group_norm,  Op::instance_norm,   Op::unfold,
                            Op::fold,       Op::cumsum};
// ... in rows or with the channels last, as the argument suggests.
constexpr Op kNeedImages[] = {Op::max_pool2d, Op::avg_pool2d};
// cuDNN's, compiled or not. With one dimension, always rows (ATen/native/Convolution.cpp,
// _convolution).
constexpr Op kConvolutionsOfRows[] = {Op::conv1d, Op::conv_transpose1d},
             kConvolutionsOfImages[] = {Op::conv2d, Op::conv3d, Op::conv_transpose2d, Op::conv_transpose3d};
// Matrices among the arguments: the first two, or those behind the first.
constexpr Op kProductsOfTwo[] = {Op::matmul, Op::bmm, Op::linalg_matmul}, kProductsOfLast[] = {Op::addmm, Op::baddbmm};
constexpr int64_t kFewestChannelsLast = 16;  // for which the bilinear kernel has a thread for each element

// The dimension that lies innermost: of more than one element, with the smallest step. -1: there is
// none.
int Innermost(const graph::Shape& shape, const Strides& strides) {
  int innermost = -1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] > 1 && strides[d] > 0 && (innermost < 0 || strides[d] < strides[innermost])) innermost = d;
  }
  return innermost;
}

// BLAS takes a batch of matrices with any distance between rows, or between columns, and one
// distance between matrices.
bool IsBatchOfMatrices(const graph::Shape& shape, const Strides& strides) {
  if (shape.size() < 2) return true;
  const size_t rank = shape.size();
  int64_t batch = 1;
  for (size_t d = 0; d + 2 < rank; ++d) batch = Times(batch, shape[d]);
  const graph::Shape view{batch, shape[rank - 2], shape[rank - 1]};
  const std::optional<Strides> as_viewed = graph::ViewStrides(shape, strides, view);
  if (!as_viewed.has_value()) return false;
  const Strides& s = *as_viewed;
  return s[2] == 1 || s[1] == 1 || view[2] == 1 || view[1] == 1;
}

class Calls {
 public:
  Calls(const graph::Graph& graph, const graph::Layout& layout, bool fuses, bool in_half)
      : graph_(graph), layout_(layout), fuses_(fuses), in_half_(in_half) {}

  StridedWork Of(int32_t node) const {
    const graph::Node& call = graph_.nodes()[static_cast<size_t>(node)];
    StridedWork work;
    if (call.inputs.empty() || call.inputs[0].is_none()) return work;
    if (graph::IsView(call) || graph::IsAlias(graph_, call)) {
      if (!layout_.copies[static_cast<size_t>(node)]) return work;
      AddStrided(call.inputs[0], call.outputs[0].num_bytes(), &work);
      if (!fuses_) AddCopy(call.inputs[0], &work);  // else in the loops of a kernel
      return work;
    }
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.inputs[i].is_none() || !NeedsCopy(call, i)) continue;
      AddCopy(call.inputs[i], &work);
      if (!LeavesGaps(call, i)) AddStrided(call.inputs[i], graph_.TypeOf(call.inputs[i]).num_bytes(), &work);
    }
    if (graph::RulesOf(call.op).strides == graph::StrideRule::kElementwise || call.op == Op::cat ||
        call.op == Op::stack)
      AddOperands(node, &work);
    if (call.op == Op::interpolate && !fuses_) work.thread_steps = ThreadSteps(call);
    if (call.op == Op::conv2d && in_half_) work.turned_bytes = TurnedBytes(call);
    return work;
  }

 private:
  // All of what a copy reads and writes if it lies in another order.
  void AddStrided(const graph::ValueRef& input, int64_t bytes, StridedWork* work) const {
    const graph::Shape& shape = graph_.TypeOf(input).shape;
    const int innermost = Innermost(shape, layout_.Of(graph_, input));
    if (innermost >= 0 && innermost != Innermost(shape, graph::ContiguousStrides(shape)))
      work->strided_bytes = Plus(work->strided_bytes, Times(2, bytes));
  }

  void AddCopy(const graph::ValueRef& input, StridedWork* work) const {
    ++work->copies;
    work->copied_bytes = Plus(work->copied_bytes, Times(2, graph_.TypeOf(input).num_bytes()));
  }

  // Whether the argument of a convolution has its channels last already, but other tensors between
  // them.
  bool LeavesGaps(const graph::Node& call, size_t i) const {
    return call.op == Op::conv2d && i == 0 && layout_.SuggestsChannelsLast(graph_, call.inputs[0]);
  }

  bool NeedsCopy(const graph::Node& call, size_t i) const {
    const graph::Shape& shape = graph_.TypeOf(call.inputs[i]).shape;
    const Strides strides = layout_.Of(graph_, call.inputs[i]);
    if (graph::IsContiguous(shape, strides))
      return i == 0 && layout_.channels_last && call.op == Op::conv2d && !graph::IsChannelsLast(shape, strides);
    if (i == 0 && !fuses_ && absl::c_linear_search(kNeedRows, call.op)) return true;
    if (i == 0 && !fuses_ && absl::c_linear_search(kNeedImages, call.op)) return !graph::IsChannelsLast(shape, strides);
    if (i == 0 && absl::c_linear_search(kConvolutionsOfRows, call.op)) return true;
    if (i == 0 && absl::c_linear_search(kConvolutionsOfImages, call.op)) return !graph::IsChannelsLast(shape, strides);
    if ((i == 0 && call.op == Op::linear) || (i < 2 && absl::c_linear_search(kProductsOfTwo, call.op)) ||
        (i > 0 && i < 3 && absl::c_linear_search(kProductsOfLast, call.op)))
      return !IsBatchOfMatrices(shape, strides);
    if (i < 3 && fuses_ && call.op == Op::scaled_dot_product_attention) return !strides.empty() && strides.back() != 1;
    return false;
  }

  // An elementwise call goes through its operands in the order of the result.
  void AddOperands(int32_t node, StridedWork* work) const {
    const graph::Node& call = graph_.nodes()[static_cast<size_t>(node)];
    const graph::Shape& out = call.outputs[0].shape;
    const int of_result = Innermost(out, layout_.Of(graph_, graph::ValueRef::Node(node)));
    for (const graph::ValueRef& input : call.inputs) {
      if (input.is_none()) continue;
      const graph::TensorType& type = graph_.TypeOf(input);
      const bool is_whole = type.shape == out || call.op == Op::cat || call.op == Op::stack;
      if (!is_whole) continue;  // broadcast, and small
      int innermost = Innermost(type.shape, layout_.Of(graph_, input));
      if (call.op == Op::stack && innermost >= 0 && innermost >= StackedAt(call)) ++innermost;
      if (innermost >= 0 && innermost != of_result) work->strided_bytes = Plus(work->strided_bytes, type.num_bytes());
    }
  }

  // The dimension that stack() makes.
  int StackedAt(const graph::Node& call) const {
    const int64_t dim = call.attributes.Int("dim", 0), rank = static_cast<int64_t>(call.outputs[0].shape.size());
    return static_cast<int>(dim < 0 ? dim + rank : dim);
  }

  int64_t ThreadSteps(const graph::Node& call) const {
    const std::string mode = call.attributes.String("mode", "nearest");
    const graph::ValueRef& input = call.inputs[0];
    const graph::Shape& shape = graph_.TypeOf(input).shape;
    if (shape.size() < 3 || absl::StartsWith(mode, "nearest") || mode == "area") return 0;
    if (call.attributes.Bool("antialias", false)) return 0;              // since 2.5 a block for each image and channel
    if (mode == "bilinear" && shape == call.outputs[0].shape) return 0;  // copied
    const bool has_kernel_of_elements = shape[1] >= kFewestChannelsLast && mode == "bilinear";
    if (has_kernel_of_elements && graph::IsChannelsLast(shape, layout_.Of(graph_, input))) return 0;
    return Times(shape[0], shape[1]);
  }

  int64_t TurnedBytes(const graph::Node& call) const {
    const graph::TensorType& image = graph_.TypeOf(call.inputs[0]);
    const bool is_depthwise = graph_.TypeOf(call.inputs[1]).shape[1] == 1 && call.attributes.Int("groups", 1) > 1;
    if (is_depthwise || layout_.channels_last) return 0;
    if (graph::IsChannelsLast(image.shape, layout_.Of(graph_, call.inputs[0]))) return 0;
    return Plus(image.num_bytes(), call.outputs[0].num_bytes());
  }

  const graph::Graph& graph_;
  const graph::Layout& layout_;
  const bool fuses_, in_half_;
};

}  // namespace

std::vector<StridedWork> StridedWorkOf(const graph::Graph& graph, const graph::Layout& layout, bool fuses,
                                       bool in_half) {
  const Calls calls(graph, layout, fuses, in_half);
  std::vector<StridedWork> work;
  for (int32_t node = 0; node < static_cast<int32_t>(graph.nodes().size()); ++node) work.push_back(calls.Of(node));
  return work;
}

namespace {

// About as many calls as TorchInductor has of one of the graph, once composed ones are taken apart.
size_t CompiledCalls(const graph::Node& call) {
  constexpr size_t kBatchNorm = 20, kNorm = 10, kProduct = 4, kOther = 2;
  if (call.op == Op::batch_norm) return kBatchNorm;
  if (absl::EndsWith(graph::OpName(call.op), "_norm")) return kNorm;
  return call.op == Op::linear || absl::c_linear_search(kProductsOfTwo, call.op) ? kProduct : kOther;
}

}  // namespace

bool CompilesChannelsLast(const graph::Graph& graph) {
  // How long PyTorch found its convolutions to take so, of what they take otherwise.
  constexpr double kGrouped = 1.358, kSmall = 0.783, kInOut = 0.725, kOther = 0.823;
  constexpr int64_t kFewChannels = 64;
  constexpr size_t kMostCallsForOne = 300;
  double macs = 0, weighted = 0;
  size_t convolutions = 0, calls = graph.inputs().size() + graph.parameters().size() + graph.buffers().size();
  for (size_t node = 0; node < graph.nodes().size(); ++node) {
    const graph::Node& call = graph.nodes()[node];
    calls += CompiledCalls(call);
    if (!IsConvolution(call)) continue;
    ++convolutions;
    const graph::Shape& weight = graph.TypeOf(call.inputs[1]).shape;
    const double of_call = static_cast<double>(graph::CostOf(graph, static_cast<int32_t>(node)).macs);
    const bool is_grouped = call.attributes.Int("groups", 1) > 1 && weight[1] > 1;
    const bool is_small = weight[0] <= kFewChannels && weight[1] <= kFewChannels;
    const bool is_in_out = 2 * weight[0] <= weight[1] && weight.size() > 2 && weight[2] > 1;
    macs += of_call;
    weighted += of_call * (is_grouped ? kGrouped : is_small ? kSmall : is_in_out ? kInOut : kOther);
  }
  return convolutions > 0 && calls < kMostCallsForOne * convolutions && weighted <= macs;
}

}  // namespace cobra::predict

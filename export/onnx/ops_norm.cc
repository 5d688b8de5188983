// Normalizations, softmax.
#include <algorithm>
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// A vector with one number for each channel, as a tensor that is broadcast along dimension 1 of
// `rank`.
std::string ByChannel(CallWriter& c, const std::string& x, int64_t channels, int rank) {
  if (rank <= 2) return x;
  Shape shape(static_cast<size_t>(rank) - 1, 1);
  shape[0] = channels;
  return c.Reshaped(x, shape);
}

std::string Ones(CallWriter& c, int64_t n, double value, DType dtype) {
  return c.Numbers({{n}, dtype}, std::vector<double>(static_cast<size_t>(n), value));
}

// (x - mean) / sqrt(variance + eps) over these dimensions.
std::string Standardized(CallWriter& c, const Ints& axes, double eps) {
  const DType dtype = c.Type(0).dtype;
  const std::string centred = c.Node("Sub", {c.In(0), c.Reduced("ReduceMean", c.In(0), axes, true)});
  const std::string variance = c.Reduced("ReduceMean", c.Node("Mul", {centred, centred}), axes, true);
  const std::string root = c.Node("Sqrt", {c.Node("Add", {variance, c.Number(dtype, eps)})});
  return c.Node("Div", {centred, root});
}

// y * weight + bias, of which either may be absent.
std::string Affine(CallWriter& c, std::string y, const std::string& weight, const std::string& bias) {
  if (!weight.empty()) y = c.Node("Mul", {y, weight});
  if (!bias.empty()) y = c.Node("Add", {y, bias});
  return y;
}

}  // namespace

absl::StatusOr<Names> WriteBatchNorm(CallWriter& c) {
  const double eps = c.Double("eps", 1e-5);
  const DType dtype = c.Type(0).dtype;
  const int64_t channels = c.ShapeOf(0)[1];
  // Without running statistics those of the batch are taken, at inference too.
  if (!c.Has(1) || !c.Has(2) || c.Bool("training")) {
    Ints axes = Range(0, c.Rank(0));
    axes.erase(axes.begin() + 1);
    const auto wide = [&](size_t i) { return c.Has(i) ? ByChannel(c, c.In(i), channels, c.Rank(0)) : std::string(); };
    return Names{Affine(c, Standardized(c, axes, eps), wide(3), wide(4))};
  }
  const std::string weight = c.Has(3) ? c.In(3) : Ones(c, channels, 1, dtype);
  const std::string bias = c.Has(4) ? c.In(4) : Ones(c, channels, 0, dtype);
  return Names{c.Node("BatchNormalization", {c.In(0), weight, bias, c.In(1), c.In(2)}, {{"epsilon", eps}})};
}

absl::StatusOr<Names> WriteInstanceNorm(CallWriter& c) {
  const double eps = c.Double("eps", 1e-5);
  const DType dtype = c.Type(0).dtype;
  if (c.Rank(0) < 3) return Refused("an input of ", c.Rank(0), " dimensions");
  const int64_t channels = c.ShapeOf(0)[1];
  const std::string weight = c.Has(3) ? c.In(3) : Ones(c, channels, 1, dtype);
  const std::string bias = c.Has(4) ? c.In(4) : Ones(c, channels, 0, dtype);
  if (c.Has(1) && !c.Bool("use_input_stats"))
    return Names{c.Node("BatchNormalization", {c.In(0), weight, bias, c.In(1), c.In(2)}, {{"epsilon", eps}})};
  return Names{c.Node("InstanceNormalization", {c.In(0), weight, bias}, {{"epsilon", eps}})};
}

absl::StatusOr<Names> WriteLayerNorm(CallWriter& c) {
  const Ints shape = c.IntList("normalized_shape");
  const TensorType type{ToShape(shape), c.Type(0).dtype};
  const std::string weight =
      c.Has(1) ? c.In(1) : c.Numbers(type, std::vector<double>(static_cast<size_t>(type.num_elements()), 1));
  return Names{c.Node("LayerNormalization", {c.In(0), weight, c.In(2)},
                      {{"axis", -static_cast<int64_t>(shape.size())}, {"epsilon", c.Double("eps", 1e-5)}})};
}

// x / sqrt(mean(x^2) + eps)
absl::StatusOr<Names> WriteRmsNorm(CallWriter& c) {
  const int rank = c.Rank(0);
  const Ints axes = Range(rank - static_cast<int64_t>(c.IntList("normalized_shape").size()), rank);
  const double eps = c.HasValue("eps") ? c.Double("eps") : 1.1920928955078125e-07;
  const std::string mean = c.Reduced("ReduceMean", c.Node("Mul", {c.In(0), c.In(0)}), axes, true);
  const std::string root = c.Node("Sqrt", {c.Node("Add", {mean, c.Number(c.Type(0).dtype, eps)})});
  return Names{Affine(c, c.Node("Div", {c.In(0), root}), c.In(1), "")};
}

// ONNX normalizes each instance on its own: a group is made one.
absl::StatusOr<Names> WriteGroupNorm(CallWriter& c) {
  const int64_t groups = c.Int("num_groups", 1), channels = c.ShapeOf(0)[1];
  const DType dtype = c.Type(0).dtype;
  const int64_t batch = std::max<int64_t>(c.ShapeOf(0)[0], 1);
  const int64_t width = c.Type(0).num_elements() / std::max<int64_t>(batch * groups, 1);
  const std::string apart = c.Reshaped(c.In(0), {c.ShapeOf(0)[0], groups, width});
  std::string y = c.Node("InstanceNormalization", {apart, Ones(c, groups, 1, dtype), Ones(c, groups, 0, dtype)},
                         {{"epsilon", c.Double("eps", 1e-5)}});
  y = c.Reshaped(y, c.ShapeOf(0));
  const auto wide = [&](size_t i) { return c.Has(i) ? ByChannel(c, c.In(i), channels, c.Rank(0)) : std::string(); };
  return Names{Affine(c, y, wide(1), wide(2))};
}

absl::StatusOr<Names> WriteLocalResponseNorm(CallWriter& c) {
  const int64_t size = c.Int("size");
  const double alpha = c.Double("alpha", 1e-4), beta = c.Double("beta", 0.75), k = c.Double("k", 1);
  if (size % 2 == 0) return Refused("an even size (", size, "), whose window ONNX puts elsewhere");
  const bool image = c.Rank(0) == 4;
  const Shape& in = c.ShapeOf(0);
  if (c.Rank(0) < 3) return Refused("an input of ", c.Rank(0), " dimensions");
  const int64_t rest = c.Type(0).num_elements() / std::max<int64_t>(1, in[0] * in[1]);
  const std::string x = image ? c.In(0) : c.Reshaped(c.In(0), {in[0], in[1], rest, 1});
  const std::string y = c.Node("LRN", {x}, {{"alpha", alpha}, {"beta", beta}, {"bias", k}, {"size", size}});
  return Names{image ? y : c.Reshaped(y, in)};
}

absl::StatusOr<Names> WriteNormalize(CallWriter& c) {
  const DType dtype = c.Type(0).dtype;
  const Ints axes = Wrapped(c.HasValue("dim") ? c.IntList("dim") : Ints{1}, c.Rank(0));
  const std::string norm = VectorNorm(c, c.In(0), c.Double("p", 2), axes, true, dtype);
  const std::string bounded = c.Node("Max", {norm, c.Number(dtype, c.Double("eps", 1e-12))});
  return Names{c.Node("Div", {c.In(0), bounded})};
}

// v * (g / norm of v over all dimensions but `dim`)
absl::StatusOr<Names> WriteWeightNorm(CallWriter& c) {
  const int64_t dim = c.Int("dim", 0);
  Ints axes = Range(0, c.Rank(0));
  if (dim != -1) axes.erase(axes.begin() + c.Dim("dim", 0, c.Rank(0)));
  const std::string norm = VectorNorm(c, c.In(0), 2, axes, true, c.Type(0).dtype);
  return Names{c.Node("Mul", {c.In(0), c.Node("Div", {c.In(1), norm})})};
}

absl::StatusOr<Names> WriteSoftmax(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const bool is_log = c.op() == graph::Op::log_softmax || c.op() == graph::Op::special_log_softmax;
  std::string x = c.Input(0, dtype);
  if (c.op() == graph::Op::softmin) x = c.Node("Neg", {x});
  if (c.Rank(0) == 0) return Names{c.Filled(c.Out(), is_log ? 0 : 1)};
  return Names{c.Node(is_log ? "LogSoftmax" : "Softmax", {x}, {{"axis", c.Int("dim", -1)}})};
}

}  // namespace cobra::exporting

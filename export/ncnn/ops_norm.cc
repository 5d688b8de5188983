// Normalizations.
#include <cmath>

#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

absl::Status NeedConstants(const CallWriter& c, size_t from) {
  for (size_t i = from; i < c.num_inputs(); ++i) COBRA_RETURN_IF_ERROR(c.NeedConstant(i, "a weight"));
  return absl::OkStatus();
}

std::string NumbersOr(const CallWriter& c, size_t i, float value, int64_t count) {
  return c.Has(i) ? c.Numbers(i) : Repeated(value, count);
}

// Scale and bias, if the call has either.
Arrays AffineOf(const CallWriter& c, size_t weight, int64_t count) {
  if (!c.Has(weight) && !c.Has(weight + 1)) return {};
  return {{NumbersOr(c, weight, 1, count)}, {NumbersOr(c, weight + 1, 0, count)}};
}

// The blob whose outermost dimension is the channels.
absl::StatusOr<Ints> ByChannel(const CallWriter& c) {
  const Shape& shape = c.ShapeOf(0);
  if (shape.size() < 2) return Refused("an input of ", shape.size(), " dimensions");
  if (shape[0] != 1)
    return Refused("a batch of ", shape[0], ": ncnn's blobs have none; read the network with a batch of 1");
  Ints dims = BlobOf(shape);
  if (dims.empty()) dims = {shape[1], c.Type(0).num_elements() / shape[1]};
  return dims;
}

// The blob over whose last dimensions a layer normalises `size` numbers.
Ints Rows(const CallWriter& c, int64_t size) {
  const Ints rule = BlobOf(c.ShapeOf(0));
  if (!rule.empty() && rule.size() <= 3 && rule.back() == size) return rule;
  if (rule.size() == 3 && rule[1] * rule[2] == size) return rule;
  return {c.Type(0).num_elements() / size, size};
}

}  // namespace

absl::StatusOr<Names> WriteBatchNorm(CallWriter& c) {
  if (!c.Has(1) || !c.Has(2) || c.Bool("training")) return Refused("statistics of the batch");
  COBRA_RETURN_IF_ERROR(NeedConstants(c, 1));
  const int64_t channels = c.Type(1).num_elements();
  // Rows of channels without a batch: the channels are the innermost dimension, as those of a norm
  // over each.
  COBRA_ASSIGN_OR_RETURN(const Ints dims, ByChannel(c));
  return Names{c.Map("BatchNorm", c.In(0, dims), {{0, channels}, {1, c.Double("eps", 1e-5)}},
                     {{NumbersOr(c, 3, 1, channels)}, {c.Numbers(1)}, {c.Numbers(2)}, {NumbersOr(c, 4, 0, channels)}})};
}

absl::StatusOr<Names> WriteLayerNorm(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(NeedConstants(c, 1));
  const int64_t size = Product(c.IntList("normalized_shape"));
  Arrays arrays = AffineOf(c, 1, size);
  const int64_t affine = arrays.empty() ? 0 : 1;
  return Names{c.Map("LayerNorm", c.In(0, Rows(c, size)), {{0, size}, {1, c.Double("eps", 1e-5)}, {2, affine}},
                     std::move(arrays))};
}

absl::StatusOr<Names> WriteRmsNorm(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(NeedConstants(c, 1));
  const int64_t size = Product(c.IntList("normalized_shape"));
  Arrays arrays;
  if (c.Has(1)) arrays.push_back({c.Numbers(1)});
  const double eps = c.HasValue("eps") ? c.Double("eps") : std::ldexp(1.0, -23);
  return Names{c.Map("RMSNorm", c.In(0, Rows(c, size)), {{0, size}, {1, eps}, {2, int64_t{c.Has(1) ? 1 : 0}}},
                     std::move(arrays))};
}

absl::StatusOr<Names> WriteGroupNorm(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(NeedConstants(c, 1));
  COBRA_ASSIGN_OR_RETURN(const Ints dims, ByChannel(c));
  Arrays arrays = AffineOf(c, 1, dims[0]);
  const int64_t affine = arrays.empty() ? 0 : 1;
  return Names{c.Map("GroupNorm", c.In(0, dims),
                     {{0, c.Int("num_groups", 1)}, {1, dims[0]}, {2, c.Double("eps", 1e-5)}, {3, affine}},
                     std::move(arrays))};
}

absl::StatusOr<Names> WriteInstanceNorm(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(NeedConstants(c, 1));
  COBRA_ASSIGN_OR_RETURN(Ints dims, ByChannel(c));
  if (c.Rank(0) < 3) return Refused("an input of ", c.Rank(0), " dimensions");
  if (c.Has(1) && !c.Bool("use_input_stats", true)) return Refused("running statistics");
  if (dims.size() != 3) dims = {dims[0], 1, Product(dims) / dims[0]};
  Arrays arrays = AffineOf(c, 3, dims[0]);
  const int64_t affine = arrays.empty() ? 0 : 1;
  return Names{
      c.Map("InstanceNorm", c.In(0, dims), {{0, dims[0]}, {1, c.Double("eps", 1e-5)}, {2, affine}}, std::move(arrays))};
}

absl::StatusOr<Names> WriteLocalResponseNorm(CallWriter& c) {
  if (c.Int("size") % 2 == 0) return Refused("an even size");
  COBRA_ASSIGN_OR_RETURN(Ints dims, ByChannel(c));
  if (dims.size() != 3) dims = {dims[0], 1, Product(dims) / dims[0]};
  return Names{c.Map("LRN", c.In(0, dims),
                     {{0, int64_t{0}},
                      {1, c.Int("size")},
                      {2, c.Double("alpha", 1e-4)},
                      {3, c.Double("beta", 0.75)},
                      {4, c.Double("k", 1)}})};
}

// x over its norm along a dimension, which is at least eps.
absl::StatusOr<Names> WriteNormalize(CallWriter& c) {
  const double p = c.Double("p", 2);
  if (p != 1 && p != 2) return Refused("p=", p);
  if (c.IntList("dim").size() > 1) return Refused("a norm over several dimensions");
  const Axis at = AxisOf(c.ShapeOf(0), c.Dim("dim", 1, c.Rank(0)));
  const std::string x = c.In(0, at.dims);
  Ints dims = at.dims;
  dims[static_cast<size_t>(at.axis)] = 1;
  std::string norm =
      c.Layer("Reduction", {x}, dims,
              {{0, int64_t{p == 1 ? 7 : 8}}, {1, int64_t{0}}, {3, Ints{at.axis}}, {4, int64_t{1}}, {5, int64_t{1}}});
  norm = c.Map("Clip", norm, {{0, c.Double("eps", 1e-12)}});
  return Names{c.WithBlob(kDiv, x, norm)};
}

}  // namespace cobra::exporting::ncnn

// Calls that pick, place or sort elements by index tensors.
#include <algorithm>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// A vector of indices along `axis`, as an index of the shape of `type` for ScatterElements.
std::string AlongAxis(CallWriter& c, const std::string& index, int64_t axis, const Shape& shape) {
  Shape line(shape.size(), 1);
  line[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)];
  return c.Expanded(c.Reshaped(index, line), shape);
}

std::string Scattered(CallWriter& c, const std::string& x, const std::string& index, const std::string& values,
                      int64_t axis, const std::string& reduction = "") {
  OnnxAttributes attributes{{"axis", axis}};
  if (!reduction.empty()) attributes.emplace_back("reduction", reduction);
  return c.Node("ScatterElements", {x, index, values}, std::move(attributes));
}

// PyTorch takes as much of the source as the index is large.
std::string CutTo(CallWriter& c, std::string x, const Shape& from, const Shape& to) {
  for (size_t d = 0; d < to.size(); ++d) {
    if (from[d] > to[d]) x = c.Sliced(x, static_cast<int64_t>(d), 0, to[d]);
  }
  return x;
}

std::string Sorted(CallWriter& c, size_t wanted, int64_t axis, bool descending, Names* both) {
  const DType dtype = c.Type(0).dtype, wide = ArithmeticType(dtype);
  const int64_t size = c.ShapeOf(0)[static_cast<size_t>(axis)];
  *both = c.Nodes("TopK", {c.Input(0, wide), c.IntsOf({size})}, 2,
                  {{"axis", axis}, {"largest", descending ? 1 : 0}, {"sorted", 1}});
  (*both)[0] = c.Cast((*both)[0], wide, dtype);
  return (*both)[wanted];
}

}  // namespace

absl::StatusOr<Names> WriteTopk(CallWriter& c) {
  const DType dtype = c.Type(0).dtype, wide = ArithmeticType(dtype);
  if (c.Rank(0) == 0) return Names{c.In(0), c.Number(DType::int64, 0)};
  Names y = c.Nodes("TopK", {c.Input(0, wide), c.IntsOf({c.Int("k")})}, 2,
                    {{"axis", c.Int("dim", -1)},
                     {"largest", c.Bool("largest", true) ? 1 : 0},
                     {"sorted", c.Bool("sorted", true) ? 1 : 0}});
  y[0] = c.Cast(y[0], wide, dtype);
  return y;
}

// sort, argsort, msort
absl::StatusOr<Names> WriteSort(CallWriter& c) {
  if (c.Rank(0) == 0) return Refused("a scalar");
  const int64_t axis = c.op() == graph::Op::msort ? 0 : c.Dim("dim", -1, c.Rank(0));
  Names both;
  const std::string one = Sorted(c, c.op() == graph::Op::argsort ? 1 : 0, axis, c.Bool("descending"), &both);
  return c.op() == graph::Op::sort ? both : Names{one};
}

absl::StatusOr<Names> WriteGather(CallWriter& c) {
  if (c.Rank(0) == 0 || c.Rank(1) == 0) return Refused("a scalar");
  const int64_t axis = c.Dim("dim", 0, c.Rank(0));
  std::string x = c.In(0), index = c.Input(1, DType::int64);
  if (c.op() == graph::Op::take_along_dim) {
    if (!c.HasValue("dim")) {
      const std::string flat = c.Reshaped(x, {c.Type(0).num_elements()});
      return Names{c.Node("Gather", {flat, c.Reshaped(index, c.Out().shape)}, {{"axis", 0}})};
    }
    Shape wide = c.Out().shape;
    if (c.ShapeOf(1) != wide) index = c.Expanded(index, wide);
    wide[static_cast<size_t>(axis)] = c.ShapeOf(0)[static_cast<size_t>(axis)];
    if (c.ShapeOf(0) != wide) x = c.Expanded(x, wide);
  }
  return Names{c.Node("GatherElements", {x, index}, {{"axis", axis}})};
}

// scatter, scatter_add, scatter_reduce
absl::StatusOr<Names> WriteScatter(CallWriter& c) {
  if (c.Rank(0) == 0 || c.Rank(1) == 0) return Refused("a scalar");
  const DType dtype = c.Out().dtype;
  const int64_t axis = c.Dim("dim", 0, c.Rank(0));
  std::string reduction = c.op() == graph::Op::scatter_add ? "add" : "";
  const std::string asked = c.String("reduce");
  if (asked == "add" || asked == "sum") reduction = "add";
  if (asked == "multiply" || asked == "prod") reduction = "mul";
  if (!asked.empty() && reduction.empty()) return Refused("reduce='", asked, "' needs opset 18");
  if (c.op() == graph::Op::scatter_reduce && !c.Bool("include_self", true)) return Refused("include_self=False");
  const std::string values = c.Has(2) ? CutTo(c, c.Input(2, dtype), c.ShapeOf(2), c.ShapeOf(1))
                                      : c.Filled({c.ShapeOf(1), dtype}, c.Double("value"));
  return Names{Scattered(c, c.In(0), c.Input(1, DType::int64), values, axis, reduction)};
}

absl::StatusOr<Names> WriteIndexSelect(CallWriter& c) {
  if (c.Rank(0) == 0) return Names{c.In(0)};
  const std::string index = c.Rank(1) == 0 ? c.Reshaped(c.In(1), {1}) : c.In(1);
  return Names{c.Node("Gather", {c.In(0), c.Cast(index, c.Type(1).dtype, DType::int64)},
                      {{"axis", c.Dim("dim", 0, c.Rank(0))}})};
}

// index_add, index_copy, index_fill: at whole rows of a dimension.
absl::StatusOr<Names> WriteIndexRows(CallWriter& c) {
  if (c.Rank(0) == 0) return Refused("a scalar");
  const DType dtype = c.Out().dtype;
  const int64_t axis = c.Dim("dim", 0, c.Rank(0));
  Shape shape = c.ShapeOf(0);
  shape[static_cast<size_t>(axis)] = c.Type(1).num_elements();
  const std::string index = AlongAxis(c, c.Input(1, DType::int64), axis, shape);
  if (c.op() == graph::Op::index_fill) {
    const std::string value =
        c.Has(2) ? c.Expanded(c.Input(2, dtype), shape) : c.Filled({shape, dtype}, c.Double("value"));
    return Names{Scattered(c, c.In(0), index, value, axis)};
  }
  std::string values = c.Input(2, dtype);
  if (c.ShapeOf(2) != shape) values = c.Reshaped(values, shape);
  const bool adds = c.op() == graph::Op::index_add;
  if (adds) values = c.Scaled(values, c.Double("alpha", 1), dtype);
  return Names{Scattered(c, c.In(0), index, values, axis, adds ? "add" : "")};
}

// take, put: of the elements as if x had one dimension.
absl::StatusOr<Names> WriteTake(CallWriter& c) {
  const std::string flat = c.Reshaped(c.In(0), {c.Type(0).num_elements()});
  return Names{c.Node("Gather", {flat, c.Input(1, DType::int64)}, {{"axis", 0}})};
}

absl::StatusOr<Names> WritePut(CallWriter& c) {
  const int64_t count = c.Type(1).num_elements();
  const std::string flat = c.Reshaped(c.In(0), {c.Type(0).num_elements()});
  const std::string index = c.Reshaped(c.Input(1, DType::int64), {count});
  const std::string values = c.Reshaped(c.Input(2, c.Out().dtype), {count});
  return Names{c.Reshaped(Scattered(c, flat, index, values, 0, c.Bool("accumulate") ? "add" : ""), c.Out().shape)};
}

// The next element of the source for each place that the mask selects.
absl::StatusOr<Names> WriteMaskedScatter(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const Shape& shape = c.Out().shape;
  const int64_t count = c.Out().num_elements();
  const std::string mask = c.Input(1, DType::bool_);
  const std::string wide = c.ShapeOf(1) == shape ? mask : c.Expanded(mask, shape);
  const std::string flat = c.Reshaped(c.Cast(wide, DType::bool_, DType::int64), {count});
  const std::string before = c.Node("CumSum", {flat, c.Number(DType::int64, 0)}, {{"exclusive", 1}});
  // Places beyond the source are not selected; they only must be valid.
  const double last = static_cast<double>(std::max<int64_t>(c.Type(2).num_elements() - 1, 0));
  const std::string index = c.Node("Min", {before, c.Number(DType::int64, last)});
  const std::string source = c.Reshaped(c.Input(2, dtype), {c.Type(2).num_elements()});
  const std::string values = c.Reshaped(c.Node("Gather", {source, index}, {{"axis", 0}}), shape);
  return Names{c.Chosen(wide, values, c.In(0), dtype)};
}

// How many boundaries are below each value, or not above it.
absl::StatusOr<Names> WriteBucketize(CallWriter& c) {
  const bool search = c.op() == graph::Op::searchsorted;
  const size_t values = search ? 1 : 0, boundaries = search ? 0 : 1;
  if (search && c.Has(2)) return Refused("a sorter");
  const bool right = c.Bool("right") || c.String("side") == "right";
  const DType dtype = ArithmeticType(c.CommonType());
  const bool number = !c.Has(values);
  const int rank = number ? 0 : c.Rank(values);
  const std::string x = number ? c.Number(dtype, c.Double("input")) : c.Input(values, dtype);
  std::string edges = c.Input(boundaries, dtype);
  if (c.Rank(boundaries) > 1) edges = c.Unsqueezed(edges, {c.Rank(boundaries) - 1});
  const std::string wide = c.Unsqueezed(x, {rank});
  const std::string below = c.Node(right ? "LessOrEqual" : "Less", {edges, wide});
  return Names{c.Cast(c.Summed(c.Cast(below, DType::bool_, DType::int64), {rank}, false), DType::int64, c.Out().dtype)};
}

absl::StatusOr<Names> WriteEmbedding(CallWriter& c) {
  if (c.HasValue("max_norm")) return Refused("max_norm changes the weight");
  return Names{c.Node("Gather", {c.In(1), c.In(0)}, {{"axis", 0}})};
}

// Each row of the indices is a bag.
absl::StatusOr<Names> WriteEmbeddingBag(CallWriter& c) {
  if (c.HasValue("max_norm")) return Refused("max_norm changes the weight");
  if (c.Rank(0) != 2 || c.Has(2)) return Refused("bags whose sizes are values of a tensor");
  if (c.HasValue("padding_idx")) return Refused("padding_idx");
  std::string rows = c.Node("Gather", {c.In(1), c.In(0)}, {{"axis", 0}});
  if (c.Has(3)) rows = c.Node("Mul", {rows, c.Unsqueezed(c.In(3), {2})});
  const std::string mode = c.String("mode", "mean");
  if (mode == "sum") return Names{c.Summed(rows, {1}, false)};
  return Names{c.Reduced(mode == "max" ? "ReduceMax" : "ReduceMean", rows, {1}, false)};
}

absl::StatusOr<Names> WriteOneHot(CallWriter& c) {
  const std::string depth = c.Number(DType::int64, static_cast<double>(c.Out().shape.back()));
  return Names{c.Node("OneHot", {c.Input(0, DType::int64), depth, c.IntsOf({0, 1})}, {{"axis", -1}})};
}

}  // namespace cobra::exporting

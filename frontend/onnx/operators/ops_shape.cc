// Shapes and views: these operators compute nothing, or their result is computed while the file is
// read.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"

namespace cobra::onnx {
namespace {

constexpr int64_t kMostPadding = int64_t{1} << 40;  // beyond it a size could overflow

absl::StatusOr<Outputs> ShapeOf(NodeContext& c) {
  const int64_t rank = c.Rank(0);
  const auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t start = clamp(c.Int("start", 0)), end = clamp(c.Int("end", rank));
  std::vector<int64_t> sizes;
  for (int64_t d = start; d < end; ++d) sizes.push_back(c.ShapeOf(0)[d]);
  return c.Out(c.IntsConstant(sizes));
}

absl::StatusOr<Outputs> Size(NodeContext& c) {
  return c.Out(c.Constant({{}, graph::DType::int64}, {static_cast<double>(c.Type(0).num_elements())}));
}

absl::StatusOr<Outputs> Constant(NodeContext& c) {
  if (const auto* value = c.FindAttr("value")) {
    if (!value->has_t()) return Invalid("the attribute value holds no tensor");
    // Some exporters store weights in Constant nodes. Numbers and vectors are treated as arguments
    // instead.
    return c.Out(c.importer().FromProto(value->t(), /*weight=*/value->t().dims_size() >= 2,
                                        c.node().output_size() > 0 ? c.node().output(0) : ""));
  }
  if (c.HasAttr("value_int"))
    return c.Out(c.Constant({{}, graph::DType::int64}, {static_cast<double>(c.Int("value_int"))}));
  if (c.HasAttr("value_float")) return c.Out(c.Constant({{}, graph::DType::float32}, {c.Float("value_float")}));
  if (c.HasAttr("value_ints")) return c.Out(c.IntsConstant(c.Ints("value_ints")));
  if (c.HasAttr("value_floats")) {
    const std::vector<double> values = c.Floats("value_floats");
    return c.Out(c.Constant({{static_cast<int64_t>(values.size())}, graph::DType::float32}, values));
  }
  return Unsupported("a constant that is neither a dense tensor nor numbers");
}

absl::StatusOr<Outputs> ConstantOfShape(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, c.KnownInts(0, "its shape"));
  graph::TensorType type{ToShape(sizes), graph::DType::float32};
  for (int64_t d : sizes) {
    if (d < 0) return Invalid("a dimension of ", d);
  }
  double value = 0;
  if (const auto* attribute = c.FindAttr("value")) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr one, c.importer().FromProto(attribute->t(), false));
    COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, c.importer().NeedValues(one, "its value"));
    if (values->size() != 1) return Invalid("the attribute value has ", values->size(), " elements, must have one");
    value = (*values)[0];
    type.dtype = one->type.dtype;
  }
  return c.Out(c.Filled(type, value));
}

absl::StatusOr<Outputs> Reshape(NodeContext& c) {
  std::vector<int64_t> sizes;
  COBRA_ASSIGN_OR_RETURN(sizes, c.KnownInts(1, "its shape"));
  const bool zero_is_zero = c.Int("allowzero") != 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 0 || zero_is_zero) continue;
    if (i >= c.ShapeOf(0).size())
      return Invalid("dimension ", i, " is to be kept, the input is ", graph::ShapeText(c.ShapeOf(0)));
    sizes[i] = c.ShapeOf(0)[i];
  }
  return c.Out(c.Call(graph::Op::reshape, {{"shape", sizes}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Flatten(NodeContext& c) {
  const int rank = c.Rank(0);
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 1), rank + 1));
  const int first = c.Int("axis", 1) < 0 ? axis - 1 : axis;
  if (first == 1 && rank >= 2)
    return c.Out(c.Call(graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {c.In(0)}));
  return c.Out(c.Reshape(c.In(0), {Elements(c.ShapeOf(0), 0, first), Elements(c.ShapeOf(0), first, rank)}));
}

absl::StatusOr<Outputs> Transpose(NodeContext& c) {
  std::vector<int64_t> perm = c.Ints("perm");
  if (!c.HasAttr("perm")) {
    for (int d = c.Rank(0) - 1; d >= 0; --d) perm.push_back(d);
  }
  return c.Out(c.Call(graph::Op::permute, {{"dims", perm}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Squeeze(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> axes, c.IntsOrInput("axes", 1));
  const graph::Shape& in = c.ShapeOf(0);
  std::vector<bool> drop(in.size(), false);
  for (int64_t axis : axes) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, c.Rank(0), "axes"));
    if (in[d] != 1) return Invalid("dimension ", d, " of ", graph::ShapeText(in), " is not 1");
    drop[d] = true;
  }
  const bool all = !c.HasAttr("axes") && !c.Has(1);
  if (axes.size() == 1) return c.Out(c.Call(graph::Op::squeeze, {{"dim", axes[0]}}, {c.In(0)}));
  graph::Shape out;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!drop[d] && !(all && in[d] == 1)) out.push_back(in[d]);
  }
  return c.Out(c.Reshape(c.In(0), out));
}

absl::StatusOr<Outputs> Unsqueeze(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> axes, c.IntsOrInput("axes", 1));
  if (axes.size() == 1) return c.Out(c.Call(graph::Op::unsqueeze, {{"dim", axes[0]}}, {c.In(0)}));
  const int rank = c.Rank(0) + static_cast<int>(axes.size());
  if (rank > c.importer().limits().graph.max_rank) return Invalid(axes.size(), " axes");
  std::vector<bool> is_new(rank, false);
  for (int64_t axis : axes) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, rank, "axes"));
    if (is_new[d]) return Invalid("axis ", axis, " occurs twice");
    is_new[d] = true;
  }
  graph::Shape out;
  auto next = c.ShapeOf(0).begin();
  for (int d = 0; d < rank; ++d) out.push_back(is_new[d] ? 1 : *next++);
  return c.Out(c.Reshape(c.In(0), out));
}

absl::StatusOr<Outputs> Expand(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, c.KnownInts(1, "its shape"));
  const graph::Shape& in = c.ShapeOf(0);
  while (sizes.size() < in.size()) sizes.insert(sizes.begin(), 1);
  const size_t lead = sizes.size() - in.size();
  for (size_t i = 0; i < in.size(); ++i) {
    if (sizes[lead + i] == 1) sizes[lead + i] = in[i];
  }
  return c.Out(c.Call(graph::Op::expand, {{"size", sizes}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Tile(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> repeats, c.KnownInts(1, "repeats"));
  return c.Out(c.Call(graph::Op::repeat, {{"repeats", repeats}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Concat(NodeContext& c) {
  return c.Out(c.Call(graph::Op::cat, {{"dim", c.Int("axis", 1)}}, c.AllInputs()));
}

absl::StatusOr<Outputs> Split(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, c.IntsOrInput("split", 1));
  const int64_t dim = c.Int("axis", 0);
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(dim, c.Rank(0)));
  const int64_t total = c.ShapeOf(0)[axis], pieces = c.node().output_size();
  if (sizes.empty()) {
    // Since opset 18 the last piece may be smaller.
    const int64_t each = pieces == 0 ? 0 : (total + pieces - 1) / pieces;
    const bool fits = c.opset() >= 18 ? each * (pieces - 1) <= total : each * pieces == total;
    if (pieces == 0 || !fits) return Invalid("cannot cut ", total, " into ", pieces, " equal pieces");
    if (c.HasAttr("num_outputs") && c.Int("num_outputs") != pieces)
      return Invalid("num_outputs=", c.Int("num_outputs"), ", it has ", pieces, " outputs");
    sizes.assign(pieces, each);
    sizes.back() = total - each * (pieces - 1);
  }
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != total)
    return Invalid("the pieces do not add up to ", total);
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> parts,
                         c.CallAll(graph::Op::split, {{"split_size", sizes}, {"dim", dim}}, {c.In(0)}));
  return Outputs(parts.begin(), parts.end());
}

// One dimension of a Slice with positive steps, in Python's notation.
std::string SliceText(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (start == 0 && end >= size && step == 1) return ":";
  std::string text = absl::StrCat(start == 0 ? "" : absl::StrCat(start), ":", end >= size ? "" : absl::StrCat(end));
  return step == 1 ? text : absl::StrCat(text, ":", step);
}

absl::StatusOr<Outputs> Slice(NodeContext& c) {
  std::vector<int64_t> starts, ends, axes, steps;
  if (c.opset() < 10) {
    starts = c.Ints("starts");
    ends = c.Ints("ends");
    axes = c.Ints("axes");
  } else {
    if (!c.Has(1) || !c.Has(2)) return Invalid("starts and ends are missing");
    COBRA_ASSIGN_OR_RETURN(starts, c.KnownInts(1, "starts"));
    COBRA_ASSIGN_OR_RETURN(ends, c.KnownInts(2, "ends"));
    if (c.Has(3)) {
      COBRA_ASSIGN_OR_RETURN(axes, c.KnownInts(3, "axes"));
    }
    if (c.Has(4)) {
      COBRA_ASSIGN_OR_RETURN(steps, c.KnownInts(4, "steps"));
    }
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return Invalid("starts, ends, axes and steps differ in length");
  }
  TensorPtr x = c.In(0);
  std::vector<std::string> text(x->type.shape.size(), ":");
  std::vector<int64_t> flipped;
  for (size_t i = 0; i < starts.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axes[i], x->type.rank(), "axes"));
    const int64_t size = x->type.shape[d];
    if (steps[i] == 0) return Invalid("a step of 0");
    const bool backwards = steps[i] < 0;
    const auto place = [&](int64_t v) {
      if (v < 0) v = v < -size ? -1 : v + size;
      return backwards ? std::clamp<int64_t>(v, -1, size - 1) : std::clamp<int64_t>(v, 0, size);
    };
    int64_t start = place(starts[i]), end = place(ends[i]), step = steps[i];
    if (!backwards && starts[i] < -size) start = 0;
    if (backwards) {  // PyTorch has no negative steps, so the dimension is flipped
      flipped.push_back(d);
      start = size - 1 - start;
      end = size - 1 - end;
      step = step == INT64_MIN ? INT64_MAX : -step;
    }
    text[d] = SliceText(start, std::max(start, end), std::min(step, std::max<int64_t>(size, 1)), size);
  }
  if (!flipped.empty()) {
    COBRA_ASSIGN_OR_RETURN(x, c.Call(graph::Op::flip, {{"dims", flipped}}, {x}));
  }
  while (!text.empty() && text.back() == ":") text.pop_back();
  if (text.empty()) return Outputs{x};
  return c.Out(c.Call(graph::Op::getitem, {{"index", absl::StrJoin(text, ", ")}}, {x}));
}

// The integers of a constant, with negative ones counted from the end; nullopt if they are not
// known.
absl::StatusOr<std::optional<std::vector<int64_t>>> KnownIndices(NodeContext& c, size_t i, int64_t size) {
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, c.TryValues(c.In(i)));
  if (values == nullptr) return std::nullopt;
  std::vector<int64_t> indices;
  for (double v : *values) {
    if (!(v >= -static_cast<double>(size) && v < static_cast<double>(size)))
      return Invalid("index ", v, " is outside of ", size, " elements");
    indices.push_back(static_cast<int64_t>(v < 0 ? v + size : v));
  }
  return std::optional(std::move(indices));
}

absl::StatusOr<Outputs> Gather(NodeContext& c) {
  const TensorPtr x = c.In(0);
  TensorPtr index = c.In(1);
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 0), c.Rank(0)));
  COBRA_ASSIGN_OR_RETURN(std::optional<std::vector<int64_t>> known, KnownIndices(c, 1, x->type.shape[axis]));
  std::string text;
  for (int d = 0; d < axis; ++d) absl::StrAppend(&text, ":, ");
  if (known.has_value() && index->type.rank() == 0)
    return c.Out(c.Call(graph::Op::getitem, {{"index", absl::StrCat(text, (*known)[0])}}, {x}));
  if (known.has_value()) {
    COBRA_ASSIGN_OR_RETURN(index,
                           c.Constant({index->type.shape, graph::DType::int64}, Values(known->begin(), known->end())));
  }
  if (x->weight && x->type.rank() == 2 && axis == 0 && !known.has_value()) {
    return c.Out(c.Call(graph::Op::embedding, {{"norm_type", 2.0}, {"scale_grad_by_freq", false}, {"sparse", false}},
                        {index, x}));
  }
  COBRA_ASSIGN_OR_RETURN(index, c.Cast(index, graph::DType::int64));
  if (known.has_value() && index->type.rank() == 1)
    return c.Out(c.Call(graph::Op::index_select, {{"dim", int64_t{axis}}}, {x, index}));
  return c.Out(c.Call(graph::Op::getitem, {{"index", absl::StrCat(text, "T0")}}, {x, index}));
}

absl::StatusOr<Outputs> Range(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const double start, c.KnownNumber(0, "start"));
  COBRA_ASSIGN_OR_RETURN(const double limit, c.KnownNumber(1, "limit"));
  COBRA_ASSIGN_OR_RETURN(const double delta, c.KnownNumber(2, "delta"));
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count <= static_cast<double>(c.importer().limits().onnx.max_const_elements))) {
    return absl::ResourceExhaustedError(
        LimitMessage("a range", c.importer().limits().onnx.max_const_elements, "numbers"));
  }
  Values values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) values.push_back(start + static_cast<double>(i) * delta);
  graph::TensorType type{{static_cast<int64_t>(values.size())}, c.Type(0).dtype};
  return c.Out(c.Constant(std::move(type), std::move(values)));
}

// The paddings of all dimensions, from those of the dimensions that input 3 lists.
absl::StatusOr<std::vector<int64_t>> PadsOfAxes(NodeContext& c, const std::vector<int64_t>& pads) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.KnownInts(3, "axes"));
  if (pads.size() != 2 * axes.size()) return Invalid("pads has ", pads.size(), " entries, must have ", 2 * axes.size());
  std::vector<int64_t> all(2 * c.ShapeOf(0).size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axes[i], c.Rank(0), "axes"));
    all[d] = pads[i];
    all[c.ShapeOf(0).size() + d] = pads[axes.size() + i];
  }
  return all;
}

// mode=wrap: the input goes on with its other end. PyTorch's circular padding takes only images and
// volumes.
absl::StatusOr<TensorPtr> Wrapped(NodeContext& c, const std::vector<int64_t>& pads) {
  TensorPtr x = c.In(0);
  const int rank = c.Rank(0);
  for (int d = 0; d < rank; ++d) {
    const int64_t size = x->type.shape[d], out = size + pads[d] + pads[rank + d];
    if (pads[d] == 0 && pads[rank + d] == 0) continue;
    if (size < 1 || out < 0)
      return Invalid("paddings of ", pads[d], " and ", pads[rank + d], " around ", size, " elements");
    COBRA_RETURN_IF_ERROR(c.CheckCount(out));
    std::vector<int64_t> rows(out);
    for (int64_t i = 0; i < out; ++i) rows[i] = ((i - pads[d]) % size + size) % size;
    COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.IntsConstant(rows));
    COBRA_ASSIGN_OR_RETURN(x, c.Call(graph::Op::index_select, {{"dim", int64_t{d}}}, {x, index}));
  }
  return x;
}

absl::StatusOr<Outputs> Pad(NodeContext& c) {
  const std::string mode = c.String("mode", "constant");
  std::vector<int64_t> pads;
  double value = 0;
  if (c.opset() < 11) {
    pads = c.Ints("pads");
    value = c.Float("value", 0);
  } else {
    if (!c.Has(1)) return Invalid("pads are missing");
    COBRA_ASSIGN_OR_RETURN(pads, c.KnownInts(1, "pads"));
    if (c.Has(2)) {
      COBRA_ASSIGN_OR_RETURN(value, c.KnownNumber(2, "constant_value"));
    }
    if (c.Has(3)) {
      COBRA_ASSIGN_OR_RETURN(pads, PadsOfAxes(c, pads));
    }
  }
  const int rank = c.Rank(0);
  if (static_cast<int>(pads.size()) != 2 * rank)
    return Invalid("pads has ", pads.size(), " entries, must have ", 2 * rank);
  for (int64_t p : pads) {
    if (p < -kMostPadding || p > kMostPadding) return Invalid("a padding of ", p);
  }
  if (mode == "wrap") return c.Out(Wrapped(c, pads));
  std::vector<int64_t> pad;  // starts with the last dimension
  int first = rank;
  for (int d = 0; d < rank; ++d) {
    if (pads[d] != 0 || pads[rank + d] != 0) first = std::min(first, d);
  }
  for (int d = rank - 1; d >= first; --d) pad.insert(pad.end(), {pads[d], pads[rank + d]});
  if (pad.empty()) return Outputs{c.In(0)};
  if (mode == "constant")
    return c.Out(c.Call(graph::Op::pad, {{"pad", pad}, {"mode", mode}, {"value", value}}, {c.In(0)}));
  if (mode != "reflect" && mode != "edge") return Invalid("mode is ", mode);
  const graph::DType dtype = c.Type(0).dtype;
  // The modes reflect and replicate of PyTorch's pad support only floating point numbers.
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, graph::IsFloatingPoint(dtype) ? absl::StatusOr<TensorPtr>(c.In(0))
                                                                    : c.Cast(c.In(0), graph::DType::float64));
  COBRA_ASSIGN_OR_RETURN(
      TensorPtr y,
      c.Call(graph::Op::pad, {{"pad", pad}, {"mode", std::string(mode == "edge" ? "replicate" : "reflect")}}, {x}));
  return c.Out(c.Cast(y, dtype));
}

// Cuts the middle out of each dimension that is too long, and puts one that is too short in the
// middle of zeros.
absl::StatusOr<Outputs> CenterCropPad(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.KnownInts(1, "its shape"));
  std::vector<int64_t> axes = c.Ints("axes");
  if (!c.HasAttr("axes")) {
    axes.resize(c.Rank(0));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.size() != sizes.size()) return Invalid("its shape has ", sizes.size(), " entries, must have ", axes.size());
  TensorPtr x = c.In(0);
  std::vector<int64_t> pad(2 * c.ShapeOf(0).size(), 0);
  std::vector<std::string> text(c.ShapeOf(0).size(), ":");
  bool crops = false, pads = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axes[i], c.Rank(0), "axes"));
    const int64_t size = x->type.shape[d], wanted = sizes[i];
    if (wanted < 0 || wanted > kMostPadding) return Invalid("a size of ", wanted);
    if (wanted < size) {
      const int64_t start = (size - wanted) / 2;
      text[d] = SliceText(start, start + wanted, 1, size);
      crops = true;
    } else if (wanted > size) {
      const size_t at = 2 * (c.ShapeOf(0).size() - 1 - d);
      pad[at] = (wanted - size) / 2;
      pad[at + 1] = wanted - size - pad[at];
      pads = true;
    }
  }
  if (crops) {
    COBRA_ASSIGN_OR_RETURN(x, c.Call(graph::Op::getitem, {{"index", absl::StrJoin(text, ", ")}}, {x}));
  }
  if (!pads) return Outputs{x};
  return c.Out(c.Call(graph::Op::pad, {{"pad", pad}, {"mode", std::string("constant")}, {"value", 0.0}}, {x}));
}

}  // namespace

void AddShapeOperators(Registry* registry) {
  registry->Add("Shape", {ShapeOf});
  registry->Add("Size", {Size});
  registry->Add("Constant", {Constant, 0, false, "no sparse tensors, no strings"});
  registry->Add("ConstantOfShape", {ConstantOfShape, 1, false, "the shape is known beforehand"});
  registry->Add("Reshape", {Reshape, 2, false, "the shape is known beforehand"});
  registry->Add("Flatten", {Flatten});
  registry->Add("Transpose", {Transpose});
  registry->Add("Squeeze", {Squeeze});
  registry->Add("Unsqueeze", {Unsqueeze});
  registry->Add("Expand", {Expand, 2, false, "the shape is known beforehand"});
  registry->Add("Tile", {Tile, 2, false, "repeats are known beforehand"});
  registry->Add("Concat", {Concat});
  registry->Add("Split", {Split});
  registry->Add("Slice", {Slice, 1, false, "bounds are known beforehand"});
  registry->Add("Gather", {Gather, 2});
  registry->Add("Range", {Range, 3, false, "bounds are known beforehand"});
  registry->Add("Pad", {Pad, 1, false, "pads are known beforehand"});
  registry->Add("CenterCropPad", {CenterCropPad, 2, false, "the shape is known beforehand"});
}

}  // namespace cobra::onnx

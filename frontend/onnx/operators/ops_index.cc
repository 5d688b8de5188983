// Operators that pick, place or move elements by index.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "frontend/onnx/operators/index.h"

namespace cobra::onnx {
namespace {

absl::StatusOr<Outputs> GatherElements(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 0), c.Rank(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, NonNegative(c, c.In(1), c.ShapeOf(0)[axis]));
  return c.Out(c.Call(graph::Op::gather, {{"dim", int64_t{axis}}}, {c.In(0), index}));
}

absl::StatusOr<TensorPtr> Scattered(NodeContext& c, const std::string& reduction, int64_t dim, const TensorPtr& x,
                                    const TensorPtr& index, const TensorPtr& updates) {
  if (reduction == "none") return c.Call(graph::Op::scatter, {{"dim", dim}}, {x, index, updates});
  if (reduction == "add") return c.Call(graph::Op::scatter_add, {{"dim", dim}}, {x, index, updates});
  if (reduction == "mul") {
    return c.Call(graph::Op::scatter_reduce, {{"dim", dim}, {"reduce", std::string("prod")}, {"include_self", true}},
                  {x, index, updates});
  }
  if (reduction == "max" || reduction == "min") {
    return c.Call(graph::Op::scatter_reduce, {{"dim", dim}, {"reduce", "a" + reduction}, {"include_self", true}},
                  {x, index, updates});
  }
  return Invalid("reduction is ", reduction);
}

absl::StatusOr<Outputs> ScatterElements(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 0), c.Rank(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, NonNegative(c, c.In(1), c.ShapeOf(0)[axis]));
  return c.Out(Scattered(c, c.String("reduction", "none"), axis, c.In(0), index, c.In(2)));
}

// The k columns of an index tensor of shape [..., k]. Each column has that shape without its last
// dimension.
absl::StatusOr<std::vector<TensorPtr>> IndexColumns(NodeContext& c, const TensorPtr& index) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr wide, c.Cast(index, graph::DType::int64));
  return c.CallAll(graph::Op::unbind, {{"dim", int64_t{-1}}}, {wide});
}

absl::StatusOr<Outputs> GatherNd(NodeContext& c) {
  const TensorPtr x = c.In(0), index = c.In(1);
  const int batch = static_cast<int>(std::clamp<int64_t>(c.Int("batch_dims"), 0, 64));
  if (index->type.rank() == 0 || index->type.shape.back() == 0 || batch >= index->type.rank() ||
      batch + index->type.shape.back() > x->type.rank()) {
    return Invalid("indices ", graph::ShapeText(index->type.shape), " do not fit data ",
                   graph::ShapeText(x->type.shape));
  }
  std::vector<TensorPtr> inputs{x};
  std::vector<std::string> text;
  for (int b = 0; b < batch; ++b) {  // each element of the batch reads its own part of the data
    graph::Shape shape(index->type.rank() - 1, 1);
    shape[b] = index->type.shape[b];
    COBRA_RETURN_IF_ERROR(c.CheckCount(shape[b]));
    Values values(shape[b]);
    std::iota(values.begin(), values.end(), 0);
    COBRA_ASSIGN_OR_RETURN(TensorPtr row, c.Constant({shape, graph::DType::int64}, std::move(values)));
    inputs.push_back(row);
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> columns, IndexColumns(c, index));
  inputs.insert(inputs.end(), columns.begin(), columns.end());
  for (size_t i = 0; i + 1 < inputs.size(); ++i) text.push_back(absl::StrCat("T", i));
  return c.Out(c.Call(graph::Op::getitem, {{"index", absl::StrJoin(text, ", ")}}, inputs));
}

// Flattens the first k dimensions of the data to rows and scatters the updates to the rows at the
// flattened index.
absl::StatusOr<Outputs> ScatterNd(NodeContext& c) {
  const TensorPtr x = c.In(0), index = c.In(1), updates = c.In(2);
  const int64_t k = index->type.rank() == 0 ? 0 : index->type.shape.back();
  if (k < 1 || k > x->type.rank())
    return Invalid("indices ", graph::ShapeText(index->type.shape), " do not fit data ",
                   graph::ShapeText(x->type.shape));
  const int64_t rows = Elements(x->type.shape, 0, static_cast<int>(k));
  const int64_t width = Elements(x->type.shape, static_cast<int>(k), x->type.rank());
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> columns, IndexColumns(c, index));
  TensorPtr flat;
  for (int64_t i = 0; i < k; ++i) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr column, NonNegative(c, columns[i], x->type.shape[i]));
    if (flat == nullptr) {
      flat = column;
      continue;
    }
    COBRA_ASSIGN_OR_RETURN(flat, c.WithNumber(graph::Op::mul, flat, x->type.shape[i]));
    COBRA_ASSIGN_OR_RETURN(flat, c.Binary(graph::Op::add, flat, column));
  }
  const int64_t count = flat->type.num_elements();
  COBRA_ASSIGN_OR_RETURN(flat, c.Reshape(flat, {count, 1}));
  COBRA_ASSIGN_OR_RETURN(flat, c.Call(graph::Op::expand, {{"size", std::vector<int64_t>{count, width}}}, {flat}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr data, c.Reshape(x, {rows, width}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr source, c.Reshape(updates, {count, width}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Scattered(c, c.String("reduction", "none"), 0, data, flat, source));
  return c.Out(c.Reshape(y, x->type.shape));
}

absl::StatusOr<Outputs> OneHot(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int64_t depth, c.KnownInt(1, "depth"));
  if (depth < 1 || depth > c.importer().limits().onnx.max_const_elements) return Invalid("a depth of ", depth);
  const int rank = c.Rank(0) + 1;
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", -1), rank));
  if (c.ShapeOf(2) != graph::Shape{2}) return Invalid("values must be [off, on]");
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, NonNegative(c, c.In(0), depth));
  COBRA_ASSIGN_OR_RETURN(index, c.Call(graph::Op::unsqueeze, {{"dim", int64_t{axis}}}, {index}));
  graph::Shape shape(rank, 1);
  shape[axis] = depth;
  Values values(depth);
  std::iota(values.begin(), values.end(), 0);
  COBRA_ASSIGN_OR_RETURN(TensorPtr classes, c.Constant({shape, graph::DType::int64}, std::move(values)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr hit, c.Binary(graph::Op::eq, index, classes));
  COBRA_ASSIGN_OR_RETURN(TensorPtr off, c.Call(graph::Op::getitem, {{"index", std::string("0")}}, {c.In(2)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr on, c.Call(graph::Op::getitem, {{"index", std::string("1")}}, {c.In(2)}));
  return c.Out(c.Call(graph::Op::where, {}, {hit, on, off}));
}

absl::StatusOr<Outputs> EyeLike(NodeContext& c) {
  if (c.Rank(0) != 2) return Invalid("takes a matrix, got ", graph::ShapeText(c.ShapeOf(0)));
  graph::TensorType type = c.Type(0);
  if (c.HasAttr("dtype")) {
    COBRA_ASSIGN_OR_RETURN(type.dtype, DTypeOf(static_cast<int32_t>(c.Int("dtype"))));
  }
  if (type.num_elements() > c.importer().limits().onnx.max_const_elements)
    return Unsupported("a matrix of ", graph::ShapeText(type.shape));
  if (type.num_elements() == 0) return c.Out(c.Constant(std::move(type), {}));
  const int64_t rows = type.shape[0], columns = type.shape[1], k = c.Int("k");
  Values values(rows * columns, 0);
  for (int64_t i = 0; i < rows; ++i) {
    if (k >= -rows && k <= columns && i + k >= 0 && i + k < columns) values[i * columns + i + k] = 1;
  }
  return c.Out(c.Constant(std::move(type), std::move(values)));
}

absl::StatusOr<Outputs> Trilu(NodeContext& c) {
  int64_t k = 0;
  if (c.Has(1)) {
    COBRA_ASSIGN_OR_RETURN(k, c.KnownInt(1, "k"));
  }
  return c.Out(c.Call(c.Int("upper", 1) != 0 ? graph::Op::triu : graph::Op::tril, {{"diagonal", k}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Compress(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> condition, c.KnownInts(1, "condition"));
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  TensorPtr x = c.In(0);
  int axis = 0;
  if (c.HasAttr("axis")) {
    COBRA_ASSIGN_OR_RETURN(axis, WrapAxis(c.Int("axis"), c.Rank(0)));
  } else {
    COBRA_ASSIGN_OR_RETURN(x, c.Reshape(x, {x->type.num_elements()}));
  }
  if (!kept.empty() && kept.back() >= x->type.shape[axis])
    return Invalid("the condition is longer than dimension ", axis);
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.IntsConstant(kept));
  return c.Out(c.Call(graph::Op::index_select, {{"dim", int64_t{axis}}}, {x, index}));
}

absl::StatusOr<Outputs> NonZero(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<double> values, c.Known(0, "the number of its results"));
  const graph::Shape& shape = c.ShapeOf(0);
  const int rank = std::max(1, c.Rank(0));
  std::vector<int64_t> found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) found.push_back(static_cast<int64_t>(i));
  }
  Values indices(rank * found.size());
  for (size_t n = 0; n < found.size(); ++n) {
    int64_t rest = found[n];
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      indices[d * found.size() + n] = static_cast<double>(rest % shape[d]);
      rest /= shape[d];
    }
  }
  return c.Out(c.Constant({{rank, static_cast<int64_t>(found.size())}, graph::DType::int64}, std::move(indices)));
}

// Reverses the order of the first lens[b] steps of batch element b; the later steps stay where they
// are.
absl::StatusOr<Outputs> ReverseSequence(NodeContext& c) {
  const TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(const int batch, WrapAxis(c.Int("batch_axis", 1), c.Rank(0)));
  COBRA_ASSIGN_OR_RETURN(const int time, WrapAxis(c.Int("time_axis", 0), c.Rank(0)));
  graph::Shape by_time(c.Rank(0), 1), by_batch(c.Rank(0), 1);
  by_time[time] = x->type.shape[time];
  by_batch[batch] = x->type.shape[batch];
  COBRA_RETURN_IF_ERROR(c.CheckCount(by_time[time]));
  Values values(by_time[time]);
  std::iota(values.begin(), values.end(), 0);
  COBRA_ASSIGN_OR_RETURN(TensorPtr step, c.Constant({by_time, graph::DType::int64}, std::move(values)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr lens, c.Cast(c.In(1), graph::DType::int64));
  COBRA_ASSIGN_OR_RETURN(lens, c.Reshape(lens, by_batch));
  COBRA_ASSIGN_OR_RETURN(TensorPtr last, c.WithNumber(graph::Op::sub, lens, int64_t{1}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr turned, c.Binary(graph::Op::sub, last, step));
  COBRA_ASSIGN_OR_RETURN(TensorPtr within, c.Binary(graph::Op::lt, step, lens));
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.Call(graph::Op::where, {}, {within, turned, step}));
  COBRA_ASSIGN_OR_RETURN(index, c.Call(graph::Op::expand, {{"size", ToInts(x->type.shape)}}, {index}));
  return c.Out(c.Call(graph::Op::gather, {{"dim", int64_t{time}}}, {x, index}));
}

absl::StatusOr<int64_t> BlockSize(const NodeContext& c) {
  const int64_t block = c.Int("blocksize");
  if (c.Rank(0) != 4) return Invalid("takes 4 dimensions, got ", graph::ShapeText(c.ShapeOf(0)));
  if (block < 1 || block > 1 << 10) return Invalid("blocksize=", block);
  return block;
}

absl::StatusOr<Outputs> DepthToSpace(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int64_t block, BlockSize(c));
  const graph::Shape& s = c.ShapeOf(0);
  if (c.String("mode", "DCR") == "CRD")
    return c.Out(c.Call(graph::Op::pixel_shuffle, {{"upscale_factor", block}}, {c.In(0)}));
  if (s[1] % (block * block) != 0) return Invalid(s[1], " channels cannot be cut into blocks of ", block);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Reshape(c.In(0), {s[0], block, block, s[1] / (block * block), s[2], s[3]}));
  COBRA_ASSIGN_OR_RETURN(y, c.Permute(y, {0, 3, 4, 1, 5, 2}));
  return c.Out(c.Reshape(y, {s[0], s[1] / (block * block), s[2] * block, s[3] * block}));
}

absl::StatusOr<Outputs> SpaceToDepth(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int64_t block, BlockSize(c));
  const graph::Shape& s = c.ShapeOf(0);
  if (s[2] % block != 0 || s[3] % block != 0)
    return Invalid(graph::ShapeText(s), " cannot be cut into blocks of ", block);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Reshape(c.In(0), {s[0], s[1], s[2] / block, block, s[3] / block, block}));
  COBRA_ASSIGN_OR_RETURN(y, c.Permute(y, {0, 3, 5, 1, 2, 4}));
  return c.Out(c.Reshape(y, {s[0], s[1] * block * block, s[2] / block, s[3] / block}));
}

// The indices count through the whole tensor that was the input of the pooling.
absl::StatusOr<Outputs> MaxUnpool(NodeContext& c) {
  const graph::Shape& in = c.ShapeOf(0);
  const int n = c.Rank(0) - 2;
  COBRA_RETURN_IF_ERROR(CheckSpatial(in));
  const std::vector<int64_t> kernel = c.Ints("kernel_shape");
  std::vector<int64_t> strides = c.Ints("strides"), pads = c.Ints("pads");
  if (n < 1 || static_cast<int>(kernel.size()) != n) return Invalid("kernel_shape must have ", n, " entries");
  if (strides.empty()) strides.assign(n, 1);
  if (pads.empty()) pads.assign(2 * n, 0);
  if (static_cast<int>(strides.size()) != n || static_cast<int>(pads.size()) != 2 * n)
    return Invalid("strides and pads do not fit");
  graph::Shape out{in[0], in[1]};
  for (int i = 0; i < n; ++i) {
    for (int64_t v : {kernel[i], strides[i], pads[i], pads[n + i]}) {
      if (v < 0 || v > 1 << 24) return Invalid("an entry of ", v);
    }
    out.push_back(std::max<int64_t>(0, (in[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[n + i]));
  }
  const graph::TensorType flat_type{{graph::TensorType{out, graph::DType::float32}.num_elements()}, c.Type(0).dtype};
  COBRA_ASSIGN_OR_RETURN(TensorPtr zeros, c.Filled(flat_type, 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.Reshape(c.In(1), {c.Type(1).num_elements()}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr source, c.Reshape(c.In(0), {c.Type(0).num_elements()}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::scatter, {{"dim", int64_t{0}}}, {zeros, index, source}));
  COBRA_ASSIGN_OR_RETURN(y, c.Reshape(y, out));
  if (!c.Has(2)) return Outputs{y};
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, c.KnownInts(2, "output_shape"));
  if (wanted.size() != out.size()) return Invalid("output_shape must have ", out.size(), " entries");
  std::vector<int64_t> pad;
  for (int d = static_cast<int>(out.size()) - 1; d >= 0; --d) pad.insert(pad.end(), {0, wanted[d] - out[d]});
  return c.Out(c.Call(graph::Op::pad, {{"pad", pad}, {"mode", std::string("constant")}, {"value", 0.0}}, {y}));
}

absl::StatusOr<Outputs> GridSample(NodeContext& c) {
  std::string mode = c.String("mode", c.opset() < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  const int n = c.Rank(0) - 2;
  if (n != 2 && n != 3) return Unsupported(n, " spatial dimensions; 2 and 3 are supported");
  if (n == 3 && mode == "bicubic") return Unsupported("cubic interpolation of 3 spatial dimensions");
  return c.Out(c.Call(graph::Op::grid_sample,
                      {{"mode", mode},
                       {"padding_mode", c.String("padding_mode", "zeros")},
                       {"align_corners", c.Int("align_corners") != 0}},
                      {c.In(0), c.In(1)}));
}

absl::StatusOr<Outputs> AffineGrid(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, c.KnownInts(1, "size"));
  for (int64_t d : size) {
    if (d < 0 || d > int64_t{1} << 32) return Invalid("a size of ", d);
  }
  return c.Out(
      c.Call(graph::Op::affine_grid, {{"size", size}, {"align_corners", c.Int("align_corners") != 0}}, {c.In(0)}));
}

// Adds the columns of all blocks up to an image with its padding, which is then cut off.
absl::StatusOr<Outputs> Col2Im(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> image, c.KnownInts(1, "image_shape"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> block, c.KnownInts(2, "block_shape"));
  const auto entries = [&](absl::string_view name, size_t n, int64_t fallback) {
    std::vector<int64_t> values = c.Ints(name);
    if (values.empty()) values.assign(n, fallback);
    return values;
  };
  const std::vector<int64_t> dilations = entries("dilations", 2, 1), strides = entries("strides", 2, 1);
  const std::vector<int64_t> pads = entries("pads", 4, 0);
  if (image.size() != 2) return Unsupported(image.size(), " spatial dimensions; 2 are supported");
  if (block.size() != 2 || dilations.size() != 2 || strides.size() != 2 || pads.size() != 4)
    return Invalid("block_shape, dilations, strides and pads do not fit image_shape");
  for (const auto* list : {&image, &block, &dilations, &strides, &pads}) {
    for (int64_t v : *list) {
      if (v < 0 || v > 1 << 24) return Invalid("an entry of ", v);
    }
  }
  const bool even = pads[0] == pads[2] && pads[1] == pads[3];
  const std::vector<int64_t> padded{image[0] + pads[0] + pads[2], image[1] + pads[1] + pads[3]};
  COBRA_ASSIGN_OR_RETURN(
      TensorPtr y, c.Call(graph::Op::fold,
                          {{"output_size", even ? image : padded},
                           {"kernel_size", block},
                           {"dilation", dilations},
                           {"padding", even ? std::vector<int64_t>{pads[0], pads[1]} : std::vector<int64_t>{0, 0}},
                           {"stride", strides}},
                          {c.In(0)}));
  if (even) return Outputs{y};
  return c.Out(c.Call(
      graph::Op::getitem,
      {{"index", absl::StrCat(":, :, ", pads[0], ":", pads[0] + image[0], ", ", pads[1], ":", pads[1] + image[1])}},
      {y}));
}

absl::StatusOr<Outputs> RoiAlign(NodeContext& c) {
  if (c.String("mode", "avg") != "avg") return Unsupported("mode=", c.String("mode"));
  const bool aligned = c.opset() >= 16 && c.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  COBRA_ASSIGN_OR_RETURN(TensorPtr batch, c.Cast(c.In(2), c.Type(1).dtype));
  COBRA_ASSIGN_OR_RETURN(batch, c.Call(graph::Op::unsqueeze, {{"dim", int64_t{1}}}, {batch}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr rois, c.Call(graph::Op::cat, {{"dim", int64_t{1}}}, {batch, c.In(1)}));
  return c.Out(c.Call(graph::Op::roi_align,
                      {{"spatial_scale", c.Float("spatial_scale", 1)},
                       {"pooled_height", c.Int("output_height", 1)},
                       {"pooled_width", c.Int("output_width", 1)},
                       {"sampling_ratio", c.Int("sampling_ratio")},
                       {"aligned", aligned}},
                      {c.In(0), rois}));
}

}  // namespace

absl::StatusOr<TensorPtr> NonNegative(NodeContext& c, const TensorPtr& given, int64_t size) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.Cast(given, graph::DType::int64));
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, c.TryValues(index));
  if (values != nullptr && std::all_of(values->begin(), values->end(), [](double v) { return v >= 0; })) return index;
  COBRA_ASSIGN_OR_RETURN(TensorPtr negative, c.WithNumber(graph::Op::lt, index, int64_t{0}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr wrapped, c.WithNumber(graph::Op::add, index, size));
  return c.Call(graph::Op::where, {}, {negative, wrapped, index});
}

void AddIndexOperators(Registry* registry) {
  registry->Add("GatherElements", {GatherElements, 2});
  registry->Add("ScatterElements", {ScatterElements, 3});
  registry->Add("Scatter", {ScatterElements, 3});
  registry->Add("GatherND", {GatherNd, 2});
  registry->Add("ScatterND", {ScatterNd, 3});
  registry->Add("OneHot", {OneHot, 3, false, "the depth is known beforehand"});
  registry->Add("EyeLike", {EyeLike});
  registry->Add("Trilu", {Trilu, 1, false, "k is known beforehand"});
  registry->Add("Compress", {Compress, 2, false, "the condition is known beforehand"});
  registry->Add("NonZero", {NonZero, 1, false, "the values are known beforehand"});
  registry->Add("ReverseSequence", {ReverseSequence, 2});
  registry->Add("DepthToSpace", {DepthToSpace});
  registry->Add("SpaceToDepth", {SpaceToDepth});
  registry->Add("MaxUnpool", {MaxUnpool, 2, false, "output_shape is known beforehand"});
  registry->Add("GridSample", {GridSample, 2, false, "2 and 3 spatial dimensions, cubic: 2"});
  registry->Add("AffineGrid", {AffineGrid, 2, false, "the size is known beforehand"});
  registry->Add("Col2Im", {Col2Im, 3, false, "2 spatial dimensions; image_shape and block_shape are known beforehand"});
  registry->Refuse("TensorScatter", "it writes into a cache at places that are known in a run only");
  registry->Add("RoiAlign", {RoiAlign, 3, false, "mode=avg"});
}

}  // namespace cobra::onnx

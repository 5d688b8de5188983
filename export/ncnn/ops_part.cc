// Parts of tensors, and tensors joined from parts.
#include <algorithm>
#include <optional>

#include "export/ncnn/handlers.h"
#include "graph/getitem.h"

namespace cobra::exporting::ncnn {
namespace {

using graph::IndexItem;
using graph::Op;

// What is taken of each dimension of a tensor.
struct Range {
  int64_t start = 0, stop = 0, step = 1;
};
using Ranges = std::vector<Range>;

Ranges WholeOf(const Shape& shape) {
  Ranges ranges;
  for (const int64_t size : shape) ranges.push_back({0, size, 1});
  return ranges;
}

// Of x [before, size, after], every step-th row from start on.
std::string WithStep(CallWriter& c, std::string x, const Axis& at, const Range& range) {
  const int64_t size = at.dims[static_cast<size_t>(at.axis)],
                count = (range.stop - range.start + range.step - 1) / range.step;
  Ints dims = at.dims;
  const auto crop = [&](int64_t axis, int64_t start, int64_t stop) {
    dims[static_cast<size_t>(axis)] = stop - start;
    x = c.Layer("Crop", {x}, dims, {{9, Ints{start}}, {10, Ints{stop}}, {11, Ints{axis}}});
  };
  // As rows of `step`, of which one is taken; the last row may need padding that nobody reads.
  const int64_t rows = range.start / range.step + count;
  x = c.Reshaped(x, dims);
  if (rows * range.step > size) {
    const bool outer = dims.size() == 3 && at.axis == 0;
    dims = at.axis == 0 && !outer && dims.size() == 1 ? Ints{size, 1} : dims;
    x = c.Reshaped(x, dims);
    dims[static_cast<size_t>(at.axis)] = rows * range.step;
    const int keys[] = {3, 1, 8};  // after the width, the height, the channels
    x = c.Layer("Padding", {x}, dims,
                {{keys[dims.size() - 1 - static_cast<size_t>(at.axis)], rows * range.step - size}});
  } else if (rows * range.step < size) {
    crop(at.axis, 0, rows * range.step);
  }
  Ints split(dims.begin(), dims.begin() + at.axis);
  split.insert(split.end(), {rows, range.step});
  split.insert(split.end(), dims.begin() + at.axis + 1, dims.end());
  x = c.Reshaped(x, split);
  dims = split;
  crop(at.axis + 1, range.start % range.step, range.start % range.step + 1);
  dims.erase(dims.begin() + at.axis + 1);
  x = c.Reshaped(x, dims);
  if (rows != count) crop(at.axis, rows - count, rows);
  return x;
}

// The part of the input, as a blob of its numbers in their order.
std::string Cropped(CallWriter& c, const Ranges& ranges) {
  const Shape& shape = c.ShapeOf(0);
  const Ints rule = BlobOf(shape);
  const size_t dropped = shape.size() - rule.size();
  Ints starts, stops, axes, dims = rule;
  bool plain = !rule.empty();
  for (size_t d = 0; d < shape.size(); ++d) {
    const Range& range = ranges[d];
    if (range.start == 0 && range.stop == shape[d] && range.step == 1) continue;
    plain = plain && range.step == 1 && d >= dropped;
    starts.push_back(range.start);
    stops.push_back(range.stop);
    axes.push_back(static_cast<int64_t>(d - dropped));
    if (plain) dims[d - dropped] = range.stop - range.start;
  }
  if (axes.empty()) return c.In(0);
  if (plain) return c.Layer("Crop", {c.In(0, rule)}, dims, {{9, starts}, {10, stops}, {11, axes}});
  std::string x = c.In(0);
  Shape now = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Range& range = ranges[d];
    if (range.start == 0 && range.stop == now[d] && range.step == 1) continue;
    Axis at{{1, now[d], 1}, 1};
    for (size_t k = 0; k < now.size(); ++k) at.dims[k < d ? 0 : 2] *= k == d ? 1 : now[k];
    if (range.step != 1) {
      x = WithStep(c, x, at, range);
    } else {
      Ints cut = at.dims;
      cut[1] = range.stop - range.start;
      x = c.Layer("Crop", {c.Reshaped(x, at.dims)}, cut,
                  {{9, Ints{range.start}}, {10, Ints{range.stop}}, {11, Ints{1}}});
    }
    now[d] = (range.stop - range.start + range.step - 1) / range.step;
  }
  return x;
}

// The numbers of the result under its shape, where a blob has it.
Names Shaped(CallWriter& c, const std::string& x, size_t output = 0) {
  const Ints dims = BlobOf(c.Out(output).shape);
  return {dims.empty() ? x : c.Reshaped(x, dims)};
}

int64_t Clipped(int64_t i, int64_t size) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); }

// x in parts along a dimension.
Names Slices(CallWriter& c, int64_t dim, const Ints& sizes) {
  const Axis at = AxisOf(c.ShapeOf(0), dim);
  if (sizes.size() == 1) return {c.In(0)};
  std::vector<Ints> dims;
  for (const int64_t size : sizes) {
    dims.push_back(at.dims);
    dims.back()[static_cast<size_t>(at.axis)] = size;
  }
  return c.Layers("Slice", {c.In(0, at.dims)}, dims, {{0, sizes}, {1, at.axis}});
}

std::string Concatenated(CallWriter& c, const Names& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  Ints dims = c.DimsOf(parts[0]);
  const auto at = static_cast<size_t>(axis);
  for (size_t i = 1; i < parts.size(); ++i) dims[at] += c.DimsOf(parts[i])[at];
  return c.Layer("Concat", parts, dims, {{0, axis}});
}

}  // namespace

absl::StatusOr<Names> WriteGetitem(CallWriter& c) {
  const std::string text = c.String("index");
  COBRA_ASSIGN_OR_RETURN(const graph::IndexList list, graph::ParseIndex(text));
  const Shape& shape = c.ShapeOf(0);
  Ranges ranges = WholeOf(shape);
  size_t used = 0, d = 0;
  for (const IndexItem& item : list) used += item.kind == IndexItem::Kind::kInt || item.kind == IndexItem::Kind::kSlice;
  for (const IndexItem& item : list) {
    if (item.kind == IndexItem::Kind::kNone) continue;
    if (item.kind == IndexItem::Kind::kEllipsis) {
      d += shape.size() - used;
      continue;
    }
    if (item.kind != IndexItem::Kind::kInt && item.kind != IndexItem::Kind::kSlice)
      return Refused("the index \"", text, "\"");
    if (d >= shape.size()) return Refused("the index \"", text, "\"");
    const int64_t size = shape[d];
    if (item.kind == IndexItem::Kind::kInt) {
      const int64_t at = item.value < 0 ? item.value + size : item.value;
      ranges[d] = {at, at + 1, 1};
    } else {
      ranges[d] = {Clipped(item.start.value_or(0), size), Clipped(item.stop.value_or(size), size),
                   item.step.value_or(1)};
      if (ranges[d].step < 1) return Refused("the index \"", text, "\"");
    }
    ++d;
  }
  return Shaped(c, Cropped(c, ranges));
}

absl::StatusOr<Names> WriteSelect(CallWriter& c) {
  const int64_t dim = c.Dim("dim", 0, c.Rank(0)), size = c.ShapeOf(0)[static_cast<size_t>(dim)];
  const int64_t index = c.Int("index"), at = index < 0 ? index + size : index;
  Ranges ranges = WholeOf(c.ShapeOf(0));
  ranges[static_cast<size_t>(dim)] = {at, at + 1, 1};
  return Shaped(c, Cropped(c, ranges));
}

// narrow, narrow_copy
absl::StatusOr<Names> WriteNarrow(CallWriter& c) {
  const int64_t dim = c.Dim("dim", 0, c.Rank(0)), size = c.ShapeOf(0)[static_cast<size_t>(dim)];
  const int64_t start = c.Int("start"), from = start < 0 ? start + size : start;
  Ranges ranges = WholeOf(c.ShapeOf(0));
  ranges[static_cast<size_t>(dim)] = {from, from + c.Int("length"), 1};
  return Shaped(c, Cropped(c, ranges));
}

// split, chunk and their like: the sizes are those of the outputs.
absl::StatusOr<Names> WriteSplit(CallWriter& c) {
  const int64_t dim = c.Dim("dim", 0, c.Rank(0));
  Ints sizes;
  for (const TensorType& type : c.node().outputs) sizes.push_back(type.shape[static_cast<size_t>(dim)]);
  return Slices(c, dim, sizes);
}

absl::StatusOr<Names> WriteUnbind(CallWriter& c) {
  const int64_t dim = c.Dim("dim", 0, c.Rank(0));
  Names names = Slices(c, dim, Ints(c.node().outputs.size(), 1));
  for (size_t i = 0; i < names.size(); ++i) names[i] = Shaped(c, names[i], i)[0];
  return names;
}

absl::StatusOr<Names> WriteCat(CallWriter& c) {
  const int64_t dim = c.Dim("dim", 0, c.Out().rank());
  // An axis that all the parts have: with their batch, if they are joined along it.
  Names parts;
  int64_t axis = 0;
  const bool along_batch = dim == 0 && c.Out().rank() > 1;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    if (c.Rank(i) != c.Out().rank()) continue;  // PyTorch skips empty ones
    Axis at = AxisOf(c.ShapeOf(i), dim);
    if (along_batch) at = {{c.ShapeOf(i)[0], c.Type(i).num_elements() / c.ShapeOf(i)[0]}, 0};
    axis = at.axis;
    parts.push_back(c.In(i, at.dims));
  }
  return Shaped(c, Concatenated(c, parts, axis));
}

absl::StatusOr<Names> WriteStack(CallWriter& c) {
  const int64_t dim = c.Dim("dim", 0, c.Out().rank());
  Ints dims{1, 1, 1};
  for (int64_t d = 0; d < c.Out().rank(); ++d) {
    if (d != dim) dims[d < dim ? 0 : 2] *= c.Out().shape[static_cast<size_t>(d)];
  }
  Names parts;
  for (size_t i = 0; i < c.num_inputs(); ++i) parts.push_back(c.In(i, dims));
  return Shaped(c, Concatenated(c, parts, 1));
}

// Each dimension in two parts, exchanged.
absl::StatusOr<Names> WriteRoll(CallWriter& c) {
  const Shape& shape = c.ShapeOf(0);
  const Ints shifts = c.IntList("shifts");
  Ints dims = c.IntList("dims");
  std::string x = c.In(0);
  for (size_t i = 0; i < shifts.size(); ++i) {
    Axis at{{1, c.Type(0).num_elements(), 1}, 1};
    if (!dims.empty()) at = AxisOf(shape, dims[i] < 0 ? dims[i] + c.Rank(0) : dims[i]);
    const int64_t size = at.dims[static_cast<size_t>(at.axis)], shift = ((shifts[i] % size) + size) % size;
    if (shift == 0) continue;
    Ints front = at.dims, back = at.dims;
    front[static_cast<size_t>(at.axis)] = size - shift;
    back[static_cast<size_t>(at.axis)] = shift;
    const Names parts =
        c.Layers("Slice", {c.Reshaped(x, at.dims)}, {front, back}, {{0, Ints{size - shift, shift}}, {1, at.axis}});
    x = Concatenated(c, {parts[1], parts[0]}, at.axis);
  }
  return Shaped(c, x);
}

absl::StatusOr<Names> WriteFlip(CallWriter& c) {
  const Ints rule = BlobOf(c.ShapeOf(0));
  if (rule.empty()) return Refused("more than four dimensions");
  const int64_t dropped = static_cast<int64_t>(c.ShapeOf(0).size() - rule.size());
  Ints axes;
  for (const int64_t dim : c.Dims("dims", c.Rank(0))) {
    if (dim >= dropped) axes.push_back(dim - dropped);
  }
  if (axes.empty()) return Names{c.In(0)};
  return Names{c.Map("Flip", c.In(0, rule), {{0, axes}})};
}

absl::StatusOr<Names> WritePad(CallWriter& c) {
  const std::string mode = c.String("mode", "constant");
  const int64_t type = mode == "constant" ? 0 : mode == "replicate" ? 1 : mode == "reflect" ? 2 : -1;
  if (type < 0) return Refused("mode='", mode, "'");
  Ints pad = c.IntList("pad");
  while (!pad.empty() && pad.back() == 0 && pad[pad.size() - 2] == 0) pad.resize(pad.size() - 2);
  if (std::any_of(pad.begin(), pad.end(), [](int64_t amount) { return amount < 0; }))
    return Refused("negative amounts");
  if (pad.empty()) return Names{c.In(0)};
  const Ints rule = BlobOf(c.ShapeOf(0)), out = BlobOf(c.Out().shape);
  const size_t padded = pad.size() / 2;
  if (padded > 3) return Refused("more than three padded dimensions");
  if (type != 0 && padded > 2) return Refused("mode='", mode, "' over three dimensions");
  // What is not padded is one dimension in front, where the blob has not the tensor's dimensions.
  Ints dims = rule, to = out;
  if (rule.empty() || rule.size() != out.size() || rule.size() < padded) {
    const Shape& shape = c.ShapeOf(0);
    if (shape.size() < padded) return Refused("a tensor of ", shape.size(), " dimensions");
    dims.assign(shape.end() - static_cast<std::ptrdiff_t>(padded), shape.end());
    dims.insert(dims.begin(), c.Type(0).num_elements() / Product(dims));
    to.assign(c.Out().shape.end() - static_cast<std::ptrdiff_t>(padded), c.Out().shape.end());
    to.insert(to.begin(), dims[0]);
  }
  // Before and after of width, height, and depth or channels.
  constexpr int kKeys[] = {2, 3, 0, 1, 7, 8};
  Params params;
  for (size_t i = 0; i < pad.size(); ++i) params.emplace_back(kKeys[i], pad[i]);
  params.emplace_back(4, type);
  if (type == 0) params.emplace_back(5, c.Double("value"));
  return Shaped(c, c.Layer("Padding", {c.In(0, dims)}, to, std::move(params)));
}

}  // namespace cobra::exporting::ncnn

// Layers that move elements. An axis counts from the outermost dimension of the blob.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

constexpr int64_t kRest = -233;  // in lists of sizes: what is left; in Reshape: no such dimension

std::vector<int64_t> List(const graph::Shape& shape) { return {shape.begin(), shape.end()}; }

// Sizes of a Slice's outputs.
absl::StatusOr<std::vector<int64_t>> SliceSizes(const Importer& im, const Layer& layer, int64_t whole) {
  const std::vector<int64_t> slices = layer.Ints(0), indices = layer.Ints(2);
  const size_t n = layer.tops.size();
  if (!indices.empty() ? indices.size() + 1 != n : slices.size() != n) {
    return im.Wrong(layer,
                    absl::StrCat(indices.empty() ? slices.size() : indices.size() + 1, " parts for ", n, " outputs"));
  }
  std::vector<int64_t> sizes;
  int64_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    int64_t size = 0;
    if (indices.empty()) {
      size = slices[i] == kRest ? (whole - at) / static_cast<int64_t>(n - i) : slices[i];
    } else {
      const int64_t end = i == n - 1 ? whole : indices[i] < 0 ? whole + indices[i] : indices[i];
      size = end - at;
    }
    at += size;
    if (size < 1 || at > whole) return im.Wrong(layer, absl::StrCat("part ", i, " of ", size, " of ", whole));
    sizes.push_back(size);
  }
  return sizes;
}

// Keys of the offsets of a Crop and a CopyTo, by the number of dimensions, the outermost first.
constexpr int kOffsetKeys[][4] = {{0}, {1, 0}, {2, 1, 0}, {2, 13, 1, 0}};

struct Range {
  int64_t start, stop;
};

// The index that selects these ranges of x; empty if they are the whole of it.
absl::StatusOr<std::string> IndexOf(const Importer& im, const Layer& layer, const graph::Shape& x,
                                    const std::vector<Range>& ranges) {
  size_t last = 0;  // dimensions of the index that say something
  std::vector<std::string> parts;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const auto [start, stop] = ranges[d];
    if (start < 0 || stop <= start || stop > x[1 + d]) {
      return im.Wrong(layer, absl::StrCat("a part from ", start, " to ", stop, " of ", x[1 + d], " in dimension ", d));
    }
    const bool all = start == 0 && stop == x[1 + d];
    parts.push_back(all ? ":" : absl::StrCat(start, ":", stop));
    if (!all) last = d + 1;
  }
  if (last == 0) return std::string();
  parts.resize(last);
  return absl::StrCat(":, ", absl::StrJoin(parts, ", "));
}

// Parts as in numpy.
struct Slices {
  std::vector<int64_t> starts, ends, axes;
  bool has_axes = false;  // without them, of all dimensions
};

bool CropsByExpression(const Layer& layer) {
  return layer.Find(19) != nullptr || layer.Find(20) != nullptr || layer.Find(21) != nullptr;
}

absl::StatusOr<Slices> SlicesOf(const Importer& im, const Layer& layer) {
  Slices slices{layer.Ints(9), layer.Ints(10), layer.Ints(11), layer.Find(11) != nullptr};
  if (!CropsByExpression(layer)) return slices;
  if (layer.Find(9) != nullptr || layer.Find(10) != nullptr || slices.has_axes)
    return im.Unsupported(layer, "a crop by lists (9=, 10=, 11=) beside expressions (19=, 20=, 21=)");
  if (layer.Find(19) == nullptr || layer.Find(20) == nullptr)
    return im.Wrong(layer, "expressions of the starts (19=) and of the ends (20=) belong together");
  // ncnn reads an expression of the axes also where there is none, and crashes.
  if (layer.Find(21) == nullptr) return im.Unsupported(layer, "a crop by expressions without one of the axes (21=)");
  COBRA_ASSIGN_OR_RETURN(slices.starts, im.Sizes(layer, 19));
  COBRA_ASSIGN_OR_RETURN(slices.ends, im.Sizes(layer, 20));
  COBRA_ASSIGN_OR_RETURN(slices.axes, im.Sizes(layer, 21));
  slices.has_axes = true;
  return slices;
}

// The part of each dimension that Crop keeps, the outermost first, by starts, ends and axes.
absl::StatusOr<std::vector<Range>> RangesOfAxes(const Importer& im, const Layer& layer) {
  const int dims = im.Dims(layer);
  const graph::Shape& s = im.InShape(layer);
  COBRA_ASSIGN_OR_RETURN(Slices slices, SlicesOf(im, layer));
  auto& [starts, ends, axes, has_axes] = slices;
  for (int64_t d = 0; !has_axes && d < dims; ++d) axes.push_back(d);
  if (starts.size() != axes.size() || ends.size() != axes.size()) {
    return im.Wrong(layer,
                    absl::StrCat(starts.size(), " starts and ", ends.size(), " ends for ", axes.size(), " axes"));
  }
  std::vector<Range> ranges;
  for (int d = 0; d < dims; ++d) ranges.push_back({0, s[1 + d]});
  for (size_t i = 0; i < axes.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axes[i], dims));
    const int64_t whole = s[dim];
    const int64_t start = starts[i] == kRest ? 0 : starts[i] >= 0 ? starts[i] : whole + starts[i];
    const int64_t stop = ends[i] == kRest ? whole : ends[i] > 0 ? ends[i] : whole + ends[i];
    ranges[dim - 1] = {start, std::min(stop, whole)};
  }
  return ranges;
}

// The same by an offset at both ends and a size, for w, h, d and c.
absl::StatusOr<std::vector<Range>> RangesOfOffsets(const Importer& im, const Layer& layer) {
  struct Keys {
    int offset, size, offset2;
  };
  constexpr Keys kWidth{0, 3, 6}, kHeight{1, 4, 7}, kDepth{13, 14, 15}, kChannels{2, 5, 8};
  const int dims = im.Dims(layer);
  const std::vector<Keys> keys = dims == 1   ? std::vector<Keys>{kWidth}
                                 : dims == 2 ? std::vector<Keys>{kHeight, kWidth}
                                 : dims == 3 ? std::vector<Keys>{kChannels, kHeight, kWidth}
                                             : std::vector<Keys>{kChannels, kDepth, kHeight, kWidth};
  std::vector<Range> ranges;
  for (int d = 0; d < dims; ++d) {
    const int64_t whole = im.InShape(layer)[1 + d];
    const int64_t start = layer.Int(keys[d].offset, 0), size = layer.Int(keys[d].size, 0);
    const int64_t left = whole - start - layer.Int(keys[d].offset2, 0);
    ranges.push_back({start, start + (size == kRest ? left : std::min(size, left))});
  }
  return ranges;
}

bool CropsLikeInput(const Layer& layer) {
  if (CropsByExpression(layer)) return false;
  for (const int key : {3, 4, 14, 5, 6, 7, 15, 8}) {
    if (layer.Int(key, 0) != 0) return false;
  }
  return layer.Ints(9).empty() || layer.Ints(10).empty();
}

// Offsets from the parameters, sizes from the second input.
absl::StatusOr<std::vector<Range>> RangesLikeInput(const Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  if (im.Dims(layer, 0) != im.Dims(layer, 1)) return im.Unsupported(layer, "a crop to a blob of other dimensions");
  const int dims = im.Dims(layer);
  std::vector<Range> ranges;
  for (int d = 0; d < dims; ++d) {
    const int64_t start = layer.Int(kOffsetKeys[dims - 1][d], 0);
    ranges.push_back({start, start + im.InShape(layer, 1)[1 + d]});
  }
  return ranges;
}

// Where CopyTo puts its second input, by offsets or by starts and axes.
absl::StatusOr<std::vector<Range>> RangesOfCopy(const Importer& im, const Layer& layer) {
  const int dims = im.Dims(layer);
  std::vector<int64_t> offsets;
  for (int d = 0; d < dims; ++d) offsets.push_back(layer.Int(kOffsetKeys[dims - 1][d], 0));
  if (const std::vector<int64_t> starts = layer.Ints(9); !starts.empty()) {
    std::vector<int64_t> axes = layer.Ints(11);
    for (int64_t d = 0; layer.Ints(11).empty() && d < dims; ++d) axes.push_back(d);
    if (starts.size() != axes.size())
      return im.Wrong(layer, absl::StrCat(starts.size(), " starts for ", axes.size(), " axes"));
    offsets.assign(offsets.size(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axes[i], dims));
      const int64_t start = starts[i] == kRest ? 0 : starts[i];
      offsets[dim - 1] = start >= 0 ? start : im.InShape(layer)[dim] + start;
    }
  }
  std::vector<Range> ranges;
  for (int d = 0; d < dims; ++d) ranges.push_back({offsets[d], offsets[d] + im.InShape(layer, 1)[1 + d]});
  return ranges;
}

absl::StatusOr<graph::ValueRef> PerChannelPad(Importer& im, const Layer& layer, graph::ValueRef x,
                                              std::vector<int64_t> amounts) {
  const int64_t count = layer.Int(6, 0);
  if (count != im.ShapeOf(x)[1])
    return im.Wrong(layer, absl::StrCat(count, " pad values for ", im.ShapeOf(x)[1], " channels"));
  // The numbers lie in the .bin file; how they are written makes no difference to the work.
  im.SkipWeight({count}, false);
  return im.Pad(layer, x, std::move(amounts), 0);
}

// The sizes that a Reshape asks for, the innermost first.
absl::StatusOr<std::vector<int64_t>> ReshapeSizes(const Importer& im, const Layer& layer) {
  std::vector<int64_t> sizes;
  if (layer.Find(6) != nullptr) {
    COBRA_ASSIGN_OR_RETURN(sizes, im.Sizes(layer, 6));
    if (sizes.size() > 4) return im.Wrong(layer, absl::StrCat("a shape of ", sizes.size(), " dimensions"));
    return sizes;
  }
  if (layer.bottoms.size() != 1) return im.Unsupported(layer, "a shape from other inputs");
  const int64_t w = layer.Int(0, kRest), h = layer.Int(1, kRest), d = layer.Int(11, kRest), c = layer.Int(2, kRest);
  if (w != kRest) sizes.push_back(w);
  if (h != kRest) sizes.push_back(h);
  if (d != kRest) sizes.push_back(d);
  if (c != kRest) sizes.push_back(c);
  if (w == kRest || (h == kRest && sizes.size() > 1) || (c == kRest && d != kRest))
    return im.Wrong(layer, "a dimension between its sizes is missing");
  return sizes;
}

// reshape to `split`, permute, reshape to `out`: exchanges blocks and channels.
absl::StatusOr<graph::ValueRef> Rearranged(Importer& im, const Layer& layer, graph::ValueRef x,
                                           std::vector<int64_t> split, std::vector<int64_t> dims,
                                           std::vector<int64_t> out) {
  COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, std::move(split)));
  COBRA_ASSIGN_OR_RETURN(x, im.Permute(layer, x, std::move(dims)));
  return im.Reshape(layer, x, std::move(out));
}

}  // namespace

namespace handlers {

absl::Status Concat(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, layer.Int(0, 0), im.Dims(layer)));
  Tensors inputs;
  for (size_t k = 0; k < layer.bottoms.size(); ++k) inputs.push_back(im.In(layer, k));
  if (inputs.size() == 1) return im.Set(layer, 0, inputs[0]);
  return im.Set(layer, 0, im.Call(layer, graph::Op::cat, {{"dim", dim}}, std::move(inputs)));
}

absl::Status Slice(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, layer.Int(1, 0), im.Dims(layer)));
  const int64_t whole = im.InShape(layer)[dim];
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SliceSizes(im, layer, whole));
  int64_t sum = 0;
  for (const int64_t size : sizes) sum += size;
  graph::ValueRef x = im.In(layer, 0);
  if (sum != whole) {
    COBRA_ASSIGN_OR_RETURN(x, im.Cut(layer, x, static_cast<int>(dim) - 1, 0, sum));
  }
  COBRA_ASSIGN_OR_RETURN(const Tensors parts,
                         im.CallAll(layer, graph::Op::split, {{"split_size", sizes}, {"dim", dim}}, {x}));
  for (size_t k = 0; k < parts.size(); ++k) COBRA_RETURN_IF_ERROR(im.Set(layer, k, parts[k]));
  return absl::OkStatus();
}

absl::Status Crop(Importer& im, const Layer& layer) {
  const bool by_expression = CropsByExpression(layer);
  const bool by_axes = by_expression || (!layer.Ints(9).empty() && !layer.Ints(10).empty());
  if (!CropsLikeInput(layer) && !by_expression) COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_ASSIGN_OR_RETURN(const std::vector<Range> ranges, CropsLikeInput(layer) ? RangesLikeInput(im, layer)
                                                          : by_axes             ? RangesOfAxes(im, layer)
                                                                                : RangesOfOffsets(im, layer));
  COBRA_ASSIGN_OR_RETURN(std::string index, IndexOf(im, layer, im.InShape(layer), ranges));
  if (index.empty()) return im.Set(layer, 0, im.In(layer, 0));
  return im.Set(layer, 0, im.Call(layer, graph::Op::getitem, {{"index", std::move(index)}}, {im.In(layer, 0)}));
}

// A copy of the first input, over a part of which the second one is written.
absl::Status CopyTo(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  if (im.Dims(layer, 0) != im.Dims(layer, 1)) return im.Unsupported(layer, "a copy of a blob of other dimensions");
  // ncnn does not look at the offsets then.
  if (im.InShape(layer, 0) == im.InShape(layer, 1)) return im.Set(layer, 0, im.In(layer, 1));
  COBRA_ASSIGN_OR_RETURN(const std::vector<Range> ranges, RangesOfCopy(im, layer));
  COBRA_ASSIGN_OR_RETURN(std::string index, IndexOf(im, layer, im.InShape(layer), ranges));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::clone, {}, {im.In(layer, 0)}));
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::setitem, {{"index", std::move(index)}}, {x, im.In(layer, 1)},
                        /*inplace=*/true));
}

// A blob of one dimension becomes the diagonal of a matrix, of one of two dimensions the diagonal
// remains.
absl::Status Diag(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  const int64_t offset = layer.Int(0, 0);
  const graph::Shape s = im.InShape(layer);
  const int dims = im.Dims(layer);
  if (dims > 2) return im.Unsupported(layer, absl::StrCat("a blob of ", dims, " dimensions"));
  if (dims == 2 && (offset >= s[2] || offset <= -s[1]))
    return im.Wrong(layer, absl::StrCat("diagonal ", offset, " of ", graph::ShapeText(s)));
  const graph::Op op = dims == 1 ? graph::Op::diag_embed : graph::Op::diagonal;
  COBRA_ASSIGN_OR_RETURN(
      const graph::ValueRef x,
      im.Call(layer, op, {{"offset", offset}, {"dim1", int64_t{1}}, {"dim2", int64_t{2}}}, {im.In(layer, 0)}));
  return im.Set(layer, 0, x);
}

absl::Status Padding(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  const int dims = im.Dims(layer);
  const int64_t type = layer.Int(4, 0);
  if (type < 0 || type > 2) return im.Wrong(layer, absl::StrCat("padding type ", type));
  // Before and after of width, height, and depth or, of a blob without depth, channels.
  std::vector<int64_t> amounts;
  for (const int key : {2, 3, 0, 1, 7, 8}) amounts.push_back(layer.Int(key, 0));
  amounts.resize(std::min<size_t>(amounts.size(), 2 * static_cast<size_t>(dims)));
  for (const int64_t amount : amounts) {
    if (amount < 0 || amount > 1 << 20) return im.Unsupported(layer, absl::StrCat("padding of ", amount));
  }
  while (!amounts.empty() && amounts.back() == 0 && amounts[amounts.size() - 2] == 0)
    amounts.resize(amounts.size() - 2);
  graph::ValueRef x = im.In(layer, 0);
  if (amounts.empty()) return im.Set(layer, 0, x);
  if (layer.Int(6, 0) != 0) {
    return im.Set(layer, 0, PerChannelPad(im, layer, x, std::move(amounts)));
  }
  if (type != 0) {
    // PyTorch's other modes pad all but the batch and the channels.
    if (dims == 4 || static_cast<int>(amounts.size()) > 2 * (dims - 1) || (dims == 1))
      return im.Unsupported(layer, "replicated or reflected padding of channels");
    amounts.resize(2 * static_cast<size_t>(dims - 1), 0);
  }
  return im.Set(layer, 0,
                im.Pad(layer, x, std::move(amounts), layer.Real(5, 0),
                       type == 0   ? "constant"
                       : type == 1 ? "replicate"
                                   : "reflect"));
}

// Sizes: -1 what is left, 0 the input's.
absl::Status Reshape(Importer& im, const Layer& layer) {
  if (layer.Int(3, 0) != 0) return im.Unsupported(layer, "a reshape in another order (3=1)");
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, ReshapeSizes(im, layer));
  const graph::Shape s = im.InShape(layer);
  const int dims = im.Dims(layer);
  // The input's width, height, depth, channels; 1 for those that it does not have.
  const int64_t from[] = {s.back(), dims > 1 ? s[s.size() - 2] : 1, dims > 3 ? s[2] : 1, dims > 2 ? s[1] : 1};
  std::vector<int64_t> shape{s[0]};
  int64_t total = 1, known = 1;
  for (size_t i = 1; i < s.size(); ++i) total *= s[i];
  int open = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) sizes[i] = from[i == 0 ? 0 : i == 1 ? 1 : i + 1 == sizes.size() ? 3 : 2];
    if (sizes[i] < -1) return im.Wrong(layer, absl::StrCat("a size of ", sizes[i]));
    if (sizes[i] == -1) {
      ++open;
    } else if (sizes[i] == 0 || known > total / sizes[i]) {
      known = 0;
    } else {
      known *= sizes[i];
    }
    shape.push_back(sizes[i]);
  }
  if (open > 1 || known == 0 || total % known != 0 || (open == 0 && known != total)) {
    return im.Wrong(layer, absl::StrCat("the shape ", absl::StrJoin(shape.begin() + 1, shape.end(), "x"), " for ",
                                        total, " elements"));
  }
  std::replace(shape.begin() + 1, shape.end(), int64_t{-1}, total / known);
  return im.Set(layer, 0, im.Reshape(layer, im.In(layer, 0), std::move(shape)));
}

absl::Status Flatten(Importer& im, const Layer& layer) {
  if (im.Dims(layer) == 1) return im.Set(layer, 0, im.In(layer, 0));
  COBRA_ASSIGN_OR_RETURN(
      const graph::ValueRef x,
      im.Call(layer, graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {im.In(layer, 0)}));
  return im.Set(layer, 0, x);
}

// The order types of ncnn, each as the result's dimensions in terms of the input's, the outermost
// first.
absl::Status Permute(Importer& im, const Layer& layer) {
  const int64_t type = layer.Int(0, 0);
  const int dims = im.Dims(layer);
  // ncnn's names of the types begin with the innermost dimension; these are the same from behind.
  static constexpr const char* kThree[] = {"CHW", "CWH", "HCW", "HWC", "WCH", "WHC"};
  static constexpr const char* kFour[] = {"CDHW", "CDWH", "CHDW", "CHWD", "CWDH", "CWHD", "DCHW", "DCWH",
                                          "DHCW", "DHWC", "DWCH", "DWHC", "HCDW", "HCWD", "HDCW", "HDWC",
                                          "HWCD", "HWDC", "WCDH", "WCHD", "WDCH", "WDHC", "WHCD", "WHDC"};
  const int64_t types = dims == 1 ? 24 : dims == 2 ? 2 : dims == 3 ? 6 : 24;
  if (type < 0 || type >= types)
    return im.Wrong(layer, absl::StrCat("order type ", type, " of a blob of ", dims, " dimensions"));
  if (dims == 1 || type == 0) return im.Set(layer, 0, im.In(layer, 0));
  const std::string from = dims == 2 ? "HW" : dims == 3 ? "CHW" : "CDHW";
  const std::string to = dims == 2 ? "WH" : dims == 3 ? kThree[type] : kFour[type];
  std::vector<int64_t> order{0};
  for (const char letter : to) order.push_back(1 + static_cast<int64_t>(from.find(letter)));
  return im.Set(layer, 0, im.Permute(layer, im.In(layer, 0), std::move(order)));
}

// Drops dimensions of 1; one that is larger stays.
absl::Status Squeeze(Importer& im, const Layer& layer) {
  const int dims = im.Dims(layer);
  const graph::Shape s = im.InShape(layer);
  std::vector<bool> dropped(static_cast<size_t>(dims), false);
  if (!layer.Ints(3).empty()) {
    for (const int64_t axis : layer.Ints(3)) {
      COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axis, dims));
      dropped[dim - 1] = true;
    }
  } else {
    constexpr int kKeys[][4] = {{0}, {1, 0}, {2, 1, 0}, {2, 11, 1, 0}};
    for (int d = 0; d < dims; ++d) dropped[d] = layer.Int(kKeys[dims - 1][d], 0) != 0;
  }
  std::vector<int64_t> shape{s[0]};
  for (int d = 0; d < dims; ++d) {
    if (!dropped[d] || s[1 + d] != 1) shape.push_back(s[1 + d]);
  }
  if (shape.size() == 1) shape.push_back(1);
  return im.Set(layer, 0, im.Reshape(layer, im.In(layer, 0), std::move(shape)));
}

absl::Status ExpandDims(Importer& im, const Layer& layer) {
  const int dims = im.Dims(layer);
  const std::vector<int64_t> axes = layer.Ints(3);
  if (axes.size() != 1) return im.Unsupported(layer, "other than one new dimension (3=)");
  if (dims > 3) return im.Unsupported(layer, "a blob of five dimensions");
  COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axes[0], dims + 1));
  return im.Set(layer, 0, im.Call(layer, graph::Op::unsqueeze, {{"dim", dim}}, {im.In(layer, 0)}));
}

absl::Status Tile(Importer& im, const Layer& layer) {
  const int dims = im.Dims(layer);
  const std::vector<int64_t> list = layer.Ints(2);
  std::vector<int64_t> shape = List(im.InShape(layer));
  std::vector<int64_t> repeats;
  if (list.empty()) {
    COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, layer.Int(0, 0), dims));
    repeats.assign(static_cast<size_t>(dims) + 1, 1);
    repeats[dim] = layer.Int(1, 1);
  } else {
    // As numpy's tile: missing counts and missing dimensions are in front.
    if (list.size() > 4) return im.Unsupported(layer, "more than four repeats");
    while (shape.size() < list.size() + 1) shape.insert(shape.begin() + 1, 1);
    repeats.assign(shape.size() - list.size(), 1);
    repeats.insert(repeats.end(), list.begin(), list.end());
  }
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of repeats", repeats));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Reshape(layer, im.In(layer, 0), std::move(shape)));
  if (std::count(repeats.begin(), repeats.end(), 1) != static_cast<std::ptrdiff_t>(repeats.size())) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::repeat, {{"repeats", repeats}}, {x}));
  }
  return im.Set(layer, 0, x);
}

absl::Status Flip(Importer& im, const Layer& layer) {
  std::vector<int64_t> dims;
  for (const int64_t axis : layer.Ints(0)) {
    COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axis, im.Dims(layer)));
    dims.push_back(dim);
  }
  if (dims.empty()) return im.Wrong(layer, "it names no axes");
  return im.Set(layer, 0, im.Call(layer, graph::Op::flip, {{"dims", std::move(dims)}}, {im.In(layer, 0)}));
}

absl::Status ShuffleChannel(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const int64_t channels = im.InShape(layer)[1], said = layer.Int(0, 1);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of groups", {said}));
  if (channels % said != 0) return im.Wrong(layer, absl::StrCat(channels, " channels in ", said, " groups"));
  const int64_t groups = layer.Int(1, 0) != 0 ? channels / said : said;
  return im.Set(layer, 0, im.Call(layer, graph::Op::channel_shuffle, {{"groups", groups}}, {im.In(layer, 0)}));
}

// Mode 0 has the pixels of a block innermost among the channels, as PyTorch; mode 1 outermost.
absl::Status PixelShuffle(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const int64_t r = layer.Int(0, 1);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a factor", {r}));
  const graph::Shape s = im.InShape(layer);
  if (r > 1024 || s[1] % (r * r) != 0) return im.Wrong(layer, absl::StrCat(s[1], " channels in blocks of ", r));
  graph::ValueRef x = im.In(layer, 0);
  if (layer.Int(1, 0) == 0) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::pixel_shuffle, {{"upscale_factor", r}}, {x}));
  } else {
    const int64_t c = s[1] / (r * r);
    COBRA_ASSIGN_OR_RETURN(
        x, Rearranged(im, layer, x, {s[0], r, r, c, s[2], s[3]}, {0, 3, 4, 1, 5, 2}, {s[0], c, s[2] * r, s[3] * r}));
  }
  return im.Set(layer, 0, x);
}

absl::Status Reorg(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const int64_t r = layer.Int(0, 1);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a stride", {r}));
  const graph::Shape s = im.InShape(layer);
  if (s[2] % r != 0 || s[3] % r != 0)
    return im.Unsupported(layer, absl::StrCat("a stride of ", r, " that does not divide ", graph::ShapeText(s)));
  graph::ValueRef x = im.In(layer, 0);
  if (layer.Int(1, 0) == 0) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::pixel_unshuffle, {{"downscale_factor", r}}, {x}));
  } else {
    COBRA_ASSIGN_OR_RETURN(x, Rearranged(im, layer, x, {s[0], s[1], s[2] / r, r, s[3] / r, r}, {0, 3, 5, 1, 2, 4},
                                         {s[0], s[1] * r * r, s[2] / r, s[3] / r}));
  }
  return im.Set(layer, 0, x);
}

}  // namespace handlers
}  // namespace cobra::ncnn

#include "graph/cost/touched_bytes.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/getitem.h"
#include "graph/saturated.h"
#include "graph/shape/indexed_shape.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph {
namespace {

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

// A call and the sizes of its tensors, in elements.
class Sizes {
 public:
  Sizes(const Graph& graph, const Node& call) : graph_(graph), call_(call) {}

  const Node& call() const { return call_; }
  bool has(size_t i) const { return i < call_.inputs.size() && !call_.inputs[i].is_none(); }
  const TensorType& type(size_t i) const { return graph_.TypeOf(call_.inputs[i]); }  // REQUIRES: has(i)
  int64_t of(size_t i) const { return has(i) ? type(i).num_elements() : 0; }
  int64_t of_result() const { return call_.outputs.empty() ? 0 : call_.outputs[0].num_elements(); }
  // Of the last dimension.
  int64_t width(size_t i) const { return has(i) && type(i).rank() > 0 ? type(i).shape.back() : 1; }

 private:
  const Graph& graph_;
  const Node& call_;
};

int64_t Power(int64_t base, int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power = Times(power, base);
  return power;
}

// Pixels that interpolation between pixels reads for each of its results.
int64_t Taps(absl::string_view mode, int dimensions) {
  if (mode == "bicubic") return Power(4, dimensions);
  const bool is_linear = mode == "linear" || mode == "bilinear" || mode == "trilinear";
  return is_linear ? Power(2, dimensions) : 1;
}

int64_t SampledByGrid(const Sizes& sizes) {
  const Node& call = sizes.call();
  const int dimensions = sizes.type(0).rank() - 2;
  if (call.op == Op::grid_sampler) {  // which has the number of a mode
    constexpr absl::string_view kModes[] = {"bilinear", "nearest", "bicubic"};
    const int64_t mode = std::clamp<int64_t>(call.attributes.Int("interpolation_mode", 0), 0, 2);
    return Times(Taps(kModes[mode], dimensions), sizes.of_result());
  }
  return Times(Taps(call.attributes.String("mode", "bilinear"), dimensions), sizes.of_result());
}

int64_t SampledByInterpolation(const Sizes& sizes) {
  const Attributes& attributes = sizes.call().attributes;
  const std::string mode = attributes.String("mode", "nearest");
  if (mode == "area" || attributes.Bool("antialias")) return kAll;
  return Times(Taps(mode, sizes.type(0).rank() - 2), sizes.of_result());
}

// Each result is a mean of points between four pixels. Without a fixed number of points they lie
// close enough to read all of the region, which may be the image.
int64_t SampledByRegions(const Sizes& sizes) {
  const int64_t points = sizes.call().attributes.Int("sampling_ratio", -1);
  return points > 0 ? Times(Times(4, Times(points, points)), sizes.of_result()) : kAll;
}

// A stride beyond the window leaves gaps.
int64_t SeenByWindows(const Sizes& sizes, int dimensions) {
  const std::vector<int64_t> kernel = sizes.call().attributes.Ints("kernel_size");
  if (kernel.empty()) return kAll;
  int64_t window = 1;
  for (int i = 0; i < dimensions; ++i)
    window = Times(window, kernel[std::min(kernel.size() - 1, static_cast<size_t>(i))]);
  return Times(window, sizes.of_result());
}

// By halves: of `length` sorted numbers, for each of `values`.
int64_t Searched(int64_t length, int64_t values) {
  int64_t steps = 1;
  while (length > 1) {
    length /= 2;
    ++steps;
  }
  return Times(steps, values);
}

// The logarithms of the labels and of the blanks around them, in each step.
int64_t ReadByCtc(const Sizes& sizes) {
  const Shape& shape = sizes.type(0).shape;
  const int64_t batch = shape.size() == 3 ? shape[1] : 1;
  return Times(shape[0], Plus(Times(2, sizes.of(1)), batch));
}

// No more matrices than there are rows to multiply: a step of a mixture of experts reads those that
// it asks.
int64_t ReadByGroups(const Sizes& sizes) {
  const TensorType &rows = sizes.type(0), &matrices = sizes.type(1);
  if (rows.rank() != 2 || matrices.rank() != 3) return kAll;
  return Times(rows.shape[0], Times(matrices.shape[1], matrices.shape[2]));
}

// Of x[index] = value: what the index selects; of a mask, which selects by its values, all that it
// may.
int64_t SelectedByIndex(const Sizes& sizes) {
  const Node& call = sizes.call();
  const absl::StatusOr<IndexList> index = ParseIndex(call.attributes.String("index"));
  if (!index.ok()) return kAll;
  std::vector<const TensorType*> tensors;
  for (size_t i = 1; i < call.inputs.size(); ++i) tensors.push_back(sizes.has(i) ? &sizes.type(i) : nullptr);
  const bool is_value_last = call.attributes.Find("value") == nullptr;
  if (is_value_last && !tensors.empty()) tensors.pop_back();
  const absl::StatusOr<Shape> shape = IndexedShape(sizes.type(0).shape, *index, tensors);
  return shape.ok() ? TensorType{*shape, DType::uint8}.num_elements() : kAll;
}

int64_t SelectedByIndices(const Sizes& sizes) {  // of index_put
  const TensorType& self = sizes.type(0);
  Shape shape;
  size_t indices = 0;
  for (size_t i = 2; i < sizes.call().inputs.size(); ++i, ++indices) {
    if (!sizes.has(i) || sizes.type(i).dtype == DType::bool_ || sizes.type(i).dtype == DType::uint8) return kAll;
    const absl::StatusOr<Shape> joined = shape_rules::BroadcastShapes(shape, sizes.type(i).shape);
    if (!joined.ok()) return kAll;
    shape = *joined;
  }
  int64_t elements = TensorType{shape, DType::uint8}.num_elements();
  for (size_t d = indices; d < self.shape.size(); ++d) elements = Times(elements, self.shape[d]);
  return elements;
}

int64_t SelectedSlices(const Sizes& sizes) {  // of index_fill
  const TensorType& self = sizes.type(0);
  const int64_t rank = self.rank(), dim = sizes.call().attributes.Int("dim");
  if (rank == 0 || dim < -rank || dim >= rank) return kAll;
  const int64_t size = self.shape[static_cast<size_t>((dim + rank) % rank)];
  return Times(self.num_elements() / std::max<int64_t>(1, size), sizes.of(1));
}

int64_t Diagonal(const Sizes& sizes) {
  const Shape& shape = sizes.type(0).shape;
  if (shape.empty()) return kAll;
  if (shape.size() == 2 && sizes.call().attributes.Bool("wrap")) return sizes.of(0) / (shape[1] + 1) + 1;
  return *std::min_element(shape.begin(), shape.end());
}

// What a call changes of its first argument, in elements.
int64_t Changed(const Sizes& sizes) {
  switch (sizes.call().op) {
    case Op::index_add:
    case Op::index_copy:
    case Op::index_reduce: return sizes.of(2);
    case Op::index_fill: return SelectedSlices(sizes);
    case Op::index_put: return SelectedByIndices(sizes);
    case Op::setitem: return SelectedByIndex(sizes);
    case Op::put:
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_reduce: return sizes.of(1);
    case Op::fill_diagonal: return Diagonal(sizes);
    default: return kAll;
  }
}

// Of the first argument of a call that changes it in place: what it computes with, before it writes
// there.
int64_t ReadOfChanged(const Sizes& sizes) {
  const Node& call = sizes.call();
  switch (call.op) {
    case Op::index_add:
    case Op::index_reduce:
    case Op::scatter_add:
    case Op::scatter_reduce: return Changed(sizes);
    case Op::scatter: return call.attributes.Find("reduce") != nullptr ? Changed(sizes) : 0;
    case Op::index_put:
    case Op::put: return call.attributes.Bool("accumulate") ? Changed(sizes) : 0;
    case Op::index_copy:
    case Op::index_fill:
    case Op::setitem:
    case Op::fill_diagonal:
    case Op::masked_scatter:
    case Op::normal:
    case Op::bernoulli: return 0;
    default: return kAll;
  }
}

int64_t ReadOfFirst(const Sizes& sizes) {
  const Node& call = sizes.call();
  switch (call.op) {
    case Op::index_select:
    case Op::gather:
    case Op::take:
    case Op::take_along_dim:
    case Op::getitem:
    case Op::narrow_copy:
    case Op::_pack_padded_sequence:
    case Op::unfold: return sizes.of_result();
    case Op::diag: return sizes.type(0).rank() == 2 ? sizes.of_result() : kAll;
    case Op::trace: return Diagonal(sizes);
    case Op::pad:
    case Op::constant_pad_nd: return sizes.of_result();  // less than all where it crops
    case Op::nll_loss: return sizes.of(1);
    case Op::ctc_loss: return ReadByCtc(sizes);
    case Op::searchsorted: return Searched(sizes.width(0), sizes.has(1) ? sizes.of(1) : 1);
    case Op::grid_sample:
    case Op::grid_sampler: return SampledByGrid(sizes);
    case Op::interpolate: return SampledByInterpolation(sizes);
    case Op::roi_align: return SampledByRegions(sizes);
    case Op::max_pool1d:
    case Op::avg_pool1d:
    case Op::lp_pool1d: return SeenByWindows(sizes, 1);
    case Op::max_pool2d:
    case Op::avg_pool2d:
    case Op::lp_pool2d: return SeenByWindows(sizes, 2);
    case Op::max_pool3d:
    case Op::avg_pool3d: return SeenByWindows(sizes, 3);
    // Overwritten, whatever was there.
    case Op::copy:
    case Op::fill:
    case Op::zero:
    case Op::uniform:
    case Op::exponential:
    case Op::log_normal:
    case Op::cauchy:
    case Op::geometric:
    case Op::random:
    case Op::new_: return 0;
    case Op::resize: return sizes.of_result() > sizes.of(0) ? kAll : 0;  // memory that grows is copied
    default: return call.inplace ? ReadOfChanged(sizes) : kAll;
  }
}

int64_t ReadOfOther(const Sizes& sizes, size_t input) {
  const Node& call = sizes.call();
  switch (call.op) {
    case Op::embedding: return input == 1 ? sizes.of_result() : kAll;
    case Op::embedding_bag: return input == 1 ? Times(sizes.of(0), sizes.width(1)) : kAll;
    case Op::_grouped_mm: return input == 1 ? ReadByGroups(sizes) : kAll;
    case Op::bucketize: return Searched(sizes.width(1), sizes.of(0));
    case Op::searchsorted: return input == 2 ? Searched(sizes.width(0), sizes.has(1) ? sizes.of(1) : 1) : kAll;
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_reduce: return input == 2 ? sizes.of(1) : kAll;
    case Op::masked_scatter: return input == 2 ? sizes.of(0) : kAll;
    case Op::nll_loss:
    case Op::multi_margin_loss: return input == 2 ? sizes.of(1) : kAll;
    case Op::cross_entropy: {
      const bool by_class =
          sizes.type(0).shape != sizes.type(1).shape && call.attributes.Double("label_smoothing", 0) == 0;
      return input == 2 && by_class ? sizes.of(1) : kAll;
    }
    // They give a type or a size.
    case Op::to:
    case Op::type_as:
    case Op::view_as:
    case Op::reshape_as:
    case Op::expand_as: return 0;
    default: return kAll;
  }
}

int64_t Bytes(const TensorType& type, int64_t elements) {
  return std::min(type.num_bytes(), Times(elements, DTypeBytes(type.dtype)));
}

}  // namespace

int64_t BytesRead(const Graph& graph, const Node& call, size_t input) {
  const Sizes sizes(graph, call);
  if (!sizes.has(input)) return 0;
  return Bytes(sizes.type(input), input == 0 ? ReadOfFirst(sizes) : ReadOfOther(sizes, input));
}

int64_t BytesWritten(const Graph& graph, const Node& call, size_t output) {
  const TensorType& type = call.outputs[output];
  return call.inplace && output == 0 ? Bytes(type, Changed(Sizes(graph, call))) : type.num_bytes();
}

}  // namespace cobra::graph

#include "graph/shape/indexed_shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph {
namespace {

absl::StatusOr<int64_t> SlicedSize(const IndexItem& slice, int64_t size) {
  const int64_t step = slice.step.value_or(1);
  if (step <= 0) return absl::InvalidArgumentError("step must be greater than zero");
  const auto clip = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t start = clip(slice.start.value_or(0));
  const int64_t stop = clip(slice.stop.value_or(size));
  return stop <= start ? 0 : (stop - start - 1) / step + 1;
}

// How many dimensions of the tensor an item uses up.
int DimensionsConsumed(const IndexItem& item, absl::Span<const TensorType* const> tensors) {
  switch (item.kind) {
    case IndexItem::Kind::kNone:
    case IndexItem::Kind::kEllipsis:
    case IndexItem::Kind::kBool: return 0;
    case IndexItem::Kind::kTensor: {
      const TensorType& type = *tensors[item.value];
      return type.dtype == DType::bool_ ? type.rank() : 1;
    }
    default: return 1;
  }
}

// The dimensions of x[index], item by item.
class ShapeOfIndexed {
 public:
  ShapeOfIndexed(const Shape& shape, int consumed, absl::Span<const TensorType* const> tensors)
      : shape_(shape), rest_(static_cast<int>(shape.size()) - consumed), tensors_(tensors) {}

  absl::Status Add(const IndexItem& item) {
    if (passed_ && item.kind != IndexItem::Kind::kEllipsis)  // PyTorch counts the rest once for each ellipsis
      return absl::OutOfRangeError("Dimension out of range: an index after a second ellipsis");
    switch (item.kind) {
      case IndexItem::Kind::kNone: out_.push_back(1); return absl::OkStatus();
      // An index into an added dimension of one element: [0] or [].
      case IndexItem::Kind::kBool: return Join({item.value});
      case IndexItem::Kind::kEllipsis:
        if (ellipses_++ > 0) passed_ = passed_ || taken_ > 0;
        TakeRest();
        return absl::OkStatus();
      case IndexItem::Kind::kSlice: {
        COBRA_ASSIGN_OR_RETURN(const int64_t size, SlicedSize(item, shape_[dim_]));
        out_.push_back(size);
        ++dim_;
        return absl::OkStatus();
      }
      case IndexItem::Kind::kInt:
        if (item.value < -shape_[dim_] || item.value >= shape_[dim_]) return OutOfBounds(item.value);
        ++dim_;
        return absl::OkStatus();
      case IndexItem::Kind::kList:
      case IndexItem::Kind::kTensor: return AddAdvanced(item);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Shape> Finish() {
    TakeRest();
    // Adjacent advanced indices put their dimensions at their own position; separated ones put them
    // first.
    if (any_advanced_) out_.insert(out_.begin() + (apart_ ? 0 : advanced_at_), advanced_.begin(), advanced_.end());
    const auto zeros = [](const Shape& shape) { return std::count(shape.begin(), shape.end(), 0) > 0; };
    if (into_nothing_ && !zeros(advanced_))
      return absl::OutOfRangeError("index is out of bounds for dimension with size 0");
    if (!outside_.ok() && !zeros(out_)) return outside_;  // PyTorch reads no index if the result is empty
    return std::move(out_);
  }

 private:
  absl::Status OutOfBounds(int64_t value) const {
    return absl::OutOfRangeError(
        absl::StrCat("index ", value, " is out of bounds for dimension ", dim_, " with size ", shape_[dim_]));
  }

  absl::Status AddAdvanced(const IndexItem& item) {
    const bool list = item.kind == IndexItem::Kind::kList;
    if (!list && tensors_[item.value]->dtype == DType::bool_)
      return absl::UnimplementedError("the shape of a selection by a mask");
    const int64_t size = shape_[dim_];
    into_nothing_ = into_nothing_ || size == 0;
    if (list && item.most && (*item.least < -size || *item.most >= size))
      outside_.Update(OutOfBounds(*item.most >= size ? *item.most : *item.least));
    if (!list && tensors_[item.value]->rank() == 0) {  // a number
      ++dim_;
      return absl::OkStatus();
    }
    COBRA_RETURN_IF_ERROR(Join(list ? item.list_shape : tensors_[item.value]->shape));
    ++dim_;
    return absl::OkStatus();
  }

  // An advanced index of this shape.
  absl::Status Join(const Shape& shape) {
    absl::StatusOr<Shape> joined = shape_rules::BroadcastShapes(advanced_, shape);
    if (!joined.ok())
      return absl::OutOfRangeError(
          absl::StrCat("shape mismatch: indexing tensors could not be broadcast together with shapes ",
                       shape_rules::SizesText(advanced_), ", ", shape_rules::SizesText(shape)));
    advanced_ = *std::move(joined);
    if (!any_advanced_) advanced_at_ = static_cast<int>(out_.size());
    // A number between them leaves no dimension there.
    if (any_advanced_ && out_.size() != static_cast<size_t>(advanced_at_)) apart_ = true;
    any_advanced_ = true;
    return absl::OkStatus();
  }

  // Adds the dimensions that no item names, only once: at the ellipsis, or at the end.
  void TakeRest() {
    for (; rest_ > 0; --rest_, ++taken_) out_.push_back(shape_[dim_++]);
  }

  const Shape& shape_;
  int rest_;
  const absl::Span<const TensorType* const> tensors_;
  Shape out_, advanced_;
  int dim_ = 0, advanced_at_ = -1;
  bool apart_ = false, any_advanced_ = false;
  int ellipses_ = 0, taken_ = 0;
  bool passed_ = false;        // dimensions of the rest were counted twice
  bool into_nothing_ = false;  // an advanced index into a dimension without elements
  absl::Status outside_;
};

}  // namespace

absl::StatusOr<Shape> IndexedShape(const Shape& shape, const IndexList& index,
                                   absl::Span<const TensorType* const> tensors) {
  int consumed = 0;
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::kTensor &&
        (item.value < 0 || item.value >= static_cast<int64_t>(tensors.size()))) {
      return absl::InvalidArgumentError("an index names a tensor that is not there");
    }
    consumed += DimensionsConsumed(item, tensors);
  }
  const int rank = static_cast<int>(shape.size());
  if (consumed > rank) return absl::OutOfRangeError(absl::StrCat("too many indices for tensor of dimension ", rank));
  ShapeOfIndexed result(shape, consumed, tensors);
  for (const IndexItem& item : index) COBRA_RETURN_IF_ERROR(result.Add(item));
  return result.Finish();
}

}  // namespace cobra::graph

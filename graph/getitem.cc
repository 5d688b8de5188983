#include "graph/getitem.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "graph/shape_rules.h"

namespace cobra::graph {
namespace {

absl::Status BadIndex(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an index"));
}

// Splits at the commas that are outside brackets.
std::vector<absl::string_view> SplitItems(absl::string_view text) {
  std::vector<absl::string_view> items;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      items.push_back(absl::StripAsciiWhitespace(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']') {
      --depth;
    }
  }
  return items;
}

absl::StatusOr<std::optional<int64_t>> OptionalInt(absl::string_view text) {
  if (text.empty()) return std::optional<int64_t>();
  int64_t value;
  if (!absl::SimpleAtoi(text, &value)) return BadIndex(text);
  return std::optional<int64_t>(value);
}

// The shape of "[[0, 1], [2, 3]]": element counts along the first path.
absl::StatusOr<Shape> ListShape(absl::string_view text) {
  Shape shape;
  while (!text.empty() && text.front() == '[') {
    if (text.back() != ']' || shape.size() > 8) return BadIndex(text);
    const std::vector<absl::string_view> items = SplitItems(text.substr(1, text.size() - 2));
    const bool empty = items.size() == 1 && items[0].empty();
    shape.push_back(empty ? 0 : static_cast<int64_t>(items.size()));
    text = items[0];
  }
  return shape;
}

}  // namespace

absl::StatusOr<IndexList> ParseIndex(absl::string_view text) {
  // A tensor has 64 dimensions, and so has what None adds to it.
  constexpr size_t kMostItems = 1024;
  IndexList list;
  if (text.empty()) return list;
  const auto items = SplitItems(text);
  if (items.size() > kMostItems) return absl::OutOfRangeError("too many indices for tensor");
  for (absl::string_view item : items) {
    IndexItem parsed;
    if (item == "...") {
      parsed.kind = IndexItem::Kind::kEllipsis;
    } else if (item == "None") {
      parsed.kind = IndexItem::Kind::kNone;
    } else if (item == "True" || item == "False") {
      parsed.kind = IndexItem::Kind::kBool;
      parsed.value = item == "True";
    } else if (!item.empty() && item[0] == '[') {
      parsed.kind = IndexItem::Kind::kList;
      COBRA_ASSIGN_OR_RETURN(parsed.list_shape, ListShape(item));
      for (absl::string_view number : absl::StrSplit(item, absl::ByAnyChar("[], "), absl::SkipEmpty())) {
        int64_t i;
        if (!absl::SimpleAtoi(number, &i)) return BadIndex(item);
        parsed.least = std::min(parsed.least.value_or(i), i);
        parsed.most = std::max(parsed.most.value_or(i), i);
      }
    } else if (!item.empty() && item[0] == 'T' && absl::SimpleAtoi(item.substr(1), &parsed.value)) {
      parsed.kind = IndexItem::Kind::kTensor;
    } else if (item.find(':') != absl::string_view::npos) {
      parsed.kind = IndexItem::Kind::kSlice;
      const std::vector<absl::string_view> parts = absl::StrSplit(item, ':');
      if (parts.size() > 3) return BadIndex(item);
      COBRA_ASSIGN_OR_RETURN(parsed.start, OptionalInt(parts[0]));
      COBRA_ASSIGN_OR_RETURN(parsed.stop, OptionalInt(parts[1]));
      if (parts.size() == 3) {
        COBRA_ASSIGN_OR_RETURN(parsed.step, OptionalInt(parts[2]));
      }
    } else if (!absl::SimpleAtoi(item, &parsed.value)) {
      return BadIndex(item);
    }
    list.push_back(parsed);
  }
  return list;
}

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
      // An index of its own into a dimension of one element: [0] or [].
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
    if (!outside_.ok() && !zeros(out_)) return outside_;  // PyTorch reads no index where nothing comes out
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

#include "export/onnx/region.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "graph/getitem.h"
#include "graph/shape/layout.h"

namespace cobra::exporting {
namespace {

using graph::IndexItem;

// The numbers of the lists in an index's text, list by list.
std::vector<Ints> NumbersOfLists(const std::string& text) {
  std::vector<Ints> lists;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' && depth++ == 0) begin = i;
    if (text[i] != ']' || --depth != 0) continue;
    Ints& numbers = lists.emplace_back();
    for (absl::string_view word :
         absl::StrSplit(text.substr(begin, i - begin), absl::ByAnyChar("[], "), absl::SkipEmpty())) {
      int64_t number = 0;
      if (absl::SimpleAtoi(word, &number)) numbers.push_back(number);
    }
  }
  return lists;
}

int64_t Clipped(int64_t i, int64_t size) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); }

// Takes the items of an index one after the other.
class Selector {
 public:
  Selector(CallWriter& c, const Shape& shape, size_t first) : c_(c), shape_(shape), first_(first) {
    strides_ = graph::ContiguousStrides(shape);
    result_.sliced = shape;
  }

  absl::StatusOr<Selection> Run(const graph::IndexList& list, const std::string& text) {
    const std::vector<Ints> lists = NumbersOfLists(text);
    size_t next_list = 0;
    int used = 0;
    for (const IndexItem& item : list) used += Uses(item);
    int rest = static_cast<int>(shape_.size()) - used;
    if (rest < 0) return Refused("the index \"", text, "\"");
    for (const IndexItem& item : list) {
      switch (item.kind) {
        case IndexItem::Kind::kInt: TakeNumber(item.value); break;
        case IndexItem::Kind::kSlice: TakeSlice(item); break;
        case IndexItem::Kind::kNone: AddDim(1, 0); break;
        case IndexItem::Kind::kEllipsis:
          for (; rest > 0; --rest) TakeWhole();
          break;
        case IndexItem::Kind::kBool: return Refused("True or False in an index");
        case IndexItem::Kind::kList: {
          const Ints& numbers = lists[next_list++];
          const std::vector<double> values(numbers.begin(), numbers.end());
          Advance({0, c_.Numbers({item.list_shape, DType::int64}, values), item.list_shape, false}, 1);
          break;
        }
        case IndexItem::Kind::kTensor: {
          const size_t i = first_ + static_cast<size_t>(item.value);
          const bool mask = c_.Type(i).dtype == DType::bool_;
          if (c_.Type(i).dtype == DType::uint8) return Refused("an index of bytes");
          Advance({0, c_.Input(i, mask ? DType::bool_ : DType::int64), c_.ShapeOf(i), mask}, Uses(item));
          break;
        }
      }
    }
    while (dim_ < shape_.size()) TakeWhole();
    return std::move(result_);
  }

 private:
  int Uses(const IndexItem& item) const {
    switch (item.kind) {
      case IndexItem::Kind::kNone:
      case IndexItem::Kind::kEllipsis:
      case IndexItem::Kind::kBool: return 0;
      case IndexItem::Kind::kTensor: {
        const TensorType& type = c_.Type(first_ + static_cast<size_t>(item.value));
        return type.dtype == DType::bool_ ? type.rank() : 1;
      }
      default: return 1;
    }
  }

  void AddDim(int64_t size, int64_t stride) {
    result_.shape.push_back(size);
    result_.strides.push_back(stride);
  }
  void TakeWhole() {
    AddDim(shape_[dim_], strides_[dim_]);
    ++dim_;
  }
  void Slice(int64_t start, int64_t end, int64_t step, int64_t count) {
    result_.offset += start * strides_[dim_];
    result_.sliced[dim_] = count;
    if (start == 0 && step == 1 && count == shape_[dim_]) return;
    result_.whole = false;
    result_.starts.push_back(start);
    result_.ends.push_back(end);
    result_.steps.push_back(step);
    result_.axes.push_back(static_cast<int64_t>(dim_));
  }
  void TakeNumber(int64_t value) {
    const int64_t start = value < 0 ? value + shape_[dim_] : value;
    Slice(start, start + 1, 1, 1);
    ++dim_;
  }
  void TakeSlice(const IndexItem& item) {
    const int64_t size = shape_[dim_], step = item.step.value_or(1);
    const int64_t start = Clipped(item.start.value_or(0), size), stop = Clipped(item.stop.value_or(size), size);
    const int64_t count = stop <= start ? 0 : (stop - start - 1) / step + 1;
    Slice(start, std::max(start, stop), step, count);
    AddDim(count, strides_[dim_] * step);
    ++dim_;
  }
  void Advance(AdvancedIndex index, int dims) {
    index.dim = result_.shape.size();
    result_.advanced.push_back(std::move(index));
    for (int i = 0; i < dims; ++i) TakeWhole();
  }

  CallWriter& c_;
  const Shape shape_;
  const size_t first_;
  graph::Strides strides_;
  size_t dim_ = 0;
  Selection result_;
};

// The sorted coordinates of the elements in each dimension.
std::vector<Ints> CoordinatesOf(const Shape& shape, const Ints& positions) {
  std::vector<std::vector<bool>> used;
  for (int64_t size : shape) used.emplace_back(static_cast<size_t>(size), false);
  for (int64_t position : positions) {
    for (size_t d = shape.size(); d-- > 0;) {
      used[d][static_cast<size_t>(position % shape[d])] = true;
      position /= shape[d];
    }
  }
  std::vector<Ints> coordinates(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    for (size_t i = 0; i < used[d].size(); ++i) {
      if (used[d][i]) coordinates[d].push_back(static_cast<int64_t>(i));
    }
  }
  return coordinates;
}

// x with a box replaced: in each dimension a range. From the first dimension in which something is
// left inwards.
std::string WithBox(CallWriter& c, const std::string& x, const Shape& shape, const std::vector<Ints>& ranges,
                    size_t dim, const std::string& value) {
  while (dim < shape.size() && static_cast<int64_t>(ranges[dim].size()) == shape[dim]) ++dim;
  if (dim == shape.size()) return value;
  const int64_t begin = ranges[dim].front(), end = ranges[dim].back() + 1, axis = static_cast<int64_t>(dim);
  Shape inner = shape;
  inner[dim] = end - begin;
  size_t next = dim + 1;
  while (next < shape.size() && static_cast<int64_t>(ranges[next].size()) == shape[next]) ++next;
  const std::string middle =
      next == shape.size() ? value : WithBox(c, c.Sliced(x, axis, begin, end), inner, ranges, next, value);
  Names parts;
  if (begin > 0) parts.push_back(c.Sliced(x, axis, 0, begin));
  parts.push_back(middle);
  if (end < shape[dim]) parts.push_back(c.Sliced(x, axis, end, shape[dim]));
  return c.Joined(parts, axis);
}

}  // namespace

absl::StatusOr<Selection> SelectionOf(CallWriter& c, const std::string& text, const Shape& shape, size_t first) {
  COBRA_ASSIGN_OR_RETURN(const graph::IndexList list, graph::ParseIndex(text));
  return Selector(c, shape, first).Run(list, text);
}

std::string Selected(CallWriter& c, const std::string& x, const Selection& s) {
  std::string y = x;
  if (!s.axes.empty()) {
    Names inputs{y, c.IntsOf(s.starts), c.IntsOf(s.ends), c.IntsOf(s.axes)};
    if (std::count(s.steps.begin(), s.steps.end(), 1) != static_cast<int64_t>(s.steps.size()))
      inputs.push_back(c.IntsOf(s.steps));
    y = c.Node("Slice", std::move(inputs));
  }
  return s.sliced == s.shape ? y : c.Reshaped(y, s.shape);
}

Ints PositionsOf(const Selection& s) {
  Ints positions{s.offset};
  for (size_t d = 0; d < s.shape.size(); ++d) {
    Ints more;
    more.reserve(positions.size() * static_cast<size_t>(s.shape[d]));
    for (int64_t position : positions) {
      for (int64_t i = 0; i < s.shape[d]; ++i) more.push_back(position + i * s.strides[d]);
    }
    positions = std::move(more);
  }
  return positions;
}

absl::StatusOr<std::string> WithReplaced(CallWriter& c, const std::string& x, const TensorType& type,
                                         const Ints& positions, const std::string& value) {
  const int64_t total = type.num_elements(), count = static_cast<int64_t>(positions.size());
  if (count == 0) return x;
  Ints place(static_cast<size_t>(total), -1);  // in the value
  for (int64_t i = 0; i < count; ++i) {
    int64_t& at = place[static_cast<size_t>(positions[static_cast<size_t>(i)])];
    if (at >= 0) return Refused("one element under two indices is changed in place");
    at = i;
  }
  const bool ascending = std::is_sorted(positions.begin(), positions.end());
  if (count == total) {
    if (ascending) return c.Reshaped(value, type.shape);
    return c.Reshaped(c.Gathered(c.Reshaped(value, {count}), place, 0), type.shape);
  }
  if (ascending && !type.shape.empty()) {
    const std::vector<Ints> ranges = CoordinatesOf(type.shape, positions);
    int64_t area = 1;
    bool dense = true;
    Shape box;
    for (const Ints& range : ranges) {
      area *= static_cast<int64_t>(range.size());
      dense = dense && range.back() - range.front() + 1 == static_cast<int64_t>(range.size());
      box.push_back(static_cast<int64_t>(range.size()));
    }
    if (dense && area == count) return WithBox(c, x, type.shape, ranges, 0, c.Reshaped(value, box));
  }
  const std::string flat = c.Node(
      "ScatterElements", {c.Reshaped(x, {total}), c.IntsOf(positions), c.Reshaped(value, {count})}, {{"axis", 0}});
  return c.Reshaped(flat, type.shape);
}

}  // namespace cobra::exporting

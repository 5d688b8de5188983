// x[index], x[index] = value, and the calls that are one of the two.
#include <algorithm>

#include "base/status_macros.h"
#include "export/onnx/handlers.h"
#include "export/onnx/region.h"
#include "graph/shape/layout.h"
#include "graph/shape/shape_rules.h"

namespace cobra::exporting {
namespace {

// The index tensors of a selection as one tensor of index vectors, and how the dimensions lie.
struct Joint {
  std::string index;  // [shape..., number of index tensors]
  Shape shape;        // of the index tensors, broadcast
  Ints perm;          // the indexed dimensions first
  Ints rest;          // the others
  size_t at = 0;      // before which of the others the result has the dimensions of `shape`
};

absl::StatusOr<Joint> JointOf(CallWriter& c, const Selection& s) {
  Joint j;
  Ints dims;
  bool apart = false;
  const AdvancedIndex* last = nullptr;
  for (const AdvancedIndex& index : s.advanced) {
    COBRA_ASSIGN_OR_RETURN(j.shape, graph::shape_rules::BroadcastShapes(j.shape, index.shape));
    dims.push_back(static_cast<int64_t>(index.dim));
    if (index.shape.empty()) continue;  // a number: it takes its dimension away, and has no place of its own
    for (size_t d = last == nullptr ? index.dim : last->dim + 1; d < index.dim; ++d)
      apart = apart || std::none_of(s.advanced.begin(), s.advanced.end(),
                                    [&](const AdvancedIndex& other) { return other.dim == d; });
    if (last == nullptr) {
      for (size_t d = 0; d < index.dim; ++d)
        j.at += std::none_of(s.advanced.begin(), s.advanced.end(),
                             [&](const AdvancedIndex& other) { return other.dim == d; });
    }
    last = &index;
  }
  if (apart) j.at = 0;
  Names columns;
  for (const AdvancedIndex& index : s.advanced) {
    const std::string wide = index.shape == j.shape ? index.index : c.Expanded(index.index, j.shape);
    columns.push_back(c.Unsqueezed(wide, {static_cast<int64_t>(j.shape.size())}));
  }
  j.index = columns.size() == 1 ? columns[0] : c.Joined(columns, static_cast<int64_t>(j.shape.size()));
  j.perm = dims;
  for (int64_t d = 0; d < static_cast<int64_t>(s.shape.size()); ++d) {
    if (std::count(dims.begin(), dims.end(), d) == 0) j.rest.push_back(d);
  }
  j.perm.insert(j.perm.end(), j.rest.begin(), j.rest.end());
  return j;
}

bool IsAscending(const Ints& perm) { return std::is_sorted(perm.begin(), perm.end()); }

Ints Inverse(const Ints& perm) {
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

// The order of dimensions of the result, from [index dimensions, others].
Ints ResultPerm(const Joint& j) {
  const int64_t n = static_cast<int64_t>(j.shape.size()), m = static_cast<int64_t>(j.rest.size());
  const int64_t at = static_cast<int64_t>(j.at);
  Ints perm;
  for (int64_t d = 0; d < at; ++d) perm.push_back(n + d);
  for (int64_t d = 0; d < n; ++d) perm.push_back(d);
  for (int64_t d = at; d < m; ++d) perm.push_back(n + d);
  return perm;
}

Shape ResultShape(const Selection& s, const Joint& j) {
  Shape shape;
  for (size_t i = 0; i < j.rest.size(); ++i) {
    if (i == j.at) shape.insert(shape.end(), j.shape.begin(), j.shape.end());
    shape.push_back(s.shape[static_cast<size_t>(j.rest[i])]);
  }
  if (j.at == j.rest.size()) shape.insert(shape.end(), j.shape.begin(), j.shape.end());
  return shape;
}

bool HasMask(const Selection& s) {
  return std::any_of(s.advanced.begin(), s.advanced.end(), [](const AdvancedIndex& a) { return a.is_mask; });
}

// The value that is written, as a tensor of `shape`: PyTorch drops dimensions of one element in
// front.
absl::StatusOr<std::string> ValueAs(CallWriter& c, size_t operand, const Shape& shape, DType dtype) {
  if (!c.Has(operand)) return c.Filled({shape, dtype}, c.Double("value"));
  std::string value = c.Input(operand, dtype);
  Shape own = c.ShapeOf(operand);
  if (own == shape) return value;
  while (own.size() > shape.size()) {
    if (own.front() != 1) return Refused("a value of ", graph::ShapeText(own));
    own.erase(own.begin());
  }
  if (own.size() != c.ShapeOf(operand).size()) value = c.Reshaped(value, own);
  return own == shape ? value : c.Expanded(value, shape);
}

// What is selected with the elements at a mask replaced. A value per selected element would depend
// on the mask.
absl::StatusOr<std::string> WithMasked(CallWriter& c, const std::string& x, const Selection& s, size_t operand,
                                       DType dtype) {
  if (s.advanced.size() != 1) return Refused("a mask beside another index tensor");
  const AdvancedIndex& mask = s.advanced[0];
  const size_t rest = s.shape.size() - mask.dim - mask.shape.size();
  std::string value;
  if (!c.Has(operand)) {
    value = c.Number(dtype, c.Double("value"));
  } else {
    Shape own = c.ShapeOf(operand);
    value = c.Input(operand, dtype);
    while (own.size() > rest) {
      if (own.front() != 1) return Refused("a value for each element that a mask selects");
      own.erase(own.begin());
    }
    if (mask.dim > 0 && !own.empty())
      return Refused("a mask behind other dimensions, with a value of several elements");
    if (own.size() != c.ShapeOf(operand).size()) value = c.Reshaped(value, own);
  }
  Shape wide = mask.shape;
  wide.resize(wide.size() + rest, 1);
  return c.Chosen(rest == 0 ? mask.index : c.Reshaped(mask.index, wide), value, x, dtype);
}

// What is selected with the elements at index tensors replaced, or added to.
absl::StatusOr<std::string> WithScattered(CallWriter& c, const std::string& x, const Selection& s, size_t operand,
                                          DType dtype, bool adds) {
  COBRA_ASSIGN_OR_RETURN(const Joint j, JointOf(c, s));
  COBRA_ASSIGN_OR_RETURN(std::string value, ValueAs(c, operand, ResultShape(s, j), dtype));
  const Ints order = ResultPerm(j);
  if (!IsAscending(order)) value = c.Transposed(value, Inverse(order));
  const std::string turned = IsAscending(j.perm) ? x : c.Transposed(x, j.perm);
  OnnxAttributes attributes;
  if (adds) attributes.emplace_back("reduction", std::string("add"));
  const std::string y = c.Node("ScatterND", {turned, j.index, value}, std::move(attributes));
  return IsAscending(j.perm) ? y : c.Transposed(y, Inverse(j.perm));
}

absl::StatusOr<std::string> WithWritten(CallWriter& c, const std::string& text, size_t first, size_t operand,
                                        bool adds) {
  const TensorType& type = c.Type(0);
  COBRA_ASSIGN_OR_RETURN(const Selection s, SelectionOf(c, text, type.shape, first));
  if (s.advanced.empty()) {
    COBRA_ASSIGN_OR_RETURN(const std::string value, ValueAs(c, operand, s.shape, type.dtype));
    return WithReplaced(c, c.In(0), type, PositionsOf(s), value);
  }
  const std::string part = Selected(c, c.In(0), s);
  absl::StatusOr<std::string> written = HasMask(s) ? (adds ? absl::StatusOr<std::string>(Refused("a mask that adds"))
                                                           : WithMasked(c, part, s, operand, type.dtype))
                                                   : WithScattered(c, part, s, operand, type.dtype, adds);
  if (!written.ok() || (s.whole && s.shape == type.shape)) return written;
  return WithReplaced(c, c.In(0), type, PositionsOf(s), *written);
}

}  // namespace

absl::StatusOr<Names> WriteGetItem(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(const Selection s, SelectionOf(c, c.String("index"), c.ShapeOf(0), 1));
  if (HasMask(s)) return Refused("a selection by a mask");
  // One number and nothing else, as exporters write it.
  const bool one_number = s.advanced.empty() && s.axes.size() == 1 && s.shape.size() + 1 == c.ShapeOf(0).size() &&
                          s.ends[0] == s.starts[0] + 1;
  if (one_number) {
    Shape without = c.ShapeOf(0);
    without.erase(without.begin() + s.axes[0]);
    if (without == s.shape) {
      const std::string number = c.Number(DType::int64, static_cast<double>(s.starts[0]));
      return Names{c.Node("Gather", {c.In(0), number}, {{"axis", s.axes[0]}})};
    }
  }
  const std::string part = Selected(c, c.In(0), s);
  if (s.advanced.empty()) return Names{part};
  if (s.advanced.size() == 1) {
    const AdvancedIndex& index = s.advanced[0];
    return Names{c.Node("Gather", {part, index.index}, {{"axis", static_cast<int64_t>(index.dim)}})};
  }
  COBRA_ASSIGN_OR_RETURN(const Joint j, JointOf(c, s));
  if (ResultShape(s, j) != c.Out().shape) return Refused("the index \"", c.String("index"), "\"");
  const std::string turned = IsAscending(j.perm) ? part : c.Transposed(part, j.perm);
  const std::string y = c.Node("GatherND", {turned, j.index});
  const Ints order = ResultPerm(j);
  return Names{IsAscending(order) ? y : c.Transposed(y, order)};
}

absl::StatusOr<Names> WriteSetItem(CallWriter& c) {
  const std::string text = c.String("index");
  size_t operand = 1;  // the value: after the index tensors; or it is a number
  for (size_t i = 0; i + 1 < text.size(); ++i) operand += text[i] == 'T' && text[i + 1] >= '0' && text[i + 1] <= '9';
  COBRA_ASSIGN_OR_RETURN(std::string y, WithWritten(c, text, 1, operand, false));
  return Names{std::move(y)};
}

absl::StatusOr<Names> WriteIndexPut(CallWriter& c) {
  std::string text;
  for (size_t i = 2; i < c.num_inputs(); ++i) {
    if (!c.Has(i)) return Refused("an index that is None");
    absl::StrAppend(&text, i > 2 ? ", " : "", "T", i - 2);
  }
  COBRA_ASSIGN_OR_RETURN(std::string y, WithWritten(c, text, 2, 1, c.Bool("accumulate")));
  return Names{std::move(y)};
}

// select_scatter, slice_scatter
absl::StatusOr<Names> WriteSelectScatter(CallWriter& c) {
  const TensorType& type = c.Type(0);
  const int64_t dim = c.Dim("dim", 0, type.rank());
  std::string text;
  for (int64_t d = 0; d < dim; ++d) text += ":, ";
  if (c.op() == graph::Op::select_scatter) {
    absl::StrAppend(&text, c.Int("index"));
  } else {
    if (c.HasValue("start")) absl::StrAppend(&text, c.Int("start"));
    text += ":";
    if (c.HasValue("end")) absl::StrAppend(&text, c.Int("end"));
    absl::StrAppend(&text, ":", c.Int("step", 1));
  }
  COBRA_ASSIGN_OR_RETURN(const Selection s, SelectionOf(c, text, type.shape, 2));
  COBRA_ASSIGN_OR_RETURN(std::string y, WithReplaced(c, c.In(0), type, PositionsOf(s), c.Input(1, type.dtype)));
  return Names{std::move(y)};
}

absl::StatusOr<Names> WriteDiagonalScatter(CallWriter& c) {
  const TensorType& type = c.Type(0);
  const int64_t offset = c.Int("offset"), rank = type.rank();
  const int64_t first = c.Dim("dim1", 0, type.rank()), second = c.Dim("dim2", 1, type.rank());
  const graph::Strides strides = graph::ContiguousStrides(type.shape);
  Selection s;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == first || d == second) continue;
    s.shape.push_back(type.shape[static_cast<size_t>(d)]);
    s.strides.push_back(strides[static_cast<size_t>(d)]);
  }
  s.shape.push_back(c.ShapeOf(1).back());
  s.strides.push_back(strides[static_cast<size_t>(first)] + strides[static_cast<size_t>(second)]);
  s.offset = offset < 0 ? -offset * strides[static_cast<size_t>(first)] : offset * strides[static_cast<size_t>(second)];
  COBRA_ASSIGN_OR_RETURN(std::string y, WithReplaced(c, c.In(0), type, PositionsOf(s), c.Input(1, type.dtype)));
  return Names{std::move(y)};
}

}  // namespace cobra::exporting

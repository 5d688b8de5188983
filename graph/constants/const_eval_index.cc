// Values of calls that read or write elements at given indices.
#include <string>
#include <utility>

#include "graph/constants/const_rules.h"
#include "graph/getitem.h"
#include "graph/shape/indexed_shape.h"

namespace cobra::graph {

using const_rules::BroadcastStrides;
using const_rules::ForEach;

namespace {

using Kind = IndexItem::Kind;

// Reads the numbers of each list, such as "[0, [1, 2]]", in an index text.
void ReadLists(const std::string& index, const IndexList& items, TensorTypes* types,
               std::vector<std::vector<double>>* values) {
  for (const IndexItem& item : items) {
    if (item.kind == Kind::kList) types->push_back({item.list_shape, DType::int64});
  }
  int depth = 0;
  std::string number;
  for (char c : index) {
    if (c == '[' && depth++ == 0) values->emplace_back();
    if (depth > 0 && (c == '-' || (c >= '0' && c <= '9'))) {
      number += c;
      continue;
    }
    if (!number.empty()) values->back().push_back(std::atof(number.c_str()));
    number.clear();
    if (c == ']') --depth;
  }
  values->resize(types->size());
}

// Computes the offset in x of each element of x[index]. Plain items give strides; advanced items
// (tensors and lists) share dimensions of their own.
class IndexWalk {
 public:
  explicit IndexWalk(const Shape& shape) : shape_(shape), strides_(ContiguousStrides(shape)) {}

  // Returns false if an item is a mask: masks are not evaluated.
  bool Add(const IndexList& items, absl::Span<const ConstInput> tensors, absl::Span<const ConstInput> lists) {
    size_t consumed = 0, list = 0;
    for (const IndexItem& item : items) {
      consumed += item.kind == Kind::kInt || item.kind == Kind::kSlice || item.kind == Kind::kTensor ||
                  item.kind == Kind::kList;
    }
    if (consumed > shape_.size()) return false;
    for (const IndexItem& item : items) {
      switch (item.kind) {
        case Kind::kNone: plain_.push_back(0); break;
        case Kind::kInt: AddInt(item.value); break;
        case Kind::kSlice: AddSlice(item); break;
        case Kind::kEllipsis:
          for (size_t n = ellipsis_ ? 0 : shape_.size() - consumed; n > 0; --n) plain_.push_back(strides_[dim_++]);
          ellipsis_ = true;
          break;
        case Kind::kList: AddAdvanced(lists[list++]); break;
        case Kind::kTensor:
          if (tensors[item.value].type->dtype == DType::bool_) return false;
          AddAdvanced(tensors[item.value]);
          break;
        case Kind::kBool: AddBool(item.value != 0); break;
      }
    }
    while (dim_ < shape_.size()) plain_.push_back(strides_[dim_++]);
    return true;
  }

  // Returns nullopt if an index is out of range.
  std::optional<std::vector<int64_t>> Map(const Shape& out) const {
    const size_t at = apart_ ? 0 : advanced_at_, extra = out.size() - plain_.size();
    const Shape middle(out.begin() + at, out.begin() + at + extra);
    std::vector<Strides> walks(1, Strides(out.size(), 0));
    for (size_t i = 0; i < plain_.size(); ++i) walks[0][i < at ? i : i + extra] = plain_[i];
    for (const Advanced& a : advanced_) {
      Strides walk(out.size(), 0);
      const Strides inner = BroadcastStrides(a.tensor->type->shape, middle);
      for (size_t i = 0; i < inner.size(); ++i) walk[at + i] = inner[i];
      walks.push_back(walk);
    }
    std::vector<int64_t> map;
    bool inside = true;
    ForEach(out, walks, [&](int64_t, const std::vector<int64_t>& offsets) {
      int64_t from = start_ + offsets[0];
      for (size_t i = 0; i < advanced_.size(); ++i) {
        int64_t value = static_cast<int64_t>((*advanced_[i].tensor->values)[offsets[i + 1]]);
        if (value < 0) value += advanced_[i].size;
        inside = inside && value >= 0 && value < advanced_[i].size;
        from += value * advanced_[i].stride;
      }
      map.push_back(from);
    });
    if (!inside) return std::nullopt;
    return map;
  }

 private:
  struct Advanced {
    const ConstInput* tensor;
    int64_t stride, size;
  };

  void AddInt(int64_t value) {
    start_ += (value < 0 ? value + shape_[dim_] : value) * strides_[dim_];
    ++dim_;
  }
  void AddSlice(const IndexItem& item) {
    const int64_t from = item.start.value_or(0), size = shape_[dim_];
    start_ += std::clamp<int64_t>(from < 0 ? from + size : from, 0, size) * strides_[dim_];
    plain_.push_back(std::min(item.step.value_or(1), std::max<int64_t>(1, size)) * strides_[dim_]);
    ++dim_;
  }
  void AddAdvanced(const ConstInput& tensor) {
    if (tensor.type->rank() > 0) TakePlace();  // one without dimensions is a number
    advanced_.push_back({&tensor, strides_[dim_], shape_[dim_]});
    ++dim_;
  }
  // [0] or [] into a dimension of one element.
  void AddBool(bool value) {
    static const TensorType kOneType{{1}, DType::int64}, kNoneType{{0}, DType::int64};
    static const std::vector<double> kZero{0}, kNothing;
    static const ConstInput kOne{&kOneType, &kZero}, kNone{&kNoneType, &kNothing};
    TakePlace();
    advanced_.push_back({value ? &kOne : &kNone, 0, 1});
  }
  void TakePlace() {
    if (!any_place_) advanced_at_ = plain_.size();
    apart_ = apart_ || plain_.size() != advanced_at_;  // a number between them leaves no dimension there
    any_place_ = true;
  }

  const Shape& shape_;
  const Strides strides_;
  Strides plain_;
  std::vector<Advanced> advanced_;
  int64_t start_ = 0;
  size_t dim_ = 0, advanced_at_ = 0;
  bool any_place_ = false, ellipsis_ = false;
  bool apart_ = false;  // plain items stand between advanced ones, whose dimensions then come first
};

}  // namespace

std::optional<std::vector<int64_t>> IndexMap(const Shape& shape, const std::string& index,
                                             absl::Span<const ConstInput> tensors, const Shape& out) {
  absl::StatusOr<IndexList> items = ParseIndex(index);
  if (!items.ok()) return std::nullopt;
  TensorTypes list_types;
  std::vector<std::vector<double>> list_values;
  ReadLists(index, *items, &list_types, &list_values);
  std::vector<ConstInput> lists;
  for (size_t i = 0; i < list_types.size(); ++i) lists.push_back({&list_types[i], &list_values[i]});
  IndexWalk walk(shape);
  if (!walk.Add(*items, tensors, lists)) return std::nullopt;
  return walk.Map(out);
}

std::optional<ElementWrites> WritesOfSetItem(const Attributes& attributes, absl::Span<const ConstInput> inputs) {
  using const_rules::BroadcastsTo, const_rules::Gathered;
  const bool number = attributes.Find("value") != nullptr;
  const absl::Span<const ConstInput> tensors = inputs.subspan(1, inputs.size() - (number ? 1 : 2));
  const std::string index = attributes.String("index");
  absl::StatusOr<IndexList> list = ParseIndex(index);
  if (!list.ok()) return std::nullopt;
  std::vector<const TensorType*> types;
  for (const ConstInput& tensor : tensors) types.push_back(tensor.type);
  absl::StatusOr<Shape> shape = IndexedShape(inputs[0].type->shape, *list, types);
  if (!shape.ok()) return std::nullopt;
  auto map = IndexMap(inputs[0].type->shape, index, tensors, *shape);
  if (!map) return std::nullopt;
  std::vector<double> written(map->size(), attributes.Double("value"));
  if (!number) {
    Shape from = inputs.back().type->shape;
    while (from.size() > shape->size() && from.front() == 1) from.erase(from.begin());
    if (!BroadcastsTo(from, *shape)) return std::nullopt;
    written = Gathered(*inputs.back().values, *shape, BroadcastStrides(from, *shape));
  }
  return ElementWrites{*std::move(map), std::move(written)};
}

namespace const_rules {

Outputs GetItem(const ConstCall& call) {
  const auto map =
      IndexMap(call.type(0).shape, call.attributes.String("index"), call.inputs.subspan(1), call.out().shape);
  if (!map) return {};
  Values values;
  for (int64_t at : *map) values.push_back(call.values(0)[at]);
  return {values};
}

Outputs SetItem(const ConstCall& call) {
  const std::optional<ElementWrites> writes = WritesOfSetItem(call.attributes, call.inputs);
  if (!writes) return {};
  Values values = call.values(0);
  for (size_t i = 0; i < writes->at.size(); ++i) values[writes->at[i]] = writes->values[i];
  return {values};
}

// gather, take_along_dim, index_select
Outputs Gather(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const Shape& out = call.out().shape;
  const int rank = call.type(0).rank();
  if (call.op == Op::take_along_dim && (call.attributes.Find("dim") == nullptr || call.type(1).shape != out)) return {};
  if (rank == 0) return {};
  const int dim = Wrap(call.attributes.Int("dim"), rank);
  const Strides strides = ContiguousStrides(in);
  // Strides through `index`: index_select has one index for each slice.
  Strides index_walk = ContiguousStrides(call.type(1).shape);
  if (call.op == Op::index_select) {
    index_walk.assign(out.size(), 0);
    index_walk[dim] = 1;
  }
  Strides walk = strides;
  for (int d = 0; d < rank; ++d) {
    if (d == dim || in[d] == 1) walk[d] = 0;
  }
  Values values;
  bool inside = true;
  ForEach(out, {walk, index_walk}, [&](int64_t, const std::vector<int64_t>& at) {
    const int64_t index = static_cast<int64_t>(call.values(1)[at[1]]);
    inside = inside && index >= 0 && index < in[dim];
    values.push_back(inside ? call.values(0)[at[0] + index * strides[dim]] : 0.0);
  });
  if (!inside) return {};
  return {values};
}

// scatter, scatter_add, scatter_reduce: element n of `index` is the position along `dim` for
// element n of the source.
Outputs Scattered(const ConstCall& call) {
  const Shape& self = call.type(0).shape;
  const Shape& index = call.type(1).shape;
  if (self.size() != index.size() || self.empty()) return {};
  const int dim = Wrap(call.attributes.Int("dim"), static_cast<int>(self.size()));
  const std::string reduce = call.attributes.String("reduce");
  const bool adds = call.op == Op::scatter_add || reduce == "add" || (call.op == Op::scatter_reduce && reduce == "sum");
  if (!adds && !reduce.empty()) return {};
  if (call.op == Op::scatter_reduce && !call.attributes.Bool("include_self", true)) return {};
  for (size_t d = 0; d < index.size(); ++d) {
    if (static_cast<int>(d) != dim && index[d] > self[d]) return {};
    if (call.has(2) && (call.type(2).shape.size() != index.size() || index[d] > call.type(2).shape[d])) return {};
  }
  const Strides strides = ContiguousStrides(self);
  Strides beside = strides;
  beside[dim] = 0;
  std::vector<Strides> walks{beside};
  if (call.has(2)) walks.push_back(ContiguousStrides(call.type(2).shape));
  Values values = call.values(0);
  bool inside = true;
  ForEach(index, walks, [&](int64_t n, const std::vector<int64_t>& at) {
    const int64_t to = static_cast<int64_t>(call.values(1)[n]);
    inside = inside && to >= 0 && to < self[dim];
    if (!inside) return;
    const double v = call.has(2) ? call.values(2)[at[1]] : call.attributes.Double("value");
    double& target = values[at[0] + to * strides[dim]];
    target = adds ? target + v : v;
  });
  if (!inside) return {};
  return {values};
}

// index_add, index_copy, index_fill: whole slices.
Outputs SlicesWritten(const ConstCall& call) {
  if (call.type(0).rank() == 0) return {};
  const int64_t dim = call.attributes.Int("dim");
  const Lines self = LinesAlong(call.type(0).shape, dim);
  const bool one_value = call.op == Op::index_fill && call.has(2), slices = call.has(2) && !one_value;
  if (slices && call.type(2).rank() == 0) return {};
  const Lines source = slices ? LinesAlong(call.type(2).shape, dim) : Lines();
  const double alpha = call.attributes.Double("alpha", 1);
  Values values = call.values(0);
  for (size_t k = 0; k < call.values(1).size(); ++k) {
    const int64_t at = static_cast<int64_t>(call.values(1)[k]);
    const int64_t to = at < 0 && call.op == Op::index_fill ? at + self.size : at;
    if (to < 0 || to >= self.size) return {};
    for (int64_t line = 0; line < self.count(); ++line) {
      double& target = values[self.At(line, to)];
      const double v = one_value ? call.values(2)[0]
                       : slices  ? call.values(2)[source.At(line, static_cast<int64_t>(k))]
                                 : call.attributes.Double("value");
      target = call.op == Op::index_add ? target + alpha * v : v;
    }
  }
  return {values};
}

Outputs OneHot(const ConstCall& call) {
  Values values(call.out().num_elements(), 0);
  const int64_t classes = call.out().shape.back();
  for (size_t n = 0; n < call.values(0).size(); ++n) {
    const int64_t c = static_cast<int64_t>(call.values(0)[n]);
    if (c < 0 || c >= classes) return {};
    values[static_cast<int64_t>(n) * classes + c] = 1;
  }
  return {values};
}

Outputs Embedding(const ConstCall& call) {
  const Shape& weight = call.type(1).shape;
  const auto rows = call.values(1).begin();
  Values values;
  for (double v : call.values(0)) {
    const int64_t row = static_cast<int64_t>(v);
    if (row < 0 || row >= weight[0]) return {};
    values.insert(values.end(), rows + row * weight[1], rows + (row + 1) * weight[1]);
  }
  return {values};
}

}  // namespace const_rules
}  // namespace cobra::graph

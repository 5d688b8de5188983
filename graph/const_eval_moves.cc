#include <cmath>

#include "graph/const_eval_internal.h"
#include "graph/getitem.h"

namespace cobra::graph {
namespace const_eval {

std::optional<Strides> MovedStrides(Op op, const Attributes& attributes, const Shape& in, const Shape& out) {
  const int rank = static_cast<int>(in.size());
  Strides strides = ContiguousStrides(in);
  switch (op) {
    case Op::permute: {
      Strides moved;
      for (int64_t d : attributes.Ints("dims")) moved.push_back(strides[Wrap(d, rank)]);
      return moved;
    }
    case Op::transpose:
      if (rank > 0) std::swap(strides[Wrap(attributes.Int("dim0"), rank)], strides[Wrap(attributes.Int("dim1"), rank)]);
      return strides;
    case Op::mT:
    case Op::mH:
    case Op::adjoint:
      if (rank > 1) std::swap(strides[rank - 1], strides[rank - 2]);
      return strides;
    case Op::t:
    case Op::T:
    case Op::H: return Strides(strides.rbegin(), strides.rend());
    case Op::movedim: {
      const std::vector<int64_t> source = attributes.Ints("source"), destination = attributes.Ints("destination");
      std::vector<int> from(rank, -1);
      std::vector<bool> used(rank, false);
      for (size_t i = 0; i < source.size(); ++i) {
        from[Wrap(destination[i], rank)] = Wrap(source[i], rank);
        used[Wrap(source[i], rank)] = true;
      }
      int next = 0;
      Strides moved;
      for (int d = 0; d < rank; ++d) {
        while (from[d] < 0 && used[next]) ++next;
        moved.push_back(strides[from[d] < 0 ? next++ : from[d]]);
      }
      return moved;
    }
    case Op::expand:
    case Op::expand_as:
    case Op::broadcast_to: return BroadcastStrides(in, out);
    case Op::diagonal: {
      if (attributes.Int("offset") != 0) return std::nullopt;  // EvalRearranged has it
      const int a = Wrap(attributes.Int("dim1", 0), rank), b = Wrap(attributes.Int("dim2", 1), rank);
      Strides moved;
      for (int i = 0; i < rank; ++i) {
        if (i != a && i != b) moved.push_back(strides[i]);
      }
      moved.push_back(strides[a] + strides[b]);
      return moved;
    }
    default: return std::nullopt;
  }
}

// Pieces along one dimension: chunk, split, unbind, narrow, select.
std::vector<Values> EvalPieces(Op op, const Attributes& attributes, const ConstInput& input,
                               const std::vector<TensorType>& outputs) {
  const Shape& in = input.type->shape;
  const Strides strides = ContiguousStrides(in);
  int dim = Wrap(attributes.Int("dim"), static_cast<int>(in.size()));
  if (op == Op::hsplit) dim = in.size() == 1 ? 0 : 1;
  if (op == Op::dsplit) dim = 2;
  const bool drops = op == Op::unbind || op == Op::select;
  int64_t at = op == Op::narrow ? attributes.Int("start") : op == Op::select ? attributes.Int("index") : 0;
  if (at < 0) at += in[dim];
  std::vector<Values> pieces;
  for (const TensorType& out : outputs) {
    Strides own = strides;
    if (drops) own.erase(own.begin() + dim);
    pieces.push_back(Gathered(*input.values, out.shape, own, at * strides[dim]));
    at += drops ? 1 : out.shape[dim];
  }
  return pieces;
}

Values EvalJoin(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out) {
  Values values(out.num_elements());
  const Strides strides = ContiguousStrides(out.shape);
  const int dim = Wrap(attributes.Int("dim"), out.rank());
  int64_t at = 0;
  for (const ConstInput& input : inputs) {
    Shape shape = input.type->shape;
    if (op == Op::stack) shape.insert(shape.begin() + dim, 1);
    if (shape.size() != out.shape.size()) continue;  // the empty 1-D tensor that cat skips
    ForEach(shape, {strides},
            [&](int64_t n, const std::vector<int64_t>& to) { values[at * strides[dim] + to[0]] = (*input.values)[n]; });
    at += shape[dim];
  }
  return values;
}

std::optional<Values> EvalRearranged(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out) {
  const Shape& in = inputs[0].type->shape;
  const Values& x = *inputs[0].values;
  const int rank = static_cast<int>(in.size());
  const Strides strides = ContiguousStrides(in);
  // A scalar has no dimension to move along.
  if (rank == 0 && (op == Op::flip || op == Op::roll || op == Op::repeat_interleave || op == Op::triu ||
                    op == Op::tril || op == Op::gather || op == Op::index_select)) {
    return std::nullopt;
  }
  Values values;
  const auto each = [&](auto source) {  // source(multi-index) -> element of x
    Shape index(out.shape.size(), 0);
    for (int64_t n = 0; n < out.num_elements(); ++n) {
      values.push_back(source(index));
      for (int d = out.rank() - 1; d >= 0; --d) {
        if (++index[d] < out.shape[d]) break;
        index[d] = 0;
      }
    }
    return std::optional<Values>(values);
  };
  const auto at = [&](const Shape& index) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset += index[d] * strides[d];
    return x[offset];
  };
  switch (op) {
    case Op::flip: {
      const std::vector<int64_t> dims = attributes.Ints("dims");
      return each([&](Shape index) {
        for (int64_t d : dims) index[Wrap(d, rank)] = in[Wrap(d, rank)] - 1 - index[Wrap(d, rank)];
        return at(index);
      });
    }
    case Op::roll: {
      const std::vector<int64_t> dims = attributes.Ints("dims"), shifts = attributes.Ints("shifts");
      if (dims.empty() && shifts.size() == 1) {  // of the flattened tensor
        const int64_t n = static_cast<int64_t>(x.size());
        for (int64_t i = 0; i < n; ++i) values.push_back(x[((i - shifts[0]) % n + n) % n]);
        return values;
      }
      if (dims.size() != shifts.size()) return std::nullopt;
      return each([&](Shape index) {
        for (size_t i = 0; i < dims.size(); ++i) {
          int64_t& v = index[Wrap(dims[i], rank)];
          const int64_t size = in[Wrap(dims[i], rank)];
          v = ((v - shifts[i]) % size + size) % size;
        }
        return at(index);
      });
    }
    case Op::repeat:
    case Op::tile: {
      const int lead = out.rank() - rank;
      return each([&](const Shape& index) {
        Shape own(rank);
        for (int d = 0; d < rank; ++d) own[d] = in[d] == 0 ? 0 : index[lead + d] % in[d];
        return at(own);
      });
    }
    case Op::repeat_interleave: {
      const int64_t repeats = attributes.Int("repeats", 1);
      if (attributes.Find("dim") == nullptr) return each([&](const Shape& index) { return x[index[0] / repeats]; });
      const int dim = Wrap(attributes.Int("dim"), rank);
      return each([&](Shape index) {
        index[dim] /= repeats;
        return at(index);
      });
    }
    case Op::triu:
    case Op::tril: {
      const int64_t diagonal = attributes.Int("diagonal");
      return each([&](const Shape& index) {
        const int64_t offset = index[rank - 1] - index[rank - 2] - diagonal;
        return (op == Op::triu ? offset >= 0 : offset <= 0) ? at(index) : 0.0;
      });
    }
    case Op::diagonal: {
      const int a = Wrap(attributes.Int("dim1", 0), rank), b = Wrap(attributes.Int("dim2", 1), rank);
      const int64_t offset = attributes.Int("offset");
      return each([&](const Shape& index) {
        Shape own(rank);
        int next = 0;
        for (int d = 0; d < rank; ++d) {
          if (d != a && d != b) own[d] = index[next++];
        }
        own[a] = index.back() + std::max<int64_t>(0, -offset);
        own[b] = index.back() + std::max<int64_t>(0, offset);
        return at(own);
      });
    }
    case Op::tensor_unfold: {
      const int dim = Wrap(attributes.Int("dimension"), rank);
      const int64_t step = attributes.Int("step", 1);
      if (rank == 0) return x;
      return each([&](const Shape& index) {
        Shape own(index.begin(), index.begin() + rank);
        own[dim] = index[dim] * step + index.back();
        return at(own);
      });
    }
    case Op::rot90: {
      std::vector<int64_t> dims = attributes.Ints("dims");
      if (dims.empty()) dims = {0, 1};
      const int a = Wrap(dims[0], rank), b = Wrap(dims[1], rank);
      const int64_t turns = ((attributes.Int("k", 1) % 4) + 4) % 4;
      return each([&](Shape index) {
        const int64_t i = index[a], j = index[b];
        if (turns == 1) index[a] = j, index[b] = in[b] - 1 - i;
        if (turns == 2) index[a] = in[a] - 1 - i, index[b] = in[b] - 1 - j;
        if (turns == 3) index[a] = in[a] - 1 - j, index[b] = i;
        return at(index);
      });
    }
    case Op::fliplr:
    case Op::flipud: {
      const int dim = op == Op::fliplr ? 1 : 0;
      return each([&](Shape index) {
        index[dim] = in[dim] - 1 - index[dim];
        return at(index);
      });
    }
    case Op::take_along_dim:
      if (attributes.Find("dim") == nullptr || inputs[1].type->shape != out.shape) return std::nullopt;
      [[fallthrough]];
    case Op::gather:
    case Op::index_select: {
      const int dim = Wrap(attributes.Int("dim"), rank);
      const Values& index_values = *inputs[1].values;
      const Strides index_strides = ContiguousStrides(inputs[1].type->shape);
      bool inside = true;
      each([&](Shape index) {
        int64_t offset = index[dim];
        if (op != Op::index_select) {
          offset = 0;
          for (int d = 0; d < rank; ++d) offset += index[d] * index_strides[d];
        }
        index[dim] = static_cast<int64_t>(index_values[offset]);
        inside = inside && index[dim] >= 0 && index[dim] < in[dim];
        return inside ? at(index) : 0.0;
      });
      return inside ? std::optional<Values>(values) : std::nullopt;
    }
    case Op::cumsum:
    case Op::cumprod: {
      const int dim = Wrap(attributes.Int("dim"), rank);
      values = x;
      if (rank == 0) return values;
      for (int64_t n = 0; n < static_cast<int64_t>(values.size()); ++n) {
        if ((n / strides[dim]) % in[dim] == 0) continue;
        const double before = values[n - strides[dim]];
        values[n] = op == Op::cumsum ? before + values[n] : before * values[n];
      }
      return values;
    }
    case Op::diff: {
      if (rank == 0) return std::nullopt;
      for (size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i].type != nullptr) return std::nullopt;  // prepend, append
      }
      if (attributes.Int("n", 1) != 1) {
        TensorType once = *inputs[0].type;
        const int along = Wrap(attributes.Int("dim", -1), rank);
        if (attributes.Int("n") == 0) return x;
        once.shape[along] = std::max<int64_t>(0, once.shape[along] - 1);
        const std::optional<Values> first =
            EvalRearranged(op, {{"n", int64_t{1}}, {"dim", attributes.Int("dim", -1)}}, inputs, once);
        if (!first) return std::nullopt;
        Values rounded;
        for (double v : *first) rounded.push_back(RoundTo(once.dtype, v));
        const ConstInput next[] = {{&once, &rounded}};
        return EvalRearranged(op, {{"n", attributes.Int("n") - 1}, {"dim", attributes.Int("dim", -1)}}, next, out);
      }
      const int dim = Wrap(attributes.Int("dim", -1), rank);
      return each([&](Shape index) {
        const double before = at(index);
        ++index[dim];
        return at(index) - before;
      });
    }
    case Op::pad: {
      const std::vector<int64_t> pad = attributes.Ints("pad");
      if (attributes.String("mode", "constant") != "constant") return std::nullopt;
      return each([&](Shape index) {
        for (size_t i = 0; i < pad.size() / 2; ++i) index[rank - 1 - i] -= pad[2 * i];
        for (int d = 0; d < rank; ++d) {
          if (index[d] < 0 || index[d] >= in[d]) return attributes.Double("value", 0);
        }
        return at(index);
      });
    }
    default: return std::nullopt;
  }
}

}  // namespace const_eval

using const_eval::BroadcastStrides;
using const_eval::ForEach;

namespace {

// The numbers of each "[0, [1, 2]]" of an index text.
void ReadLists(const std::string& index, const IndexList& items, std::vector<TensorType>* types,
               std::vector<std::vector<double>>* values) {
  for (const IndexItem& item : items) {
    if (item.kind == IndexItem::Kind::kList) types->push_back({item.list_shape, DType::int64});
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

}  // namespace

std::optional<std::vector<int64_t>> IndexMap(const Shape& shape, const std::string& index,
                                             absl::Span<const ConstInput> tensors, const Shape& out) {
  absl::StatusOr<IndexList> items = ParseIndex(index);
  if (!items.ok()) return std::nullopt;
  const Strides strides = ContiguousStrides(shape);
  // Plain items give strides; advanced ones share dimensions of their own.
  Strides plain;
  int64_t start = 0;
  struct Advanced {
    const ConstInput* tensor;
    int64_t stride, size;
  };
  std::vector<Advanced> advanced;
  std::vector<TensorType> list_types;
  std::vector<std::vector<double>> list_values;
  ReadLists(index, *items, &list_types, &list_values);
  std::vector<ConstInput> lists;
  for (size_t i = 0; i < list_types.size(); ++i) lists.push_back({&list_types[i], &list_values[i]});
  size_t dim = 0, consumed = 0, at = 0, position = 0, last = 0, list = 0;
  bool apart = false;
  for (const IndexItem& item : *items) {
    consumed += item.kind == IndexItem::Kind::kInt || item.kind == IndexItem::Kind::kSlice ||
                item.kind == IndexItem::Kind::kTensor || item.kind == IndexItem::Kind::kList;
  }
  if (consumed > shape.size()) return std::nullopt;
  for (const IndexItem& item : *items) {
    ++position;
    switch (item.kind) {
      case IndexItem::Kind::kNone: plain.push_back(0); break;
      case IndexItem::Kind::kInt: {
        start += (item.value < 0 ? item.value + shape[dim] : item.value) * strides[dim];
        ++dim;
        break;
      }
      case IndexItem::Kind::kSlice: {
        const int64_t from = item.start.value_or(0);
        start += std::clamp<int64_t>(from < 0 ? from + shape[dim] : from, 0, shape[dim]) * strides[dim];
        plain.push_back(std::min(item.step.value_or(1), std::max<int64_t>(1, shape[dim])) * strides[dim]);
        ++dim;
        break;
      }
      case IndexItem::Kind::kEllipsis:
        for (size_t n = shape.size() - consumed; n > 0; --n) plain.push_back(strides[dim++]);
        break;
      case IndexItem::Kind::kList:
        if (advanced.empty()) at = plain.size();
        apart = apart || (!advanced.empty() && last != position - 1);
        last = position;
        advanced.push_back({&lists[list++], strides[dim], shape[dim]});
        ++dim;
        break;
      case IndexItem::Kind::kTensor:
        if (tensors[item.value].type->dtype == DType::bool_) return std::nullopt;
        if (advanced.empty()) at = plain.size();
        apart = apart || (!advanced.empty() && last != position - 1);
        last = position;
        advanced.push_back({&tensors[item.value], strides[dim], shape[dim]});
        ++dim;
        break;
      default: return std::nullopt;
    }
  }
  while (dim < shape.size()) plain.push_back(strides[dim++]);
  if (apart) at = 0;
  const size_t extra = out.size() - plain.size();
  Shape middle(out.begin() + at, out.begin() + at + extra);
  std::vector<Strides> all;
  Strides own(out.size(), 0);
  for (size_t i = 0; i < plain.size(); ++i) own[i < at ? i : i + extra] = plain[i];
  all.push_back(own);
  for (const Advanced& a : advanced) {
    Strides mine(out.size(), 0);
    const Strides inner = BroadcastStrides(a.tensor->type->shape, middle);
    for (size_t i = 0; i < inner.size(); ++i) mine[at + i] = inner[i];
    all.push_back(mine);
  }
  std::vector<int64_t> map;
  bool inside = true;
  ForEach(out, all, [&](int64_t, const std::vector<int64_t>& offsets) {
    int64_t from = start + offsets[0];
    for (size_t i = 0; i < advanced.size(); ++i) {
      int64_t value = static_cast<int64_t>((*advanced[i].tensor->values)[offsets[i + 1]]);
      if (value < 0) value += advanced[i].size;
      inside = inside && value >= 0 && value < advanced[i].size;
      from += value * advanced[i].stride;
    }
    map.push_back(from);
  });
  if (!inside) return std::nullopt;
  return map;
}

}  // namespace cobra::graph

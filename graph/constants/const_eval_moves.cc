// Values of calls that only move elements.
#include <string>
#include <utility>

#include "graph/constants/const_rules.h"

namespace cobra::graph::const_rules {
namespace {

// The first input, read with other strides.
Outputs Moved(const ConstCall& call, const Strides& strides) {
  return {Gathered(call.values(0), call.out().shape, strides)};
}

// Reads an element of a tensor by its index.
class ElementAt {
 public:
  ElementAt(const Shape& shape, const Values& values) : strides_(ContiguousStrides(shape)), values_(values) {}
  double operator()(const Shape& index) const {
    int64_t offset = 0;
    for (size_t d = 0; d < strides_.size(); ++d) offset += index[d] * strides_[d];
    return values_[offset];
  }

 private:
  const Strides strides_;
  const Values& values_;
};

// source(index) of every index into `shape`, in row-major order.
template <typename F>
Values EachOf(const Shape& shape, F source) {
  int64_t elements = 1;
  for (int64_t d : shape) elements *= d;
  Values values;
  Shape index(shape.size(), 0);
  for (int64_t n = 0; n < elements; ++n) {
    values.push_back(source(index));
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return values;
}

}  // namespace

Outputs Permuted(const ConstCall& call) {
  const Strides strides = ContiguousStrides(call.type(0).shape);
  Strides moved;
  for (int64_t d : call.attributes.Ints("dims")) moved.push_back(strides[Wrap(d, call.type(0).rank())]);
  return Moved(call, moved);
}

Outputs Transposed(const ConstCall& call) {
  Strides strides = ContiguousStrides(call.type(0).shape);
  const int rank = call.type(0).rank();
  if (rank > 0)
    std::swap(strides[Wrap(call.attributes.Int("dim0"), rank)], strides[Wrap(call.attributes.Int("dim1"), rank)]);
  return Moved(call, strides);
}

Outputs LastTwoSwapped(const ConstCall& call) {
  Strides strides = ContiguousStrides(call.type(0).shape);
  const int rank = call.type(0).rank();
  if (rank > 1) std::swap(strides[rank - 1], strides[rank - 2]);
  return Moved(call, strides);
}

Outputs Reversed(const ConstCall& call) {
  const Strides strides = ContiguousStrides(call.type(0).shape);
  return Moved(call, Strides(strides.rbegin(), strides.rend()));
}

Outputs DimsMoved(const ConstCall& call) {
  const int rank = call.type(0).rank();
  if (rank == 0) return {call.values(0)};
  const Strides strides = ContiguousStrides(call.type(0).shape);
  const std::vector<int64_t> source = call.attributes.Ints("source"), destination = call.attributes.Ints("destination");
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
  return Moved(call, moved);
}

Outputs Expanded(const ConstCall& call) { return Moved(call, BroadcastStrides(call.type(0).shape, call.out().shape)); }

Outputs Diagonal(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const int rank = call.type(0).rank();
  const int a = Wrap(call.attributes.Int("dim1", 0), rank), b = Wrap(call.attributes.Int("dim2", 1), rank);
  const int64_t offset = call.attributes.Int("offset");
  const ElementAt at(in, call.values(0));
  return {EachOf(call.out().shape, [&](const Shape& index) {
    Shape own(rank);
    int next = 0;
    for (int d = 0; d < rank; ++d) {
      if (d != a && d != b) own[d] = index[next++];
    }
    own[a] = index.back() + std::max<int64_t>(0, -offset);
    own[b] = index.back() + std::max<int64_t>(0, offset);
    return at(own);
  })};
}

// Pieces along one dimension: chunk, split, unbind, narrow, select.
Outputs Pieces(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const Strides strides = ContiguousStrides(in);
  int dim = Wrap(call.attributes.Int("dim"), static_cast<int>(in.size()));
  if (call.op == Op::hsplit) dim = in.size() == 1 ? 0 : 1;
  if (call.op == Op::dsplit) dim = 2;
  const bool drops = call.op == Op::unbind || call.op == Op::select;
  int64_t at = 0;
  if (call.op == Op::narrow) at = call.attributes.Int("start");
  if (call.op == Op::select) at = call.attributes.Int("index");
  if (at < 0) at += in[dim];
  Outputs pieces;
  for (const TensorType& out : call.outputs) {
    if (at < 0 || at + (drops ? 1 : out.shape[dim]) > in[dim]) return {};  // tensor_split by indices that decrease
    Strides own = strides;
    if (drops) own.erase(own.begin() + dim);
    pieces.push_back(Gathered(call.values(0), out.shape, own, at * strides[dim]));
    at += drops ? 1 : out.shape[dim];
  }
  return pieces;
}

Values Concatenated(absl::Span<const ConstInput> inputs, int dim, const TensorType& out) {
  Values values(out.num_elements());
  const Strides strides = ContiguousStrides(out.shape);
  int64_t at = 0;
  for (const ConstInput& input : inputs) {
    const Shape& shape = input.type->shape;
    if (shape.size() != out.shape.size()) continue;  // the empty 1-D tensor that cat skips
    ForEach(shape, {strides},
            [&](int64_t n, const std::vector<int64_t>& to) { values[at * strides[dim] + to[0]] = (*input.values)[n]; });
    at += shape[dim];
  }
  return values;
}

namespace {

// Concatenates the inputs as tensors of the shapes that `shape_of` gives them.
template <typename F>
Outputs ConcatenatedAs(const ConstCall& call, int dim, F shape_of) {
  TensorTypes types;
  for (const ConstInput& input : call.inputs) types.push_back({shape_of(*input.type), input.type->dtype});
  std::vector<ConstInput> reshaped;
  for (size_t i = 0; i < types.size(); ++i) reshaped.push_back({&types[i], call.inputs[i].values});
  return {Concatenated(reshaped, dim, call.out())};
}

}  // namespace

// cat, stack
Outputs Joined(const ConstCall& call) {
  if (call.out().num_elements() == 0) return {Values()};
  const int dim = Wrap(call.attributes.Int("dim"), call.out().rank());
  if (call.op == Op::cat) return {Concatenated(call.inputs, dim, call.out())};
  return ConcatenatedAs(call, dim, [&](const TensorType& type) {
    Shape shape = type.shape;
    shape.insert(shape.begin() + dim, 1);
    return shape;
  });
}

// hstack, vstack, row_stack, dstack, column_stack
Outputs Stacked(const ConstCall& call) {
  const auto shape_of = [&](const TensorType& type) {
    Shape shape = type.shape;
    if (call.op == Op::column_stack && shape.size() < 2) return Shape{type.num_elements(), 1};
    if (call.op == Op::dstack) {
      if (shape.size() < 2) shape.insert(shape.begin(), 1);
      while (shape.size() < 3) shape.push_back(1);
    }
    while (shape.size() < (call.op == Op::hstack ? 1u : 2u)) shape.insert(shape.begin(), 1);
    return shape;
  };
  int dim = 0;
  if (call.op == Op::column_stack) dim = 1;
  if (call.op == Op::dstack) dim = 2;
  if (call.op == Op::hstack) dim = shape_of(call.type(0)).size() > 1 ? 1 : 0;
  return ConcatenatedAs(call, dim, shape_of);
}

Outputs Meshgrid(const ConstCall& call) {
  const bool xy = call.attributes.String("indexing", "ij") == "xy" && call.inputs.size() >= 2;
  Outputs grids;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    Strides strides(call.out().shape.size(), 0);
    strides[xy && i < 2 ? 1 - i : i] = 1;
    grids.push_back(Gathered(call.values(i), call.out().shape, strides));
  }
  return grids;
}

// flip, fliplr, flipud
Outputs Flip(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const int rank = call.type(0).rank();
  if (rank == 0 && call.op == Op::flip) return {};
  std::vector<int64_t> dims = call.attributes.Ints("dims");
  if (call.op == Op::fliplr) dims = {1};
  if (call.op == Op::flipud) dims = {0};
  const ElementAt at(in, call.values(0));
  return {EachOf(call.out().shape, [&](Shape index) {
    for (int64_t d : dims) index[Wrap(d, rank)] = in[Wrap(d, rank)] - 1 - index[Wrap(d, rank)];
    return at(index);
  })};
}

Outputs Roll(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const Values& x = call.values(0);
  const int rank = call.type(0).rank();
  if (rank == 0) return {};
  const std::vector<int64_t> dims = call.attributes.Ints("dims"), shifts = call.attributes.Ints("shifts");
  if (dims.empty() && shifts.size() == 1) {  // rolls the flattened tensor
    const int64_t n = static_cast<int64_t>(x.size());
    Values values;
    for (int64_t i = 0; i < n; ++i) values.push_back(x[((i - shifts[0]) % n + n) % n]);
    return {values};
  }
  if (dims.size() != shifts.size()) return {};
  const ElementAt at(in, x);
  return {EachOf(call.out().shape, [&](Shape index) {
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& v = index[Wrap(dims[i], rank)];
      const int64_t size = in[Wrap(dims[i], rank)];
      v = ((v - shifts[i]) % size + size) % size;
    }
    return at(index);
  })};
}

// repeat, tile
Outputs Repeat(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const int rank = call.type(0).rank(), lead = call.out().rank() - rank;
  const ElementAt at(in, call.values(0));
  return {EachOf(call.out().shape, [&](const Shape& index) {
    Shape own(rank);
    for (int d = 0; d < rank; ++d) own[d] = in[d] == 0 ? 0 : index[lead + d] % in[d];
    return at(own);
  })};
}

Outputs RepeatInterleave(const ConstCall& call) {
  const Values& x = call.values(0);
  const int rank = call.type(0).rank();
  if (rank == 0 || call.has(1)) return {};  // `repeats` is a tensor
  const int64_t repeats = call.attributes.Int("repeats", 1);
  if (call.attributes.Find("dim") == nullptr)
    return {EachOf(call.out().shape, [&](const Shape& index) { return x[index[0] / repeats]; })};
  const int dim = Wrap(call.attributes.Int("dim"), rank);
  const ElementAt at(call.type(0).shape, x);
  return {EachOf(call.out().shape, [&](Shape index) {
    index[dim] /= repeats;
    return at(index);
  })};
}

// triu, tril
Outputs Triangle(const ConstCall& call) {
  const int rank = call.type(0).rank();
  if (rank == 0) return {};
  const int64_t diagonal = call.attributes.Int("diagonal");
  const ElementAt at(call.type(0).shape, call.values(0));
  return {EachOf(call.out().shape, [&](const Shape& index) {
    const int64_t offset = index[rank - 1] - index[rank - 2] - diagonal;
    return (call.op == Op::triu ? offset >= 0 : offset <= 0) ? at(index) : 0.0;
  })};
}

Outputs TensorUnfold(const ConstCall& call) {
  const int rank = call.type(0).rank();
  if (rank == 0) return {call.values(0)};
  const int dim = Wrap(call.attributes.Int("dimension"), rank);
  const int64_t step = call.attributes.Int("step", 1);
  const ElementAt at(call.type(0).shape, call.values(0));
  return {EachOf(call.out().shape, [&](const Shape& index) {
    Shape own(index.begin(), index.begin() + rank);
    own[dim] = index[dim] * step + index.back();
    return at(own);
  })};
}

Outputs Rot90(const ConstCall& call) {
  const Shape& in = call.type(0).shape;
  const int rank = call.type(0).rank();
  std::vector<int64_t> dims = call.attributes.Ints("dims");
  if (dims.empty()) dims = {0, 1};
  const int a = Wrap(dims[0], rank), b = Wrap(dims[1], rank);
  const int64_t turns = ((call.attributes.Int("k", 1) % 4) + 4) % 4;
  const ElementAt at(in, call.values(0));
  return {EachOf(call.out().shape, [&](Shape index) {
    const int64_t i = index[a], j = index[b];
    if (turns == 1) index[a] = j, index[b] = in[b] - 1 - i;
    if (turns == 2) index[a] = in[a] - 1 - i, index[b] = in[b] - 1 - j;
    if (turns == 3) index[a] = in[a] - 1 - j, index[b] = i;
    return at(index);
  })};
}

// Pads with a constant in mode "constant", and with elements of the tensor in the other modes.
Outputs Pad(const ConstCall& call) {
  const std::vector<int64_t> pad = call.attributes.Ints("pad");
  const std::string mode = call.attributes.String("mode", "constant");
  const Shape& in = call.type(0).shape;
  const int rank = call.type(0).rank();
  if (static_cast<int>(pad.size() / 2) > rank || (mode != "constant" && call.values(0).empty())) return {};
  const ElementAt at(in, call.values(0));
  return {EachOf(call.out().shape, [&](Shape index) {
    for (size_t i = 0; i < pad.size() / 2; ++i) index[rank - 1 - i] -= pad[2 * i];
    for (int d = 0; d < rank; ++d) {
      int64_t& i = index[d];
      if (mode == "constant" && (i < 0 || i >= in[d])) return call.attributes.Double("value", 0);
      if (mode == "replicate") i = std::clamp<int64_t>(i, 0, in[d] - 1);
      if (mode == "circular") i = (i % in[d] + in[d]) % in[d];
      if (mode == "reflect") i = i < 0 ? -i : i >= in[d] ? 2 * (in[d] - 1) - i : i;
      i = std::clamp<int64_t>(i, 0, in[d] - 1);
    }
    return at(index);
  })};
}

}  // namespace cobra::graph::const_rules

#include "graph/shape/stride_rules.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "graph/getitem.h"
#include "graph/op_rules.h"
#include "graph/saturated.h"

namespace cobra::graph {

Strides ContiguousStrides(const Shape& shape) {
  Strides strides(shape.size());
  int64_t step = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(1, shape[i]);
  }
  return strides;
}

bool IsContiguous(const Shape& shape, const Strides& strides) {
  int64_t step = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    if (strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

std::optional<Strides> ViewStrides(const Shape& shape, const Strides& strides, const Shape& view) {
  // As in PyTorch: walk both shapes from the right over groups of dimensions that are contiguous in
  // memory.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return ContiguousStrides(view);
  Strides out(view.size());
  int v = static_cast<int>(view.size()) - 1;
  int64_t base = shape.empty() ? 1 : strides.back();
  int64_t elements = 1, placed = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    elements *= shape[d];
    const bool chunk_ends = d == 0 || (shape[d - 1] != 1 && strides[d - 1] != elements * base);
    if (!chunk_ends) continue;
    while (v >= 0 && (placed < elements || view[v] == 1)) {
      out[v] = placed * base;
      placed *= view[v--];
    }
    if (placed != elements) return std::nullopt;
    if (d > 0) {
      base = strides[d - 1];
      elements = placed = 1;
    }
  }
  for (; v >= 0; --v) out[v] = placed * base;
  return out;
}

bool IsChannelsLast(const Shape& shape, const Strides& strides, size_t least_rank) {
  const size_t rank = shape.size();
  if (rank < least_rank || rank > 5 || shape[1] == 1 || strides[1] != 1) return false;
  int64_t step = shape[1];
  for (size_t d = rank - 1; d >= 2; --d) {
    if (strides[d] != step && shape[d] != 1) return false;
    step *= shape[d];
  }
  return true;
}

bool SuggestsChannelsLast(const Shape& shape, const Strides& strides) {
  if (shape.size() != 4 || strides[1] == 0) return false;
  int64_t least = 0;
  for (const size_t d : {1, 3, 2, 0}) {
    if (shape[d] == 0 || strides[d] < least || (d == 0 && least == strides[1])) return false;
    least = Times(strides[d], std::max<int64_t>(1, shape[d]));
  }
  return true;
}

Strides ChannelsLastStrides(const Shape& shape) {
  if (shape.size() < 2) return ContiguousStrides(shape);
  Strides strides(shape.size());
  int64_t step = std::max<int64_t>(1, shape[1]);
  strides[1] = 1;
  for (size_t d = shape.size() - 1; d >= 2; --d) {
    strides[d] = step;
    step *= std::max<int64_t>(1, shape[d]);
  }
  strides[0] = step;
  return strides;
}

namespace {

// Whether the strides reach every element once without gaps, in any order of dimensions.
bool IsDense(const Shape& shape, const Strides& strides) {
  int64_t next = 1;
  int i = static_cast<int>(shape.size()) - 1;
  for (; i >= 0 && (shape[i] == 1 || strides[i] == next); --i) next *= shape[i];
  if (i < 0) return true;  // in row-major order
  absl::InlinedVector<int, 8> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return strides[a] < strides[b]; });
  int64_t step = 1;
  for (int d : order) {
    if (shape[d] == 1) continue;
    if (strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

// Of an operand in each dimension of what it broadcasts to: 0 where it is repeated.
Strides BroadcastStrides(const Shape& out, const StridedShape& operand) {
  Strides strides(out.size(), 0);
  const size_t lead = out.size() - operand.shape.size();
  for (size_t d = 0; d < operand.shape.size(); ++d)
    strides[lead + d] = operand.shape[d] == 1 && out[lead + d] != 1 ? 0 : operand.strides[d];
  return strides;
}

bool BroadcastsTo(const Shape& shape, const Shape& out) {
  if (shape.size() > out.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1 && shape[d] != out[out.size() - shape.size() + d]) return false;
  }
  return true;
}

// The arguments of a stride rule for one view call: the rule turns `strides` of the input (shape
// `in`) into strides of the output (shape `out`).
struct ViewCall {
  const Node& node;
  const Shape& in;
  const Strides& strides;
  const Shape& out;

  int rank() const { return static_cast<int>(in.size()); }
  int Wrapped(int64_t d) const { return static_cast<int>(d < 0 ? d + std::max(rank(), 1) : d); }
  int Dim(absl::string_view name) const { return Wrapped(node.attributes.Int(name)); }
};

Strides Permuted(const ViewCall& call) {
  Strides moved;
  for (int64_t d : call.node.attributes.Ints("dims")) moved.push_back(call.strides[call.Wrapped(d)]);
  return moved;
}

Strides Transposed(const ViewCall& call) {
  Strides moved = call.strides;
  if (call.rank() > 0) std::swap(moved[call.Dim("dim0")], moved[call.Dim("dim1")]);
  return moved;
}

Strides LastTwoSwapped(const ViewCall& call) {
  Strides moved = call.strides;
  if (call.rank() > 1) std::swap(moved[call.rank() - 1], moved[call.rank() - 2]);
  return moved;
}

Strides DimDropped(const ViewCall& call) {
  Strides moved = call.strides;
  moved.erase(moved.begin() + call.Dim("dim"));
  return moved;
}

Strides Unsqueezed(const ViewCall& call) {
  Strides moved = call.strides;
  const int64_t dim = call.node.attributes.Int("dim");
  const int at = static_cast<int>(dim < 0 ? dim + call.rank() + 1 : dim);
  moved.insert(moved.begin() + at, at < call.rank() ? call.strides[at] * call.in[at] : 1);
  return moved;
}

Strides Squeezed(const ViewCall& call) {
  const int rank = call.rank();
  std::vector<int64_t> dims = call.node.attributes.Ints("dim");
  Strides moved;
  for (int i = 0; i < rank; ++i) {
    bool named = call.node.attributes.Find("dim") == nullptr;
    for (int64_t d : dims) named = named || d == i || d + rank == i;
    if (!named || call.in[i] != 1) moved.push_back(call.strides[i]);
  }
  return moved;
}

Strides Expanded(const ViewCall& call) {
  Strides moved(call.out.size(), 0);
  const int lead = static_cast<int>(call.out.size()) - call.rank();
  for (int i = 0; i < call.rank(); ++i) moved[lead + i] = call.in[i] == call.out[lead + i] ? call.strides[i] : 0;
  return moved;
}

// What basic indexing makes of the input, and where tensors and lists select: their dimensions
// follow at `selected`.
struct BasicIndex {
  Strides strides;
  std::vector<bool> is_selected;  // [dimension]: by a tensor or a list
  bool has_mask = false;
};

BasicIndex BasicPart(const ViewCall& call, const IndexList& index) {
  const Shape& in = call.in;
  const auto consumes = [](const IndexItem& item) {
    return item.kind != IndexItem::Kind::kNone && item.kind != IndexItem::Kind::kBool &&
           item.kind != IndexItem::Kind::kEllipsis;
  };
  size_t consumed = static_cast<size_t>(std::count_if(index.begin(), index.end(), consumes));
  BasicIndex basic;
  const auto add = [&basic](int64_t stride, bool selected) {
    basic.strides.push_back(stride);
    basic.is_selected.push_back(selected);
  };
  size_t dim = 0;
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::Kind::kEllipsis) {
      while (in.size() - dim > consumed) add(call.strides[dim++], false);
      continue;
    }
    if (!consumes(item)) {
      basic.has_mask = basic.has_mask || item.kind == IndexItem::Kind::kBool;
      add(0, false);
      continue;
    }
    --consumed;
    if (dim >= in.size()) break;
    const int64_t step = std::min(item.step.value_or(1), std::max<int64_t>(1, in[dim]));
    if (item.kind == IndexItem::Kind::kSlice) add(call.strides[dim] * step, false);
    if (item.kind == IndexItem::Kind::kTensor || item.kind == IndexItem::Kind::kList) add(0, true);
    ++dim;
  }
  while (dim < in.size()) add(call.strides[dim++], false);
  return basic;
}

Strides Indexed(const ViewCall& call) {
  absl::StatusOr<IndexList> index = ParseIndex(call.node.attributes.String("index"));
  if (!index.ok()) return ContiguousStrides(call.out);
  const BasicIndex basic = BasicPart(call, *index);
  const auto selected = std::find(basic.is_selected.begin(), basic.is_selected.end(), true);
  if (selected == basic.is_selected.end())
    return basic.strides.size() == call.out.size() ? basic.strides : ContiguousStrides(call.out);
  // What is left keeps its order (TensorIterator, with stride 0 where tensors select). The
  // dimensions of the indices stand where the first of them is, or in front if others are between
  // them.
  const size_t count = static_cast<size_t>(std::count(selected, basic.is_selected.end(), true));
  const size_t kept = basic.strides.size() - count;
  if (basic.has_mask || call.out.size() < kept) return ContiguousStrides(call.out);
  const auto end = std::find(selected, basic.is_selected.end(), false);
  const bool adjacent = static_cast<size_t>(end - selected) == count;
  const size_t at = adjacent ? static_cast<size_t>(selected - basic.is_selected.begin()) : 0;
  Strides source;
  for (size_t i = 0; i < basic.strides.size(); ++i) {
    if (!basic.is_selected[i]) source.push_back(basic.strides[i]);
  }
  source.insert(source.begin() + static_cast<std::ptrdiff_t>(at), call.out.size() - kept, 0);
  return ElementwiseStrides(call.out, {{call.out, source}});
}

Strides Moved(const ViewCall& call) {
  const int rank = call.rank();
  const std::vector<int64_t> source = call.node.attributes.Ints("source");
  const std::vector<int64_t> destination = call.node.attributes.Ints("destination");
  if (rank == 0 || source.size() != destination.size()) return ContiguousStrides(call.out);
  std::vector<int> from(static_cast<size_t>(rank), -1);
  std::vector<bool> used(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < source.size(); ++i) {
    from[static_cast<size_t>(call.Wrapped(destination[i]))] = call.Wrapped(source[i]);
    used[static_cast<size_t>(call.Wrapped(source[i]))] = true;
  }
  Strides moved;
  int next = 0;
  for (int d = 0; d < rank; ++d) {
    if (from[static_cast<size_t>(d)] < 0) {
      while (used[static_cast<size_t>(next)]) ++next;
      from[static_cast<size_t>(d)] = next++;
    }
    moved.push_back(call.strides[from[static_cast<size_t>(d)]]);
  }
  return moved;
}

Strides Diagonal(const ViewCall& call) {
  const bool last_two = call.node.op == Op::linalg_diagonal;
  const int d1 = call.Wrapped(call.node.attributes.Int("dim1", last_two ? -2 : 0));
  const int d2 = call.Wrapped(call.node.attributes.Int("dim2", last_two ? -1 : 1));
  Strides moved;
  for (int d = 0; d < call.rank(); ++d) {
    if (d != d1 && d != d2) moved.push_back(call.strides[d]);
  }
  moved.push_back(call.strides[d1] + call.strides[d2]);
  return moved;
}

Strides Windowed(const ViewCall& call) {
  Strides moved = call.strides;
  if (call.rank() == 0) return ContiguousStrides(call.out);
  const int dim = call.Dim("dimension");
  const int64_t stride = moved[dim];
  moved[dim] = stride * call.node.attributes.Int("step", 1);
  moved.push_back(stride);
  return moved;
}

// real, imag and view_as_real of a complex tensor: of pairs of numbers.
Strides Pairs(const ViewCall& call) {
  Strides moved = call.strides;
  for (int64_t& stride : moved) stride *= 2;
  if (call.out.size() > call.in.size()) moved.push_back(1);
  return moved;
}

// A flip, whose dimensions are swapped after a quarter turn.
Strides Rotated(const ViewCall& call) {
  Strides moved = ElementwiseStrides(call.in, {{call.in, call.strides}});
  const int64_t turns = ((call.node.attributes.Int("k", 1) % 4) + 4) % 4;
  std::vector<int64_t> dims = call.node.attributes.Ints("dims");
  if (dims.empty()) dims = {0, 1};
  if (turns % 2 == 1 && dims.size() == 2) std::swap(moved[call.Wrapped(dims[0])], moved[call.Wrapped(dims[1])]);
  return moved;
}

// Dimensions in the order of the input's, without gaps; the sizes may be others.
std::optional<Strides> InOrderOf(const Shape& out, const StridedShape& in) {
  if (in.shape.size() != out.size()) return std::nullopt;
  return ElementwiseStrides(out, {{out, in.strides}});
}

// One term of an einsum: a letter for each dimension. False where one has dots or a letter twice.
bool IsPlainTerm(const std::string& term) {
  for (size_t i = 0; i < term.size(); ++i) {
    if (!absl::ascii_isalpha(static_cast<unsigned char>(term[i])) || term.find(term[i]) != i) return false;
  }
  return true;
}

// Of one operand a view, if nothing is summed. Of two that share summed letters a batched product,
// whose memory has the letters of both, those of the first, those of the second.
std::optional<Strides> EinsumStrides(const Node& node, const Shape& out, absl::Span<const StridedShape> inputs) {
  std::string equation = node.attributes.String("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  if (arrow == equation.npos) return std::nullopt;
  const std::string result = equation.substr(arrow + 2);
  const std::vector<std::string> terms = absl::StrSplit(equation.substr(0, arrow), ',');
  if (terms.size() != inputs.size() || terms.size() > 2 || !IsPlainTerm(result) || result.size() != out.size())
    return std::nullopt;
  for (const std::string& term : terms) {
    if (!IsPlainTerm(term)) return std::nullopt;
  }
  if (terms.size() == 1) {
    if (terms[0].size() != result.size()) return std::nullopt;
    Strides moved;
    for (char letter : result) moved.push_back(inputs[0].strides[terms[0].find(letter)]);
    return moved;
  }
  std::string both, first, second;
  bool sums = false;
  for (char letter : terms[0])
    sums = sums || (result.find(letter) == result.npos && terms[1].find(letter) != std::string::npos);
  for (char letter : result) {
    const bool in_first = terms[0].find(letter) != std::string::npos;
    const bool in_second = terms[1].find(letter) != std::string::npos;
    (in_first && in_second ? both : in_first ? first : second) += letter;
  }
  if (!sums) {  // a product of elements, of the operands' views
    std::vector<StridedShape> views(2);
    for (size_t k = 0; k < 2; ++k) {
      for (size_t d = 0; d < result.size(); ++d) {
        const size_t at = terms[k].find(result[d]);
        views[k].shape.push_back(at == std::string::npos ? 1 : inputs[k].shape[at]);
        views[k].strides.push_back(at == std::string::npos ? 0 : inputs[k].strides[at]);
      }
    }
    return ElementwiseStrides(out, views);
  }
  const std::string order = both + first + second;
  Strides strides(out.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = result.find(order[i]);
    strides[d] = step;
    step *= std::max<int64_t>(1, out[d]);
  }
  return strides;
}

}  // namespace

Strides ElementwiseStrides(const Shape& out, absl::Span<const StridedShape> operands) {
  std::vector<Strides> strides;
  bool same = true, contiguous = true, dense = true;
  for (const StridedShape& operand : operands) {
    if (!BroadcastsTo(operand.shape, out)) return ContiguousStrides(out);
    same = same && operand.shape == out;
    contiguous = contiguous && IsContiguous(operand.shape, operand.strides);
    strides.push_back(BroadcastStrides(out, operand));
    dense = dense && same && IsDense(out, operand.strides) && operand.strides == operands[0].strides;
  }
  if (operands.empty() || (same && contiguous)) return ContiguousStrides(out);
  if (same && dense) return operands[0].strides;
  // Whether dimension a has to lie outside of b: 1, inside: -1, or none of the operands tells.
  const auto compare = [&](int a, int b) {
    for (const Strides& s : strides) {
      if (s[a] == 0 || s[b] == 0) continue;
      if (s[a] != s[b]) return s[a] < s[b] ? -1 : 1;
      if (out[a] > out[b]) return 1;
    }
    return 0;
  };
  const int rank = static_cast<int>(out.size());
  std::vector<int> order(static_cast<size_t>(rank));  // innermost first
  std::iota(order.rbegin(), order.rend(), 0);
  for (int i = 1; i < rank; ++i) {
    int moving = i;
    for (int j = i - 1; j >= 0; --j) {
      const int way = compare(order[static_cast<size_t>(j)], order[static_cast<size_t>(moving)]);
      if (way < 0) break;
      if (way == 0) continue;
      std::swap(order[static_cast<size_t>(j)], order[static_cast<size_t>(moving)]);
      moving = j;
    }
  }
  Strides result(out.size());
  int64_t step = 1;
  for (int d : order) {
    result[d] = step;
    step *= std::max<int64_t>(1, out[d]);
  }
  return result;
}

namespace {

std::optional<Strides> NewTensorStrides(const Node& node, const Shape& out, absl::Span<const StridedShape> inputs) {
  const auto& [in, strides] = inputs[0];
  const auto channels_last_if = [&out = out](bool condition) {
    return condition ? std::optional<Strides>(ChannelsLastStrides(out)) : std::nullopt;
  };
  switch (RulesOf(node.op).strides) {
    case StrideRule::kDense:
      return in == out ? std::optional<Strides>(ElementwiseStrides(out, {{in, strides}})) : std::nullopt;
    case StrideRule::kElementwise: {
      std::vector<StridedShape> operands;
      for (const StridedShape& input : inputs) {
        if (!input.strides.empty()) operands.push_back(input);  // none or a number: no order
      }
      return ElementwiseStrides(out, operands);
    }
    case StrideRule::kOrdered:  // diff joins what is put before or behind
      return inputs.size() > 1 && !(inputs[1].shape.empty() && inputs.back().shape.empty()) ? std::nullopt
                                                                                            : InOrderOf(out, inputs[0]);
    case StrideRule::kInnermost:
      return strides.empty() || strides.back() != 1 ? std::nullopt : InOrderOf(out, inputs[0]);
    case StrideRule::kChannelsLast: return channels_last_if(out.size() == in.size() && IsChannelsLast(in, strides));
    case StrideRule::kSuggested: return channels_last_if(SuggestsChannelsLast(in, strides));
    case StrideRule::kPooledLine: return channels_last_if(out.size() == in.size() && IsChannelsLast(in, strides, 3));
    case StrideRule::kConcatenated:
      for (const StridedShape& input : inputs) {
        if (!IsChannelsLast(input.shape, input.strides)) return std::nullopt;
      }
      return channels_last_if(out.size() == in.size());
    case StrideRule::kBatchFirst: {
      if (!node.attributes.Bool("batch_first") || out.size() != 3 || in.size() != 3) return std::nullopt;
      return Strides{out[2], out[0] * out[2], 1};
    }
    case StrideRule::kColumns: {
      if (out.size() < 2 || out.size() != in.size()) return std::nullopt;
      Shape swapped = out;
      std::swap(swapped[out.size() - 1], swapped[out.size() - 2]);
      Strides columns = ContiguousStrides(swapped);
      std::swap(columns[out.size() - 1], columns[out.size() - 2]);
      return columns;
    }
    case StrideRule::kRotated: return Rotated({node, in, strides, out});
    case StrideRule::kEinsum: return EinsumStrides(node, out, inputs);
    default: return std::nullopt;
  }
}

std::optional<Strides> StridesOfOutput(const Node& node, size_t output, absl::Span<const StridedShape> inputs) {
  const auto& [in, strides] = inputs[0];
  const Shape& out = node.outputs[output].shape;
  const ViewCall view{node, in, strides, out};
  switch (RulesOf(node.op).strides) {
    case StrideRule::kMadeContiguous: return IsContiguous(in, strides) ? std::optional<Strides>(strides) : std::nullopt;
    case StrideRule::kViewed:
      if (!node.attributes.String("dtype").empty()) return ContiguousStrides(out);  // the memory read as another dtype
      return ViewStrides(in, strides, out);
    case StrideRule::kReshaped: return ViewStrides(in, strides, out);
    case StrideRule::kRavelled: return IsContiguous(in, strides) ? std::optional<Strides>(Strides{1}) : std::nullopt;
    case StrideRule::kKept: return out.size() == in.size() ? strides : ContiguousStrides(out);
    case StrideRule::kEach: {
      const StridedShape& own = inputs[std::min(output, inputs.size() - 1)];
      if (own.shape == out) return own.strides;
      return BroadcastsTo(own.shape, out) ? BroadcastStrides(out, own) : ContiguousStrides(out);
    }
    case StrideRule::kBase: return inputs.size() > 1 ? inputs[1].strides : strides;
    case StrideRule::kPermuted: return Permuted(view);
    case StrideRule::kTransposed: return Transposed(view);
    case StrideRule::kMoved: return Moved(view);
    case StrideRule::kLastTwoSwapped: return LastTwoSwapped(view);
    case StrideRule::kReversed: return Strides(strides.rbegin(), strides.rend());
    case StrideRule::kDimDropped: return DimDropped(view);
    case StrideRule::kDiagonal: return Diagonal(view);
    case StrideRule::kWindowed: return Windowed(view);
    case StrideRule::kPairs: return IsComplex(node.outputs[output].dtype) ? strides : Pairs(view);
    case StrideRule::kUnsqueezed: return Unsqueezed(view);
    case StrideRule::kSqueezed: return Squeezed(view);
    case StrideRule::kExpanded: return Expanded(view);
    case StrideRule::kIndexed: return Indexed(view);
    default: return NewTensorStrides(node, out, inputs);
  }
}

}  // namespace

std::optional<Strides> StridesByRule(const Node& node, size_t output, absl::Span<const StridedShape> inputs) {
  std::optional<Strides> strides = StridesOfOutput(node, output, inputs);
  // Later rules index the strides by the shape's dimensions, whatever an untrusted graph has led
  // to.
  if (strides.has_value() && strides->size() != node.outputs[output].shape.size()) return std::nullopt;
  return strides;
}

}  // namespace cobra::graph

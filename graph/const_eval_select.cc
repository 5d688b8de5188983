// Sorting, searching, scattering, contracting: what chooses or combines elements of small constants.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "absl/strings/str_split.h"
#include "graph/const_eval_internal.h"

namespace cobra::graph::const_eval {
namespace {

// A tensor as lines along one dimension.
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;
  int64_t At(int64_t line, int64_t i) const { return (line / inner * size + i) * inner + line % inner; }
  int64_t count() const { return outer * inner; }
};

Lines LinesAlong(const Shape& shape, int64_t dim) {
  Lines lines;
  const int at = Wrap(dim, static_cast<int>(shape.size()));
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    (d < at ? lines.outer : d == at ? lines.size : lines.inner) *= shape[d];
  }
  return lines;
}

// sort, argsort, topk, kthvalue, median: the order of each line, and how much of it is kept.
std::vector<Values> Sorted(Op op, const Attributes& attributes, const ConstInput& input) {
  const Lines lines = LinesAlong(input.type->shape, op == Op::msort ? 0 : attributes.Int("dim", -1));
  const Values& x = *input.values;
  const bool descending = op == Op::topk ? attributes.Bool("largest", true) : attributes.Bool("descending");
  int64_t first = 0, kept = lines.size;
  if (op == Op::topk) kept = attributes.Int("k", 1);
  if (op == Op::kthvalue) first = attributes.Int("k", 1) - 1;
  if (op == Op::median) first = (lines.size - 1) / 2;
  if (op == Op::kthvalue || op == Op::median) kept = 1;
  Values values(lines.count() * kept), indices(lines.count() * kept);
  std::vector<int64_t> order(lines.size);
  for (int64_t line = 0; line < lines.count(); ++line) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const double p = x[lines.At(line, a)], q = x[lines.At(line, b)];
      return descending ? p > q : p < q;
    });
    for (int64_t i = 0; i < kept; ++i) {
      const int64_t to = (line / lines.inner * kept + i) * lines.inner + line % lines.inner;
      values[to] = x[lines.At(line, order[first + i])];
      indices[to] = static_cast<double>(order[first + i]);
    }
  }
  if (op == Op::argsort) return {indices};
  return {values, indices};
}

std::vector<Values> RunningExtremum(Op op, const Attributes& attributes, const ConstInput& input) {
  const Lines lines = LinesAlong(input.type->shape, attributes.Int("dim"));
  Values values = *input.values, indices(values.size());
  for (int64_t line = 0; line < lines.count(); ++line) {
    double best = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < lines.size; ++i) {
      double& v = values[lines.At(line, i)];
      if (i == 0 || (op == Op::cummax ? v >= best : v <= best)) {
        best = v;
        at = i;
      }
      v = best;
      indices[lines.At(line, i)] = static_cast<double>(at);
    }
  }
  return {values, indices};
}

std::optional<Values> Searched(Op op, const Attributes& attributes, Inputs inputs) {
  const bool buckets = op == Op::bucketize;
  const ConstInput& sorted = inputs[buckets ? 1 : 0];
  if (!buckets && inputs.size() > 2 && inputs[2].type != nullptr) return std::nullopt;
  Values wanted;
  if (const ConstInput* input = buckets                                          ? &inputs[0]
                                : inputs.size() > 1 && inputs[1].type != nullptr ? &inputs[1]
                                                                                 : nullptr) {
    wanted = *input->values;
  } else {
    wanted = {attributes.Double("input")};
  }
  const bool right = attributes.Bool("right") || attributes.String("side") == "right";
  const int64_t row = sorted.type->shape.back();
  const int64_t rows = sorted.type->rank() == 1 ? 1 : sorted.type->num_elements() / std::max<int64_t>(row, 1);
  const int64_t each = static_cast<int64_t>(wanted.size()) / std::max<int64_t>(rows, 1);
  Values out;
  for (size_t n = 0; n < wanted.size(); ++n) {
    const auto begin = sorted.values->begin() + (rows == 1 ? 0 : static_cast<int64_t>(n) / each * row),
               end = begin + row;
    out.push_back(static_cast<double>(
        (right ? std::upper_bound(begin, end, wanted[n]) : std::lower_bound(begin, end, wanted[n])) - begin));
  }
  return out;
}

// scatter and kin: element n of `index` says where along `dim` element n of the source goes.
std::optional<Values> Scattered(Op op, const Attributes& attributes, Inputs inputs) {
  const Shape& self = inputs[0].type->shape;
  const Shape& index = inputs[1].type->shape;
  if (self.size() != index.size() || self.empty()) return std::nullopt;
  const int dim = Wrap(attributes.Int("dim"), static_cast<int>(self.size()));
  const bool has_source = inputs.size() > 2 && inputs[2].type != nullptr;
  const std::string reduce = attributes.String("reduce");
  const bool adds = op == Op::scatter_add || reduce == "add" || (op == Op::scatter_reduce && reduce == "sum");
  if (!adds && !reduce.empty()) return std::nullopt;
  if (op == Op::scatter_reduce && !attributes.Bool("include_self", true)) return std::nullopt;
  const Strides strides = ContiguousStrides(self);
  Strides beside = strides;
  beside[dim] = 0;
  std::vector<Strides> walks{beside};
  if (has_source) walks.push_back(ContiguousStrides(inputs[2].type->shape));
  Values values = *inputs[0].values;
  bool inside = true;
  ForEach(index, walks, [&](int64_t n, const std::vector<int64_t>& at) {
    const int64_t to = static_cast<int64_t>((*inputs[1].values)[n]);
    inside = inside && to >= 0 && to < self[dim];
    if (!inside) return;
    const double v = has_source ? (*inputs[2].values)[at[1]] : attributes.Double("value");
    double& target = values[at[0] + to * strides[dim]];
    target = adds ? target + v : v;
  });
  return inside ? std::optional<Values>(values) : std::nullopt;
}

// index_add, index_copy, index_fill: whole slices.
std::optional<Values> SlicesWritten(Op op, const Attributes& attributes, Inputs inputs) {
  if (inputs[0].type->rank() == 0) return std::nullopt;
  const Lines self = LinesAlong(inputs[0].type->shape, attributes.Int("dim"));
  const bool has_source = inputs.size() > 2 && inputs[2].type != nullptr;
  const bool one_value = op == Op::index_fill && has_source;
  if (has_source && !one_value && inputs[2].type->rank() == 0) return std::nullopt;
  const Lines source = has_source && !one_value ? LinesAlong(inputs[2].type->shape, attributes.Int("dim")) : Lines();
  const double alpha = attributes.Double("alpha", 1);
  Values values = *inputs[0].values;
  for (size_t k = 0; k < inputs[1].values->size(); ++k) {
    const int64_t at = static_cast<int64_t>((*inputs[1].values)[k]);
    const int64_t to = at < 0 && op == Op::index_fill ? at + self.size : at;
    if (to < 0 || to >= self.size) return std::nullopt;
    for (int64_t line = 0; line < self.count(); ++line) {
      double& target = values[self.At(line, to)];
      const double v = one_value    ? (*inputs[2].values)[0]
                       : has_source ? (*inputs[2].values)[source.At(line, static_cast<int64_t>(k))]
                                    : attributes.Double("value");
      target = op == Op::index_add ? target + alpha * v : v;
    }
  }
  return values;
}

// Sums of products over letters; nullopt for an ellipsis or too much work.
std::optional<Values> Contracted(const std::string& text, Inputs inputs, const Shape& out) {
  std::string equation = text;
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  if (equation.find('.') != std::string::npos) return std::nullopt;
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = absl::StrSplit(equation.substr(0, arrow), ',');
  std::map<char, int64_t> sizes;
  std::map<char, int> uses;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) {
      int64_t& size = sizes[terms[i][d]];
      size = std::max(size, inputs[i].type->shape[d]);
      ++uses[terms[i][d]];
    }
  }
  std::string kept;
  if (arrow != std::string::npos) {
    kept = equation.substr(arrow + 2);
  } else {
    for (const auto& [letter, count] : uses) {
      if (count == 1) kept += letter;
    }
  }
  Shape whole = out;
  std::string letters = kept;
  for (const auto& [letter, size] : sizes) {
    if (kept.find(letter) == std::string::npos) {
      letters += letter;
      whole.push_back(size);
    }
  }
  int64_t work = 1;
  for (int64_t d : whole) work *= d;
  if (work > 4 * kMaxConstElements) return std::nullopt;
  std::vector<Strides> walks;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Strides own = ContiguousStrides(inputs[i].type->shape);
    Strides walk(letters.size(), 0);
    for (size_t d = 0; d < terms[i].size(); ++d) {
      if (inputs[i].type->shape[d] != 1) walk[letters.find(terms[i][d])] += own[d];
    }
    walks.push_back(walk);
  }
  int64_t elements = 1;
  for (int64_t d : out) elements *= d;
  Values values(elements, 0);
  const int64_t summed = elements == 0 ? 1 : std::max<int64_t>(1, work / elements);
  ForEach(whole, walks, [&](int64_t n, const std::vector<int64_t>& at) {
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) product *= (*inputs[i].values)[at[i]];
    values[n / summed] += product;
  });
  return values;
}

std::string EquationOf(Op op, Inputs inputs) {
  const int a = inputs[0].type->rank(), b = inputs.size() > 1 && inputs[1].type != nullptr ? inputs[1].type->rank() : 0;
  if (op == Op::dot || op == Op::vdot) return "i,i->";
  if (op == Op::mv || (op == Op::matmul && a == 2 && b == 1)) return "ij,j->i";
  if (op == Op::bmm) return "bij,bjk->bik";
  if (op == Op::outer || op == Op::ger) return "i,j->ij";
  if (op == Op::linear && inputs.size() < 3 && a == 2 && b == 2) return "ij,kj->ik";
  if (op != Op::matmul && op != Op::mm) return "";
  if (a == 1 && b == 1) return "i,i->";
  if (a == 1 && b == 2) return "i,ij->j";
  if (a == 2 && b == 2) return "ij,jk->ik";
  if (a == 3 && b == 3) return "bij,bjk->bik";
  if (a == 3 && b == 2) return "bij,jk->bik";
  if (a == 4 && b == 4) return "abij,abjk->abik";
  return "";
}

std::optional<Values> Softened(Op op, const Attributes& attributes, const ConstInput& input) {
  const Lines lines = LinesAlong(input.type->shape, attributes.Int("dim", -1));
  Values values = *input.values;
  for (int64_t line = 0; line < lines.count() && lines.size > 0; ++line) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < lines.size; ++i) largest = std::max(largest, values[lines.At(line, i)]);
    for (int64_t i = 0; i < lines.size; ++i) sum += std::exp(values[lines.At(line, i)] - largest);
    for (int64_t i = 0; i < lines.size; ++i) {
      double& v = values[lines.At(line, i)];
      v = op == Op::softmax ? std::exp(v - largest) / sum : v - largest - std::log(sum);
    }
  }
  return values;
}

// Where tensors stand on the diagonal of a larger one.
std::optional<Values> OnDiagonals(Op op, const Attributes& attributes, Inputs inputs, const TensorType& out) {
  Values values(out.num_elements(), 0);
  const Shape& in = inputs[0].type->shape;
  if (op == Op::block_diag) {
    int64_t row = 0, column = 0;
    for (const ConstInput& input : inputs) {
      const Shape& shape = input.type->shape;
      const int64_t rows = shape.size() < 2 ? 1 : shape[0], columns = shape.empty() ? 1 : shape.back();
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j)
          values[(row + i) * out.shape[1] + column + j] = (*input.values)[i * columns + j];
      }
      row += rows;
      column += columns;
    }
    return values;
  }
  const int64_t offset = attributes.Int(op == Op::diag ? "diagonal" : "offset");
  const int64_t down = std::max<int64_t>(0, -offset), right = std::max<int64_t>(0, offset);
  if (op == Op::diag && in.size() == 2) {  // the diagonal of a matrix
    for (int64_t i = 0; i < out.num_elements(); ++i) values[i] = (*inputs[0].values)[(i + down) * in[1] + i + right];
    return values;
  }
  if (op == Op::diag_embed && (attributes.Int("dim1", -2) != -2 || attributes.Int("dim2", -1) != -1))
    return std::nullopt;
  const int64_t n = out.shape.back(),
                length = op == Op::diagflat ? static_cast<int64_t>(inputs[0].values->size()) : in.back();
  for (int64_t k = 0; k < static_cast<int64_t>(inputs[0].values->size()); ++k) {
    const int64_t matrix = k / length, i = k % length;
    values[(matrix * n + i + down) * n + i + right] = (*inputs[0].values)[k];
  }
  return values;
}

std::optional<Values> Joined(Op op, Inputs inputs, const TensorType& out) {
  std::vector<TensorType> types;
  for (const ConstInput& input : inputs) {
    Shape shape = input.type->shape;
    if (op == Op::column_stack && shape.size() < 2) {
      shape = {input.type->num_elements(), 1};
    } else if (op == Op::dstack) {
      if (shape.size() < 2) shape.insert(shape.begin(), 1);
      while (shape.size() < 3) shape.push_back(1);
    } else {
      while (shape.size() < (op == Op::hstack ? 1u : 2u)) shape.insert(shape.begin(), 1);
    }
    types.push_back({shape, input.type->dtype});
  }
  int64_t dim = 0;
  if (op == Op::column_stack) dim = 1;
  if (op == Op::dstack) dim = 2;
  if (op == Op::hstack) dim = types[0].rank() > 1 ? 1 : 0;
  std::vector<ConstInput> raised;
  for (size_t i = 0; i < types.size(); ++i) raised.push_back({&types[i], inputs[i].values});
  return EvalJoin(Op::cat, {{"dim", dim}}, raised, out);
}

Values Chosen(const Attributes& attributes, const ConstInput& input) {  // torch.combinations
  const int64_t n = input.type->shape[0], r = attributes.Int("r", 2);
  const bool again = attributes.Bool("with_replacement");
  Values values;
  std::vector<int64_t> pick(r);
  for (int64_t i = 0; i < r; ++i) pick[i] = again ? 0 : i;
  while (r > 0 && pick.back() < n) {
    for (int64_t i : pick) values.push_back((*input.values)[i]);
    int64_t at = r - 1;
    while (at > 0 && pick[at] >= (again ? n - 1 : n - r + at)) --at;
    ++pick[at];
    for (int64_t i = at + 1; i < r; ++i) pick[i] = again ? pick[at] : pick[i - 1] + 1;
  }
  return values;
}

std::optional<Values> PaddedWithItself(const Attributes& attributes, const ConstInput& input, const TensorType& out) {
  const std::string mode = attributes.String("mode");
  const std::vector<int64_t> pad = attributes.Ints("pad");
  const Shape& in = input.type->shape;
  const int rank = static_cast<int>(in.size());
  const Strides strides = ContiguousStrides(in);
  Values values;
  ForEach(out.shape, {ContiguousStrides(out.shape)}, [&](int64_t n, const std::vector<int64_t>&) {
    int64_t from = 0, rest = n;
    for (int d = rank - 1; d >= 0; --d) {
      int64_t i = rest % out.shape[d];
      rest /= out.shape[d];
      const size_t k = static_cast<size_t>(rank - 1 - d);
      if (2 * k < pad.size()) i -= pad[2 * k];
      if (mode == "replicate") i = std::clamp<int64_t>(i, 0, in[d] - 1);
      if (mode == "circular") i = (i % in[d] + in[d]) % in[d];
      if (mode == "reflect") i = i < 0 ? -i : i >= in[d] ? 2 * (in[d] - 1) - i : i;
      from += std::clamp<int64_t>(i, 0, in[d] - 1) * strides[d];
    }
    values.push_back((*input.values)[from]);
  });
  return values;
}

}  // namespace

std::optional<std::vector<Values>> EvalSelected(Op op, const Attributes& attributes, Inputs inputs,
                                                const std::vector<TensorType>& outputs) {
  if (inputs.empty() || inputs[0].type == nullptr) return std::nullopt;  // a number stands there
  const TensorType& out = outputs[0];
  const auto one = [](std::optional<Values> values) -> std::optional<std::vector<Values>> {
    if (!values) return std::nullopt;
    return std::vector<Values>{*std::move(values)};
  };
  switch (op) {
    case Op::median:
      if (attributes.Find("dim") == nullptr) {
        Values x = *inputs[0].values;
        if (x.empty()) return std::nullopt;
        std::nth_element(x.begin(), x.begin() + (x.size() - 1) / 2, x.end());
        return one(Values{x[(x.size() - 1) / 2]});
      }
      [[fallthrough]];
    case Op::sort:
    case Op::argsort:
    case Op::msort:
    case Op::topk:
    case Op::kthvalue: return Sorted(op, attributes, inputs[0]);
    case Op::cummax:
    case Op::cummin: return RunningExtremum(op, attributes, inputs[0]);
    case Op::searchsorted:
    case Op::bucketize: return one(Searched(op, attributes, inputs));
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_reduce: return one(Scattered(op, attributes, inputs));
    case Op::index_add:
    case Op::index_copy:
    case Op::index_fill: return one(SlicesWritten(op, attributes, inputs));
    case Op::one_hot: {
      Values values(out.num_elements(), 0);
      const int64_t classes = out.shape.back();
      for (size_t n = 0; n < inputs[0].values->size(); ++n) {
        const int64_t c = static_cast<int64_t>((*inputs[0].values)[n]);
        if (c < 0 || c >= classes) return std::nullopt;
        values[static_cast<int64_t>(n) * classes + c] = 1;
      }
      return one(values);
    }
    case Op::embedding: {
      Values values;
      const int64_t width = inputs[1].type->shape[1];
      for (double v : *inputs[0].values) {
        const int64_t row = static_cast<int64_t>(v);
        if (row < 0 || row >= inputs[1].type->shape[0]) return std::nullopt;
        values.insert(values.end(), inputs[1].values->begin() + row * width,
                      inputs[1].values->begin() + (row + 1) * width);
      }
      return one(values);
    }
    case Op::einsum: return one(Contracted(attributes.String("equation"), inputs, out.shape));
    case Op::softmax:
    case Op::log_softmax: return one(Softened(op, attributes, inputs[0]));
    case Op::diag:
    case Op::diag_embed:
    case Op::diagflat:
    case Op::block_diag: return one(OnDiagonals(op, attributes, inputs, out));
    case Op::hstack:
    case Op::vstack:
    case Op::row_stack:
    case Op::dstack:
    case Op::column_stack: return one(Joined(op, inputs, out));
    case Op::cartesian_prod: {
      Values values;
      ForEach(Shape(1, out.shape[0]), {Strides(1, 0)}, [&](int64_t n, const std::vector<int64_t>&) {
        Values row;
        int64_t rest = n;
        for (size_t i = inputs.size(); i-- > 0;) {
          const int64_t size = inputs[i].type->shape[0];
          row.insert(row.begin(), (*inputs[i].values)[rest % size]);
          rest /= size;
        }
        values.insert(values.end(), row.begin(), row.end());
      });
      return one(values);
    }
    case Op::combinations: return one(Chosen(attributes, inputs[0]));
    case Op::pad:
      if (attributes.String("mode", "constant") == "constant") return std::nullopt;
      return one(PaddedWithItself(attributes, inputs[0], out));
    case Op::kron: {
      Shape a = inputs[0].type->shape, b = inputs[1].type->shape;
      while (a.size() < b.size()) a.insert(a.begin(), 1);
      while (b.size() < a.size()) b.insert(b.begin(), 1);
      const Strides of_a = ContiguousStrides(a), of_b = ContiguousStrides(b);
      Values values;
      ForEach(out.shape, {ContiguousStrides(out.shape)}, [&](int64_t n, const std::vector<int64_t>&) {
        int64_t at_a = 0, at_b = 0, rest = n;
        for (size_t d = a.size(); d-- > 0;) {
          const int64_t i = rest % out.shape[d];
          rest /= out.shape[d];
          at_a += i / b[d] * of_a[d];
          at_b += i % b[d] * of_b[d];
        }
        values.push_back((*inputs[0].values)[at_a] * (*inputs[1].values)[at_b]);
      });
      return one(values);
    }
    case Op::cdist: {
      if (attributes.Double("p", 2) != 2 || inputs[0].type->rank() != 2 || inputs[1].type->rank() != 2)
        return std::nullopt;
      const int64_t width = inputs[0].type->shape[1];
      Values values;
      for (int64_t i = 0; i < out.shape[0]; ++i) {
        for (int64_t j = 0; j < out.shape[1]; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < width; ++k) {
            const double d = (*inputs[0].values)[i * width + k] - (*inputs[1].values)[j * width + k];
            sum += d * d;
          }
          values.push_back(std::sqrt(sum));
        }
      }
      return one(values);
    }
    default: {
      const std::string equation = EquationOf(op, inputs);
      if (equation.empty()) return std::nullopt;
      return one(Contracted(equation, inputs, out.shape));
    }
  }
}

}  // namespace cobra::graph::const_eval

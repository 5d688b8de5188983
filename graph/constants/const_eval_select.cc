// Values of calls that sort, search, accumulate or choose elements.
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "graph/constants/const_rules.h"

namespace cobra::graph::const_rules {
namespace {

// Sorts each line and keeps `kept` elements from `first` on.
Outputs SortedLines(const ConstCall& call, int64_t dim, bool descending, int64_t first, int64_t kept) {
  const Lines lines = LinesAlong(call.type(0).shape, dim);
  if (first < 0 || first + kept > lines.size) return {};
  const Values& x = call.values(0);
  Values values(lines.count() * kept), indices(lines.count() * kept);
  std::vector<int64_t> order(lines.size);
  for (int64_t line = 0; line < lines.count(); ++line) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const double p = x[lines.At(line, a)], q = x[lines.At(line, b)];
      // What is not a number is larger than all numbers.
      if (std::isnan(p) || std::isnan(q)) return !(descending ? std::isnan(q) : std::isnan(p));
      return descending ? p > q : p < q;
    });
    for (int64_t i = 0; i < kept; ++i) {
      const int64_t to = (line / lines.inner * kept + i) * lines.inner + line % lines.inner;
      values[to] = x[lines.At(line, order[first + i])];
      indices[to] = static_cast<double>(order[first + i]);
    }
  }
  return {values, indices};
}

}  // namespace

// sort, argsort, msort, topk, kthvalue
Outputs Sorted(const ConstCall& call) {
  const Attributes& attributes = call.attributes;
  const int64_t dim = call.op == Op::msort ? 0 : attributes.Int("dim", -1);
  const bool descending = call.op == Op::topk ? attributes.Bool("largest", true) : attributes.Bool("descending");
  if (call.op == Op::topk) return SortedLines(call, dim, descending, 0, attributes.Int("k", 1));
  if (call.op == Op::kthvalue) return SortedLines(call, dim, descending, attributes.Int("k", 1) - 1, 1);
  Outputs sorted = SortedLines(call, dim, descending, 0, LinesAlong(call.type(0).shape, dim).size);
  if (call.op == Op::argsort) sorted.erase(sorted.begin());
  return sorted;
}

Outputs Median(const ConstCall& call) {
  if (call.attributes.Find("dim") != nullptr) {
    const int64_t dim = call.attributes.Int("dim", -1);
    return SortedLines(call, dim, /*descending=*/false, (LinesAlong(call.type(0).shape, dim).size - 1) / 2, 1);
  }
  Values x = call.values(0);
  if (x.empty()) return {};
  std::nth_element(x.begin(), x.begin() + (x.size() - 1) / 2, x.end());
  return {Values{x[(x.size() - 1) / 2]}};
}

// cummax, cummin
Outputs RunningExtremum(const ConstCall& call) {
  const Lines lines = LinesAlong(call.type(0).shape, call.attributes.Int("dim"));
  Values values = call.values(0), indices(values.size());
  for (int64_t line = 0; line < lines.count(); ++line) {
    double best = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < lines.size; ++i) {
      double& v = values[lines.At(line, i)];
      if (i == 0 || std::isnan(v) || (call.op == Op::cummax ? v >= best : v <= best)) {
        best = v;
        at = i;
      }
      v = best;
      indices[lines.At(line, i)] = static_cast<double>(at);
    }
  }
  return {values, indices};
}

// cumsum, cumprod
Outputs Scan(const ConstCall& call) {
  const int rank = call.type(0).rank();
  Values values = call.values(0);
  if (rank == 0) return {values};
  const int dim = Wrap(call.attributes.Int("dim"), rank);
  const int64_t step = ContiguousStrides(call.type(0).shape)[dim], size = call.type(0).shape[dim];
  for (int64_t n = 0; n < static_cast<int64_t>(values.size()); ++n) {
    if ((n / step) % size == 0) continue;
    const double before = values[n - step];
    values[n] = call.op == Op::cumsum ? before + values[n] : before * values[n];
  }
  return {values};
}

// The input between `prepend` and `append`, along the dimension.
Values WithEnds(const ConstCall& call, int64_t dim, TensorType* type) {
  const int wrapped = Wrap(dim, type->rank());
  if (!call.has(1) && !call.has(2)) return call.values(0);
  int64_t size = 0;
  for (size_t i : {0, 1, 2}) size += call.has(i) ? call.type(i).shape[wrapped] : 0;
  type->shape[wrapped] = size;
  const Lines joined = LinesAlong(type->shape, dim);
  Values values(type->num_elements());
  int64_t at = 0;
  for (size_t i : {1, 0, 2}) {
    if (!call.has(i)) continue;
    const Lines part = LinesAlong(call.type(i).shape, dim);
    for (int64_t line = 0; line < part.count(); ++line) {
      for (int64_t k = 0; k < part.size; ++k) values[joined.At(line, at + k)] = call.values(i)[part.At(line, k)];
    }
    at += part.size;
  }
  return values;
}

Outputs Diff(const ConstCall& call) {
  TensorType type = call.type(0);
  if (type.rank() == 0) return {};
  const int64_t n = call.attributes.Int("n", 1), dim = call.attributes.Int("dim", -1);
  Values values = WithEnds(call, dim, &type);
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) {
      for (double& v : values) v = RoundTo(type.dtype, v);
    }
    const Lines lines = LinesAlong(type.shape, dim);
    type.shape[Wrap(dim, type.rank())] = std::max<int64_t>(0, lines.size - 1);
    const Lines fewer = LinesAlong(type.shape, dim);
    Values differences(type.num_elements());
    for (int64_t line = 0; line < lines.count(); ++line) {
      for (int64_t k = 0; k < fewer.size; ++k)
        differences[fewer.At(line, k)] = values[lines.At(line, k + 1)] - values[lines.At(line, k)];
    }
    values = std::move(differences);
  }
  return {values};
}

// searchsorted, bucketize
Outputs EvalSearchsorted(const ConstCall& call) {
  const bool buckets = call.op == Op::bucketize;
  const size_t of_sorted = buckets ? 1 : 0, of_wanted = buckets ? 0 : 1;
  if (!buckets && call.has(2)) return {};  // with a sorter
  const Values& sorted = call.values(of_sorted);
  const Values wanted = call.has(of_wanted) ? call.values(of_wanted) : Values{call.attributes.Double("input")};
  const bool right = call.attributes.Bool("right") || call.attributes.String("side") == "right";
  const TensorType& type = call.type(of_sorted);
  const int64_t row = type.shape.back();
  const int64_t rows = type.rank() == 1 ? 1 : type.num_elements() / std::max<int64_t>(row, 1);
  const int64_t each = static_cast<int64_t>(wanted.size()) / std::max<int64_t>(rows, 1);
  Values out;
  for (size_t n = 0; n < wanted.size(); ++n) {
    const auto begin = sorted.begin() + (rows == 1 ? 0 : static_cast<int64_t>(n) / each * row), end = begin + row;
    out.push_back(static_cast<double>(
        (right ? std::upper_bound(begin, end, wanted[n]) : std::lower_bound(begin, end, wanted[n])) - begin));
  }
  return {out};
}

// softmax, log_softmax
Outputs Softmax(const ConstCall& call) {
  const Lines lines = LinesAlong(call.type(0).shape, call.attributes.Int("dim", -1));
  Values values = call.values(0);
  for (int64_t line = 0; line < lines.count() && lines.size > 0; ++line) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < lines.size; ++i) largest = std::max(largest, values[lines.At(line, i)]);
    for (int64_t i = 0; i < lines.size; ++i) sum += std::exp(values[lines.At(line, i)] - largest);
    for (int64_t i = 0; i < lines.size; ++i) {
      double& v = values[lines.At(line, i)];
      v = call.op == Op::softmax ? std::exp(v - largest) / sum : v - largest - std::log(sum);
    }
  }
  return {values};
}

Outputs CartesianProd(const ConstCall& call) {
  Values values;
  for (int64_t n = 0; n < call.out().shape[0]; ++n) {
    Values row;
    int64_t rest = n;
    for (size_t i = call.inputs.size(); i-- > 0;) {
      const int64_t size = call.type(i).shape[0];
      row.insert(row.begin(), call.values(i)[rest % size]);
      rest /= size;
    }
    values.insert(values.end(), row.begin(), row.end());
  }
  return {values};
}

Outputs Combinations(const ConstCall& call) {
  const int64_t n = call.type(0).shape[0], r = call.attributes.Int("r", 2);
  const bool again = call.attributes.Bool("with_replacement");
  Values values;
  std::vector<int64_t> pick(r);
  for (int64_t i = 0; i < r; ++i) pick[i] = again ? 0 : i;
  while (r > 0 && pick.back() < n) {
    for (int64_t i : pick) values.push_back(call.values(0)[i]);
    int64_t at = r - 1;
    while (at > 0 && pick[at] >= (again ? n - 1 : n - r + at)) --at;
    ++pick[at];
    for (int64_t i = at + 1; i < r; ++i) pick[i] = again ? pick[at] : pick[i - 1] + 1;
  }
  return {values};
}

namespace {

Values BlockDiagonal(const ConstCall& call) {
  Values values(call.out().num_elements(), 0);
  int64_t row = 0, column = 0;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const Shape& shape = call.type(k).shape;
    const int64_t rows = shape.size() < 2 ? 1 : shape[0], columns = shape.empty() ? 1 : shape.back();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j)
        values[(row + i) * call.out().shape[1] + column + j] = call.values(k)[i * columns + j];
    }
    row += rows;
    column += columns;
  }
  return values;
}

}  // namespace

// diag, diag_embed, diagflat, block_diag: tensors on the diagonal of a larger one. diag also reads
// a matrix's diagonal.
Outputs OnDiagonals(const ConstCall& call) {
  if (call.op == Op::block_diag) return {BlockDiagonal(call)};
  const Attributes& attributes = call.attributes;
  if (call.op == Op::diag_embed && (attributes.Int("dim1", -2) != -2 || attributes.Int("dim2", -1) != -1)) return {};
  const Shape& in = call.type(0).shape;
  const Values& x = call.values(0);
  Values values(call.out().num_elements(), 0);
  const int64_t offset = attributes.Int(call.op == Op::diag ? "diagonal" : "offset");
  const int64_t down = std::max<int64_t>(0, -offset), right = std::max<int64_t>(0, offset);
  if (call.op == Op::diag && in.size() == 2) {
    for (int64_t i = 0; i < call.out().num_elements(); ++i) values[i] = x[(i + down) * in[1] + i + right];
    return {values};
  }
  const int64_t n = call.out().shape.back();
  const int64_t length = call.op == Op::diagflat ? static_cast<int64_t>(x.size()) : in.back();
  for (int64_t k = 0; k < static_cast<int64_t>(x.size()); ++k) {
    const int64_t matrix = k / length, i = k % length;
    values[(matrix * n + i + down) * n + i + right] = x[k];
  }
  return {values};
}

}  // namespace cobra::graph::const_rules

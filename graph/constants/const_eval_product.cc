// Values of calls that sum products.
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_split.h"
#include "graph/constants/const_rules.h"
#include "graph/cost/macs.h"
#include "graph/saturated.h"

namespace cobra::graph::const_rules {
namespace {

// The letters of an equation, and the size of each.
struct Letters {
  std::map<char, int64_t> sizes;
  std::map<char, int> uses;
};

Letters LettersOf(const std::vector<std::string>& terms, const ConstCall& call) {
  Letters letters;
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) {
      int64_t& size = letters.sizes[terms[i][d]];
      size = std::max(size, call.type(i).shape[d]);
      ++letters.uses[terms[i][d]];
    }
  }
  return letters;
}

// All letters are walked at once here. PyTorch sums in steps, and the reader charges a program for
// those.
bool IsFarMoreThanSteps(int64_t work, const std::string& equation, const ConstCall& call) {
  constexpr int64_t kLittle = 4096;
  if (work <= kLittle) return false;
  std::vector<const TensorType*> types;
  for (const ConstInput& input : call.inputs) types.push_back(input.type);
  const EinsumWork steps = EinsumWorkOf(equation, types);
  return work > Plus(Times(2, steps.macs), steps.elementwise);
}

// Evaluates the equation as sums of products. Returns nothing for an ellipsis or too much work.
Outputs Contracted(std::string equation, const ConstCall& call) {
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  if (equation.find('.') != std::string::npos) return {};
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = absl::StrSplit(equation.substr(0, arrow), ',');
  const Letters letters = LettersOf(terms, call);
  std::string kept;
  if (arrow != std::string::npos) {
    kept = equation.substr(arrow + 2);
  } else {
    for (const auto& [letter, count] : letters.uses) {
      if (count == 1) kept += letter;
    }
  }
  // The dimensions of the output, then those that are summed over.
  Shape space = call.out().shape;
  std::string order = kept;
  for (const auto& [letter, size] : letters.sizes) {
    if (kept.find(letter) == std::string::npos) {
      order += letter;
      space.push_back(size);
    }
  }
  int64_t work = 1;
  for (int64_t d : space) work = Times(work, d);
  if (work > 4 * kMaxConstElements || IsFarMoreThanSteps(work, equation, call)) return {};
  std::vector<Strides> walks;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Strides own = ContiguousStrides(call.type(i).shape);
    Strides walk(order.size(), 0);
    for (size_t d = 0; d < terms[i].size(); ++d) {
      if (call.type(i).shape[d] != 1) walk[order.find(terms[i][d])] += own[d];
    }
    walks.push_back(walk);
  }
  const int64_t elements = call.out().num_elements();
  Values values(elements, 0);
  const int64_t summed = elements == 0 ? 1 : std::max<int64_t>(1, work / elements);
  ForEach(space, walks, [&](int64_t n, const std::vector<int64_t>& at) {
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) product *= call.values(i)[at[i]];
    values[n / summed] += product;
  });
  return {values};
}

// The equation of a product whose operands have `a` and `b` dimensions; empty if it is not
// evaluated.
std::string EquationOfMatmul(int a, int b) {
  if (a == 1 && b == 1) return "i,i->";
  if (a == 1 && b == 2) return "i,ij->j";
  if (a == 2 && b == 1) return "ij,j->i";
  if (a == 2 && b == 2) return "ij,jk->ik";
  if (a == 3 && b == 3) return "bij,bjk->bik";
  if (a == 3 && b == 2) return "bij,jk->bik";
  if (a == 4 && b == 4) return "abij,abjk->abik";
  return "";
}

std::string EquationOf(const ConstCall& call) {
  const int a = call.type(0).rank(), b = call.has(1) ? call.type(1).rank() : 0;
  switch (call.op) {
    case Op::dot:
    case Op::vdot: return "i,i->";
    case Op::mv: return "ij,j->i";
    case Op::bmm: return "bij,bjk->bik";
    case Op::outer:
    case Op::ger: return "i,j->ij";
    case Op::linear: return call.inputs.size() < 3 && a == 2 && b == 2 ? "ij,kj->ik" : "";
    case Op::matmul: return EquationOfMatmul(a, b);
    case Op::mm: return "ij,jk->ik";
    default: return "";  // not an operator of this rule: a test calls each of those
  }
}

}  // namespace

Outputs Einsum(const ConstCall& call) { return Contracted(call.attributes.String("equation"), call); }

// dot, mv, bmm, matmul ...
Outputs Product(const ConstCall& call) {
  const std::string equation = EquationOf(call);
  if (equation.empty()) return {};
  return Contracted(equation, call);
}

Outputs Kron(const ConstCall& call) {
  Shape a = call.type(0).shape, b = call.type(1).shape;
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  const Strides of_a = ContiguousStrides(a), of_b = ContiguousStrides(b);
  const Shape& out = call.out().shape;
  Values values;
  ForEach(out, {ContiguousStrides(out)}, [&](int64_t n, const std::vector<int64_t>&) {
    int64_t at_a = 0, at_b = 0, rest = n;
    for (size_t d = a.size(); d-- > 0;) {
      const int64_t i = rest % out[d];
      rest /= out[d];
      at_a += i / b[d] * of_a[d];
      at_b += i % b[d] * of_b[d];
    }
    values.push_back(call.values(0)[at_a] * call.values(1)[at_b]);
  });
  return {values};
}

// Euclidean distances of points.
Outputs Cdist(const ConstCall& call) {
  if (call.attributes.Double("p", 2) != 2 || call.type(0).rank() != 2 || call.type(1).rank() != 2) return {};
  const int64_t width = call.type(0).shape[1];
  Values values;
  for (int64_t i = 0; i < call.out().shape[0]; ++i) {
    for (int64_t j = 0; j < call.out().shape[1]; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < width; ++k) {
        const double d = call.values(0)[i * width + k] - call.values(1)[j * width + k];
        sum += d * d;
      }
      values.push_back(std::sqrt(sum));
    }
  }
  return {values};
}

}  // namespace cobra::graph::const_rules

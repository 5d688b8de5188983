// einsum of two tensors as a matrix product, one for each value of the letters that all three
// tensors have.
#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

struct Terms {
  std::string a, b, out;
  // Letters of all three, of the first and the result, of the second and the result, of the two
  // operands alone.
  std::string batch, left, right, summed;
  std::map<char, int64_t> sizes;

  int64_t Size(const std::string& letters) const {
    int64_t size = 1;
    for (const char letter : letters) size *= sizes.at(letter);
    return size;
  }
};

absl::Status TakeSizes(const std::string& term, const Shape& shape, Terms* terms) {
  if (term.size() != shape.size()) return Refused("an equation with ... or of other dimensions");
  for (size_t d = 0; d < term.size(); ++d) {
    if (term.find(term[d]) != d) return Refused("a letter twice in a term");
    const auto [size, is_new] = terms->sizes.try_emplace(term[d], shape[d]);
    if (!is_new && size->second != shape[d]) return Refused("operands that broadcast");
  }
  return absl::OkStatus();
}

absl::StatusOr<Terms> TermsOf(const CallWriter& c) {
  std::string equation = c.String("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  const std::vector<std::string> operands = absl::StrSplit(sides[0], ',');
  if (sides.size() != 2 || operands.size() != 2) return Refused("other than two operands and a result");
  Terms terms{operands[0], operands[1], sides[1], "", "", "", "", {}};
  COBRA_RETURN_IF_ERROR(TakeSizes(terms.a, c.ShapeOf(0), &terms));
  COBRA_RETURN_IF_ERROR(TakeSizes(terms.b, c.ShapeOf(1), &terms));
  const auto has = [](const std::string& term, char letter) { return term.find(letter) != std::string::npos; };
  for (const char letter : terms.a) {
    const bool in_b = has(terms.b, letter), in_out = has(terms.out, letter);
    if (!in_b && !in_out) return Refused("a sum over one operand");
    (in_b ? in_out ? terms.batch : terms.summed : terms.left).push_back(letter);
  }
  for (const char letter : terms.b) {
    if (has(terms.a, letter)) continue;
    if (!has(terms.out, letter)) return Refused("a sum over one operand");
    terms.right.push_back(letter);
  }
  return terms;
}

// Where each letter of `to` stands in `from`.
Ints OrderOf(const std::string& from, const std::string& to) {
  Ints order;
  for (const char letter : to) order.push_back(static_cast<int64_t>(from.find(letter)));
  return order;
}

Ints LengthsOf(const Terms& terms, const std::string& letters) {
  Ints sizes;
  for (const char letter : letters) sizes.push_back(terms.sizes.at(letter));
  return sizes;
}

}  // namespace

absl::StatusOr<Names> WriteEinsum(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(const Terms t, TermsOf(c));
  const int64_t batch = t.Size(t.batch), m = t.Size(t.left), k = t.Size(t.summed), n = t.Size(t.right);
  const std::string a = Ordered(c, c.In(0), LengthsOf(t, t.a), OrderOf(t.a, t.batch + t.left + t.summed));
  const std::string b = Ordered(c, c.In(1), LengthsOf(t, t.b), OrderOf(t.b, t.batch + t.summed + t.right));
  const std::string y = c.Layer("MatMul", {c.Reshaped(a, {batch, m, k}), c.Reshaped(b, {batch, k, n})}, {batch, m, n});
  const std::string letters = t.batch + t.left + t.right;
  const std::string out = Ordered(c, y, LengthsOf(t, letters), OrderOf(letters, t.out));
  const Ints dims = BlobOf(c.Out().shape);
  return Names{dims.empty() ? out : c.Reshaped(out, dims)};
}

}  // namespace cobra::exporting::ncnn

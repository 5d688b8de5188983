// Products: linear, matmul and similar ones, einsum.
#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

absl::Status SameDType(const Call& call, int a, int b) {
  if (call.in(a).dtype == call.in(b).dtype) return absl::OkStatus();
  return ShapeError("expected m1 and m2 to have the same dtype, but got: ", DTypeName(call.in(a).dtype),
                    " != ", DTypeName(call.in(b).dtype));
}

absl::Status MatShapeError(int64_t rows_a, int64_t cols_a, int64_t rows_b, int64_t cols_b) {
  return ShapeError("mat1 and mat2 shapes cannot be multiplied (", rows_a, "x", cols_a, " and ", rows_b, "x", cols_b,
                    ")");
}

int64_t LeadingElements(const TensorType& type) {
  int64_t n = 1;
  for (int i = 0; i + 1 < type.rank(); ++i) n *= type.shape[i];
  return n;
}

absl::Status WantRank(const Call& call, int i, int rank) {
  if (call.in(i).rank() == rank) return absl::OkStatus();
  return ShapeError(call.name(), ": Expected ", rank, "-dimensional tensor, but got ", call.in(i).rank(),
                    "-dimensional tensor for argument #", i + 1);
}

}  // namespace

ShapeResult Linear(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  if (weight.rank() == 1 && input.rank() > 0 &&
      input.shape.back() == weight.shape[0]) {  // one output, without its own dimension
    COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
    if (call.has(2) && (input.rank() == 2 || input.rank() == 3))
      return ShapeError("mat2 must be a matrix, got 1-D tensor");
    const Shape out(input.shape.begin(), input.shape.end() - 1);
    if (call.has(2)) {
      COBRA_ASSIGN_OR_RETURN(const Shape joined, BroadcastShapes(out, call.in(2).shape));
      if (joined != out)
        return ShapeError("output with shape ", SizesText(out), " doesn't match the broadcast shape ",
                          SizesText(joined));
    }
    return One(out, input.dtype);
  }
  if (weight.rank() != 2 || input.rank() == 0) {
    return ShapeError("linear: weight must be a matrix and input have a dimension, got ", SizesText(weight.shape),
                      " and ", SizesText(input.shape));
  }
  COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
  if (input.shape.back() != weight.shape[1]) {
    return MatShapeError(LeadingElements(input), input.shape.back(), weight.shape[1], weight.shape[0]);
  }
  if (call.has(2) && (call.in(2).rank() != 1 || call.in(2).shape[0] != weight.shape[0])) {
    return ShapeError("The expanded size of the tensor (", weight.shape[0], ") must match the existing size of bias ",
                      SizesText(call.in(2).shape));
  }
  TensorType out = input;
  out.shape.back() = weight.shape[0];
  return TensorTypes{out};
}

ShapeResult Bilinear(const Call& call) {
  const TensorType& weight = call.in(2);
  if (weight.rank() != 3 || call.in(0).shape.empty() || call.in(0).shape.back() != weight.shape[1] ||
      call.in(1).shape.empty() || call.in(1).shape.back() != weight.shape[2]) {
    return ShapeError("bilinear(): input sizes ", SizesText(call.in(0).shape), ", ", SizesText(call.in(1).shape),
                      " do not match weight ", SizesText(weight.shape));
  }
  TensorType out = call.in(0);
  for (int i = 0; i + 1 < out.rank() || i + 1 < call.in(1).rank(); ++i) {
    if (out.rank() == call.in(1).rank() && out.shape[i] == call.in(1).shape[i]) continue;
    return ShapeError("bilinear(): input batch dimensions do not match: got ", SizesText(out.shape), " and ",
                      SizesText(call.in(1).shape));
  }
  out.shape.back() = weight.shape[0];
  return TensorTypes{out};
}

ShapeResult Matmul(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  if (a.rank() == 0 || b.rank() == 0) {
    return ShapeError("both arguments to matmul need to be at least 1D, but they are ", a.rank(), "D and ", b.rank(),
                      "D");
  }
  COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
  const int64_t inner = a.shape.back();
  const int64_t wanted = b.shape[b.rank() == 1 ? 0 : b.rank() - 2];
  if (inner != wanted) {
    if (a.rank() == 1 && b.rank() == 1) {
      return ShapeError("inconsistent tensor size, expected tensor [", inner, "] and src [", wanted,
                        "] to have the same number of elements");
    }
    if (a.rank() <= 2 && b.rank() == 1)
      return ShapeError("size mismatch, got ", SizesText(a.shape), ", vector ", SizesText(b.shape));
    return MatShapeError(LeadingElements(a), inner, wanted, b.shape.back());
  }
  const Shape batch_a(a.shape.begin(), a.shape.end() - std::min(a.rank(), 2));
  const Shape batch_b(b.shape.begin(), b.shape.end() - std::min(b.rank(), 2));
  COBRA_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(batch_a, batch_b));
  if (a.rank() > 1) out.push_back(a.shape[a.rank() - 2]);
  if (b.rank() > 1) out.push_back(b.shape.back());
  return One(out, a.dtype);
}

ShapeResult Bmm(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 0, 3));
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 3));
  COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
  const Shape& a = call.in(0).shape;
  const Shape& b = call.in(1).shape;
  if (a[0] != b[0] || a[2] != b[1]) {
    return ShapeError("Expected size for first two dimensions of batch2 tensor to be: [", a[0], ", ", a[2],
                      "] but got: [", b[0], ", ", b[1], "].");
  }
  return One({a[0], a[1], b[2]}, call.in(0).dtype);
}

ShapeResult Mm(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 0, 2));
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 2));
  return Matmul(call);
}

ShapeResult Mv(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 0, 2));
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 1));
  return Matmul(call);
}

ShapeResult Dot(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 0, 1));
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 1));
  return Matmul(call);
}

ShapeResult Outer(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 0, 1));
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 1));
  return One({call.in(0).shape[0], call.in(1).shape[0]}, ResultDType(call.inputs));
}

ShapeResult Addmm(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 2));
  COBRA_RETURN_IF_ERROR(WantRank(call, 2, 2));
  COBRA_RETURN_IF_ERROR(SameDType(call, 1, 2));
  const Shape& a = call.in(1).shape;
  const Shape& b = call.in(2).shape;
  if (a[1] != b[0]) return MatShapeError(a[0], a[1], b[0], b[1]);
  Shape out{a[0], b[1]};
  COBRA_ASSIGN_OR_RETURN(Shape joined, BroadcastShapes(call.in(0).shape, out));
  if (joined != out)
    return ShapeError("addmm: input ", SizesText(call.in(0).shape), " does not expand to ", SizesText(out));
  return One(out, call.in(1).dtype);
}

// As the kernel for CPUs of PyTorch 2.13; rows must be multiples of 16 bytes apart, and their
// strides are those of contiguous tensors or of transposed ones (mat2), which a graph does not tell
// apart here: not checked.
ShapeResult GroupedMm(const Call& call) {
  const TensorType &a = call.in(0), &b = call.in(1);
  for (int i : {0, 1}) {
    const DType dtype = call.in(i).dtype;
    if (dtype != DType::float32 && dtype != DType::bfloat16 && dtype != DType::float16)
      return ShapeError("Expected ", i == 0 ? "mat_a" : "mat_b", " to be Float32, BFloat16 or Float16 matrix, got ",
                        DTypeName(dtype));
  }
  for (int i : {0, 1}) {
    const int rank = call.in(i).rank();
    if (rank != 2 && rank != 3) return ShapeError(i == 0 ? "mat_a" : "mat_b", " has to be 2 or 3d");
  }
  const bool a_is_3d = a.rank() == 3, b_is_3d = b.rank() == 3;
  if ((a_is_3d || b_is_3d) && a.shape.back() != b.shape[b.rank() - 2])
    return ShapeError("contraction dimension of mat_a and mat_b must match");
  if (call.has(2) == (a_is_3d && b_is_3d))
    return ShapeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d");
  if (call.has(2)) {
    if (call.in(2).rank() != 1) return ShapeError("offs has to be 1D");
    if (call.in(2).dtype != DType::int32) return ShapeError("Offsets have to be int32");
  }
  if (call.has(3)) return ShapeError("Bias not supported yet");
  const std::string dtype = call.attributes.String("out_dtype");
  if (!dtype.empty() && dtype != DTypeName(a.dtype))
    return ShapeError("Grouped gemm output dtype must match `mat_a` dtype");
  const int64_t columns = b.shape.back();
  if (a_is_3d && b_is_3d) {
    if (a.shape[0] != b.shape[0]) return ShapeError("batched dimension has to match");
    return One({a.shape[0], a.shape[1], columns}, a.dtype);
  }
  const int64_t groups = call.in(2).shape[0];
  if (!a_is_3d && !b_is_3d) return One({groups, a.shape[0], columns}, a.dtype);
  if (groups != (a_is_3d ? a : b).shape[0]) return ShapeError("matrix batch sizes have to match");
  return One({a.shape[a_is_3d ? 1 : 0], columns}, a.dtype);
}

ShapeResult Baddbmm(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 3));
  COBRA_RETURN_IF_ERROR(WantRank(call, 2, 3));
  const Shape& a = call.in(1).shape;
  const Shape& b = call.in(2).shape;
  if (a[0] != b[0] || a[2] != b[1]) {
    return ShapeError("Expected size for first two dimensions of batch2 tensor to be: [", a[0], ", ", a[2],
                      "] but got: [", b[0], ", ", b[1], "].");
  }
  Shape out{a[0], a[1], b[2]};
  COBRA_ASSIGN_OR_RETURN(Shape joined, BroadcastShapes(call.in(0).shape, out));
  if (joined != out)
    return ShapeError("baddbmm: input ", SizesText(call.in(0).shape), " does not expand to ", SizesText(out));
  return One(out, call.in(1).dtype);
}

namespace {

// The sizes that the terms of an equation give, letter by letter. `ellipsis`: the broadcast leading
// dimensions.
struct EinsumSizes {
  std::map<char, int64_t> sizes;
  std::map<char, int> uses;
  Shape ellipsis;
};

// Adds the term of one operand: letters and at most one "...", for its dimensions.
absl::Status AddEinsumTerm(const std::string& term, const TensorType& input, size_t operand, EinsumSizes* known) {
  const size_t dots = term.find("...");
  const int letters = static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
  const int extra = input.rank() - letters;
  if (extra < 0 || (dots == std::string::npos && extra != 0)) {
    return ShapeError("einsum(): the number of subscripts in the equation (", letters,
                      ") does not match the number of dimensions (", input.rank(), ") for operand ", operand,
                      " and no ellipsis was given");
  }
  int dim = 0;
  for (size_t p = 0; p < term.size(); ++p) {
    if (p == dots) {
      const Shape leading(input.shape.begin() + dim, input.shape.begin() + dim + extra);
      COBRA_ASSIGN_OR_RETURN(known->ellipsis, BroadcastShapes(known->ellipsis, leading));
      dim += extra;
      p += 2;
      continue;
    }
    const char letter = term[p];
    if (!absl::ascii_isalpha(letter))
      return ShapeError("einsum(): invalid subscript given at index ", p, " in the equation string");
    const int64_t size = input.shape[dim++];
    const size_t before = term.substr(0, p).find(letter);
    if (before != std::string::npos) {
      const size_t at = dots != std::string::npos && before > dots ? before - 3 + extra : before;
      if (input.shape[at] != size) {
        return ShapeError("einsum(): subscript ", std::string(1, letter), " is repeated for operand ", operand,
                          " but the sizes don't match, ", size, " != ", input.shape[at]);
      }
    }
    int64_t& joined = known->sizes.emplace(letter, size).first->second;
    if (joined != size && joined != 1 && size != 1) {
      return ShapeError("einsum(): subscript ", std::string(1, letter), " has size ", size, " for operand ", operand,
                        " which does not broadcast with previously seen size ", joined);
    }
    if (joined == 1) joined = size;
    ++known->uses[letter];
  }
  return absl::OkStatus();
}

// The right side for an equation that has none: the letters that occur once.
std::string ImpliedEinsumOutput(const std::string& equation, const EinsumSizes& known) {
  std::string output = equation.find("...") == std::string::npos ? "" : "...";
  for (const auto& [letter, count] : known.uses) {
    if (count == 1) output += letter;
  }
  return output;
}

absl::StatusOr<Shape> EinsumShape(const std::string& output, const EinsumSizes& known) {
  Shape out;
  for (size_t p = 0; p < output.size(); ++p) {
    if (output.compare(p, 3, "...") == 0) {
      out.insert(out.end(), known.ellipsis.begin(), known.ellipsis.end());
      p += 2;
      continue;
    }
    const auto it = known.sizes.find(output[p]);
    if (it == known.sizes.end()) {
      return ShapeError("einsum(): output subscript ", output.substr(p, 1),
                        " does not appear in the equation for any input operand");
    }
    out.push_back(it->second);
  }
  return out;
}

}  // namespace

ShapeResult Einsum(const Call& call) {
  std::string equation = call.attributes.String("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = absl::StrSplit(equation.substr(0, arrow), ',');
  if (terms.size() != call.inputs.size()) {
    return ShapeError("einsum(): ", terms.size() > call.inputs.size() ? "fewer" : "more",
                      " operands were provided than specified in the equation");
  }
  EinsumSizes known;
  for (size_t i = 0; i < terms.size(); ++i)
    COBRA_RETURN_IF_ERROR(AddEinsumTerm(terms[i], call.in(static_cast<int>(i)), i, &known));
  const std::string output =
      arrow != std::string::npos ? equation.substr(arrow + 2) : ImpliedEinsumOutput(equation, known);
  for (size_t i = 0; i < output.size(); ++i) {
    if (absl::ascii_isalpha(output[i]) && output.find(output[i]) != i)
      return ShapeError("einsum(): output subscript ", output.substr(i, 1), " appears more than once in the output");
  }
  if (const size_t dots = output.find("...");
      dots != std::string::npos && output.find('.', dots + 3) != std::string::npos)
    return ShapeError("einsum(): found '.' for output but an ellipsis (...) was already found");
  COBRA_ASSIGN_OR_RETURN(Shape out, EinsumShape(output, known));
  if (call.inputs.size() == 2) {  // a matrix product needs equal dtypes, an elementwise product does not
    for (const auto& [letter, count] : known.uses) {
      if (count == 2 && output.find(letter) == std::string::npos) COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
    }
  }
  return One(out, ResultDType(call.inputs));
}

ShapeResult Cdist(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  for (int i = 0; i < 2; ++i) {
    if (!IsFloatingPoint(call.in(i).dtype))
      return ShapeError("cdist only supports floating-point dtypes, X", i + 1, " got: ", DTypeName(call.in(i).dtype));
  }
  if (a.rank() < 2 || b.rank() < 2 || a.shape.back() != b.shape.back()) {
    return ShapeError("X1 and X2 must have the same number of columns. X1: ", SizesText(a.shape),
                      " X2: ", SizesText(b.shape));
  }
  const std::string mode = call.attributes.String("compute_mode");
  if (!mode.empty() && mode != "use_mm_for_euclid_dist" && mode != "use_mm_for_euclid_dist_if_necessary" &&
      mode != "donot_use_mm_for_euclid_dist")
    return ShapeError(mode, " is not a valid value for compute_mode");
  COBRA_ASSIGN_OR_RETURN(
      Shape out, BroadcastShapes(Shape(a.shape.begin(), a.shape.end() - 2), Shape(b.shape.begin(), b.shape.end() - 2)));
  out.push_back(a.shape[a.rank() - 2]);
  out.push_back(b.shape[b.rank() - 2]);
  return One(out, a.dtype);
}

ShapeResult Inner(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  if (a.rank() == 0 || b.rank() == 0) return One(a.rank() == 0 ? b.shape : a.shape, ResultDType(call.inputs));
  if (a.shape.back() != b.shape.back())
    return ShapeError("inner() the last dimension must match on both input tensors but got shapes ", SizesText(a.shape),
                      " and ", SizesText(b.shape));
  COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
  Shape out(a.shape.begin(), a.shape.end() - 1);
  out.insert(out.end(), b.shape.begin(), b.shape.end() - 1);
  return One(out, a.dtype);
}

ShapeResult Kron(const Call& call) {
  Shape a = call.in(0).shape, b = call.in(1).shape;
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  // Both operands now have the same number of dimensions, so a scalar is promoted like any tensor.
  return One(a, PromoteDTypes(call.in(0).dtype, call.in(1).dtype));
}

// `dims`: how many last dimensions of a are summed with the first dimensions of b; `axes`: those of
// a, then those of b.
ShapeResult Tensordot(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  COBRA_RETURN_IF_ERROR(SameDType(call, 0, 1));
  std::vector<int64_t> left, right;
  if (call.attributes.Find("axes") == nullptr) {
    const int64_t n = call.attributes.Int("dims", 2);
    if (n < 0) return ShapeError("tensordot expects dims >= 0, but got dims=", n);
    if (n > std::min(a.rank(), b.rank()))
      return ShapeError("tensordot expects dims < ndim_a or ndim_b, but got dims=", n);
    for (int64_t i = 0; i < n; ++i) {
      left.push_back(a.rank() - n + i);
      right.push_back(i);
    }
  } else {
    const std::vector<int64_t> both = call.attributes.Ints("axes");
    if (both.size() % 2 != 0) return ShapeError("both dimension lists should have same length");
    left.assign(both.begin(), both.begin() + both.size() / 2);
    right.assign(both.begin() + both.size() / 2, both.end());
  }
  std::vector<bool> summed_a(a.rank()), summed_b(b.rank());
  for (size_t i = 0; i < left.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int da, WrapDim(left[i], a.rank()));
    COBRA_ASSIGN_OR_RETURN(const int db, WrapDim(right[i], b.rank()));
    if (a.rank() == 0 || b.rank() == 0) return ShapeError("tensordot: a scalar has no dimension to contract");
    if (summed_a[da] || summed_b[db]) return ShapeError("dim ", da, " appears multiple times in the list of dims");
    if (a.shape[da] != b.shape[db] && a.shape[da] != 1 && b.shape[db] != 1)
      return ShapeError("contracted dimensions need to match, but first has size ", a.shape[da], " in dim ", da,
                        " and second has size ", b.shape[db], " in dim ", db);
    summed_a[da] = summed_b[db] = true;
  }
  Shape out;
  for (int i = 0; i < a.rank(); ++i) {
    if (!summed_a[i]) out.push_back(a.shape[i]);
  }
  for (int i = 0; i < b.rank(); ++i) {
    if (!summed_b[i]) out.push_back(b.shape[i]);
  }
  return One(out, a.dtype);
}

namespace {

ShapeResult AddedTo(const Call& call, const Shape& out) {
  COBRA_ASSIGN_OR_RETURN(const Shape joined, BroadcastShapes(call.in(0).shape, out));
  if (joined != out)
    return ShapeError(call.name(), ": input ", SizesText(call.in(0).shape), " does not expand to ", SizesText(out));
  for (int i = 1; i < 3; ++i) {
    if (call.op != Op::addr && call.in(i).dtype != call.in(0).dtype)
      return ShapeError("expected self and its factors to have the same dtype, but got ", DTypeName(call.in(0).dtype),
                        " and ", DTypeName(call.in(i).dtype));
  }
  return One(out, ResultDType(call.inputs));
}

}  // namespace

ShapeResult Addmv(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 2));
  COBRA_RETURN_IF_ERROR(WantRank(call, 2, 1));
  if (call.in(1).shape[1] != call.in(2).shape[0])
    return ShapeError("size mismatch, got input (", call.in(0).num_elements(), "), mat ", SizesText(call.in(1).shape),
                      ", vec ", SizesText(call.in(2).shape));
  return AddedTo(call, {call.in(1).shape[0]});
}

ShapeResult Addr(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 1));
  COBRA_RETURN_IF_ERROR(WantRank(call, 2, 1));
  return AddedTo(call, {call.in(1).shape[0], call.in(2).shape[0]});
}

ShapeResult Addbmm(const Call& call) {
  COBRA_RETURN_IF_ERROR(WantRank(call, 1, 3));
  COBRA_RETURN_IF_ERROR(WantRank(call, 2, 3));
  const Shape& a = call.in(1).shape;
  const Shape& b = call.in(2).shape;
  if (a[0] != b[0] || a[2] != b[1])
    return ShapeError("batch1 and batch2 do not fit: ", SizesText(a), ", ", SizesText(b));
  return AddedTo(call, {a[1], b[2]});
}

ShapeResult MultiDot(const Call& call) {
  const int n = static_cast<int>(call.inputs.size());
  if (n == 0 || (n < 2 && call.op == Op::linalg_multi_dot))
    return ShapeError("multi_dot(): expected at least 2 tensors but got ", n);
  Shape out = call.in(0).shape;
  const bool vectors = call.op == Op::linalg_multi_dot;
  for (int i = 0; i < n; ++i) {
    const TensorType& t = call.in(i);
    const bool end = i == 0 || i == n - 1;
    if (t.rank() != 2 && !(vectors && end && t.rank() == 1))
      return ShapeError("multi_dot(): tensor ", i, " must be 2D but got ", t.rank(), "D");
    if (t.dtype != call.in(0).dtype) return ShapeError("multi_dot(): all tensors must have be the same dtype");
    if (i == 0) continue;
    if (out.back() != t.shape[0])
      return ShapeError("multi_dot(): tensors ", i - 1, " and ", i, " with shapes ", SizesText(call.in(i - 1).shape),
                        " and ", SizesText(t.shape), " cannot be multiplied");
    out.pop_back();
    if (t.rank() == 2) out.push_back(t.shape[1]);
  }
  return One(out, call.in(0).dtype);
}

ShapeResult Vecdot(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  if (Category(call.in(0).dtype) < 2 || call.in(0).dtype != call.in(1).dtype)
    return ShapeError("linalg.vecdot: Expected floating point tensors of one type");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), static_cast<int>(shape.size())));
  if (!shape.empty()) shape.erase(shape.begin() + dim);
  return One(shape, call.in(0).dtype);
}

ShapeResult Cov(const Call& call) {  // cov, corrcoef: variables in rows, observations in columns
  const TensorType& input = call.in(0);
  if (input.rank() > 2)
    return ShapeError("cov(): expected input to have two or fewer dimensions but got an input with ", input.rank(),
                      " dimensions");
  if (input.dtype == DType::bool_) return ShapeError("cov(): bool dtype is not supported for input");
  const int64_t observations = input.rank() == 2 ? input.shape[1] : input.num_elements();
  for (int i = 1; i < 3; ++i) {
    if (call.has(i) && (call.in(i).rank() > 1 || call.in(i).num_elements() != observations))
      return ShapeError("cov(): expected weights to have one value for each observation");
  }
  const bool matrix = input.rank() == 2 && input.shape[0] != 1;  // the variance of one variable is a scalar
  return One(matrix ? Shape{input.shape[0], input.shape[0]} : Shape{}, ToFloat(input.dtype));
}

ShapeResult Pdist(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() != 2) return ShapeError("pdist only supports 2D tensors, got: ", input.rank(), "D");
  if (Category(input.dtype) != 2) return ShapeError("pdist only supports floating-point dtypes");
  if (call.attributes.Double("p", 2) < 0) return ShapeError("pdist only supports non-negative p values");
  const int64_t n = input.shape[0];
  return One({n > 1 ? n * (n - 1) / 2 : 0}, input.dtype);
}

ShapeResult Dist(const Call& call) {
  COBRA_RETURN_IF_ERROR(BroadcastShapes(call.in(0).shape, call.in(1).shape).status());
  const DType dtype = ResultDType(call.inputs);
  if (Category(dtype) < 2) return NotImplementedFor(call, dtype);
  return One({}, RealOf(dtype));
}

}  // namespace cobra::graph::shape_rules

// Products: linear, matmul and kin, einsum, attention, recurrent layers.
#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "graph/shape_rules.h"

namespace cobra::shape_rules {
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
  return std::vector<TensorType>{out};
}

ShapeResult Bilinear(const Call& call) {
  const TensorType& weight = call.in(2);
  if (weight.rank() != 3 || call.in(0).shape.empty() || call.in(0).shape.back() != weight.shape[1] ||
      call.in(1).shape.empty() || call.in(1).shape.back() != weight.shape[2]) {
    return ShapeError("bilinear(): input sizes ", SizesText(call.in(0).shape), ", ", SizesText(call.in(1).shape),
                      " do not match weight ", SizesText(weight.shape));
  }
  TensorType out = call.in(0);
  out.shape.back() = weight.shape[0];
  return std::vector<TensorType>{out};
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
  const Shape& a = call.in(1).shape;
  const Shape& b = call.in(2).shape;
  if (a[1] != b[0]) return MatShapeError(a[0], a[1], b[0], b[1]);
  Shape out{a[0], b[1]};
  COBRA_ASSIGN_OR_RETURN(Shape joined, BroadcastShapes(call.in(0).shape, out));
  if (joined != out)
    return ShapeError("addmm: input ", SizesText(call.in(0).shape), " does not expand to ", SizesText(out));
  return One(out, call.in(1).dtype);
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

// Letters and at most one "..." a term. The ellipsis stands for broadcast leading dimensions, kept under negative keys
// counted from the right.
ShapeResult Einsum(const Call& call) {
  std::string equation = call.attributes.String("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = absl::StrSplit(equation.substr(0, arrow), ',');
  if (terms.size() != call.inputs.size()) {
    return ShapeError("einsum(): ", terms.size() > call.inputs.size() ? "fewer" : "more",
                      " operands were provided than specified in the equation");
  }
  std::map<char, int64_t> sizes;
  std::map<char, int> uses;
  Shape ellipsis;
  for (size_t i = 0; i < terms.size(); ++i) {
    const TensorType& input = call.in(static_cast<int>(i));
    const size_t dots = terms[i].find("...");
    const int letters = static_cast<int>(terms[i].size()) - (dots == std::string::npos ? 0 : 3);
    const int extra = input.rank() - letters;
    if (extra < 0 || (dots == std::string::npos && extra != 0)) {
      return ShapeError("einsum(): the number of subscripts in the equation (", letters,
                        ") does not match the number of dimensions (", input.rank(), ") for operand ", i,
                        " and no ellipsis was given");
    }
    int dim = 0;
    for (size_t p = 0; p < terms[i].size(); ++p) {
      if (p == dots) {
        COBRA_ASSIGN_OR_RETURN(
            ellipsis, BroadcastShapes(ellipsis, Shape(input.shape.begin() + dim, input.shape.begin() + dim + extra)));
        dim += extra;
        p += 2;
        continue;
      }
      const char letter = terms[i][p];
      if (!absl::ascii_isalpha(letter))
        return ShapeError("einsum(): invalid subscript given at index ", p, " in the equation string");
      const int64_t size = input.shape[dim++];
      int64_t& known = sizes.emplace(letter, size).first->second;
      if (known != size && known != 1 && size != 1) {
        return ShapeError("einsum(): subscript ", std::string(1, letter), " has size ", size, " for operand ", i,
                          " which does not broadcast with previously seen size ", known);
      }
      known = std::max(known, size);
      ++uses[letter];
    }
  }
  std::string output;
  if (arrow != std::string::npos) {
    output = equation.substr(arrow + 2);
  } else {
    output = equation.find("...") == std::string::npos ? "" : "...";
    for (const auto& [letter, count] : uses) {
      if (count == 1) output += letter;
    }
  }
  Shape out;
  for (size_t p = 0; p < output.size(); ++p) {
    if (output.compare(p, 3, "...") == 0) {
      out.insert(out.end(), ellipsis.begin(), ellipsis.end());
      p += 2;
      continue;
    }
    const auto it = sizes.find(output[p]);
    if (it == sizes.end()) {
      return ShapeError("einsum(): output subscript ", output.substr(p, 1),
                        " does not appear in the equation for any input operand");
    }
    out.push_back(it->second);
  }
  return One(out, call.in(0).dtype);
}

ShapeResult Sdpa(const Call& call) {
  const TensorType& query = call.in(0);
  const TensorType& key = call.in(1);
  const TensorType& value = call.in(2);
  if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2) {
    return ShapeError("scaled_dot_product_attention: query, key and value need at least 2 dimensions");
  }
  if (query.shape.back() != key.shape.back() || key.shape[key.rank() - 2] != value.shape[value.rank() - 2]) {
    return ShapeError("scaled_dot_product_attention: query ", SizesText(query.shape), ", key ", SizesText(key.shape),
                      " and value ", SizesText(value.shape), " do not fit");
  }
  TensorType out = query;
  if (!call.attributes.Bool("enable_gqa")) {
    const Shape batch_q(query.shape.begin(), query.shape.end() - 2);
    COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(batch_q, Shape(key.shape.begin(), key.shape.end() - 2)));
    batch.push_back(query.shape[query.rank() - 2]);
    batch.push_back(0);
    out.shape = batch;
  }
  out.shape.back() = value.shape.back();
  return std::vector<TensorType>{out};
}

ShapeResult MultiHeadAttention(const Call& call) {
  const TensorType& query = call.in(0);
  const TensorType& key = call.in(1);
  const int rank = query.rank();
  if (rank != 2 && rank != 3) {
    return ShapeError("query should be unbatched 2D or batched 3D tensor but received ", rank, "-D query tensor");
  }
  if (key.rank() != rank || call.in(2).rank() != rank) {
    return ShapeError("For ", rank == 3 ? "batched (3-D)" : "unbatched (2-D)",
                      " `query`, expected `key` and `value` to be ", rank, "-D but found ", key.rank(), "-D and ",
                      call.in(2).rank(), "-D tensors respectively");
  }
  const int64_t embed = call.attributes.Int("embed_dim_to_check");
  const int64_t heads = call.attributes.Int("num_heads", 1);
  if (query.shape.back() != embed) {
    return ShapeError("was expecting embedding dimension of ", embed, ", but got ", query.shape.back());
  }
  if (heads <= 0 || embed % heads != 0) return ShapeError("embed_dim ", embed, " not divisible by num_heads ", heads);
  if (!call.attributes.Bool("use_separate_proj_weight")) {
    if (key.shape != call.in(2).shape) {
      return ShapeError("key shape ", SizesText(key.shape), " does not match value shape ",
                        SizesText(call.in(2).shape));
    }
    if (call.has(3) && call.in(3).shape != Shape{3 * embed, embed}) {
      return ShapeError("in_proj_weight of size ", SizesText(call.in(3).shape), " does not fit embedding dimension ",
                        embed);
    }
  }
  std::vector<TensorType> out{query};
  if (call.attributes.Bool("need_weights", true)) {
    const int64_t batch = rank == 3 ? query.shape[1] : 1;
    const int64_t extra = (call.has(5) ? 1 : 0) + (call.attributes.Bool("add_zero_attn") ? 1 : 0);
    Shape weights{batch, heads, query.shape[0], key.shape[0] + extra};
    if (call.attributes.Bool("average_attn_weights", true)) weights.erase(weights.begin() + 1);
    if (rank == 2) weights.erase(weights.begin());
    out.push_back({weights, query.dtype});
  }
  return out;
}

namespace {

// Output and state shapes of a recurrent call; `projection` is the size of the hidden output (weight_hr).
ShapeResult Recurrent(const Call& call, const TensorType& h0, int64_t hidden_out, const TensorType* c0) {
  const TensorType& input = call.in(0);
  if (input.rank() != 2 && input.rank() != 3)
    return ShapeError("RNN: Expected input to be 2D or 3D, got ", input.rank(), "D tensor");
  if (h0.rank() != input.rank())
    return ShapeError("For ", input.rank() == 3 ? "batched 3-D" : "unbatched 2-D", " input, hx should also be ",
                      input.rank(), "-D but got ", h0.rank(), "-D tensor");
  const int64_t directions = call.attributes.Bool("bidirectional") ? 2 : 1;
  if (h0.shape[0] != call.attributes.Int("num_layers", 1) * directions) {
    return ShapeError("Expected hidden[0] size to have ", call.attributes.Int("num_layers", 1) * directions,
                      " layers, got ", SizesText(h0.shape));
  }
  TensorType out = input;
  out.shape.back() = hidden_out * directions;
  std::vector<TensorType> types{out, h0};
  if (c0 != nullptr) types.push_back(*c0);
  return types;
}

}  // namespace

ShapeResult Lstm(const Call& call) {
  if (call.inputs.size() < 5) return ShapeError("lstm(): expected input, two states and weights");
  const TensorType& weight = call.in(3);
  if (weight.rank() != 2 || call.in(0).shape.empty() || weight.shape[1] != call.in(0).shape.back()) {
    return ShapeError("input.size(-1) must be equal to input_size. Expected ", weight.rank() == 2 ? weight.shape[1] : 0,
                      ", got ", call.in(0).shape.empty() ? 0 : call.in(0).shape.back());
  }
  return Recurrent(call, call.in(1), call.in(1).shape.back(), &call.in(2));
}

ShapeResult Gru(const Call& call) {
  if (call.inputs.size() < 4) return ShapeError(call.name(), "(): expected input, state and weights");
  const TensorType& weight = call.in(2);
  if (weight.rank() != 2 || call.in(0).shape.empty() || weight.shape[1] != call.in(0).shape.back()) {
    return ShapeError("input.size(-1) must be equal to input_size. Expected ", weight.rank() == 2 ? weight.shape[1] : 0,
                      ", got ", call.in(0).shape.empty() ? 0 : call.in(0).shape.back());
  }
  if (call.in(1).shape.empty()) return ShapeError(call.name(), "(): hx has no dimension");
  return Recurrent(call, call.in(1), call.in(1).shape.back(), nullptr);
}

ShapeResult Cdist(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  if (a.rank() < 2 || b.rank() < 2 || a.shape.back() != b.shape.back()) {
    return ShapeError("X1 and X2 must have the same number of columns. X1: ", SizesText(a.shape),
                      " X2: ", SizesText(b.shape));
  }
  COBRA_ASSIGN_OR_RETURN(
      Shape out, BroadcastShapes(Shape(a.shape.begin(), a.shape.end() - 2), Shape(b.shape.begin(), b.shape.end() - 2)));
  out.push_back(a.shape[a.rank() - 2]);
  out.push_back(b.shape[b.rank() - 2]);
  return One(out, a.dtype);
}

}  // namespace cobra::shape_rules

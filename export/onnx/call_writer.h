// One call of the graph while it becomes nodes of an ONNX graph: what a handler (handlers.h) sees.
#ifndef COBRA_EXPORT_ONNX_CALL_WRITER_H_
#define COBRA_EXPORT_ONNX_CALL_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "export/onnx/onnx_file.h"
#include "graph/graph.h"
#include "graph/types.h"

namespace cobra::exporting {

using graph::DType;
using graph::Shape;
using graph::TensorType;

// Why a call cannot be written; the writer adds which call it is.
template <typename... Args>
absl::Status Refused(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(args...));
}

inline Ints ToInts(const Shape& shape) { return Ints(shape.begin(), shape.end()); }
inline Shape ToShape(const Ints& sizes) { return Shape(sizes.begin(), sizes.end()); }

class CallWriter {
 public:
  // `inputs` are the names of the call's inputs as they are now; `nodes` counts the nodes of the call across writers.
  CallWriter(OnnxFile* file, const graph::Graph& graph, int32_t index, Names inputs, int* nodes)
      : file_(file),
        graph_(graph),
        index_(index),
        node_(graph.nodes()[index]),
        inputs_(std::move(inputs)),
        nodes_(nodes) {}

  // ---- the call
  const graph::Node& node() const { return node_; }
  graph::Op op() const { return node_.op; }
  size_t num_inputs() const { return inputs_.size(); }
  bool Has(size_t i) const { return i < inputs_.size() && !inputs_[i].empty(); }
  // "" if absent.
  std::string In(size_t i) const { return i < inputs_.size() ? inputs_[i] : ""; }
  // REQUIRES: Has(i)
  const TensorType& Type(size_t i) const { return graph_.TypeOf(node_.inputs[i]); }
  const Shape& ShapeOf(size_t i) const { return Type(i).shape; }
  int Rank(size_t i) const { return Type(i).rank(); }
  const TensorType& Out(size_t i = 0) const { return node_.outputs[i]; }
  // PyTorch's promotion over all inputs and the Python number among the attributes, if there is one.
  DType CommonType() const;

  // ---- its attributes
  bool HasValue(absl::string_view name) const;  // given and not None
  int64_t Int(absl::string_view name, int64_t fallback = 0) const { return node_.attributes.Int(name, fallback); }
  double Double(absl::string_view name, double fallback = 0) const { return node_.attributes.Double(name, fallback); }
  bool Bool(absl::string_view name, bool fallback = false) const { return node_.attributes.Bool(name, fallback); }
  std::string String(absl::string_view name, absl::string_view fallback = "") const {
    return node_.attributes.String(name, fallback);
  }
  Ints IntList(absl::string_view name) const { return node_.attributes.Ints(name); }
  // Exactly n numbers: one is repeated, none are `fallback`.
  Ints IntList(absl::string_view name, int n, int64_t fallback) const;
  // A number of any kind (True is 1); `fallback` if absent or None.
  double NumberOf(absl::string_view name, double fallback = 0) const;
  // The dimension between 0 and rank - 1. A scalar counts as one dimension.
  int64_t Dim(absl::string_view name, int64_t fallback, int rank) const;

  // ---- nodes
  std::string Node(const std::string& op_type, Names inputs, OnnxAttributes attributes = {});
  Names Nodes(const std::string& op_type, Names inputs, size_t outputs, OnnxAttributes attributes = {});
  // Adds the node with these names for its outputs, "" for one that is not computed.
  Names NodesFor(const std::string& op_type, Names inputs, std::vector<bool> wanted, OnnxAttributes attributes = {});

  // ---- constants
  std::string Number(DType dtype, double value);  // a scalar
  std::string Numbers(const TensorType& type, const std::vector<double>& values);
  std::string IntsOf(const Ints& values);  // a vector of int64

  // ---- what many calls need
  std::string Cast(const std::string& x, DType from, DType to);  // x itself if the types are the same
  std::string Input(size_t i, DType dtype) { return Cast(In(i), Type(i).dtype, dtype); }
  std::string Reshaped(const std::string& x, const Shape& shape);
  std::string Transposed(const std::string& x, const Ints& perm);
  std::string Swapped(const std::string& x, int rank, int a, int b);  // two dimensions
  std::string Sliced(const std::string& x, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  std::string Expanded(const std::string& x, const Shape& shape);
  std::string Gathered(const std::string& x, const Ints& index, int64_t axis);
  std::string Unsqueezed(const std::string& x, const Ints& axes);
  std::string Squeezed(const std::string& x, const Ints& axes);
  std::string Joined(const Names& parts, int64_t axis) { return Node("Concat", parts, {{"axis", axis}}); }
  std::string Filled(const TensorType& type, double value);
  std::string Summed(const std::string& x, const Ints& axes, bool keep);
  std::string Reduced(const std::string& op_type, const std::string& x, const Ints& axes, bool keep);
  // condition ? a : b, where a and b are of `dtype`.
  std::string Chosen(const std::string& condition, const std::string& a, const std::string& b, DType dtype);
  // An elementwise node on tensors of `dtype`; types that runtimes have no arithmetic for (bool, 8 and 16 bits) are
  // computed as int32.
  std::string Arithmetic(const std::string& op_type, const Names& inputs, DType dtype);
  // beta * x + alpha * y; beta = 0 leaves x out, as PyTorch does.
  std::string Combined(const std::string& x, double beta, const std::string& y, double alpha, DType dtype);
  std::string Scaled(const std::string& x, double factor, DType dtype);

 private:
  OnnxFile* file_;
  const graph::Graph& graph_;
  const int32_t index_;
  const graph::Node& node_;
  const Names inputs_;
  int* nodes_;
};

// The type in which elementwise nodes compute numbers of `dtype`.
DType ArithmeticType(DType dtype);
// [first, last)
Ints Range(int64_t first, int64_t last);
// Of a list of dimensions, which may be negative: between 0 and rank - 1.
Ints Wrapped(Ints dims, int rank);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ONNX_CALL_WRITER_H_
